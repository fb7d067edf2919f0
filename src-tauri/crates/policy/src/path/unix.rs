//! Paths of Linux and macOS.

use super::{AbsolutePath, Os, ParsedPath, begins_at_home};

/// Reads a path from a folder on.
pub(super) fn parse_path(os: Os, base: &AbsolutePath, path: &str) -> ParsedPath {
    if begins_at_home(path, |c| c == '/') {
        return ParsedPath::Home;
    }
    let mut names = match path.starts_with('/') {
        true => Vec::new(),
        false => base.names.clone(),
    };
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            "..namedfork" if os == Os::Macos => {
                return ParsedPath::Unresolved("it names a fork of a file.".to_owned());
            }
            _ => names.push(name.to_owned()),
        }
    }
    if os == Os::Macos {
        names = canonicalize_macos_names(names);
    }
    ParsedPath::Absolute(AbsolutePath {
        prefix: String::new(),
        names,
    })
}

/// Places of macOS that have two names.
fn canonicalize_macos_names(mut names: Vec<String>) -> Vec<String> {
    let begins = |names: &[String], start: &[&str]| {
        names.len() >= start.len()
            && names
                .iter()
                .zip(start)
                .all(|(name, expected)| name.eq_ignore_ascii_case(expected))
    };
    if begins(&names, &["System", "Volumes", "Data"]) {
        names.drain(..3);
    }
    if ["tmp", "var", "etc"]
        .iter()
        .any(|name| begins(&names, &[name]))
    {
        names.insert(0, "private".to_owned());
    }
    names
}
