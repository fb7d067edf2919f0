//! The differences of the files that a command changed for show.

use std::collections::BTreeMap;

use protocol::effects::{EffectKind, Effects};
use protocol::{Captured, EffectStep};
use runtime::{FileError, Workspace, contents};

use super::{CONTEXT_LINES, file_diff};
use crate::limits::{EFFECTS_DIFF_BYTES_MAX, EFFECTS_DIFF_FILE_BYTES_MAX, EFFECTS_DIFFS_MAX};

/// Gives the effects their differences, from both sides as they were captured. An effect without one says why. Reads
/// files: not for a thread that others wait for.
pub fn fill(workspace: &Workspace, captured: &Captured, effects: &mut Effects) {
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
        let (before, after) = match contents(workspace, captured, step, EFFECTS_DIFF_FILE_BYTES_MAX)
        {
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
        let diff = file_diff(&effect.path, before.as_deref(), &after, hunk, CONTEXT_LINES);
        hunk = diff.hunks.last().map_or(hunk, |last| last.id + 1);
        effect.diff = Some(diff);
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0) || std::str::from_utf8(bytes).is_err()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests set up real files")]
mod tests {
    use std::fs;

    use protocol::effects::{Assurance, Effect};
    use protocol::{Digest, Exit, Node, Ran};

    use super::*;

    const KINDS: [(&str, Option<&str>, Option<&str>, EffectKind); 5] = [
        ("added", None, Some("one\ntwo\n"), EffectKind::Added),
        ("binary", Some("a\0"), Some("b\0"), EffectKind::Changed),
        (
            "changed",
            Some("one\ntwo\n"),
            Some("one\n2\n"),
            EffectKind::Changed,
        ),
        ("deleted", Some("one\n"), None, EffectKind::Deleted),
        ("mode", Some("one\n"), Some("one\n"), EffectKind::Mode),
    ];

    fn node(text: Option<&str>) -> Node {
        text.map_or(Node::Absent, |text| Node::File {
            blob: Digest::of(text.as_bytes()),
            bytes: text.len() as u64,
            mode: 0o644,
            mtime_ns: 0,
        })
    }

    #[test]
    fn what_changed_is_told_line_by_line() {
        let home = tempfile::tempdir().unwrap();
        let (root, layer) = (home.path().join("ws"), home.path().join("layer"));
        let (mut steps, mut changes) = (Vec::new(), Vec::new());
        for folder in [&root, &layer] {
            fs::create_dir(folder).unwrap();
        }
        for ((path, before, after, kind), id) in KINDS.into_iter().zip(0..) {
            for (folder, text) in [(&root, before), (&layer, after)] {
                if let Some(text) = text {
                    fs::write(folder.join(path), text).unwrap();
                }
            }
            steps.push(EffectStep {
                path: path.into(),
                before: node(before),
                after: node(after),
                effect: id,
            });
            changes.push(Effect {
                id,
                path: path.to_owned(),
                kind,
                before: None,
                after: None,
                from: None,
                diff: None,
                undiffed: None,
            });
        }
        let ran = Ran {
            exit: Exit::Code(0),
            head: Vec::new(),
            spilled: None,
            spill_note: None,
            bytes: 0,
            secrets_masked: 0,
            duration_ms: 0,
        };
        let captured = Captured { layer, steps, ran };
        let mut effects = Effects {
            assurance: Assurance::Speculative,
            exit_code: Some(0),
            ended: String::new(),
            output: Vec::new(),
            output_bytes: 0,
            changes,
            refused: Vec::new(),
            notes: Vec::new(),
            digest: captured.digest(),
        };
        fill(
            &runtime::Workspace::open(&root).unwrap(),
            &captured,
            &mut effects,
        );
        let told: Vec<_> = effects
            .changes
            .iter()
            .map(|effect| {
                let lines = effect.diff.as_ref().map(|diff| (diff.added, diff.removed));
                (effect.path.as_str(), lines, effect.undiffed.as_deref())
            })
            .collect();
        assert_eq!(
            told,
            [
                ("added", Some((2, 0)), None),
                ("binary", None, Some("binary")),
                ("changed", Some((1, 1)), None),
                ("deleted", Some((0, 1)), None),
                ("mode", None, None),
            ]
        );
        let ids = effects
            .changes
            .iter()
            .filter_map(|effect| effect.diff.as_ref());
        let ids: Vec<u32> = ids
            .flat_map(|diff| diff.hunks.iter().map(|hunk| hunk.id))
            .collect();
        assert_eq!(ids, [0, 1, 2]);
    }
}
