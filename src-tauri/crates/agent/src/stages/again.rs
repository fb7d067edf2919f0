//! What a call walks the page with once more, where something came up that changes what is judged or shown.

use super::rehearsed::Rehearsed;

/// What the next walk begins with; nothing on the first.
#[derive(Default)]
pub(crate) struct Again {
    /// What changed since it was shown, in words.
    pub changed: Option<String>,
    /// Why no copy could be taken.
    pub unsecured: Option<String>,
    /// What it did where nothing real changes.
    pub tried: Option<Rehearsed>,
}

impl Again {
    /// Something changed, so what was tried out counts no more: it was done to what is not there any more.
    pub fn changed(what: impl Into<String>) -> Self {
        Self {
            changed: Some(what.into()),
            ..Self::default()
        }
    }

    /// It was tried out.
    pub fn tried(rehearsed: Rehearsed) -> Self {
        Self {
            tried: Some(rehearsed),
            ..Self::default()
        }
    }

    /// It is the same, and only judged anew.
    pub fn judged(changed: Option<String>, tried: Option<Rehearsed>) -> Self {
        Self {
            changed,
            tried,
            ..Self::default()
        }
    }

    /// It is the same, and cannot be taken back.
    pub fn unsecured(why: String, tried: Option<Rehearsed>) -> Self {
        Self {
            unsecured: Some(why),
            tried,
            ..Self::default()
        }
    }
}
