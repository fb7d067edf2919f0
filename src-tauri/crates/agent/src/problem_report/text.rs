//! Texts of a report that are not the program's own, in forms that let nothing of a person's through.

use std::path::Path;

use serde::{Serialize, Serializer};

/// What stands for a path of the person's.
const PATH_LABEL: &str = "PATH";
/// Folders of the system whose paths say nothing about a person.
const SYSTEM_FOLDERS: [&str; 3] = ["/dev/", "/proc/", "/sys/"];

/// Whether a text was set, in the place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Presence {
    #[serde(rename = "set")]
    Set,
    #[serde(rename = "not set")]
    NotSet,
}

impl Presence {
    pub(super) fn of(text: Option<&str>) -> Self {
        match text {
            Some(text) if !text.is_empty() => Self::Set,
            Some(_) | None => Self::NotSet,
        }
    }
}

/// A name by number, in the place of a name that the person chose: `server 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberedName {
    pub(super) thing: &'static str,
    /// From 0.
    pub(super) index: usize,
}

impl Serialize for NumberedName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{} {}", self.thing, self.index + 1))
    }
}

/// The numbers of a version, without what may follow them: `6.8.0` of `6.8.0-31-generic`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct VersionNumber(String);

impl VersionNumber {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let numbers = text.trim().split(|c| !is_part(c)).next()?;
        let numbers = numbers.trim_matches('.');
        (!numbers.is_empty()).then(|| Self(numbers.to_owned()))
    }
}

/// A sentence of the program in which paths and names of the person are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct MaskedText(String);

/// What is masked in sentences.
#[derive(Debug, Clone, Default)]
pub(super) struct TextMasks {
    /// Paths, each with its label; the longest first.
    paths: Vec<MaskedName>,
    /// Names of the person and of the machine.
    names: Vec<MaskedName>,
}

#[derive(Debug, Clone)]
struct MaskedName {
    name: String,
    label: &'static str,
}

impl TextMasks {
    pub(super) fn add_path(&mut self, path: &Path, label: &'static str) {
        let name = path.display().to_string();
        if name.len() > 1 {
            self.paths.push(MaskedName { name, label });
            self.paths
                .sort_by_key(|path| std::cmp::Reverse(path.name.len()));
        }
    }

    pub(super) fn add_name(&mut self, name: &str, label: &'static str) {
        let name = name.trim().to_owned();
        if !name.is_empty() {
            self.names.push(MaskedName { name, label });
        }
    }

    /// Masks a sentence. A path is masked as a whole, unless it is one of the system's.
    pub(super) fn mask(&self, text: &str) -> MaskedText {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = find_path(rest) {
            masked.push_str(&rest[..start]);
            let path = &rest[start..];
            let end = find_path_end(rest[..start].chars().last(), path);
            let (path, after) = path.split_at(end);
            masked.push_str(self.label_path(path));
            rest = after;
        }
        masked.push_str(rest);
        // A path that follows a letter, as in `file:/home/me`, is not found as one.
        for MaskedName { name, label } in &self.paths {
            masked = masked.replace(name, label);
        }
        for MaskedName { name, label } in &self.names {
            masked = replace_word(&masked, name, label);
        }
        MaskedText(masked)
    }

    fn label_path<'a>(&self, path: &'a str) -> &'a str {
        let mut known = self.paths.iter();
        let known = known.find(|known| path.starts_with(&known.name));
        match known {
            Some(known) => known.label,
            None if SYSTEM_FOLDERS.iter().any(|own| path.starts_with(own)) => path,
            None => PATH_LABEL,
        }
    }
}

/// Returns where the first absolute path begins.
fn find_path(text: &str) -> Option<usize> {
    let mut before = None;
    for (at, c) in text.char_indices() {
        let begins = before.is_none_or(|c: char| !c.is_alphanumeric() && !"/\\.~-_".contains(c));
        let mut next = text[at..].chars().skip(1);
        let is_drive = c.is_ascii_alphabetic()
            && next.next() == Some(':')
            && matches!(next.next(), Some('\\' | '/'));
        if begins && (c == '/' || is_drive) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// Returns where a path ends: at the mark that it began with, else at the next blank or mark.
fn find_path_end(before: Option<char>, path: &str) -> usize {
    let end = match before {
        Some(quote @ ('`' | '"' | '\'')) => path.find(quote),
        Some(_) | None => path.find(|c: char| c.is_whitespace() || "`\"',;()".contains(c)),
    };
    end.unwrap_or(path.len())
}

/// Replaces a name where it stands as a word of its own.
fn replace_word(text: &str, name: &str, label: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let after = &found[name.len()..];
        let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let is_word = ends(before.chars().last()) && ends(after.chars().next());
        replaced.push_str(before);
        replaced.push_str(if is_word { label } else { name });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_masked_and_the_rest_is_not() {
        let mut masks = TextMasks::default();
        masks.add_path(Path::new("/home/ada"), "HOME");
        masks.add_path(Path::new("/home/ada/work place"), "WORKSPACE");
        masks.add_name("ada", "USER");
        masks.add_name("analytical", "HOST");
        for (text, masked) in [
            (
                "`/home/ada/work place/plans/x.txt` cannot be read: in and/or out.",
                "`WORKSPACE` cannot be read: in and/or out.",
            ),
            (
                "A layer in memory (`/dev/shm`, or /dev/shm/x) does not work: /srv/secret: no.",
                "A layer in memory (`/dev/shm`, or /dev/shm/x) does not work: PATH no.",
            ),
            ("ada's mode on analytical-2", "USER's mode on HOST-2"),
            ("adamant", "adamant"),
            ("file:/home/ada/x", "file:HOME"),
            (r"in `C:\Users\ada\x` it", "in `PATH` it"),
        ] {
            assert_eq!(masks.mask(text).0, masked, "{text}");
        }
    }

    #[test]
    fn a_version_is_its_numbers() {
        let parse = |text| VersionNumber::parse(text).map(|version| version.0);
        assert_eq!(parse("6.8.0-31-myhost\n").as_deref(), Some("6.8.0"));
        assert_eq!(parse("\"24.04\"").as_deref(), None);
        assert_eq!(parse("ada"), None);
    }
}
