//! A command as the checks look at it: its words wherever they stand, and its text.

use crate::facts::CallFacts;
use crate::shell::ShellAccess;

/// A command of a call.
pub(super) struct WatchedCommand {
    /// The command as it is written.
    pub text: String,
    /// Whatever may run, each beginning with a program's base name.
    pub commands: Vec<Vec<String>>,
    /// Paths and hosts that the command names.
    pub accesses: Vec<ShellAccess>,
    /// Whether the hosts that the call names are the loopback of its sandbox alone.
    pub is_own_loopback: bool,
}

impl WatchedCommand {
    /// All commands of a call.
    pub fn from_facts(facts: &CallFacts) -> Vec<Self> {
        facts
            .commands()
            .map(|(text, read)| Self {
                text: text.to_owned(),
                commands: read.may_run().to_vec(),
                accesses: read
                    .accesses()
                    .iter()
                    .filter(|one| !one.is_possible_use)
                    .cloned()
                    .collect(),
                is_own_loopback: facts.is_own_loopback(),
            })
            .collect()
    }

    /// The commands that run one of these programs, whose names have blanks between.
    pub fn commands_running<'a>(
        &'a self,
        programs: &'a str,
    ) -> impl Iterator<Item = &'a [String]> + 'a {
        self.commands
            .iter()
            .filter(|words| {
                words
                    .first()
                    .is_some_and(|name| matches_program_name(name, programs))
            })
            .map(Vec::as_slice)
    }

    /// Whether one of these programs may run.
    pub fn may_run_any(&self, programs: &str) -> bool {
        self.commands_running(programs).next().is_some()
    }

    /// Every word of every command.
    pub fn all_words(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().flatten().map(String::as_str)
    }
}

/// A program's name against a list; `python3.12` is `python*`.
fn matches_program_name(name: &str, programs: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    programs
        .split(' ')
        .any(|program| match program.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == program,
        })
}

/// Whether a short option is among the words: `-rf` holds `r`.
pub(super) fn has_option(words: &[String], short: &[char], long: &[&str]) -> bool {
    words
        .iter()
        .skip(1)
        .any(|word| match word.strip_prefix("--") {
            Some(name) => long
                .iter()
                .any(|long| name == *long || name.split('=').next() == Some(long)),
            None => word.starts_with('-') && word.chars().skip(1).any(|c| short.contains(&c)),
        })
}
