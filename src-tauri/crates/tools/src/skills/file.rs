//! Parses the file of one skill, `SKILL.md`, as the open specification has it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::front_matter::{self, FrontMatterError, NameList};
use crate::limits::{
    SKILL_COMPATIBILITY_CHARS_MAX, SKILL_DESCRIPTION_CHARS_MAX, SKILL_NAME_CHARS_MAX,
};

/// The front matter of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillHeader {
    pub name: String,
    pub description: String,
    pub compatibility: String,
    pub allowed_tools: Vec<String>,
}

/// Front matter as it is written. Members beyond the specification's belong to other programs and are ignored.
#[derive(Deserialize)]
struct RawSkillHeader {
    name: String,
    description: String,
    #[serde(default)]
    compatibility: Option<String>,
    #[serde(default, rename = "license")]
    _license: Option<String>,
    #[serde(default, rename = "metadata")]
    _metadata: Option<BTreeMap<String, IgnoredAny>>,
    /// Separated by spaces as the specification has it, or a list, as many write it.
    #[serde(default, rename = "allowed-tools")]
    allowed_tools: Option<NameList>,
}

/// Parses a skill that lies in a folder of this name.
///
/// # Errors
/// Any deviation from the specification.
pub(super) fn parse_skill_file<'a>(
    text: &'a str,
    folder: &str,
) -> Result<(SkillHeader, &'a str), FrontMatterError> {
    let (written, body): (RawSkillHeader, &str) = front_matter::parse_front_matter(text)?;
    let wrong = |reason: String| Err(FrontMatterError::new(1, reason));
    if let Some(reason) = explain_invalid_name(&written.name) {
        return wrong(format!("its name {reason}"));
    }
    if written.name != folder {
        return wrong(format!(
            "its name is `{}`, and its folder has another one",
            written.name
        ));
    }
    let description = to_one_line(&written.description);
    match description.chars().count() {
        0 => return wrong("its description is empty".to_owned()),
        chars if chars > SKILL_DESCRIPTION_CHARS_MAX => {
            return wrong(format!(
                "its description is longer than {SKILL_DESCRIPTION_CHARS_MAX} characters"
            ));
        }
        _ => {}
    }
    let compatibility = to_one_line(&written.compatibility.unwrap_or_default());
    if compatibility.chars().count() > SKILL_COMPATIBILITY_CHARS_MAX {
        return wrong(format!(
            "its compatibility is longer than {SKILL_COMPATIBILITY_CHARS_MAX} characters"
        ));
    }
    let head = SkillHeader {
        name: written.name,
        description,
        compatibility,
        allowed_tools: written
            .allowed_tools
            .map_or_else(Vec::new, |names| names.split_by(char::is_whitespace)),
    };
    Ok((head, body))
}

fn explain_invalid_name(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match name {
        "" => Some("is empty".to_owned()),
        name if name.chars().count() > SKILL_NAME_CHARS_MAX => {
            Some(format!("is longer than {SKILL_NAME_CHARS_MAX} characters"))
        }
        name if !name.chars().all(allowed) => {
            Some("holds more than small letters, digits and `-`".to_owned())
        }
        name if name.starts_with('-') || name.ends_with('-') || name.contains("--") => {
            Some("begins or ends with `-`, or holds two of them together".to_owned())
        }
        _ => None,
    }
}

/// Formats a text as one line, with invisible characters replaced by their names, since the line is placed among lines
/// of our own.
pub(crate) fn to_one_line(text: &str) -> String {
    let line = protocol::text::display_text::to_single_line(text.trim(), usize::MAX);
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
