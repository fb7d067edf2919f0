//! A start that meets an instance which dies while it is asked: its place is free a moment later, so the start is
//! repeated.

/// Becomes a new start of the app if `error` says that the running instance did not answer; comes back if it says
/// something else or was tried for long enough. A second start within this process cannot be: GTK has already told the
/// message bus of the first.
#[cfg(target_os = "linux")]
#[allow(
    clippy::disallowed_methods,
    reason = "the app replaces itself by itself; no agent and no workspace has a part in it"
)]
pub(crate) fn restart_app(error: &tauri::Error) {
    use std::os::unix::process::CommandExt;
    use std::time::Duration;

    /// The name of the plugin that lets one instance run.
    const SINGLE_INSTANCE_PLUGIN: &str = "single-instance";
    /// Counts the starts from one to the next.
    const STARTS_VARIABLE: &str = "COUNTERSIGN_STARTS";
    const STARTS_MAX: u32 = 20;
    /// How long an instance that does not answer has to be gone.
    const RETRY_PAUSE: Duration = Duration::from_millis(250);

    let meant = matches!(error, tauri::Error::PluginInitialization(name, _) if name == SINGLE_INSTANCE_PLUGIN);
    let starts =
        std::env::var(STARTS_VARIABLE).map_or(0, |text| text.parse().unwrap_or(STARTS_MAX));
    let (true, Ok(app)) = (meant && starts < STARTS_MAX, std::env::current_exe()) else {
        return;
    };
    tracing::warn!(%error, "the running instance does not answer; starting again");
    std::thread::sleep(RETRY_PAUSE);
    let failed = std::process::Command::new(app)
        .args(std::env::args_os().skip(1))
        .env(STARTS_VARIABLE, (starts + 1).to_string())
        .exec();
    tracing::error!(%failed, "the app cannot start again");
}

/// Elsewhere the operating system itself says whether an instance lives.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restart_app(_error: &tauri::Error) {}
