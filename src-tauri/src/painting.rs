//! How the window looks before its page does, and how the page is painted where the machine has no graphics processor.

use tauri::window::Color;
use tauri::{AppHandle, Theme};

/// `--bg-canvas` of the page's tokens, in light and in dark.
const CANVAS: [Color; 2] = [Color(0xf6, 0xf6, 0xf5, 0xff), Color(0x17, 0x19, 0x1b, 0xff)];

/// Gives the window the page's colour, so that nothing flashes before the page is there.
pub(crate) fn prepare(app: &AppHandle) {
    let Some(window) = crate::main_window(app) else {
        return;
    };
    let [light, dark] = CANVAS;
    let dark_system = matches!(window.theme(), Ok(Theme::Dark));
    if let Err(error) = window.set_background_color(Some(if dark_system { dark } else { light })) {
        tracing::warn!(%error, "the window cannot be given its colour");
    }
}

/// Chooses for the main window, right after it was made and before its page has anything to show. Without a render node
/// the web view would have every picture drawn by OpenGL in software, which first compiles each shader: the first
/// screen then comes twice as late.
#[cfg(target_os = "linux")]
pub(crate) fn choose(app: &AppHandle) {
    use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt, WebViewExt};

    let Some(window) = crate::main_window(app).filter(|_| !agent::has_render_node()) else {
        return;
    };
    let chosen = window.with_webview(|view| {
        if let Some(settings) = view.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    });
    if let Err(error) = chosen {
        tracing::warn!(%error, "how the page is painted cannot be chosen");
    }
}

/// Elsewhere the operating system itself decides.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose(_app: &AppHandle) {}
