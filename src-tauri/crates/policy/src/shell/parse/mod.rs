//! Reads a command line: words, quotes, redirects, and simple commands, with two independent parsers.

pub(crate) mod ansi_quote;
pub(crate) mod ast_walk;
pub(crate) mod complexity;
pub(crate) mod extent;
pub(crate) mod reader;
pub(crate) mod redirects;
pub(crate) mod second_parser;
pub(crate) mod simple_command;
pub(crate) mod word;
