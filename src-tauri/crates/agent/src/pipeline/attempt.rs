//! One attempt at a call: its starting conditions and its result.

use crate::pipeline::approval::UserFeedback;
use crate::pipeline::dry_run::DryRunResult;

/// Result of an attempt, or of a part of one.
pub(crate) enum Step<T> {
    /// The call goes on with this value.
    Done(T),
    /// Something changed what was judged or shown: the call is attempted again.
    Retry(Attempt),
}

/// Starting conditions of an attempt; empty on the first.
#[derive(Default)]
pub(crate) struct Attempt {
    /// Description of the change since the call was shown.
    pub changed: Option<String>,
    /// Reason why no copy for undo could be taken.
    pub snapshot_failure: Option<String>,
    /// Result of the call's dry run.
    pub dry_run: Option<Box<DryRunResult>>,
}

impl Attempt {
    /// Starts over after a change of what was shown. The result of an earlier dry run is dropped: it ran on files that
    /// have changed since.
    pub fn after_change(what: impl Into<String>) -> Self {
        Self {
            changed: Some(what.into()),
            ..Self::default()
        }
    }

    /// Continues after a dry run of the call.
    pub fn after_dry_run(result: DryRunResult) -> Self {
        Self {
            dry_run: Some(Box::new(result)),
            ..Self::default()
        }
    }

    /// Continues without a copy for undo, which could not be taken: the call is judged as one that cannot be undone.
    pub fn without_snapshot(why: String, dry_run: Option<Box<DryRunResult>>) -> Self {
        Self {
            snapshot_failure: Some(why),
            dry_run,
            ..Self::default()
        }
    }

    /// Judges the same call again. `changed` is the reason shown to the person; `None` keeps the earlier one.
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

    /// Feedback of the person who let the call run in a dry run.
    pub fn feedback(&self) -> Option<&UserFeedback> {
        let dry_run = self.dry_run.as_deref();
        dry_run.and_then(DryRunResult::feedback)
    }
}
