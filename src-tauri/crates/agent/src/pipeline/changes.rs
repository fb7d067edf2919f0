//! Step 4: what the changes of a plan mean beyond their paths: what runs later, what is lost, what becomes of history.

use std::collections::HashSet;
use std::mem;

use policy::watchdogs::Alarm;
use protocol::Plan;
use protocol::rule::evidence::DryRunEvidence;
use runtime::git::{
    ChangedShare, RepositoryChange, UnversionedChanges, UnversionedLoss, count_build_outputs,
    examine_repository_change, examine_unversioned_changes, find_large_share, find_pushed_files,
};
use runtime::{Workspace, describe_changed_rights};
use tools::text::{format_byte_size, format_count};

use crate::pipeline::changed_files::{IsOwnContent, describe_changed_files};
use crate::session::Session;

/// How many of the files that a call pushes are named.
const PUSHED_PATHS_MAX: usize = 3;

/// What the changes of a plan mean.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeFindings {
    /// Sentences on what some program runs or obeys by itself later on.
    pub later_runs: Vec<String>,
    /// Sentence on content that is lost and that git does not have.
    loss: Option<String>,
    /// Sentences on rights that change, on a large part of the files that does, and on files that are pushed.
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
        let row_owner: Option<IsOwnContent<'_>> = judges_effects.then_some(&is_own);
        let later_runs = describe_changed_files(&workspace, &plan, row_owner);
        let repository = examine_repository_change(&workspace, &plan, &is_own);
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
                    extent: describe_extent(&workspace, &plan, &is_own),
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
    Some(format!(
        "It takes away what is not in git: {}, {} ({}).",
        format_count(*files, "file", "files"),
        format_byte_size(*bytes),
        list_paths(paths, *files)
    ))
}

fn describe_pushed_files(pushed: &[String]) -> Option<String> {
    let first = &pushed[..pushed.len().min(PUSHED_PATHS_MAX)];
    let all = pushed.len() as u64;
    (all > 0).then(|| {
        format!(
            "It pushes what this session did not write: {} ({}).",
            format_count(all, "file", "files"),
            list_paths(first, all)
        )
    })
}

/// Lists the first paths of that many.
fn list_paths(paths: &[String], all: u64) -> String {
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let more = if all > paths.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", named.join(", "))
}

fn describe_extent(workspace: &Workspace, plan: &Plan, is_own: IsOwnContent<'_>) -> Vec<String> {
    match plan {
        Plan::Effects(captured) => {
            let share = find_large_share(workspace, captured).map(|share| {
                let ChangedShare { changed, all } = share;
                format!("It changes {changed} of the {all} files that git has here.")
            });
            let rights = describe_changed_rights(captured);
            let pushed = describe_pushed_files(&find_pushed_files(workspace, captured, is_own));
            rights.into_iter().chain(share).chain(pushed).collect()
        }
        Plan::None | Plan::Write(_) | Plan::Remove(_) => Vec::new(),
    }
}
