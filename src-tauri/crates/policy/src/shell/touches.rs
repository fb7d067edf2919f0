//! The files and hosts that a command names: its redirects, and the operands of well-known programs.
//!
//! They can only make a verdict stricter, so a word too many does no harm, and a program that is not known says nothing.

use protocol::Capability::{self, FsDelete, FsRead, FsWrite, NetFetch};

use super::base_name;
use super::below::{Below, below};
use super::facts::{Redirect, RedirectKind, Touch, Word};
use super::operands::{operands, stricter};
use super::script::Reader;
use super::wrappers::has;
use crate::limits::SHELL_COMMANDS_MAX;

/// What a program does with its operands.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// The same with all of them, after so many words that are none (a mode, a pattern, a script).
    All(Capability, usize),
    /// Reads all but the last, writes the last.
    Copy,
    /// Takes all but the last away, writes the last.
    Move,
    /// Reaches the hosts that its operands name.
    Host,
}

const PROGRAMS: &[(&str, Does)] = &[
    (
        "cat tac head tail less more bat batcat nl wc od xxd hexdump hd strings file stat sort uniq cut paste join diff \
         sdiff cmp comm md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum base64 base32 ls dir tree du \
         readlink realpath find fd source . zcat bzcat xzcat zless vim vi nvim nano emacs view python python3 node ruby \
         perl bash sh zsh dash open xdg-open rev fold fmt expand column look csvtool pr iconv gpg openssl \
         gzip bzip2 xz zstd scp code codium subl gedit kate mate ed",
        Does::All(FsRead, 0),
    ),
    (
        "grep egrep fgrep rgrep zgrep bzgrep xzgrep rg ag ack ugrep ug pt sift jq yq awk gawk mawk sed gsed tar gtar bsdtar zip 7z 7za 7zz",
        Does::All(FsRead, 1),
    ),
    (
        "tee touch mkdir mkfifo mknod truncate mktemp fallocate split csplit patch",
        Does::All(FsWrite, 0),
    ),
    ("chmod chown chgrp setfacl chattr", Does::All(FsWrite, 1)),
    (
        "rm rmdir unlink shred srm trash del",
        Does::All(FsDelete, 0),
    ),
    ("cp gcp install rsync ln link ditto", Does::Copy),
    ("mv rename", Does::Move),
    (
        "curl wget http https httpie xh aria2c lynx w3m links ftp lftp telnet nc ncat netcat ping ping6 dig nslookup \
         host whois ssh mosh traceroute nmap",
        Does::Host,
    ),
];

/// Options whose value is a file, by program: `-o` of curl is written.
const OPTIONS: &[(&str, &str, Capability)] = &[
    (
        "curl",
        "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr",
        FsWrite,
    ),
    (
        "curl",
        "-T --upload-file -K --config -E --cert --key --cacert -b --cookie --netrc-file",
        FsRead,
    ),
    (
        "wget",
        "-O --output-document -o --output-file -a --append-output -P --directory-prefix",
        FsWrite,
    ),
    (
        "wget",
        "--post-file --body-file -i --input-file --load-cookies",
        FsRead,
    ),
    ("sort", "-o --output", FsWrite),
    ("find", "-fprint -fprint0 -fprintf -fls", FsWrite),
    ("cp mv ln install", "-t --target-directory", FsWrite),
    (
        "sed gsed grep egrep fgrep rg awk gawk mawk",
        "-f --file",
        FsRead,
    ),
    (
        "git make gmake tar",
        "-C --directory --git-dir --work-tree",
        FsRead,
    ),
    (
        "gcc g++ cc c++ clang clang++ rustc go ld gpg openssl pandoc",
        "-o --output -out",
        FsWrite,
    ),
    ("node docker podman nerdctl", "--env-file", FsRead),
    ("unzip", "-d", FsWrite),
    ("tar gtar bsdtar", "-f --file", FsWrite),
];

