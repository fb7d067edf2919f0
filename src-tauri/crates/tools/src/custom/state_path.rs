//! Paths in a session's state, such as `report.title`.

use std::fmt;

/// Most names in a path.
const NAMES_MAX: usize = 8;
/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A path in a session's state: one to eight names separated by points.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatePath(String);

impl StatePath {
    /// Parses a path.
    ///
    /// # Errors
    /// A clause that describes a valid path.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let names: Vec<&str> = text.split('.').collect();
        let right = names.len() <= NAMES_MAX
            && names.iter().all(|name| {
                !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(plain)
            });
        match right {
            true => Ok(Self(text.to_owned())),
            false => Err(format!(
                "`{}` is not a place in the state; write one to {NAMES_MAX} names of letters, digits, `_` and `-` with \
                 points between them, such as `report.title`",
                text.chars().take(80).collect::<String>()
            )),
        }
    }

    /// Returns the path as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the names of the path, from the outermost in.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }
}

impl fmt::Display for StatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_path() {
        for text in ["a", "report.title", "a-1.b_2", "1.2.3.4.5.6.7.8"] {
            assert_eq!(StatePath::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            ".",
            "a.",
            "a..b",
            "a b",
            "ä",
            "a/b",
            "1.2.3.4.5.6.7.8.9",
        ] {
            assert!(
                StatePath::parse(text).unwrap_err().contains("report.title"),
                "{text}"
            );
        }
        assert!(StatePath::parse(&"x".repeat(65)).is_err());
    }
}
