//! The table of options with which a harmless program runs another, or code.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The kind of value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum OptionValue {
    /// A text for a shell, or a program with its arguments.
    Script,
    /// Code of another language, which may hold texts for a shell.
    Code,
    /// Questions to a database, among which its client has commands of its own.
    DatabaseQuery,
    /// Something that runs, or is written, in a way that is not followed.
    Opaque,
}

/// Options of some programs.
pub(in crate::shell) struct OptionRow {
    /// The programs.
    pub programs: &'static str,
    /// Long options without dashes, and letters.
    pub options: &'static str,
    /// The kind of their value.
    pub value: OptionValue,
    /// Where not empty, options end at the first operand; these take the next word.
    pub values: &'static str,
    /// Only the part of the value behind this text runs: `exec=` of `--checkpoint-action=exec=…`.
    pub after: &'static str,
}

const fn option_row(
    programs: &'static str,
    options: &'static str,
    value: OptionValue,
) -> OptionRow {
    OptionRow {
        programs,
        options,
        value,
        values: "",
        after: "",
    }
}

/// Options that count before the first operand only.
const fn leading_option_row(
    programs: &'static str,
    options: &'static str,
    value: OptionValue,
    values: &'static str,
) -> OptionRow {
    OptionRow {
        values,
        ..option_row(programs, options, value)
    }
}

use OptionValue::{Code, DatabaseQuery, Opaque, Script};

/// The rows of a program.
pub(in crate::shell) fn rows_for_program(program: &str) -> &'static [&'static OptionRow] {
    static BY_PROGRAM: OnceLock<HashMap<&str, Vec<&OptionRow>>> = OnceLock::new();
    let by_program = BY_PROGRAM.get_or_init(|| {
        let mut found: HashMap<&str, Vec<&OptionRow>> = HashMap::new();
        for row in OPTION_ROWS {
            for program in row.programs.split_whitespace() {
                found.entry(program).or_default().push(row);
            }
        }
        found
    });
    by_program.get(program).map_or(&[], Vec::as_slice)
}

