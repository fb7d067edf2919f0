//! The tray icon: shows how many calls wait, and opens the window.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tauri::menu::{Menu, MenuItem};
use tauri::tray::TrayIconBuilder;
use tauri::{AppHandle, include_image};

use crate::raise_window;

const TRAY_ID: &str = "main";

/// Adds the icon to the tray. Where the system has no tray library, building the icon panics instead of failing; the
/// app then continues without one.
pub(crate) fn build_tray(app: &AppHandle) {
    match catch_unwind(AssertUnwindSafe(|| try_build_tray(app))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "there is no tray icon"),
        Err(_) => tracing::warn!("there is no tray icon: the system's tray library is missing"),
    }
}

fn try_build_tray(app: &AppHandle) -> tauri::Result<()> {
    let open = MenuItem::with_id(app, "open", "Open Countersign", true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", "Quit", true, None::<&str>)?;
    TrayIconBuilder::with_id(TRAY_ID)
        .icon(include_image!("icons/tray.png"))
        .tooltip("Countersign")
        .menu(&Menu::with_items(app, &[&open, &quit])?)
        .on_menu_event(|app, event| match event.id().as_ref() {
            "quit" => app.exit(0),
            _ => raise_window(app),
        })
        .build(app)
        .map(drop)
}

/// Shows how many calls wait.
pub(crate) fn show_count(app: &AppHandle, waiting: usize) {
    let text = match waiting {
        0 => "Countersign".to_owned(),
        1 => "Countersign: 1 call waits".to_owned(),
        n => format!("Countersign: {n} calls wait"),
    };
    if let Some(Err(error)) = app
        .tray_by_id(TRAY_ID)
        .map(|tray| tray.set_tooltip(Some(text)))
    {
        tracing::warn!(%error, "the tray icon cannot be changed");
    }
}
