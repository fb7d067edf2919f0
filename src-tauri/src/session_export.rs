//! Exports a session into a file that the person chooses in the save dialog of the operating system: no page names a path.

use std::path::PathBuf;

use agent::Engine;
use agent::engine::session_export::ExportKind;
use protocol::{SessionId, UserError};
use tauri::AppHandle;
use tauri_plugin_dialog::DialogExt;
use tokio::sync::{Mutex, oneshot};

use crate::main_window;

/// Held while the dialog is open: one at a time, so that a page cannot flood the person with dialogs.
static OPEN_DIALOG: Mutex<()> = Mutex::const_new(());

/// Lets the person choose a file, and writes the session into it. Returns the path of the file; none if they chose none.
///
/// # Errors
/// There is no such session or format, another dialog is open, or the file cannot be written.
pub(crate) async fn export_session(
    app: &AppHandle,
    desk: &Engine,
    session: SessionId,
    format: &str,
) -> Result<Option<String>, UserError> {
    let Ok(_open) = OPEN_DIALOG.try_lock() else {
        return Err(UserError::new(
            "A session is being exported already.",
            "Choose its file first, or cancel that.",
        ));
    };
    let kind = ExportKind::parse(format)?;
    let name = desk.export_file_name(&session, kind)?;
    let Some(file) = choose_file(app, &name, kind).await else {
        return Ok(None);
    };
    desk.export_session(session, kind, &file).await?;
    Ok(Some(file.display().to_string()))
}

/// Returns the file that the person chose; none if they chose none, or if it has no path.
async fn choose_file(app: &AppHandle, name: &str, kind: ExportKind) -> Option<PathBuf> {
    let mut dialog = app
        .dialog()
        .file()
        .set_title("Export session")
        .set_file_name(name)
        .add_filter(kind.title, &[kind.extension]);
    if let Some(window) = main_window(app) {
        dialog = dialog.set_parent(&window);
    }
    let (answer, answered) = oneshot::channel();
    dialog.save_file(|file| drop(answer.send(file)));
    answered.await.ok().flatten()?.into_path().ok()
}
