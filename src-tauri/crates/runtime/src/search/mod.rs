//! Finds files by name and lines by pattern, with the engine of ripgrep.

mod glob;
mod grep;
mod lines;
mod sizes;
mod walk;

pub use glob::{GlobFound, GlobQuery, Include, glob};
pub use grep::{GrepFound, GrepMatch, GrepQuery, grep};
pub use sizes::{FileSize, SizesFound, sizes};

#[cfg(test)]
mod tests;
