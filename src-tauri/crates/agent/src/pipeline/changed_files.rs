//! Step 4: the files of a plan, compared one after the other: what runs later in them, what protected the project, and which
//! rows of data are gone.

use policy::rules::later_runs::{ChangedFile, ChangedValues, IsKnownContent, LaterRuns, is_test};
use protocol::{CapturedEffects, Digest, Node, Plan};
use runtime::git::{GoneRows, KnownContents, find_gone_rows, holds_rows};
use runtime::{Workspace, read_contents};

/// Longest file that is compared, in bytes.
const COMPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Says of a path and the digest of its content whether the session wrote it.
pub(super) type IsOwnContent<'a> = &'a dyn Fn(&str, &Digest) -> bool;

/// Describes what counts in the files of a plan. Rows of data do where `is_own` tells those that the session wrote.
pub(super) fn describe_changed_files(
    workspace: &Workspace,
    plan: &Plan,
    is_own: Option<IsOwnContent<'_>>,
) -> Vec<String> {
    let known = KnownContents::before(workspace, plan);
    let is_known = |path: &str, content: Option<&[u8]>| known.contains(path, content);
    let mut compared = ComparedFiles {
        values: ChangedValues::new(&is_known),
        is_known: &is_known,
        is_own,
        gone_rows: Vec::new(),
    };
    match plan {
        Plan::None => {}
        Plan::Write(changes) => {
            for change in changes {
                compared.add(&ChangedFile {
                    path: &change.path,
                    before: change.before.as_deref(),
                    after: change.after.as_deref(),
                });
            }
        }
        Plan::Remove(removal) => compared.add_removed(workspace, &removal.path),
        Plan::Effects(captured) => compared.add_captured(workspace, captured),
    }
    let mut sentences = compared.values.into_sentences();
    sentences.extend(compared.gone_rows);
    sentences
}

/// The files of a plan that were compared.
struct ComparedFiles<'a> {
    values: ChangedValues<'a>,
    is_known: IsKnownContent<'a>,
    is_own: Option<IsOwnContent<'a>>,
    /// Sentences on rows of data.
    gone_rows: Vec<String>,
}

impl ComparedFiles<'_> {
    fn add(&mut self, file: &ChangedFile<'_>) {
        self.values.add(file);
        self.gone_rows.extend(self.describe_gone_rows(file));
    }

    /// Adds a file that is removed. A whole folder asks by what it loses.
    fn add_removed(&mut self, workspace: &Workspace, path: &str) {
        if !LaterRuns::standard().compares_values(path) {
            return;
        }
        if let Ok(Some(before)) = workspace.read_whole(path, COMPARED_BYTES_MAX) {
            self.add(&ChangedFile {
                path,
                before: Some(&before),
                after: None,
            });
        }
    }

    fn add_captured(&mut self, workspace: &Workspace, captured: &CapturedEffects) {
        for step in &captured.steps {
            let is_file = |node: &Node| matches!(node, Node::File { .. });
            let is_removed = is_file(&step.before) && step.after == Node::Absent;
            let path = step.path.to_string_lossy();
            let counts = LaterRuns::standard().compares_values(&path) || holds_rows(&path);
            if !counts || !(is_file(&step.after) || is_removed) {
                continue;
            }
            match read_contents(workspace, captured, step, COMPARED_BYTES_MAX) {
                Ok((before, after)) => self.add(&ChangedFile {
                    path: &path,
                    before: before.as_deref(),
                    after: after.as_deref(),
                }),
                // What is gone runs nothing.
                Err(_) if is_removed => {}
                Err(_) => self.values.add_unknown(&path),
            }
        }
    }

    /// Describes rows of data that are gone, or say something else, other than those that the session wrote. Git has them,
    /// and still nobody looks for them. Whoever removes the file is asked by what it loses.
    fn describe_gone_rows(&self, file: &ChangedFile<'_>) -> Option<String> {
        let (is_own, before, after) = (self.is_own?, file.before?, file.after?);
        let path = file.path;
        if !holds_rows(path) || is_test(path) {
            return None;
        }
        let GoneRows { rows, gone } = find_gone_rows(before, after)?;
        let is_known = || (self.is_known)(path, Some(after));
        (!is_own(path, &Digest::from_bytes(before)) && !is_known())
            .then(|| format!("Rows of data are gone or changed: {gone} of {rows} in `{path}`."))
    }
}