impl Reader<'_> {
    /// What the redirects of a command touch.
    pub fn touch_redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects.iter().filter(|redirect| !redirect.neutral) {
            let capabilities: &[Capability] = match redirect.kind {
                RedirectKind::Read => &[FsRead],
                RedirectKind::Write | RedirectKind::Append => &[FsWrite],
                RedirectKind::ReadWrite => &[FsRead, FsWrite],
                RedirectKind::Duplicate | RedirectKind::HereDoc | RedirectKind::HereString => &[],
            };
            for capability in capabilities {
                self.touch(*capability, &redirect.target);
            }
        }
    }

    /// What the words of a command touch.
    pub fn touch_words(&mut self, words: &[Word]) {
        let Some(program) = words.first().map(|word| base_name(word.text()).to_owned()) else {
            return;
        };
        let program = program.as_str();
        match program {
            "cd" | "pushd" | "chdir" => return self.enter(words),
            "dd" => return self.touch_dd(words),
            "git" => self.touch_git(words),
            _ => {}
        }
        let taken = self.touch_options(program, words);
        let below = below(words, self.piped);
        if below == Some(Below::Here) {
            self.touch_below(FsRead, &Word::Literal(".".to_owned()), true);
        }
        let Some((_, does)) = PROGRAMS.iter().find(|(programs, _)| has(programs, program)) else {
            return;
        };
        let operands = operands(program, words, &taken);
        match *does {
            Does::All(capability, skip) => {
                let has_script = words
                    .iter()
                    .any(|word| has("-e -f --regexp --expression --file", word.text()));
                // `tar cf` is its letters; with a dash they are an option.
                let is_told = has("tar gtar bsdtar", program)
                    && words
                        .get(1)
                        .is_some_and(|word| word.text().starts_with('-'));
                let skip = match (has_script || is_told) && capability == FsRead {
                    true => 0,
                    false => skip,
                };
                let capability = stricter(program, words).unwrap_or(capability);
                for word in operands.iter().skip(skip) {
                    self.touch_below(capability, word, below.is_some());
                }
            }
            Does::Copy | Does::Move => {
                let into = words.iter().any(|word| {
                    matches!(word.text(), "-t" | "--target-directory")
                        || word.text().starts_with("--target-directory=")
                });
                let (last, first) = match operands.split_last() {
                    Some((last, first)) if !into => (Some(last), first),
                    _ => (None, operands.as_slice()),
                };
                for word in first {
                    self.touch_below(FsRead, word, below.is_some());
                    if matches!(does, Does::Move) {
                        self.touch(FsDelete, word);
                    }
                }
                if let Some(last) = last {
                    self.touch(FsWrite, last);
                }
            }
            Does::Host => {
                // Without an option that makes it another, the first operand of `ssh host command` is the host.
                let count = if has("ssh mosh nc ncat netcat telnet ftp", program) {
                    1
                } else {
                    operands.len()
                };
                for word in operands.iter().take(count) {
                    self.touch_host(word);
                }
            }
        }
    }

    fn touch(&mut self, capability: Capability, word: &Word) {
        self.touch_below(capability, word, false);
    }

    fn touch_below(&mut self, capability: Capability, word: &Word, below: bool) {
        let text = word.text();
        if text.is_empty() || text == "-" || self.facts.touches.len() >= SHELL_COMMANDS_MAX {
            return;
        }
        let is_relative = !text.starts_with(['/', '~', '$']);
        let folder = self.folder.clone().filter(|_| is_relative);
        // A folder that is only known when it runs may be any: the path as it is written stands for all.
        let there = folder.map(|folder| format!("{folder}/{text}"));
        for target in std::iter::once(text.to_owned()).chain(there) {
            let touch = Touch {
                capability,
                target,
                literal: word.is_literal(),
                below,
            };
            if !self.facts.touches.contains(&touch) {
                self.facts.touches.push(touch);
            }
        }
    }

    fn touch_host(&mut self, word: &Word) {
        let text = word.text();
        let after_user = text
            .rsplit_once('@')
            .filter(|_| !text.contains("://"))
            .map_or(text, |(_, host)| host);
        let word = word.with_text(after_user);
        let folder = self.folder.take();
        self.touch(NetFetch, &word);
        self.folder = folder;
    }

    /// `cd`: what follows is also judged below that folder.
    fn enter(&mut self, words: &[Word]) {
        let operand = words[1..]
            .iter()
            .find(|word| !word.text().starts_with('-') || word.text() == "-");
        let Some(operand) = operand else {
            return;
        };
        self.touch(FsRead, operand);
        let text = operand.text().trim_end_matches('/');
        self.folder = match (&self.folder, text.starts_with(['/', '~', '$'])) {
            (Some(folder), false) => Some(format!("{folder}/{text}")),
            _ => Some(text.to_owned()),
        };
    }

    fn touch_dd(&mut self, words: &[Word]) {
        for word in &words[1..] {
            let touched = match word.text().split_once('=') {
                Some(("if", path)) => Some((FsRead, path)),
                Some(("of", path)) => Some((FsWrite, path)),
                _ => None,
            };
            if let Some((capability, path)) = touched {
                self.touch(capability, &word.with_text(path));
            }
        }
    }

    fn touch_git(&mut self, words: &[Word]) {
        let command = words[1..]
            .iter()
            .position(|word| !word.text().starts_with('-'));
        let Some(at) = command.map(|at| at + 1) else {
            return;
        };
        let (capability, all) = match words[at].text() {
            "rm" | "clean" => (FsDelete, true),
            "mv" => (FsWrite, true),
            "checkout" | "restore" => (FsWrite, false),
            "add" | "stage" => (FsRead, true),
            "diff" | "show" | "blame" | "annotate" | "grep" | "log" | "cat-file" => (FsRead, false),
            "clone" | "fetch" | "pull" | "push" | "ls-remote" => {
                for word in words[at + 1..].iter().filter(|word| is_remote(word.text())) {
                    self.touch_host(&without_path(word));
                }
                return;
            }
            _ => return,
        };
        let rest = &words[at + 1..];
        let end = rest.iter().position(|word| word.text() == "--");
        for (place, word) in rest.iter().enumerate() {
            let text = word.text();
            // A word before `--` may be a revision, and `HEAD:path` names a file of one.
            let is_path = all || end.is_some_and(|end| place > end) || text.contains(['.', '/']);
            if is_path && !text.starts_with('-') {
                let path = text.split_once(':').map_or(text, |(_, path)| path);
                self.touch(capability, &word.with_text(path));
            }
        }
    }

    /// The options whose value is a file; the places that they take.
    fn touch_options(&mut self, program: &str, words: &[Word]) -> Vec<usize> {
        let mut taken = Vec::new();
        for (programs, options, capability) in OPTIONS {
            if !has(programs, program) {
                continue;
            }
            for (at, word) in words.iter().enumerate().skip(1) {
                let text = word.text();
                if has(options, text) {
                    if let Some(value) = words.get(at + 1) {
                        self.touch(*capability, value);
                        taken.push(at + 1);
                    }
                } else if let Some((name, value)) = text.split_once('=')
                    && name.starts_with("--")
                    && has(options, name)
                {
                    self.touch(*capability, &word.with_text(value));
                } else if let Some(value) = options
                    .split(' ')
                    .filter(|option| option.len() == 2)
                    .find_map(|option| text.strip_prefix(option))
                {
                    self.touch(*capability, &word.with_text(value));
                }
            }
        }
        if program == "curl" {
            self.touch_curl_data(words);
        }
        taken
    }

    /// `-d @file`, `-F name=@file`
    fn touch_curl_data(&mut self, words: &[Word]) {
        for word in &words[1..] {
            let text = word.text();
            let is_value = text.starts_with('@')
                || text.contains("=@")
                || text.contains("=<")
                || text.starts_with("-d@");
            if let (true, Some(at)) = (is_value, text.find(['@', '<'])) {
                self.touch(FsRead, &Word::Literal(text[at + 1..].to_owned()));
            }
        }
    }
}

/// `https://…`, `git@host:path`, `host:path`
fn is_remote(text: &str) -> bool {
    text.contains("://")
        || text
            .split_once(':')
            .is_some_and(|(host, _)| host.contains(['@', '.']))
}

fn without_path(word: &Word) -> Word {
    let text = word.text();
    let host = match text.contains("://") {
        true => text,
        false => text.split(':').next().unwrap_or(text),
    };
    word.with_text(host)
}
