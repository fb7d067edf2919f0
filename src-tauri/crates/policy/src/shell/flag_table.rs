//! The table of options with which a harmless program runs another, or code.

use std::collections::HashMap;
use std::sync::OnceLock;

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A text for a shell, or a program with its arguments.
    Script,
    /// Code of another language, which may hold texts for a shell.
    Code,
    /// Questions to a database, among which its client has commands of its own.
    Client,
    /// Something that runs, or is written, in a way that is not followed.
    Opaque,
}

/// Options of some programs.
pub(super) struct Row {
    /// The programs.
    pub programs: &'static str,
    /// Long options without dashes, and letters.
    pub options: &'static str,
    /// What their value is.
    pub value: Value,
    /// Where not empty, options end at the first operand; these take the next word.
    pub values: &'static str,
    /// Only this far into the value stands what runs: `exec=` of `--checkpoint-action=exec=…`.
    pub after: &'static str,
}

const fn row(programs: &'static str, options: &'static str, value: Value) -> Row {
    Row {
        programs,
        options,
        value,
        values: "",
        after: "",
    }
}

/// Options that count before the first operand only.
const fn leading(
    programs: &'static str,
    options: &'static str,
    value: Value,
    values: &'static str,
) -> Row {
    Row {
        values,
        ..row(programs, options, value)
    }
}

use Value::{Client, Code, Opaque, Script};

/// The rows of a program.
pub(super) fn of(program: &str) -> &'static [&'static Row] {
    static BY_PROGRAM: OnceLock<HashMap<&str, Vec<&Row>>> = OnceLock::new();
    let by_program = BY_PROGRAM.get_or_init(|| {
        let mut found: HashMap<&str, Vec<&Row>> = HashMap::new();
        for row in ROWS {
            for program in row.programs.split_whitespace() {
                found.entry(program).or_default().push(row);
            }
        }
        found
    });
    by_program.get(program).map_or(&[], Vec::as_slice)
}

/// The table.
const ROWS: &[Row] = &[
    row("rg ripgrep", "pre hostname-bin", Script),
    row(
        "tar gtar bsdtar",
        "to-command I use-compress-program rmt-command rsh-command F info-script new-volume-script",
        Script,
    ),
    Row {
        programs: "tar gtar bsdtar",
        options: "checkpoint-action",
        value: Script,
        values: "",
        after: "exec=",
    },
    row(
        "find gfind",
        "-delete -fprint -fprint0 -fprintf -fls",
        Opaque,
    ),
    row("rsync", "e rsh rsync-path", Script),
    row("scp sftp", "S", Script),
    row("sort gsort", "compress-program", Script),
    row("split gsplit", "filter", Script),
    row("man", "P pager H html", Script),
    row("bat batcat delta", "pager", Script),
    row("fzf sk", "preview bind", Script),
    row("zip", "TT unzip-command", Script),
    row("tcpdump", "z", Script),
    row("wget", "use-askpass", Script),
    row("wget", "e execute", Opaque),
    row("curl", "K config", Opaque),
    row("go", "-exec -toolexec -vettool", Script),
    leading(
        "npx npm pnpm yarn",
        "c call",
        Script,
        "-p --package --prefix -w",
    ),
    row("npm pnpm yarn", "script-shell", Script),
    row("cargo", "config", Opaque),
    row("make gmake bmake", "eval E", Script),
    row("rg ripgrep", "z search-zip", Opaque),
    row("tree sort gsort iconv sdiff base64", "o output", Opaque),
    row("date gdate", "s set", Opaque),
    row("less more", "o O log-file LOG-FILE", Opaque),
    row(
        "node nodejs",
        "require import loader experimental-loader test-reporter test-global-setup snapshot-blob openssl-config",
        Opaque,
    ),
    row(
        "gcc g++ cc c++ gfortran cpp clang clang++",
        "-specs -fplugin -B",
        Opaque,
    ),
    row("m4", "D define", Code),
    Row {
        programs: "go",
        options: "-ldflags",
        value: Opaque,
        values: "",
        after: "extld",
    },
    row("nix nix-shell", "run command", Script),
    row(
        "vim vi nvim view ex ed emacs gvim vimdiff",
        "c cmd S eval f script l load",
        Code,
    ),
    row(
        "gdb lldb",
        "ex eval-command x command o one-line s source",
        Code,
    ),
    leading(
        "python python2 python3 pypy pypy3 ipython perl ruby lua luajit node nodejs php R Rscript julia osascript \
         groovy scala raku tclsh guile racket elixir",
        "c e E eval p print r exec run command",
        Code,
        "-W -X -Q -m -I -r --require --import --loader",
    ),
    row("expect", "c", Code),
    row(
        "psql mysql mariadb sqlite3 duckdb",
        "c e cmd execute command",
        Client,
    ),
    row("hg svn", "config config-option editor-cmd", Opaque),
    row("mapfile readarray compgen complete", "C", Script),
    row("hash", "p", Script),
    row("enable", "f", Opaque),
    row("bind", "x", Script),
    row("docker podman nerdctl", "entrypoint", Script),
    row("xterm gnome-terminal konsole", "e command x", Script),
    // Hooks, filters and helpers that a program is told to run.
    row(
        "aria2c",
        "on-download-complete on-download-start on-download-stop on-download-error on-download-pause \
         on-bt-download-complete",
        Script,
    ),
    row("borg restic", "rsh password-command remote-path", Script),
    row("bpftrace", "c", Script),
    row("bpftrace", "e", Code),
    row("busctl", "address", Opaque),
    row(
        "certbot",
        "pre-hook post-hook deploy-hook renew-hook manual-auth-hook manual-cleanup-hook",
        Script,
    ),
    row("apt apt-get dnf yum", "o option setopt", Opaque),
    row("check_by_ssh", "o", Opaque),
    row("clisp", "x", Code),
    row("dc", "e expression", Code),
    row("dnsmasq", "conf-script dhcp-script", Script),
    row("enscript", "I filter", Script),
    row("ghc ghci runghc", "e", Code),
    row(
        "gnuplot octave octave-cli jrunscript slsh puppet maxima sage",
        "e eval execute",
        Code,
    ),
    row(
        "latex pdflatex tex pdftex xelatex lualatex context",
        "-shell-escape -enable-write18 -enable-pipes",
        Opaque,
    ),
    row(
        "latexmk",
        "-pdflatex -latex -lualatex -xelatex -e -r -pdf-previewer",
        Opaque,
    ),
    row("lftp", "c e", Script),
    row("mail mailx s-nail", "exec", Opaque),
    row(
        "msgfilter perlbug scrot pidstat gem task",
        "e c execute",
        Script,
    ),
    row(
        "openvpn",
        "up down route-up ipchange tls-verify script-security",
        Opaque,
    ),
    row("pip pip3", "editor", Script),
    row(
        "plymouth cdist tmate tmux genie",
        "command shell c s",
        Script,
    ),
    row(
        "rpm rpmdb rpmquery rpmverify rpmbuild",
        "eval pipe E define D",
        Opaque,
    ),
    row("sshuttle", "ssh-cmd e", Script),
    row("yt-dlp youtube-dl", "exec exec-before-download", Script),
    row("ag ack ugrep", "pager filter view", Script),
    row("dvips", "R", Opaque),
    row("dhclient", "-sf", Script),
    row("mosh", "ssh server client", Script),
    row("pytest py.test", "p", Opaque),
];
