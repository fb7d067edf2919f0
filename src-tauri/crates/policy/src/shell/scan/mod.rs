//! Searches texts that the parsers cannot be trusted with for commands that they may run.

pub(crate) mod command_starts;
pub(crate) mod doubtful_texts;
pub(crate) mod unquoted;
