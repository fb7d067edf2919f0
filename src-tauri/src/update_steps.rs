//! Steps to a newer version that the engine has a part in: what the person chose, and the end of the app.

use std::time::Duration;

use protocol::UserError;
use protocol::update::UpdateStep;
use tauri::{AppHandle, Manager};

use crate::engine_process::{self, EngineCell};
use crate::updates::{AfterInstall, Updates};

/// How long the end of the app waits to hear what goes on in the engine.
const REST_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes a step that the person chose.
///
/// # Errors
/// As each step; an update is not installed while anything goes on in the engine.
pub(crate) async fn take_step(app: &AppHandle, step: UpdateStep) -> Result<(), UserError> {
    let updates = app.state::<Updates>();
    match step {
        UpdateStep::Check => updates.check(app).await,
        UpdateStep::Download => updates.download().await,
        UpdateStep::Install => install_and_restart(app).await,
    }
}

async fn install_and_restart(app: &AppHandle) -> Result<(), UserError> {
    let engine = app.state::<EngineCell>();
    app.state::<Updates>().require_staged()?;
    let resting = engine.rest().await?;
    // A file of many megabytes is written.
    let installed = tokio::task::block_in_place(|| {
        let updates = app.state::<Updates>();
        updates.install(resting.at_rest(), AfterInstall::Restart)
    });
    drop(resting);
    match installed {
        Ok(()) => app.request_restart(),
        Err(_) => engine_process::reload_page(app),
    }
    installed
}

/// Ends the engine, and installs what is downloaded if the settings say so and nothing goes on.
pub(crate) async fn close_app(app: &AppHandle) {
    let engine = app.state::<EngineCell>();
    let updates = app.state::<Updates>();
    if updates.installs_at_exit() {
        let installed = match tokio::time::timeout(REST_TIMEOUT, engine.rest()).await {
            Ok(Ok(resting)) => updates.install(resting.at_rest(), AfterInstall::End),
            Ok(Err(fault)) => Err(fault),
            Err(_) => Err(UserError::new(
                "The engine does not say what goes on in it.",
                "The newer version is downloaded again at the next start.",
            )),
        };
        if let Err(fault) = installed {
            tracing::warn!(%fault, "the newer version is not installed");
        }
    }
    engine.close_engine().await;
}
