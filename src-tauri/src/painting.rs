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

/// Without a render node the web view would have every picture drawn by OpenGL in software, which first compiles each
/// shader: the first screen then comes twice as late. Chosen before there is any web view: one that began with OpenGL
/// and is told afterwards may stay between the two ways and never show its page. A person's own choice is kept. Nothing
/// else may run yet, because the environment is what is changed; programs that the app starts inherit it.
#[cfg(target_os = "linux")]
pub(crate) fn choose() {
    const NO_OPENGL: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

    if agent::has_render_node() {
        return;
    }
    if let Err(error) = glib::setenv(NO_OPENGL, "1", false) {
        tracing::warn!(%error, "how the page is painted cannot be chosen");
    }
}

/// Elsewhere the operating system itself decides.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose() {}
