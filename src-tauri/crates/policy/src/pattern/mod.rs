//! Patterns of rules: commands by words, paths by glob or folder, hosts, arguments by name. Deny reads them broadly, allow narrowly.

pub mod argument;
mod command;
mod meet;
mod path;

pub use argument::ArgumentPattern;
pub(crate) use command::Head;
pub use command::{CommandPattern, alternatives};
pub(crate) use meet::is_open;
pub use path::{Forms, PathPattern};
pub(crate) use path::{is_absolute, joined};

/// Whether a pattern means everything, whatever it is matched with.
pub fn is_everything(pattern: &str) -> bool {
    matches!(pattern.trim(), "*" | "**" | "**/*" | "**/**")
}

/// How many characters stand before the first wildcard: how specific a pattern is.
pub fn literal_prefix_chars(pattern: &str) -> usize {
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
