//! Step 4: what the changes of a plan mean beyond their paths: what runs later, what is lost, what becomes of history.

use std::collections::HashSet;
use std::mem;

use policy::rules::later_runs::{ChangedFile, LaterRuns};
use policy::watchdogs::Alarm;
use protocol::rule::evidence::DryRunEvidence;
use protocol::{CapturedEffects, Node, Plan};
use runtime::git::{
    ChangedShare, RepositoryChange, UnversionedChanges, UnversionedLoss, count_build_outputs,
    examine_repository_change, examine_unversioned_changes, find_large_share,
};
use runtime::{Workspace, describe_changed_rights, read_contents};
use tools::text::{format_byte_size, format_count};

use crate::session::Session;

/// Longest file whose values are compared, in bytes.
const COMPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

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
        let later_runs = describe_later_runs(&workspace, &plan);
        let repository = examine_repository_change(&workspace, &plan);
        match judges_effects {
            false => ChangeFindings {
                later_runs,
                repository,
                ..ChangeFindings::default()
            },
            true => {
                let is_own = |path: &str, content: &_| own_files.contains(path, content);
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

fn describe_later_runs(workspace: &Workspace, plan: &Plan) -> Vec<String> {
    let table = LaterRuns::standard();
    match plan {
        Plan::None | Plan::Remove(_) => Vec::new(),
        Plan::Write(changes) => changes
            .iter()
            .filter_map(|change| {
                Some(ChangedFile {
                    path: &change.path,
                    before: change.before.as_deref(),
                    after: change.after.as_deref()?,
                })
            })
            .flat_map(|file| table.describe_changed_values(&file))
            .collect(),
        Plan::Effects(captured) => describe_captured_later_runs(workspace, captured),
    }
}

fn describe_captured_later_runs(workspace: &Workspace, captured: &CapturedEffects) -> Vec<String> {
    let table = LaterRuns::standard();
    let written = captured
        .steps
        .iter()
        .filter(|step| matches!(step.after, Node::File { .. }));
    let mut sentences = Vec::new();
    for step in written {
        let path = step.path.to_string_lossy();
        if !table.compares_values(&path) {
            continue;
        }
        let contents = read_contents(workspace, captured, step, COMPARED_BYTES_MAX);
        sentences.extend(match &contents {
            Ok((before, Some(after))) => table.describe_changed_values(&ChangedFile {
                path: &path,
                before: before.as_deref(),
                after,
            }),
            Ok((_, None)) | Err(_) => table.describe_unknown_values(&path),
        });
    }
    sentences
}
