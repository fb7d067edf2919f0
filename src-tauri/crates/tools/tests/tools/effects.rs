//! The differences of what a command did for show.

use std::fs;

use protocol::view::effects::{Assurance, Effect, EffectKind, Effects};
use protocol::{CapturedEffects, CommandExit, CommandRun, Digest, EffectStep, Node};

use tools::diff::add_file_diffs;

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
        blob: Digest::from_bytes(text.as_bytes()),
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
            path_exact: None,
            kind,
            before: None,
            after: None,
            from: None,
            from_exact: None,
            diff: None,
            undiffed: None,
        });
    }
    let ran = CommandRun::without_output(CommandExit::Code(0));
    let captured = CapturedEffects { layer, steps, ran };
    let mut effects = Effects {
        assurance: Assurance::Speculative,
        exit_code: Some(0),
        ended: String::new(),
        output: Vec::new(),
        output_bytes: 0,
        changes,
        refused: Vec::new(),
        reached: Vec::new(),
        outside_reads: Vec::new(),
        notes: Vec::new(),
        digest: captured.digest(),
    };
    add_file_diffs(
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
