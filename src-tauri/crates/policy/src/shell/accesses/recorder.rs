//! The files and hosts that a command names: its redirects, the operands of well-known programs, and every word that
//! may be a path, whatever its program is.
//!
//! These accesses can only make a verdict stricter, so a word too many does no harm; a program's table only adds to
//! them.

use protocol::Capability::{self, FsDelete, FsRead, FsWrite, NetFetch, ShellRun};

use crate::limits::SHELL_ACCESSES_MAX;
use crate::shell::accesses::file_uses;
use crate::shell::accesses::file_uses::{FOLDER_CHANGERS, option_folders};
use crate::shell::accesses::folders::{is_relative_path, join};
use crate::shell::accesses::link_targets::place_link_targets;
use crate::shell::accesses::operands::{list_operands, stricter_capability};
use crate::shell::accesses::recursion::{RecursiveRead, detect_recursive_read};
use crate::shell::expand::unknown_text::{UNKNOWN_TEXT, remove_marks};
use crate::shell::facts::{RedirectKind, ShellAccess, ShellRedirect, ShellWord};
use crate::shell::parse::reader::ShellReader;
use crate::shell::program_base_name;
use crate::shell::programs::sed;
use crate::shell::tables::{OperandAccess, list_has_word, program_table};

impl ShellReader<'_> {
    /// Records the accesses of a command's redirects.
    pub fn record_redirect_accesses(&mut self, redirects: &[ShellRedirect]) {
        for redirect in redirects.iter().filter(|redirect| !redirect.is_neutral) {
            let capabilities: &[Capability] = match redirect.kind {
                RedirectKind::Read => &[FsRead],
                RedirectKind::Write | RedirectKind::Append => &[FsWrite],
                RedirectKind::ReadWrite => &[FsRead, FsWrite],
                RedirectKind::Duplicate | RedirectKind::HereDoc | RedirectKind::HereString => &[],
            };
            for capability in capabilities {
                self.record_access(*capability, &redirect.target);
            }
        }
    }

    /// Records the accesses of a command's words.
    pub fn record_word_accesses(&mut self, words: &[ShellWord]) {
        let Some(program) = words
            .first()
            .map(|word| program_base_name(word.text()).to_owned())
        else {
            return;
        };
        let program = program.as_str();
        if list_has_word(FOLDER_CHANGERS, program) {
            return self.enter_folder(words);
        }
        // Another command of the line could lead the folder of a link elsewhere before it is made.
        let placed = place_link_targets(words).filter(|_| self.line.is_alone);
        match &placed {
            Some(placed) => {
                for words in placed {
                    self.record_accesses(program, words);
                }
            }
            None => self.record_accesses(program, words),
        }
    }

    fn record_accesses(&mut self, program: &str, words: &[ShellWord]) {
        self.record_table_accesses(program, words);
        self.record_possible_uses(program, words);
    }

    /// Records the accesses that the table of a program gives for its words.
    fn record_table_accesses(&mut self, program: &str, words: &[ShellWord]) {
        match program {
            "dd" => return self.record_dd_accesses(words),
            "git" => self.record_git_accesses(words),
            "sed" | "gsed" => self.record_sed_accesses(words),
            _ => {}
        }
        let value_positions = self.record_option_accesses(program, words);
        let below = detect_recursive_read(words, self.is_piped);
        if below == Some(RecursiveRead::CurrentFolder) {
            self.record_recursive_access(FsRead, &ShellWord::Literal(".".to_owned()), true);
        }
        let mut rows = program_table().operand_access.iter();
        let Some(row) = rows.find(|row| row.programs.contains(program)) else {
            return;
        };
        let operands = list_operands(program, words, &value_positions);
        match row.access {
            OperandAccess::All(capability) => {
                let has_script = words
                    .iter()
                    .any(|word| list_has_word("-e -f --regexp --expression --file", word.text()));
                // `tar cf` is its letters; with a dash they are an option.
                let is_told = list_has_word("tar gtar bsdtar", program)
                    && words
                        .get(1)
                        .is_some_and(|word| word.text().starts_with('-'));
                let skip = match (has_script || is_told) && capability == FsRead {
                    true => 0,
                    false => row.skipped,
                };
                let capability = stricter_capability(program, words).unwrap_or(capability);
                for word in operands.iter().skip(skip) {
                    self.record_recursive_access(capability, word, below.is_some());
                }
            }
            OperandAccess::Copy | OperandAccess::Move => {
                let into = words.iter().any(|word| {
                    matches!(word.text(), "-t" | "--target-directory")
                        || word.text().starts_with("--target-directory=")
                });
                let (last, first) = match operands.split_last() {
                    Some((last, first)) if !into => (Some(last), first),
                    _ => (None, operands.as_slice()),
                };
                for word in first {
                    self.record_recursive_access(FsRead, word, below.is_some());
                    if row.access == OperandAccess::Move {
                        self.record_access(FsDelete, word);
                    }
                }
                if let Some(last) = last {
                    self.record_access(FsWrite, last);
                }
            }
            OperandAccess::Host => {
                // Without an option that makes it another, the first operand of `ssh host command` is the host.
                let count = if list_has_word("ssh mosh nc ncat netcat telnet ftp", program) {
                    1
                } else {
                    operands.len()
                };
                for word in operands.iter().take(count) {
                    self.record_host_access(word);
                }
            }
        }
    }

    fn record_access(&mut self, capability: Capability, word: &ShellWord) {
        self.record_recursive_access(capability, word, false);
    }

    fn record_recursive_access(&mut self, capability: Capability, word: &ShellWord, below: bool) {
        let text = word.text();
        if text.is_empty() || text == "-" {
            return;
        }
        let targets = match capability {
            FsRead | FsWrite | FsDelete => self.list_targets(text),
            NetFetch | ShellRun => vec![text.to_owned()],
        };
        for target in targets.into_iter().map(Target::from) {
            self.insert_access(ShellAccess {
                capability,
                target: target.name,
                is_literal: word.is_literal(),
                is_recursive: below,
                is_possible_use: false,
                is_guess: target.is_guess,
            });
        }
    }

    /// The path as it counts from each folder in which the command may run.
    fn list_targets(&self, path: &str) -> Vec<String> {
        match is_relative_path(path) {
            true => self
                .folders
                .all()
                .map(|folder| join(folder, path))
                .collect(),
            false => vec![path.to_owned()],
        }
    }

    fn insert_access(&mut self, touch: ShellAccess) {
        // An access that a table gives to a word is not recorded again as a possible use.
        let certain = ShellAccess {
            is_possible_use: false,
            ..touch.clone()
        };
        if touch.is_possible_use && self.recorded_accesses.contains(&certain) {
            return;
        }
        if self.facts.accesses.len() >= SHELL_ACCESSES_MAX {
            self.facts.has_too_many_accesses = true;
        } else if self.recorded_accesses.insert(touch.clone()) {
            self.facts.accesses.push(touch);
        }
    }

    /// Records every word that may be a path as read and, unless the program is known to only read it, written.
    fn record_possible_uses(&mut self, program: &str, words: &[ShellWord]) {
        // `git -C folder show HEAD:x`: what else is named may be named from there.
        let options = option_folders(words);
        for one in file_uses::find_file_uses(program, words) {
            let text = one.word.text();
            let naming = words.iter().filter(|word| word.text().contains(text));
            let is_option = options.iter().any(|folder| folder == text) && naming.count() == 1;
            let mut targets = self.list_targets(text);
            for folder in options.iter().filter(|_| !is_option) {
                targets.extend(self.list_targets(&join(folder, text)));
            }
            for target in targets.into_iter().map(Target::from) {
                for capability in one.capabilities() {
                    self.insert_access(ShellAccess {
                        capability: *capability,
                        target: target.name.clone(),
                        is_literal: one.word.is_literal(),
                        is_recursive: false,
                        is_possible_use: true,
                        is_guess: target.is_guess,
                    });
                }
            }
        }
    }

    /// The files that a script of `sed` reads and writes.
    fn record_sed_accesses(&mut self, words: &[ShellWord]) {
        let list: Vec<String> = words.iter().map(|word| word.text().to_owned()).collect();
        for script in sed::find_sed_scripts(&list).scripts {
            for file in sed::find_sed_files(&script) {
                self.record_access(file.capability, &ShellWord::Literal(file.path));
            }
        }
    }

    fn record_host_access(&mut self, word: &ShellWord) {
        let text = word.text();
        let after_user = text
            .rsplit_once('@')
            .filter(|_| !text.contains("://"))
            .map_or(text, |(_, host)| host);
        self.record_access(NetFetch, &word.with_text(after_user));
    }

    /// Follows `cd`: later accesses are also judged below that folder. One that nothing follows leads nowhere.
    fn enter_folder(&mut self, words: &[ShellWord]) {
        if self.folders.starts.is_empty() {
            return;
        }
        let operand = words[1..]
            .iter()
            .find(|word| !word.text().starts_with('-') || word.text() == "-");
        let Some(operand) = operand else {
            // Alone it goes home.
            if words[0].text() != "pushd" {
                self.record_access(FsRead, &ShellWord::Literal("~".to_owned()));
                self.folders.enter("~");
            }
            return;
        };
        self.record_access(FsRead, operand);
        self.folders.enter(operand.text());
    }

    fn record_dd_accesses(&mut self, words: &[ShellWord]) {
        for word in &words[1..] {
            let touched = match word.text().split_once('=') {
                Some(("if", path)) => Some((FsRead, path)),
                Some(("of", path)) => Some((FsWrite, path)),
                _ => None,
            };
            if let Some((capability, path)) = touched {
                self.record_access(capability, &word.with_text(path));
            }
        }
    }

    fn record_git_accesses(&mut self, words: &[ShellWord]) {
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
                for word in words[at + 1..]
                    .iter()
                    .filter(|word| is_remote_path(word.text()))
                {
                    self.record_host_access(&strip_path(word));
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
                self.record_access(capability, &word.with_text(path));
            }
        }
    }

    /// Records the options whose value is a file; returns the positions of those values.
    fn record_option_accesses(&mut self, program: &str, words: &[ShellWord]) -> Vec<usize> {
        let mut value_positions = Vec::new();
        let rows = program_table().option_file.iter();
        for row in rows.filter(|row| row.programs.contains(program)) {
            for (at, word) in words.iter().enumerate().skip(1) {
                let text = word.text();
                if row.words.contains(text) {
                    if let Some(value) = words.get(at + 1) {
                        self.record_access(row.access, value);
                        value_positions.push(at + 1);
                    }
                } else if let Some((name, value)) = text.split_once('=')
                    && name.starts_with("--")
                    && row.words.contains(name)
                {
                    self.record_access(row.access, &word.with_text(value));
                } else if let Some(value) = row
                    .words
                    .iter()
                    .filter(|option| option.len() == 2)
                    .find_map(|option| text.strip_prefix(option))
                {
                    self.record_access(row.access, &word.with_text(value));
                }
            }
        }
        if program == "curl" {
            self.record_curl_data(words);
        }
        value_positions
    }

    /// `-d @file`, `-F name=@file`
    fn record_curl_data(&mut self, words: &[ShellWord]) {
        for word in &words[1..] {
            let text = word.text();
            let is_value = text.starts_with('@')
                || text.contains("=@")
                || text.contains("=<")
                || text.starts_with("-d@");
            if let (true, Some(at)) = (is_value, text.find(['@', '<'])) {
                self.record_access(FsRead, &ShellWord::Literal(text[at + 1..].to_owned()));
            }
        }
    }
}

/// The path or host of an access.
struct Target {
    name: String,
    /// Whether it begins with a text that is not known.
    is_guess: bool,
}

impl From<String> for Target {
    fn from(mut name: String) -> Self {
        let is_guess = name.starts_with(UNKNOWN_TEXT);
        remove_marks(&mut name);
        Self { name, is_guess }
    }
}

/// `https://…`, `git@host:path`, `host:path`
fn is_remote_path(text: &str) -> bool {
    text.contains("://")
        || text
            .split_once(':')
            .is_some_and(|(host, _)| host.contains(['@', '.']))
}

fn strip_path(word: &ShellWord) -> ShellWord {
    let text = word.text();
    let host = match text.contains("://") {
        true => text,
        false => text.split(':').next().unwrap_or(text),
    };
    word.with_text(host)
}
