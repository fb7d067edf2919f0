//! Updates of the app: found when the person says so or chose so, checked by their signature, and installed when the person
//! says so, or at the end of the app, and never while anything goes on in the engine (M37).
//!
//! Tauri's updater asks for the release, downloads, verifies, and replaces the app. What was verified stays in memory until
//! then. The page is told of each change, and chooses steps; it has no other way to the updater.

mod at_rest;
mod faults;
mod installed_copy;
mod known;
mod schedule;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::UserError;
use protocol::settings::UpdateMode;
use protocol::update::{UpdateView, UpdateWay};
use tauri::ipc::Channel;
use tauri::{AppHandle, Runtime};
use tauri_plugin_updater::{Update, UpdaterExt as _};
use tokio::sync::{oneshot, watch};

pub(crate) use at_rest::AtRest;
pub(crate) use installed_copy::InstalledCopy;
use known::{Activity, KnownUpdate};
pub(crate) use schedule::follow_mode;

/// What a server may take of time and memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateLimits {
    /// How long the release may take to be told, and how long a download may stand still.
    patience: Duration,
    /// The most that is downloaded, in bytes.
    download_bytes_max: u64,
}

impl Default for UpdateLimits {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(30),
            download_bytes_max: 1024 * 1024 * 1024,
        }
    }
}

/// What follows once the app is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterInstall {
    /// The newer version is started.
    Restart,
    /// Nothing: the app ends.
    End,
}

/// What is known of a newer version, and the steps to it: one at a time.
pub(crate) struct Updates {
    copy: InstalledCopy,
    limits: UpdateLimits,
    version: String,
    /// Whether this build knows a key, and where releases are told of.
    has_source: bool,
    mode: watch::Sender<UpdateMode>,
    known: Mutex<KnownUpdate>,
    /// Where the page is told of changes.
    page: Mutex<Option<Channel<UpdateView>>>,
}

impl Updates {
    pub(crate) fn new<R: Runtime>(
        app: &AppHandle<R>,
        copy: InstalledCopy,
        limits: UpdateLimits,
    ) -> Self {
        let source = app.config().plugins.0.get("updater");
        let has_text = |path: &str| {
            let value = source.and_then(|source| source.pointer(path));
            value
                .and_then(|value| value.as_str())
                .is_some_and(|text| !text.is_empty())
        };
        Self {
            copy,
            limits,
            version: app.package_info().version.to_string(),
            has_source: has_text("/pubkey") && has_text("/endpoints/0"),
            mode: watch::Sender::default(),
            known: Mutex::default(),
            page: Mutex::default(),
        }
    }

    /// Returns what is known.
    pub(crate) fn view(&self) -> UpdateView {
        let known = lock(&self.known);
        UpdateView {
            version: self.version.clone(),
            way: self.copy.find_way(self.has_source),
            state: known.state(),
            fault: known.fault.clone(),
        }
    }

    /// Tells a page what is known, and each change from then on, in place of an earlier page.
    pub(crate) fn tell_page(&self, page: Channel<UpdateView>) {
        *lock(&self.page) = Some(page);
        self.report();
    }

    /// Takes over what the settings say that the app does by itself.
    pub(crate) fn set_mode(&self, mode: UpdateMode) {
        self.mode.send_if_modified(|present| {
            let is_changed = *present != mode;
            *present = mode;
            is_changed
        });
    }

    /// Requires that a newer version is downloaded.
    ///
    /// # Errors
    /// No newer version is downloaded.
    pub(crate) fn require_staged(&self) -> Result<(), UserError> {
        match lock(&self.known).staged {
            Some(_) => Ok(()),
            None => Err(faults::nothing_staged()),
        }
    }

    /// Whether a newer version is to be installed when the app ends.
    pub(crate) fn installs_at_exit(&self) -> bool {
        *self.mode.borrow() == UpdateMode::Automatic && lock(&self.known).staged.is_some()
    }

    /// Asks whether there is a newer version.
    ///
    /// # Errors
    /// This copy is not updated by itself, another step is being taken, or the server tells of no release.
    pub(crate) async fn check<R: Runtime>(&self, app: &AppHandle<R>) -> Result<(), UserError> {
        self.require_own_way()?;
        let _step = self.begin(Activity::Checking)?;
        let found = self.find_update(app).await;
        let found = found.map_err(|error| faults::describe_check(&error));
        self.settle(|known| found.map(|update| known.keep_found(update)))
    }

