//! Finds files by name and lines by pattern, with the engine of ripgrep.

mod glob;
mod grep;
mod lines;
mod named_files;
mod same_files;
mod sizes;
mod walk;

pub use glob::{GlobInclude, GlobQuery, GlobResult, find_files};
pub use grep::{GrepMatch, GrepQuery, GrepResult, search_lines};
pub use named_files::{NamedFile, read_named_files};
pub use same_files::{FileTraits, find_same_files};
pub use sizes::{FileSize, FileSizes, list_file_sizes};

#[cfg(test)]
mod tests;
