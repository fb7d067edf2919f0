//! Applies how the app is reached from the rest of the desktop: the global shortcut, and the start at login.

use std::sync::{Mutex, PoisonError};

use protocol::UserError;
use protocol::settings::{DesktopSettings, GlobalShortcut};
use tauri::{AppHandle, Manager};
use tauri_plugin_autostart::ManagerExt as _;
use tauri_plugin_global_shortcut::{GlobalShortcutExt as _, ShortcutState};

use crate::tray;

/// Name of the app among the programs that start at login.
pub(crate) const LOGIN_ENTRY: &str = "Countersign";
/// The argument with which the app starts at login: its window is minimized.
pub(crate) const MINIMIZED_ARGUMENT: &str = "--minimized";

/// The global shortcut that the app listens to.
#[derive(Default)]
pub(crate) struct AppliedShortcut(Mutex<Option<GlobalShortcut>>);

/// Applies a change of the settings. What cannot be applied is refused before it is saved.
///
/// # Errors
/// The keys are taken or cannot be listened to here, or the start at login cannot be changed.
pub(crate) fn apply_change(
    app: &AppHandle,
    wanted: &DesktopSettings,
    present: &DesktopSettings,
) -> Result<(), UserError> {
    apply_shortcut(app, wanted.shortcut.as_ref())?;
    if wanted.start_at_login == present.start_at_login {
        return Ok(());
    }
    let login = app.autolaunch();
    let changed = match wanted.start_at_login {
        true => login.enable(),
        false => login.disable(),
    };
    changed.map_err(|error| {
        UserError::new(
            "The start at login cannot be changed here.",
            "Add Countersign to the programs that start at login in the settings of your system.",
        )
        .with_source(&error)
    })
}

/// Listens to the keys, in place of those before.
///
/// # Errors
/// The keys are taken by another program, or this system lets no app listen to keys of others. Those before stay then.
pub(crate) fn apply_shortcut(
    app: &AppHandle,
    wanted: Option<&GlobalShortcut>,
) -> Result<(), UserError> {
    let applied = app.state::<AppliedShortcut>();
    let mut applied = applied.0.lock().unwrap_or_else(PoisonError::into_inner);
    if applied.as_ref() == wanted {
        return Ok(());
    }
    if let Some(keys) = wanted {
        if is_wayland() {
            return Err(UserError::new(
                "Wayland lets no app listen to keys of other programs.",
                "In the keyboard settings of your system, add a shortcut for the command `xdg-open countersign://waiting`.",
            ));
        }
        listen_to(app, keys)?;
    }
    if let Some(before) = applied.take() {
        let stopped = app.global_shortcut().unregister(before.as_str());
        if let Err(error) = stopped {
            tracing::warn!(%error, "the shortcut before is still listened to");
        }
    }
    *applied = wanted.cloned();
    Ok(())
}

fn listen_to(app: &AppHandle, keys: &GlobalShortcut) -> Result<(), UserError> {
    // Nothing listens, and looks for keys, before there are any.
    if app
        .try_state::<tauri_plugin_global_shortcut::GlobalShortcut<tauri::Wry>>()
        .is_none()
    {
        let plugin = tauri_plugin_global_shortcut::Builder::new().build();
        app.plugin(plugin)
            .map_err(|error| keys_refused(keys).with_source(&error))?;
    }
    app.global_shortcut()
        .on_shortcut(keys.as_str(), |app, _keys, event| {
            if event.state == ShortcutState::Pressed {
                tray::show_oldest_call(app);
            }
        })
        .map_err(|error| keys_refused(keys).with_source(&error))
}

fn keys_refused(keys: &GlobalShortcut) -> UserError {
    UserError::new(
        format!("The keys {} cannot be used.", keys.as_str()),
        "Another program listens to them, or the system keeps them to itself: choose others.",
    )
}

/// Whether the windows of other programs are those of Wayland, of which no app hears the keys.
fn is_wayland() -> bool {
    cfg!(target_os = "linux")
        && std::env::var_os("WAYLAND_DISPLAY").is_some_and(|name| !name.is_empty())
}