    async fn find_update<R: Runtime>(
        &self,
        app: &AppHandle<R>,
    ) -> tauri_plugin_updater::Result<Option<Update>> {
        let patience = self.limits.patience;
        let mut updater = app
            .updater_builder()
            .timeout(patience)
            .configure_client(move |client| {
                client.connect_timeout(patience).read_timeout(patience)
            });
        if let Some(file) = self.copy.replaced_file() {
            updater = updater.executable_path(file);
        }
        updater.build()?.check().await
    }

    /// Asks whether there is a newer version, and downloads it unless that was done.
    ///
    /// # Errors
    /// As [`Self::check`] and [`Self::download`].
    async fn check_and_download<R: Runtime>(&self, app: &AppHandle<R>) -> Result<(), UserError> {
        self.check(app).await?;
        let lacks_download = {
            let known = lock(&self.known);
            known.found.is_some() && known.staged.is_none()
        };
        match lacks_download {
            true => self.download().await,
            false => Ok(()),
        }
    }

    /// Downloads the newer version that was found, and verifies its signature.
    ///
    /// # Errors
    /// No newer version was found, another step is being taken, the download fails, or it is not signed with the key of this build.
    pub(crate) async fn download(&self) -> Result<(), UserError> {
        let found = lock(&self.known).found.clone();
        let update = found.ok_or_else(faults::nothing_found)?;
        let _step = self.begin(Activity::Downloading {
            received_bytes: 0,
            total_bytes: None,
        })?;
        let downloaded = self.fetch(&update).await;
        self.settle(|known| downloaded.map(|bytes| known.staged = Some(bytes)))
    }

    async fn fetch(&self, update: &Update) -> Result<Vec<u8>, UserError> {
        let (overflow, overflowed) = oneshot::channel();
        let mut overflow = Some(overflow);
        let mut received_bytes = 0;
        let on_chunk = |bytes: usize, total_bytes| {
            received_bytes += bytes as u64;
            if received_bytes > self.limits.download_bytes_max {
                // Nobody listens any more once it was told.
                let _ = overflow.take().map(|overflow| overflow.send(()));
            }
            self.report_progress(received_bytes, total_bytes);
        };
        tokio::select! {
            downloaded = update.download(on_chunk, || {}) => {
                downloaded.map_err(|error| faults::describe_download(&error))
            }
            Ok(()) = overflowed => Err(faults::too_large(self.limits.download_bytes_max)),
        }
    }

    /// Replaces the app by the newer version that was downloaded. On Windows this ends the process.
    ///
    /// # Errors
    /// No newer version was downloaded, another step is being taken, or the app cannot be replaced; it is kept then.
    pub(crate) fn install(&self, _at_rest: &AtRest, after: AfterInstall) -> Result<(), UserError> {
        let _step = self.begin(Activity::Installing)?;
        let staged = lock(&self.known).take_staged();
        let (update, bytes) = staged.ok_or_else(faults::nothing_staged)?;
        let update = update.restart_after_install(after == AfterInstall::Restart);
        let installed = update.install(&bytes);
        self.settle(|known| {
            installed.map_err(|error| {
                known.staged = Some(bytes);
                faults::describe_install(&error)
            })
        })
    }

    /// Requires that this copy is updated by itself.
    fn require_own_way(&self) -> Result<(), UserError> {
        match self.copy.find_way(self.has_source) {
            UpdateWay::App => Ok(()),
            other => Err(faults::other_way(other)),
        }
    }

    /// Begins a step, which lasts until what is returned is dropped.
    fn begin(&self, activity: Activity) -> Result<OngoingStep<'_>, UserError> {
        let mut known = lock(&self.known);
        if known.activity.is_some() {
            return Err(faults::other_step());
        }
        known.activity = Some(activity);
        known.fault = None;
        drop(known);
        self.report();
        Ok(OngoingStep(self))
    }

    /// Keeps what came of a step, or why it failed.
    fn settle(
        &self,
        keep: impl FnOnce(&mut KnownUpdate) -> Result<(), UserError>,
    ) -> Result<(), UserError> {
        let mut known = lock(&self.known);
        let kept = keep(&mut known);
        known.fault = kept.clone().err();
        kept
    }

    fn report_progress(&self, received_bytes: u64, total_bytes: Option<u64>) {
        let is_seen = lock(&self.known).advance(received_bytes, total_bytes);
        if is_seen {
            self.report();
        }
    }

    fn report(&self) {
        let view = self.view();
        let mut page = lock(&self.page);
        if page.as_ref().is_some_and(|page| page.send(view).is_err()) {
            *page = None;
        }
    }
}

/// A step that is being taken, and the only one.
struct OngoingStep<'a>(&'a Updates);

impl Drop for OngoingStep<'_> {
    fn drop(&mut self) {
        lock(&self.0.known).activity = None;
        self.0.report();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change under the lock is made in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
