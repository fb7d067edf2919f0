//! Extended attributes and access lists that a command changed on what it left otherwise as it was.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use protocol::shown::name;

use super::read_out::Done;
use crate::dir::{Dir, is_of_programs};

/// Paths that are named one by one.
const NAMED_MAX: usize = 5;

/// Whether what stands at a name in two folders has other attributes, of those that programs may set.
pub(super) fn differ(one: &Dir, other: &Dir, name: &OsStr) -> bool {
    of(one, name) != of(other, name)
}

fn of(dir: &Dir, name: &OsStr) -> Vec<(String, Vec<u8>)> {
    let mut attributes = dir.traits_at(Path::new(name)).attributes;
    attributes.retain(|(name, _)| is_of_programs(name));
    attributes
}

/// What a person is told of them, if there are any: no step carries them.
pub(super) fn note(changed: &[PathBuf], done: Done) -> Option<String> {
    let named = changed.iter().take(NAMED_MAX);
    let mut named: Vec<String> = named.map(|path| format!("`{}`", name(path))).collect();
    let more = changed.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let what = match done {
        Done::ForShow => "That is not carried out.",
        Done::ForReal => "That cannot be undone.",
    };
    let paths = named.join(", ");
    let told = format!("The command changed extended attributes alone of {paths}. {what}");
    (!changed.is_empty()).then_some(told)
}
