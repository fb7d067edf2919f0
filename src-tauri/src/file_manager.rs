//! Shows a file in the file manager of the system, which opens nothing of it.

use std::path::Path;

use protocol::UserError;
use tauri::AppHandle;
use tauri_plugin_opener::OpenerExt;

/// Shows a file in its folder.
///
/// # Errors
/// There is no file manager.
pub(crate) fn show_in_folder(app: &AppHandle, file: &Path) -> Result<(), UserError> {
    let shown = app.opener().reveal_item_in_dir(file);
    shown.map_err(|error| {
        UserError::new(
            "The file manager could not be opened.",
            "Copy the path, and go there by hand.",
        )
        .with_source(&error)
    })
}
