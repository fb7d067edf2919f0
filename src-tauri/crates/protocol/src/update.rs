//! Updates of the app, as its window shows them, and what a person can choose there.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{At, UserError};

/// The version that runs, and what is known of a newer one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UpdateView {
    /// The version that runs.
    pub version: String,
    /// What updates this copy of the app.
    pub way: UpdateWay,
    /// What is known of a newer version.
    pub state: UpdateState,
    /// Why the last step failed; none if it did not.
    pub fault: Option<UserError>,
}

/// What updates a copy of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UpdateWay {
    /// The app itself.
    App,
    /// The package manager of the system, which installed it.
    PackageManager,
    /// Whoever built it: it was not installed from a release.
    Sources,
    /// Nothing: this build has no key that a new version could be checked with.
    NoKey,
}

/// What is known of a newer version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UpdateState {
    /// Nothing: nobody asked yet.
    Unknown,
    /// It is being asked for.
    Checking,
    /// There was none.
    Newest,
    /// There is one, which is not downloaded.
    Available {
        /// The newer version.
        release: ReleaseView,
    },
    /// It is being downloaded.
    Downloading {
        /// The newer version.
        release: ReleaseView,
        /// Number of bytes so far.
        received_bytes: u64,
        /// Number of bytes of the whole; none if it is not known.
        total_bytes: Option<u64>,
    },
    /// It is downloaded, its signature fits, and it can be installed.
    Staged {
        /// The newer version.
        release: ReleaseView,
    },
    /// It is being installed.
    Installing {
        /// The newer version.
        release: ReleaseView,
    },
}

/// A newer version, as its release describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReleaseView {
    /// The version.
    pub version: String,
    /// When it was released; none if the release does not say.
    pub released_at: Option<At>,
    /// What changes, in Markdown, from the network: it is not trusted. Empty if the release does not say.
    pub notes: String,
}

/// A step to a newer version that a person can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UpdateStep {
    /// Ask whether there is one.
    Check,
    /// Download it.
    Download,
    /// Install it, and start the app again.
    Install,
}
