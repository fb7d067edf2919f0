//! Extended attributes and access lists that a command changed on files and folders that it left otherwise unchanged.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use protocol::text::display_text::name;

use crate::dry_run::effects::report::ChangeStage;
use crate::fs::dir::{Dir, is_restorable_xattr};

/// Most paths that a note names one by one.
const NAMED_MAX: usize = 5;

/// Whether the entries of the same name in two folders have different attributes, of those that programs may set.
pub(in crate::dry_run) fn has_different_attributes(one: &Dir, other: &Dir, name: &OsStr) -> bool {
    read_attributes(one, name) != read_attributes(other, name)
}

fn read_attributes(dir: &Dir, name: &OsStr) -> Vec<(String, Vec<u8>)> {
    let mut attributes = dir.attributes_at(Path::new(name)).attributes;
    attributes.retain(|(name, _)| is_restorable_xattr(name));
    attributes
}

/// Returns a note for a person about changed attributes, if there are any: no step of the plan carries them.
pub(in crate::dry_run) fn attributes_note(
    changed: &[PathBuf],
    stage: ChangeStage,
) -> Option<String> {
    let named = changed.iter().take(NAMED_MAX);
    let mut named: Vec<String> = named.map(|path| format!("`{}`", name(path))).collect();
    let more = changed.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let what = match stage {
        ChangeStage::DryRun => "That is not committed.",
        ChangeStage::InPlace => "That cannot be undone.",
    };
    let paths = named.join(", ");
    let sentence = format!("The command changed extended attributes alone of {paths}. {what}");
    (!changed.is_empty()).then_some(sentence)
}
