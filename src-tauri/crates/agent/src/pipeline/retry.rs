//! What a call walks the page with once more, where something came up that changes what is judged or shown.

use crate::pipeline::dry_run::DryRunResult;

/// What the next walk begins with; nothing on the first.
#[derive(Default)]
pub(crate) struct Retry {
    /// What changed since it was shown, in words.
    pub changed: Option<String>,
    /// Why no copy could be taken.
    pub snapshot_failure: Option<String>,
    /// What it did where nothing real changes.
    pub dry_run: Option<DryRunResult>,
}

impl Retry {
    /// Something changed, so what was tried out counts no more: it was done to what is not there any more.
    pub fn after_change(what: impl Into<String>) -> Self {
        Self {
            changed: Some(what.into()),
            ..Self::default()
        }
    }

    /// It was tried out.
    pub fn after_dry_run(rehearsed: DryRunResult) -> Self {
        Self {
            dry_run: Some(rehearsed),
            ..Self::default()
        }
    }

    /// It is the same, and only judged anew.
    pub fn after_rules_changed(changed: Option<String>, dry_run: Option<DryRunResult>) -> Self {
        Self {
            changed,
            dry_run,
            ..Self::default()
        }
    }

    /// It is the same, and cannot be taken back.
    pub fn without_snapshot(why: String, dry_run: Option<DryRunResult>) -> Self {
        Self {
            snapshot_failure: Some(why),
            dry_run,
            ..Self::default()
        }
    }
}
