//! What is known of a newer version, and how it is shown.

use protocol::UserError;
use protocol::update::{ReleaseView, UpdateState};
use tauri_plugin_updater::Update;

/// How much of a download arrives before the page is told again, in bytes.
const PROGRESS_BYTES: u64 = 1024 * 1024;

/// A step that is being taken.
pub(super) enum Activity {
    Checking,
    Downloading {
        received_bytes: u64,
        total_bytes: Option<u64>,
    },
    Installing,
}

/// What is known of a newer version.
#[derive(Default)]
pub(super) struct KnownUpdate {
    /// The step that is being taken.
    pub(super) activity: Option<Activity>,
    /// The newer version that was found last.
    pub(super) found: Option<Update>,
    /// Its bytes, once they are downloaded and verified.
    pub(super) staged: Option<Vec<u8>>,
    /// Why the last step failed.
    pub(super) fault: Option<UserError>,
    /// Whether no newer version was found when that was asked last.
    is_newest: bool,
}

impl KnownUpdate {
    /// Keeps what the server told. A version that was downloaded stays only if it is the one that is offered now.
    pub(super) fn keep_found(&mut self, update: Option<Update>) {
        let version = |update: &Option<Update>| update.as_ref().map(|one| one.version.clone());
        if version(&self.found) != version(&update) {
            self.staged = None;
        }
        self.is_newest = update.is_none();
        self.found = update;
    }

    /// Takes what was downloaded.
    pub(super) fn take_staged(&mut self) -> Option<(Update, Vec<u8>)> {
        let update = self.found.clone()?;
        Some((update, self.staged.take()?))
    }

    /// Keeps how far a download is. Returns whether that is worth to be shown.
    pub(super) fn advance(&mut self, received: u64, total: Option<u64>) -> bool {
        let Some(Activity::Downloading {
            received_bytes,
            total_bytes,
        }) = &mut self.activity
        else {
            return false;
        };
        let is_seen =
            received / PROGRESS_BYTES != *received_bytes / PROGRESS_BYTES || total != *total_bytes;
        (*received_bytes, *total_bytes) = (received, total);
        is_seen
    }

    /// Returns how it is shown.
    pub(super) fn state(&self) -> UpdateState {
        match (&self.activity, self.found.as_ref().map(describe_release)) {
            (Some(Activity::Checking), _) => UpdateState::Checking,
            (_, None) if self.is_newest => UpdateState::Newest,
            (_, None) => UpdateState::Unknown,
            (
                &Some(Activity::Downloading {
                    received_bytes,
                    total_bytes,
                }),
                Some(release),
            ) => UpdateState::Downloading {
                release,
                received_bytes,
                total_bytes,
            },
            (Some(Activity::Installing), Some(release)) => UpdateState::Installing { release },
            (None, Some(release)) if self.staged.is_some() => UpdateState::Staged { release },
            (None, Some(release)) => UpdateState::Available { release },
        }
    }
}

fn describe_release(update: &Update) -> ReleaseView {
    ReleaseView {
        version: update.version.clone(),
        released_at: update.date.map(|date| date.unix_timestamp() * 1_000),
        notes: update.body.clone().unwrap_or_default(),
    }
}
