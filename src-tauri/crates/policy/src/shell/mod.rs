//! Shell facts: everything that a command line may run, and whether it is understood well enough to be allowed.
//!
//! Two independent parsers read the command line. A command that either of them sees counts for a deny; an allow needs
//! that both see the same and that every word is literal. A limit, an error or a disagreement only ever makes a verdict
//! stricter.
//!
//! Start reading at [`parse_command`].

mod facts;

pub(crate) use crate::shell::matching::named_only::requires_named_rule;
pub(crate) use crate::shell::matching::plain::names_program_by_path;
pub use crate::shell::programs::git_remotes::{RemoteCommand, parse_remote_command};
pub(crate) use crate::shell::programs::runners::runs_other_programs;
pub(crate) use crate::shell::tables::list_has_word;
pub use facts::{
    CommandOrigin, RedirectKind, ShellAccess, ShellAssignment, ShellFacts, ShellRedirect,
    ShellWord, SimpleCommand,
};

/// Parses a command line of `bash` or `sh`. It never fails: a part that cannot be read makes the facts unsure.
pub fn parse_command(command: &str) -> ShellFacts {
    crate::shell::parse::reader::ShellReader::new(command).read_facts()
}

/// Splits an option into its name and its value: `--name=value`.
pub(in crate::shell) fn split_option(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    }
}

/// The letters of a word of short options: `-xyz`.
pub(in crate::shell) fn short_options(word: &str) -> Option<&str> {
    word.strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'))
}

/// The name of a program without its folder.
pub(crate) fn program_base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

pub(crate) mod accesses;
pub(crate) mod expand;
pub(crate) mod matching;
pub(crate) mod parse;
pub(crate) mod programs;
pub(crate) mod scan;
#[cfg(test)]
mod table;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
