//! Classifies the value of an argument by its name, the format of its schema and the value itself.

use percent_encoding::percent_decode_str;

use crate::limits::MENTION_BYTES_MAX;

/// The kind of thing that a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MentionKind {
    Path,
    Host,
    Command,
}

const PATH_FORMATS: [&str; 8] = [
    "path",
    "file-path",
    "filepath",
    "file",
    "filename",
    "directory-path",
    "directory",
    "folder",
];

const HOST_FORMATS: [&str; 12] = [
    "uri",
    "uri-reference",
    "url",
    "iri",
    "iri-reference",
    "uri-template",
    "hostname",
    "idn-hostname",
    "host",
    "ipv4",
    "ipv6",
    "ip",
];

/// Last words of the names of arguments that hold a path.
const PATH_NAMES: [&str; 20] = [
    "path",
    "pathname",
    "file",
    "filename",
    "filepath",
    "dir",
    "dirname",
    "directory",
    "folder",
    "foldername",
    "cwd",
    "workdir",
    "root",
    "rootdir",
    "basedir",
    "src",
    "dest",
    "dst",
    "db",
    "database",
];

/// Last words of the names of arguments that may hold a path: free text under one of them is not a path.
const AMBIGUOUS_PATH_NAMES: [&str; 12] = [
    "source",
    "destination",
    "target",
    "workspace",
    "project",
    "repo",
    "repository",
    "location",
    "input",
    "output",
    "from",
    "to",
];

const HOST_NAMES: [&str; 16] = [
    "uri", "url", "href", "link", "host", "hostname", "domain", "endpoint", "origin", "server",
    "site", "website", "webhook", "callback", "proxy", "baseurl",
];

const COMMAND_NAMES: [&str; 4] = ["command", "cmd", "commandline", "shellcommand"];

/// Words in the names of tools that delete or move something.
const DELETING_NAMES: [&str; 9] = [
    "delete", "remove", "rm", "unlink", "erase", "trash", "move", "rename", "mv",
];

/// Whether the name of a tool says that it deletes or moves something.
pub fn is_deleting_name(tool: &str) -> bool {
    split_words(tool)
        .iter()
        .any(|word| DELETING_NAMES.contains(&word.as_str()))
}

pub(super) fn classify_format(format: &str) -> Option<MentionKind> {
    let format = format.to_ascii_lowercase();
    match () {
        () if PATH_FORMATS.contains(&format.as_str()) => Some(MentionKind::Path),
        () if HOST_FORMATS.contains(&format.as_str()) => Some(MentionKind::Host),
        () => None,
    }
}

/// Splits a name into words: `targetPath`, `target_path` and `target-path` are two words each.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && was_lower;
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the last word of a name, which says what the argument holds; for `file_name` and `path_name` the word before
/// the last.
fn last_word(name: &str) -> String {
    let mut words = split_words(name);
    if words.len() > 1
        && matches!(
            words.last().map(String::as_str),
            Some("name" | "names" | "list" | "string" | "str")
        )
    {
        words.pop();
    }
    words.pop().unwrap_or_default()
}

pub(super) fn classify_name(name: &str) -> Option<MentionKind> {
    let word = last_word(name);
    let is_one = |names: &[&str]| {
        let singular = word.strip_suffix('s').unwrap_or(&word);
        let other = word.strip_suffix("ies").map(|start| format!("{start}y"));
        names.contains(&word.as_str())
            || names.contains(&singular)
            || other.is_some_and(|other| names.contains(&other.as_str()))
    };
    match () {
        () if is_one(&COMMAND_NAMES) => Some(MentionKind::Command),
        () if is_one(&HOST_NAMES) => Some(MentionKind::Host),
        () if is_one(&PATH_NAMES) || is_one(&AMBIGUOUS_PATH_NAMES) => Some(MentionKind::Path),
        () => None,
    }
}

pub(super) fn is_ambiguous_name(name: &str) -> bool {
    let word = last_word(name);
    let singular = word.strip_suffix('s').unwrap_or(&word);
    AMBIGUOUS_PATH_NAMES.contains(&word.as_str()) || AMBIGUOUS_PATH_NAMES.contains(&singular)
}

pub(super) fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= MENTION_BYTES_MAX && !text.contains(char::is_whitespace)
}

/// Classifies a value by itself: an address, or a path that begins at the root, the home folder, the current folder or
/// its parent.
pub(super) fn classify_value(text: &str) -> Option<MentionKind> {
    let text = text.trim();
    if path_from_file_url(text).is_some() {
        return Some(MentionKind::Path);
    }
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    if scheme.is_some_and(is_scheme) && is_plain_word(text) {
        return Some(MentionKind::Host);
    }
    let bytes = text.as_bytes();
    let is_drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'/' | b'\\');
    let is_rooted = (text.starts_with('/') && !text.starts_with("//"))
        || text.starts_with("\\\\")
        || matches!(text, "." | ".." | "~")
        || ["./", "../", "~/", ".\\", "..\\"]
            .iter()
            .any(|start| text.starts_with(start));
    (is_drive || is_rooted).then_some(MentionKind::Path)
}

/// Returns the path of a `file:` address.
pub(super) fn path_from_file_url(text: &str) -> Option<String> {
    let text = text.trim();
    let begins = text.get(..5)?.eq_ignore_ascii_case("file:");
    if !begins {
        return None;
    }
    let rest = &text[5..];
    let path = match rest.strip_prefix("//") {
        // `file://host/path`
        Some(rest) => &rest[rest.find('/').unwrap_or(rest.len())..],
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    Some(match path.is_empty() {
        true => "/".to_owned(),
        false => percent_decode_str(path).decode_utf8_lossy().into_owned(),
    })
}

/// Returns the host of an address, whatever its scheme; the text itself if it is not an address.
pub(super) fn extract_host(text: &str) -> String {
    let text = text.trim();
    match text.split_once("://") {
        Some(("http" | "https" | "ws" | "wss" | "ftp" | "ssh" | "git", _)) => text.to_owned(),
        // `postgres://user@host:5432/db` leads to `host:5432`.
        Some((_, rest)) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            host.to_owned()
        }
        // `git@github.com:owner/repo.git` leads to `github.com`.
        None => match text.split_once('@').map(|(_, rest)| rest.split_once(':')) {
            Some(Some((host, _))) => host.to_owned(),
            _ => text.to_owned(),
        },
    }
}
