//! Restarts the app if its start meets an instance that is just ending: the instance's place is free a moment later.

/// Replaces the process with a new start of the app if `error` says that the running instance did not answer; returns
/// for any other error, or after enough attempts. A second start within this process is not possible: GTK has already
/// registered the first on the message bus.
#[cfg(target_os = "linux")]
#[allow(
    clippy::disallowed_methods,
    reason = "the app replaces itself by itself; no agent and no workspace has a part in it"
)]
pub(crate) fn restart_app(error: &tauri::Error) {
    use std::os::unix::process::CommandExt;
    use std::time::Duration;

    /// Name of the plugin that allows only one instance.
    const SINGLE_INSTANCE_PLUGIN: &str = "single-instance";
    /// Environment variable that counts the starts.
    const STARTS_VARIABLE: &str = "COUNTERSIGN_STARTS";
    const STARTS_MAX: u32 = 20;
    /// Pause in which an instance that does not answer can end.
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

/// Does nothing: on other systems the operating system itself tells whether an instance is alive.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restart_app(_error: &tauri::Error) {}
