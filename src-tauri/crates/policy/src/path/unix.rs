//! Paths of Linux and macOS.

use super::{Absolute, Os, Read, begins_at_home};

/// Reads a path from a folder on.
pub(super) fn read(os: Os, base: &Absolute, path: &str) -> Read {
    if begins_at_home(path, |c| c == '/') {
        return Read::Home;
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
                return Read::Unknown("it names a fork of a file.".to_owned());
            }
            _ => names.push(name.to_owned()),
        }
    }
    if os == Os::Macos {
        names = known_places(names);
    }
    Read::Found(Absolute {
        prefix: String::new(),
        names,
    })
}

/// Places of macOS that have two names.
fn known_places(mut names: Vec<String>) -> Vec<String> {
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
