//! Shell facts: everything that a command line may run, and whether it is understood well enough to be allowed.
//!
//! Two independent parsers read it. What either of them sees counts for a deny; an allow needs that both see the same
//! and that every word stands for itself. A limit, an error or a disagreement only ever makes a verdict stricter.
//!
//! Start reading at [`read`].

mod ansi;
mod awk;
mod below;
mod blind;
mod bounds;
mod broad;
mod extent;
mod facts;
mod fed;
mod flag_table;
mod flags;
mod foreign;
mod forms;
mod git;
mod operands;
mod opinion;
mod pieces;
mod plain;
mod prints;
mod programs;
mod redirects;
mod runners;
mod script;
mod search;
mod sed;
mod setters;
mod simple;
mod spell;
mod started;
mod starts;
mod touch_table;
mod touches;
mod unwrap;
mod uses;
mod variables;
mod walk;
mod word;
mod wrapper_table;
mod wrappers;

pub(crate) use broad::must_be_named;
pub use facts::{Assignment, Redirect, RedirectKind, ShellFacts, SimpleCommand, Touch, Via, Word};
pub(crate) use plain::is_pathed;
pub(crate) use runners::runs_others;

/// Reads a command line of `bash` or `sh`. It never fails: what cannot be read makes the facts unsure.
pub fn read(command: &str) -> ShellFacts {
    script::Reader::new(command).facts()
}

/// The name of a program without its folder.
pub(crate) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;
