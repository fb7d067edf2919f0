//! Step 4: what the changes of a plan mean beyond their paths: what runs later, what is lost, what becomes of history.

use std::collections::HashSet;
use std::mem;

use policy::rules::later_runs::{ChangedFile, ChangedValues, LaterRuns};
use policy::watchdogs::Alarm;
use protocol::rule::evidence::DryRunEvidence;
use protocol::{CapturedEffects, Digest, Node, Plan};
use runtime::git::{
    ChangedShare, KnownContents, RepositoryChange, UnversionedChanges, UnversionedLoss,
    count_build_outputs, examine_repository_change, examine_unversioned_changes, find_large_share,
};
use runtime::{Workspace, describe_changed_rights, read_contents};
use tools::text::{format_byte_size, format_count};

use crate::session::Session;

/// Longest file whose values are compared, in bytes.
const COMPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Says of a path and the digest of its content whether the session wrote it.
type IsOwnDigest<'a> = &'a dyn Fn(&str, &Digest) -> bool;

/// What the changes of a plan mean.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeFindings {
    /// Sentences on what some program runs or obeys by itself later on.
    pub later_runs: Vec<String>,
    /// Sentence on content that is lost and that git does not have.
    loss: Option<String>,
    /// Sentences on rights that change, and on a large part of the files that does.
    extent: Vec<String>,
    /// Paths that have content after the plan which neither git has nor the session wrote.
    pub kept: HashSet<String>,
    repository: Option<RepositoryChange>,
    build_outputs: u64,
}

impl ChangeFindings {
    /// Returns the alarms of a call whose changes are known without a dry run.
    pub fn alarms(&self) -> impl Iterator<Item = Alarm> {
        self.later_runs.iter().chain(&self.loss).map(Alarm::ask)
    }

    /// Moves the findings to the evidence of a dry run.
    pub fn move_to(&mut self, evidence: DryRunEvidence) -> DryRunEvidence {
        let is_known = self.repository.is_some();
        let repository = self.repository.take().unwrap_or_default();
        DryRunEvidence {
            later_runs: mem::take(&mut self.later_runs),
            loss: self.loss.take(),
            extent: mem::take(&mut self.extent),
            is_everyday_git: is_known && repository.unusual.is_none(),
            git_settings: repository.settings,
            repository_change: repository.unusual,
            build_outputs: self.build_outputs,
            ..evidence
        }
    }
}

/// Examines the changes of a plan. What git has of a file is looked up only where the person judges calls by their
/// effects: else an undo is enough (M03, M24).
pub(crate) async fn examine_changes(session: &Session, plan: &Plan) -> ChangeFindings {
    if *plan == Plan::None {
        return ChangeFindings::default();
    }
    let (workspace, plan) = (session.tool_context.workspace.clone(), plan.clone());
    let own_files = session.own_files();
    let judges_effects = session.judges_effects();
    let examined = tokio::task::spawn_blocking(move || {
        let is_own = |path: &str, content: &_| own_files.contains(path, content);
        let later_runs =
            describe_later_runs(&workspace, &plan, judges_effects.then_some(&is_own as _));
        let repository = examine_repository_change(&workspace, &plan);
        match judges_effects {
            false => ChangeFindings {
                later_runs,
                repository,
                ..ChangeFindings::default()
            },
            true => {
                let UnversionedChanges { loss, kept } =
                    examine_unversioned_changes(&workspace, &plan, &is_own);
                ChangeFindings {
                    later_runs,
                    loss: describe_loss(&loss),
                    extent: describe_extent(&workspace, &plan),
                    kept,
                    repository,
                    build_outputs: count_build_outputs(&workspace, &plan),
                }
            }
        }
    });
    examined.await.unwrap_or_else(|_| ChangeFindings {
        later_runs: vec!["The changes could not be examined.".to_owned()],
        ..ChangeFindings::default()
    })
}

fn describe_loss(loss: &UnversionedLoss) -> Option<String> {
    let UnversionedLoss {
        files,
        bytes,
        paths,
    } = loss;
    if *files == 0 {
        return None;
    }
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let more = if *files > paths.len() as u64 {
        ", …"
    } else {
        ""
    };
    Some(format!(
        "It takes away what is not in git: {}, {} ({}{more}).",
        format_count(*files, "file", "files"),
        format_byte_size(*bytes),
        named.join(", ")
    ))
}

fn describe_extent(workspace: &Workspace, plan: &Plan) -> Vec<String> {
    match plan {
        Plan::Effects(captured) => {
            let share = find_large_share(workspace, captured).map(|share| {
                let ChangedShare { changed, all } = share;
                format!("It changes {changed} of the {all} files that git has here.")
            });
            let rights = describe_changed_rights(captured);
            rights.into_iter().chain(share).collect()
        }
        Plan::None | Plan::Write(_) | Plan::Remove(_) => Vec::new(),
    }
}

/// Describes what runs later, and what protects the project no more. Rows of data count where `is_own` tells those that the
/// session wrote.
fn describe_later_runs(
    workspace: &Workspace,
    plan: &Plan,
    is_own: Option<IsOwnDigest<'_>>,
) -> Vec<String> {
    let known = KnownContents::before(workspace, plan);
    let is_known = |path: &str, content: Option<&[u8]>| known.contains(path, content);
    let is_own_content = |path: &str, content: &[u8]| {
        is_own.is_some_and(|it| it(path, &Digest::from_bytes(content)))
    };
    let mut changed = ChangedValues::new(&is_known);
    if is_own.is_some() {
        changed = changed.with_rows(&is_own_content);
    }
    match plan {
        Plan::None => {}
        Plan::Write(changes) => {
            for change in changes {
                changed.add(&ChangedFile {
                    path: &change.path,
                    before: change.before.as_deref(),
                    after: change.after.as_deref(),
                });
            }
        }
        Plan::Remove(removal) => add_removed_file(&mut changed, workspace, &removal.path),
        Plan::Effects(captured) => add_captured_files(&mut changed, workspace, captured),
    }
    changed.into_sentences()
}

/// Adds a file that is removed. A whole folder asks by what it loses.
fn add_removed_file(changed: &mut ChangedValues<'_>, workspace: &Workspace, path: &str) {
    if !LaterRuns::standard().compares_values(path) {
        return;
    }
    if let Ok(Some(before)) = workspace.read_whole(path, COMPARED_BYTES_MAX) {
        changed.add(&ChangedFile {
            path,
            before: Some(&before),
            after: None,
        });
    }
}

fn add_captured_files(
    changed: &mut ChangedValues<'_>,
    workspace: &Workspace,
    captured: &CapturedEffects,
) {
    let table = LaterRuns::standard();
    let files = captured.steps.iter().filter(|step| {
        let is_file = |node: &Node| matches!(node, Node::File { .. });
        is_file(&step.after) || is_file(&step.before) && step.after == Node::Absent
    });
    for step in files {
        let path = step.path.to_string_lossy();
        if !table.compares_values(&path) {
            continue;
        }
        let is_gone = step.after == Node::Absent;
        match read_contents(workspace, captured, step, COMPARED_BYTES_MAX) {
            Ok((before, after)) if is_gone || after.is_some() => changed.add(&ChangedFile {
                path: &path,
                before: before.as_deref(),
                after: after.as_deref(),
            }),
            Ok(_) | Err(_) if is_gone => {}
            Ok(_) | Err(_) => changed.add_unknown(&path),
        }
    }
}
