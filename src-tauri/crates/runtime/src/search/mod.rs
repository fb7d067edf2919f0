//! Finds files by name and lines by pattern, with the engine of ripgrep.

mod glob;
mod grep;
mod lines;
mod walk;

pub use glob::{GlobFound, glob};
pub use grep::{GrepFound, GrepMatch, GrepQuery, grep};

#[cfg(test)]
mod tests;
