//! Front matter: the YAML between two lines of `---` at the head of a Markdown file.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::limits::FRONT_MATTER_BYTES_MAX;

/// An error in the front matter of a file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatterError {
    /// The line, from 1.
    pub line: usize,
    /// The reason, without a full stop.
    pub reason: String,
}

impl FrontMatterError {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self {
            line,
            reason: reason.into(),
        }
    }
}

/// Names as a list, or as one text that separates them.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum NameList {
    Text(String),
    List(Vec<String>),
}

impl NameList {
    /// Returns the names; a text is split at these separators.
    pub(crate) fn split_by(self, is_separator: fn(char) -> bool) -> Vec<String> {
        match self {
            Self::List(names) => names,
            Self::Text(text) => {
                let names = text.split(is_separator).map(str::trim);
                let names = names.filter(|name| !name.is_empty());
                names.map(str::to_owned).collect()
            }
        }
    }
}

/// Parses the front matter, and returns it with the text below it.
///
/// # Errors
/// If there is no front matter, it does not end or is longer than 16 KiB, or its YAML does not match `T`.
pub fn parse_front_matter<T: DeserializeOwned>(text: &str) -> Result<(T, &str), FrontMatterError> {
    let (head, body) = split_front_matter(text)?;
    let head = serde_saphyr::from_str(head).map_err(|error| {
        // The head begins in the file's second line.
        let line = error.location().map_or(1, |at| at.line() as usize) + 1;
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default();
        let reason = first.strip_prefix("error: ").unwrap_or(first);
        FrontMatterError::new(line, reason.trim_end_matches('.'))
    })?;
    Ok((head, body))
}

/// Splits a text into the front matter and the text below it.
fn split_front_matter(text: &str) -> Result<(&str, &str), FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let open = || FrontMatterError::new(1, "it does not begin with a line of `---`");
    let (first, rest) = text.split_once('\n').ok_or_else(open)?;
    if first.trim_end() != "---" {
        return Err(open());
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..at], rest[at + line.len()..].trim_start()));
        }
        at += line.len();
        if at > FRONT_MATTER_BYTES_MAX {
            return Err(FrontMatterError::new(
                1,
                format!("its front matter is longer than {FRONT_MATTER_BYTES_MAX} bytes"),
            ));
        }
    }
    Err(FrontMatterError::new(
        1,
        "its front matter has no end, a second line of `---`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Head {
        name: String,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[test]
    fn a_head_and_a_body() {
        for (text, name, tags, body) in [
            (
                "---\nname: a\n---\n\nBody\n---\nmore\n",
                "a",
                vec![],
                "Body\n---\nmore\n",
            ),
            (
                "\u{feff}---\r\nname: a\r\ntags: [x, y]\r\n---\r\nBody",
                "a",
                vec!["x", "y"],
                "Body",
            ),
            (
                "---\nname: |\n  two\n  lines\n---",
                "two\nlines\n",
                vec![],
                "",
            ),
        ] {
            let (head, rest): (Head, &str) = parse_front_matter(text).unwrap();
            assert_eq!((head.name.as_str(), rest), (name, body), "{text:?}");
            assert_eq!(head.tags, tags, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let long = format!("---\nname: {}\n---\n", "a".repeat(FRONT_MATTER_BYTES_MAX));
        let bomb = "---\na: &a [x, x, x, x, x, x, x, x, x]\n".to_owned()
            + &('b'..='j')
                .zip('a'..)
                .map(|(next, last)| {
                    format!(
                        "{next}: &{next} [{}]\n",
                        vec![format!("*{last}"); 9].join(", ")
                    )
                })
                .collect::<String>()
            + "name: x\ntags: *j\n---\n";
        for (text, line, reason) in [
            ("", 1, "does not begin"),
            ("# Title\n---\n", 1, "does not begin"),
            ("---\nname: a\n", 1, "has no end"),
            ("---\ntags: []\n---\n", 2, "missing field `name`"),
            ("---\nname: a\nname: b\n---\n", 3, "duplicate"),
            ("---\nname: a\ntags: 7\n---\n", 3, ""),
            ("---\nname: [a\n---\n", 2, ""),
            (long.as_str(), 1, "longer than"),
            (bomb.as_str(), 2, ""),
        ] {
            let wrong = parse_front_matter::<Head>(text).unwrap_err();
            assert!(wrong.reason.contains(reason), "{text:.40}: {wrong:?}");
            assert!(
                wrong.line >= line.min(2) && !wrong.reason.is_empty(),
                "{text:.40}: {wrong:?}"
            );
        }
    }
}
