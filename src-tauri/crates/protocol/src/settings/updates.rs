//! What the app does about new versions of itself.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the app does about new versions of itself. A copy that a package manager installed is updated by that alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct UpdateSettings {
    /// What it does by itself. Whatever you choose, nothing is installed while a call runs or waits.
    pub mode: UpdateMode,
}

impl UpdateSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the app does by itself about new versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UpdateMode {
    /// Nothing: no request is made until you choose *Check now*.
    #[default]
    Off,
    /// Asks at the start, and once a day, whether there is a new version. It is downloaded and installed when you say so.
    Notify,
    /// Downloads a new version as well, and installs it when you quit.
    Automatic,
}
