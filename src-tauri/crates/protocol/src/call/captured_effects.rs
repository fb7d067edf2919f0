//! Captured effects of a command's dry run, exact to the byte: carried out as captured, whole or in part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Digest;
use crate::call::command_run::CommandRun;
use crate::history::Node;

/// Captured effects of a command's dry run. The bytes stay in the layer as long as the owner of the dry run keeps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedEffects {
    /// Absolute path of the folder with the captured bytes: the bytes of a file `a/b` are stored at `a/b` in it.
    pub layer: PathBuf,
    /// Every changed path, in order: a folder comes before its content.
    pub steps: Vec<EffectStep>,
    /// Exit and output of the command, which does not run again.
    pub ran: CommandRun,
}

/// State of one path before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectStep {
    /// Path relative to the workspace root; need not be UTF-8. Empty for the root itself.
    pub path: PathBuf,
    /// State before, which must still hold when the step is carried out.
    pub before: Node,
    /// State after.
    pub after: Node,
    /// Number of the [`crate::Effect`] by which a person is shown the step.
    pub effect: u32,
}

impl EffectStep {
    /// Returns whether the step removes the path, which a rule judges as a deletion. All other steps are judged as
    /// writes.
    pub fn is_deletion(&self) -> bool {
        self.after == Node::Absent
    }

    fn is_new_folder(&self) -> bool {
        is_folder(&self.after) && !is_folder(&self.before)
    }

    fn is_gone_folder(&self) -> bool {
        is_folder(&self.before) && !is_folder(&self.after)
    }
}

impl CapturedEffects {
    /// Returns only the steps of these effects, made consistent: a file brings the new folders above it, and a folder
    /// is kept as long as something in it is.
    #[must_use]
    pub fn select_effects(&self, effects: &BTreeSet<u32>) -> Self {
        let all: BTreeMap<&Path, &EffectStep> = self
            .steps
            .iter()
            .map(|step| (step.path.as_path(), step))
            .collect();
        let mut chosen: BTreeSet<&Path> = BTreeSet::new();
        for step in self.steps.iter().filter(|s| effects.contains(&s.effect)) {
            chosen.insert(&step.path);
            if !step.is_deletion() {
                let above = step.path.ancestors().skip(1);
                chosen
                    .extend(above.filter(|path| all.get(path).is_some_and(|s| s.is_new_folder())));
            }
        }
        let mut stay: BTreeSet<&Path> = BTreeSet::new();
        // From the inside out: a folder that stays keeps the one that it is in.
        for step in self.steps.iter().rev() {
            let path = step.path.as_path();
            if step.is_gone_folder() && stay.contains(path) {
                chosen.remove(path);
            }
            if step.before != Node::Absent && !chosen.contains(path) {
                stay.extend(path.ancestors().skip(1));
            }
        }
        let steps = self.steps.iter();
        Self {
            steps: steps
                .filter(|step| chosen.contains(step.path.as_path()))
                .cloned()
                .collect(),
            ..self.clone()
        }
    }

    /// Returns a digest of every path before and after, to the byte. Times do not count, so that the same command on
    /// the same files gives the same digest.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let mut feed = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for step in &self.steps {
            feed(step.path.as_os_str().as_encoded_bytes());
            for node in [&step.before, &step.after] {
                match node {
                    Node::Absent => feed(b"absent"),
                    Node::File { blob, mode, .. } => {
                        feed(b"file");
                        feed(blob.as_str().as_bytes());
                        feed(&mode.to_le_bytes());
                    }
                    Node::Link { target, .. } => {
                        feed(b"link");
                        feed(target);
                    }
                    Node::Folder { mode, .. } => {
                        feed(b"folder");
                        feed(&mode.to_le_bytes());
                    }
                }
            }
        }
        Digest::from_hash(&hasher.finalize())
    }
}

fn is_folder(node: &Node) -> bool {
    match node {
        Node::Folder { .. } => true,
        Node::Absent | Node::File { .. } | Node::Link { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::command_run::CommandExit;

    fn file(text: &str) -> Node {
        Node::File {
            blob: Digest::from_bytes(text.as_bytes()),
            bytes: text.len() as u64,
            mode: 0o644,
            mtime_ns: 1,
        }
    }

    const FOLDER: Node = Node::Folder {
        mode: 0o755,
        mtime_ns: 1,
    };

    fn captured(steps: &[(&str, Node, Node)]) -> CapturedEffects {
        let numbered = steps.iter().zip(0..);
        CapturedEffects {
            layer: "/layer".into(),
            steps: numbered
                .map(|((path, before, after), effect)| EffectStep {
                    path: path.into(),
                    before: before.clone(),
                    after: after.clone(),
                    effect,
                })
                .collect(),
            ran: CommandRun::without_output(CommandExit::Code(0)),
        }
    }

    #[test]
    fn a_choice_is_made_whole() {
        let none = || Node::Absent;
        let gone = captured(&[
            ("d", FOLDER, none()),
            ("d/a", file("a"), none()),
            ("d/e", FOLDER, none()),
            ("d/e/b", file("b"), none()),
        ]);
        let came = captured(&[
            ("d", none(), FOLDER),
            ("d/a", none(), file("a")),
            ("d/e", none(), FOLDER),
            ("d/e/b", none(), file("b")),
        ]);
        let replaced = captured(&[
            ("d", FOLDER, file("now a file")),
            ("d/a", file("a"), none()),
            ("f", file("f"), FOLDER),
            ("f/a", none(), file("a")),
        ]);
        let table: [(&CapturedEffects, &[u32], &[&str]); 12] = [
            (&gone, &[0, 1, 2, 3], &["d", "d/a", "d/e", "d/e/b"]),
            (&gone, &[0, 1, 2], &["d/a"]),
            (&gone, &[0, 2, 3], &["d/e", "d/e/b"]),
            (&gone, &[0], &[]),
            (&came, &[3], &["d", "d/e", "d/e/b"]),
            (&came, &[1], &["d", "d/a"]),
            (&came, &[0], &["d"]),
            (&came, &[], &[]),
            (&replaced, &[0, 1], &["d", "d/a"]),
            (&replaced, &[0], &[]),
            (&replaced, &[1], &["d/a"]),
            (&replaced, &[3], &["f", "f/a"]),
        ];
        for (plan, effects, paths) in table {
            let only = plan.select_effects(&effects.iter().copied().collect());
            let left: Vec<_> = only
                .steps
                .iter()
                .map(|s| s.path.to_str().unwrap())
                .collect();
            assert_eq!(left, paths, "{effects:?}");
        }
    }

    #[test]
    fn the_digest_is_of_content_and_not_of_time() {
        let one = captured(&[("a", Node::Absent, file("a"))]);
        let mut later = one.clone();
        if let Node::File { mtime_ns, .. } = &mut later.steps[0].after {
            *mtime_ns = 2;
        }
        assert_eq!(one.digest(), later.digest());
        let others = [
            captured(&[]),
            captured(&[("a", Node::Absent, file("b"))]),
            captured(&[("b", Node::Absent, file("a"))]),
            captured(&[("a", file("a"), Node::Absent)]),
            captured(&[("a", Node::Absent, FOLDER)]),
        ];
        for other in others {
            assert_ne!(one.digest(), other.digest(), "{:?}", other.steps);
        }
    }
}