/// The table.
const OPTION_ROWS: &[OptionRow] = &[
    option_row("rg ripgrep", "pre hostname-bin", Script),
    option_row(
        "tar gtar bsdtar",
        "to-command I use-compress-program rmt-command rsh-command F info-script new-volume-script",
        Script,
    ),
    OptionRow {
        programs: "tar gtar bsdtar",
        options: "checkpoint-action",
        value: Script,
        values: "",
        after: "exec=",
    },
    option_row(
        "find gfind",
        "-delete -fprint -fprint0 -fprintf -fls",
        Opaque,
    ),
    option_row("rsync", "e rsh rsync-path", Script),
    option_row("scp sftp", "S", Script),
    option_row("sort gsort", "compress-program", Script),
    option_row("split gsplit", "filter", Script),
    option_row("man", "P pager H html", Script),
    option_row("bat batcat delta", "pager", Script),
    option_row("fzf sk", "preview bind", Script),
    option_row("zip", "TT unzip-command", Script),
    option_row("tcpdump", "z", Script),
    option_row("wget", "use-askpass", Script),
    option_row("wget", "e execute", Opaque),
    option_row("curl", "K config", Opaque),
    option_row("go", "-exec -toolexec -vettool", Script),
    leading_option_row(
        "npx npm pnpm yarn",
        "c call",
        Script,
        "-p --package --prefix -w",
    ),
    option_row("npm pnpm yarn", "script-shell", Script),
    option_row("cargo", "config", Opaque),
    option_row("make gmake bmake", "eval E", Script),
    option_row("rg ripgrep", "z search-zip", Opaque),
    option_row("tree sort gsort iconv sdiff base64", "o output", Opaque),
    option_row("date gdate", "s set", Opaque),
    option_row("less more", "o O log-file LOG-FILE", Opaque),
    option_row(
        "node nodejs",
        "require import loader experimental-loader test-reporter test-global-setup snapshot-blob openssl-config",
        Opaque,
    ),
    option_row(
        "gcc g++ cc c++ gfortran cpp clang clang++",
        "-specs -fplugin -B",
        Opaque,
    ),
    option_row("m4", "D define", Code),
    OptionRow {
        programs: "go",
        options: "-ldflags",
        value: Opaque,
        values: "",
        after: "extld",
    },
    option_row("nix nix-shell", "run command", Script),
    option_row(
        "vim vi nvim view ex ed emacs gvim vimdiff",
        "c cmd S eval f script l load",
        Code,
    ),
    option_row(
        "gdb lldb",
        "ex eval-command x command o one-line s source",
        Code,
    ),
    leading_option_row(
        "python python2 python3 pypy pypy3 ipython perl ruby lua luajit node nodejs php R Rscript julia osascript \
         groovy scala raku tclsh guile racket elixir",
        "c e E eval p print r exec run command",
        Code,
        "-W -X -Q -m -I -r --require --import --loader",
    ),
    option_row("expect", "c", Code),
    option_row(
        "psql mysql mariadb sqlite3 duckdb",
        "c e cmd execute command",
        DatabaseQuery,
    ),
    option_row("hg svn", "config config-option editor-cmd", Opaque),
    option_row("mapfile readarray compgen complete", "C", Script),
    option_row("hash", "p", Script),
    option_row("enable", "f", Opaque),
    option_row("bind", "x", Script),
    option_row("docker podman nerdctl", "entrypoint", Script),
    option_row("xterm gnome-terminal konsole", "e command x", Script),
    // Hooks, filters and helpers that a program is told to run.
    option_row(
        "aria2c",
        "on-download-complete on-download-start on-download-stop on-download-error on-download-pause \
         on-bt-download-complete",
        Script,
    ),
    option_row("borg restic", "rsh password-command remote-path", Script),
    option_row("bpftrace", "c", Script),
    option_row("bpftrace", "e", Code),
    option_row("busctl", "address", Opaque),
    option_row(
        "certbot",
        "pre-hook post-hook deploy-hook renew-hook manual-auth-hook manual-cleanup-hook",
        Script,
    ),
    option_row("apt apt-get dnf yum", "o option setopt", Opaque),
    option_row("check_by_ssh", "o", Opaque),
    option_row("clisp", "x", Code),
    option_row("dc", "e expression", Code),
    option_row("dnsmasq", "conf-script dhcp-script", Script),
    option_row("enscript", "I filter", Script),
    option_row("ghc ghci runghc", "e", Code),
    option_row(
        "gnuplot octave octave-cli jrunscript slsh puppet maxima sage",
        "e eval execute",
        Code,
    ),
    option_row(
        "latex pdflatex tex pdftex xelatex lualatex context",
        "-shell-escape -enable-write18 -enable-pipes",
        Opaque,
    ),
    option_row(
        "latexmk",
        "-pdflatex -latex -lualatex -xelatex -e -r -pdf-previewer",
        Opaque,
    ),
    option_row("lftp", "c e", Script),
    option_row("mail mailx s-nail", "exec", Opaque),
    option_row(
        "msgfilter perlbug scrot pidstat gem task",
        "e c execute",
        Script,
    ),
    option_row(
        "openvpn",
        "up down route-up ipchange tls-verify script-security",
        Opaque,
    ),
    option_row("pip pip3", "editor", Script),
    option_row(
        "plymouth cdist tmate tmux genie",
        "command shell c s",
        Script,
    ),
    option_row(
        "rpm rpmdb rpmquery rpmverify rpmbuild",
        "eval pipe E define D",
        Opaque,
    ),
    option_row("sshuttle", "ssh-cmd e", Script),
    option_row("yt-dlp youtube-dl", "exec exec-before-download", Script),
    option_row("ag ack ugrep", "pager filter view", Script),
    option_row("dvips", "R", Opaque),
    option_row("dhclient", "-sf", Script),
    option_row("mosh", "ssh server client", Script),
    option_row("pytest py.test", "p", Opaque),
];
