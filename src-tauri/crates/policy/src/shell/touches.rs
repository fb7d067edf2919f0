//! The files and hosts that a command names: its redirects, the operands of well-known programs, and every word that
//! may be a path, whatever its program is.
//!
//! They can only make a verdict stricter, so a word too many does no harm; what a program's table says only adds.

use protocol::Capability::{self, FsDelete, FsRead, FsWrite, NetFetch};

use super::below::{Below, below};
use super::facts::{Redirect, RedirectKind, Touch, Word};
use super::operands::{operands, stricter};
use super::script::Reader;
use super::touch_table::{Does, OPTIONS, PROGRAMS};
use super::uses::{self, ENTERS, folders};
use super::wrappers::has;
use super::{base_name, sed};
use crate::limits::SHELL_TOUCHES_MAX;

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
        if has(ENTERS, program) {
            return self.enter(words);
        }
        self.touch_told(program, words);
        self.touch_maybe(program, words);
    }

    /// What the table of a program says that its words touch.
    fn touch_told(&mut self, program: &str, words: &[Word]) {
        match program {
            "dd" => return self.touch_dd(words),
            "git" => self.touch_git(words),
            "sed" | "gsed" => self.touch_sed(words),
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
        if text.is_empty() || text == "-" {
            return;
        }
        // A folder that is only known when it runs may be any: the path as it is written stands for all.
        let folder = self.folder.as_deref().filter(|_| is_relative(text));
        let there = folder.map(|folder| format!("{folder}/{text}"));
        for target in std::iter::once(text.to_owned()).chain(there) {
            self.add_touch(Touch {
                capability,
                target,
                literal: word.is_literal(),
                below,
                maybe: false,
            });
        }
    }

    fn add_touch(&mut self, touch: Touch) {
        // What a table tells of a word is not told of it again.
        let told = Touch {
            maybe: false,
            ..touch.clone()
        };
        if touch.maybe && self.touched.contains(&told) {
            return;
        }
        if self.facts.touches.len() >= SHELL_TOUCHES_MAX {
            self.facts.is_crowded = true;
        } else if self.touched.insert(touch.clone()) {
            self.facts.touches.push(touch);
        }
    }

    /// Every word that may be a path: it is read and, unless the program is known to only read it, written.
    fn touch_maybe(&mut self, program: &str, words: &[Word]) {
        let mut found = uses::of(program, words);
        // `git -C folder show HEAD:x`: what is named is named from there.
        let mut places: Vec<String> = folders(words);
        places.extend(self.folder.clone());
        for one in found.drain(..) {
            let text = one.word.text();
            let there = places
                .iter()
                .filter(|_| is_relative(text))
                .map(|folder| format!("{}/{text}", folder.trim_end_matches('/')));
            for target in std::iter::once(text.to_owned()).chain(there) {
                for capability in one.capabilities() {
                    self.add_touch(Touch {
                        capability: *capability,
                        target: target.clone(),
                        literal: one.word.is_literal(),
                        below: false,
                        maybe: true,
                    });
                }
            }
        }
    }

    /// The files that a script of `sed` reads and writes.
    fn touch_sed(&mut self, words: &[Word]) {
        let list: Vec<String> = words.iter().map(|word| word.text().to_owned()).collect();
        for script in sed::scripts(&list).texts {
            for file in sed::files(&script) {
                self.touch(file.capability, &Word::Literal(file.path));
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
            // Alone it goes home.
            if words[0].text() != "pushd" {
                self.touch(FsRead, &Word::Literal("~".to_owned()));
                self.folder = Some("~".to_owned());
            }
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

/// Whether a path begins where the command runs.
fn is_relative(text: &str) -> bool {
    !text.starts_with(['/', '~', '$'])
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
