//! Differences of the files that a command changed in a dry run.

use std::collections::BTreeMap;

use protocol::view::effects::{EffectKind, Effects};
use protocol::{CapturedEffects, EffectStep};
use runtime::{FileError, Workspace, read_contents};

use super::{CONTEXT_LINES, diff_file};
use crate::limits::{EFFECTS_DIFF_BYTES_MAX, EFFECTS_DIFF_FILE_BYTES_MAX, EFFECTS_DIFFS_MAX};

/// Adds a difference to each effect, computed from both sides as they were captured. An effect without a difference
/// says why. Reads files, so it must not run on an async thread.
pub fn add_file_diffs(workspace: &Workspace, captured: &CapturedEffects, effects: &mut Effects) {
    let mut steps: BTreeMap<u32, Vec<&EffectStep>> = BTreeMap::new();
    for step in &captured.steps {
        steps.entry(step.effect).or_default().push(step);
    }
    let (mut diffs, mut bytes, mut hunk) = (0, 0_u64, 0);
    for effect in &mut effects.changes {
        let shows = match effect.kind {
            EffectKind::Added | EffectKind::Changed | EffectKind::Deleted => true,
            EffectKind::Renamed | EffectKind::Mode | EffectKind::Link | EffectKind::Special => {
                false
            }
        };
        let Some([step]) = steps.get(&effect.id).map(Vec::as_slice) else {
            continue;
        };
        if !shows || effect.undiffed.is_some() {
            continue;
        }
        if diffs >= EFFECTS_DIFFS_MAX || bytes >= EFFECTS_DIFF_BYTES_MAX {
            effect.undiffed = Some("too many changes to compare each".to_owned());
            continue;
        }
        let (before, after) =
            match read_contents(workspace, captured, step, EFFECTS_DIFF_FILE_BYTES_MAX) {
                // A folder or a link on both sides.
                Ok((None, None)) => continue,
                Ok(sides) => sides,
                Err(FileError::TooLarge { .. }) => {
                    effect.undiffed = Some("too large to be compared".to_owned());
                    continue;
                }
                Err(error) => {
                    effect.undiffed = Some(format!("not compared: {error}"));
                    continue;
                }
            };
        let sides = || before.iter().chain(&after);
        bytes += sides().map(|side| side.len() as u64).sum::<u64>();
        diffs += 1;
        if sides().any(|side| is_binary(side)) {
            effect.undiffed = Some("binary".to_owned());
            continue;
        }
        let after = after.unwrap_or_default();
        let diff = diff_file(&effect.path, before.as_deref(), &after, hunk, CONTEXT_LINES);
        hunk = diff.hunks.last().map_or(hunk, |last| last.id + 1);
        effect.diff = Some(diff);
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0) || std::str::from_utf8(bytes).is_err()
}
