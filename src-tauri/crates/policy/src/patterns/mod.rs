//! Patterns of rules: commands by words, paths by glob or folder, hosts, arguments by name. A deny matches them
//! broadly, an allow narrowly.

pub mod argument;
mod command;
pub mod host;
mod overlap;
mod path;
mod path_set;
mod remote;

pub use argument::ArgumentPattern;
pub(crate) use command::ProgramName;
pub use command::{CommandPattern, expand_braces};
pub(crate) use overlap::has_wildcard;
pub use path::{PathForms, PathPattern};
pub(crate) use path::{is_absolute, join_root};
pub(crate) use path_set::PathPatternSet;
pub use remote::RemoteAddress;

/// Whether a pattern matches everything.
pub fn matches_everything(pattern: &str) -> bool {
    matches!(pattern.trim(), "*" | "**" | "**/*" | "**/**")
}

/// Returns the number of characters before the first wildcard: the specificity of a pattern.
pub fn count_literal_prefix(pattern: &str) -> usize {
    let mut chars = pattern.trim().chars();
    let mut count = 0;
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' | '{' => break,
            '\\' => count += usize::from(chars.next().is_some()),
            _ => count += 1,
        }
    }
    count
}
