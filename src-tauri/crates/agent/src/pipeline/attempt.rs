//! One attempt at a call: what it begins with, and what it comes to.

use crate::pipeline::approval::UserFeedback;
use crate::pipeline::dry_run::DryRunResult;

/// What an attempt, or a part of one, comes to.
pub(crate) enum Step<T> {
    /// The call goes on with this.
    Done(T),
    /// Something came up that changes what was judged or shown: the call is attempted again.
    Retry(Attempt),
}

/// What an attempt begins with; nothing on the first.
#[derive(Default)]
pub(crate) struct Attempt {
    /// What changed since the call was shown, in words.
    pub changed: Option<String>,
    /// Why no copy for undo could be taken.
    pub snapshot_failure: Option<String>,
    /// What the call did in a dry run.
    pub dry_run: Option<Box<DryRunResult>>,
}

impl Attempt {
    /// What was shown changed. A dry run counts no more: it ran on what is not there any more.
    pub fn after_change(what: impl Into<String>) -> Self {
        Self {
            changed: Some(what.into()),
            ..Self::default()
        }
    }

    /// The call ran in a dry run.
    pub fn after_dry_run(result: DryRunResult) -> Self {
        Self {
            dry_run: Some(Box::new(result)),
            ..Self::default()
        }
    }

    /// No copy for undo could be taken, so the call is judged as one that cannot be undone.
    pub fn without_snapshot(why: String, dry_run: Option<Box<DryRunResult>>) -> Self {
        Self {
            snapshot_failure: Some(why),
            dry_run,
            ..Self::default()
        }
    }

    /// The same call, judged again. `changed` is what the person reads of it; none for what was told before.
    pub fn judge_again(self, changed: Option<String>) -> Self {
        Self {
            changed: changed.or(self.changed),
            snapshot_failure: None,
            dry_run: self.dry_run,
        }
    }

    /// Whether the hooks were asked before a dry run.
    pub fn is_hooked(&self) -> bool {
        let dry_run = self.dry_run.as_deref();
        dry_run.is_some_and(DryRunResult::is_hooked)
    }

    /// What the person said who let the call run in a dry run.
    pub fn feedback(&self) -> Option<&UserFeedback> {
        let dry_run = self.dry_run.as_deref();
        dry_run.and_then(DryRunResult::feedback)
    }
}
