//! Exports a session into a file that the person chooses in the save dialog of the operating system: no page names a path.

use std::path::PathBuf;

use protocol::engine_process::{EngineRequest, ExportTarget};
use protocol::{SessionId, UserError};
use tauri::AppHandle;
use tauri_plugin_dialog::DialogExt;
use tokio::sync::{Mutex, oneshot};

use crate::engine_process::EngineProcess;
use crate::main_window;

/// Held while the dialog is open: one at a time, so that a page cannot flood the person with dialogs.
static OPEN_DIALOG: Mutex<()> = Mutex::const_new(());

/// Lets the person choose a file, and writes the session into it. Returns the path of the file; none if they chose none.
///
/// # Errors
/// There is no such session or format, another dialog is open, or the file cannot be written.
pub(crate) async fn export_session(
    app: &AppHandle,
    engine: &EngineProcess,
    session: SessionId,
    format: String,
) -> Result<Option<String>, UserError> {
    let Ok(_open) = OPEN_DIALOG.try_lock() else {
        return Err(UserError::new(
            "A session is being exported already.",
            "Choose its file first, or cancel that.",
        ));
    };
    let request = EngineRequest::ExportTarget {
        session: session.clone(),
        format: format.clone(),
    };
    let target: ExportTarget = engine.ask_for(request).await?;
    let Some(file) = choose_file(app, &target).await else {
        return Ok(None);
    };
    let file = file.display().to_string();
    let request = EngineRequest::ExportSession {
        session,
        format,
        file: file.clone(),
    };
    engine.ask(request).await?;
    Ok(Some(file))
}

/// Returns the file that the person chose; none if they chose none, or if it has no path.
async fn choose_file(app: &AppHandle, target: &ExportTarget) -> Option<PathBuf> {
    let mut dialog = app
        .dialog()
        .file()
        .set_title("Export session")
        .set_file_name(&target.name)
        .add_filter(&target.title, &[&target.extension]);
    if let Some(window) = main_window(app) {
        dialog = dialog.set_parent(&window);
    }
    let (answer, answered) = oneshot::channel();
    dialog.save_file(|file| drop(answer.send(file)));
    answered.await.ok().flatten()?.into_path().ok()
}
