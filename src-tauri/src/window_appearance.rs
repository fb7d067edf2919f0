//! Decides when the window is shown, how it looks until then, and how its page is painted where the machine has no
//! graphics processor.

use std::time::Duration;

use protocol::settings::Theme as Wanted;
use tauri::window::Color;
use tauri::{AppHandle, Theme, WebviewWindow};

use crate::desktop_settings::MINIMIZED_ARGUMENT;

/// `--bg-canvas` of the page's tokens, in light and in dark.
const CANVAS_COLORS: [Color; 2] = [Color(0xf6, 0xf6, 0xf5, 0xff), Color(0x17, 0x19, 0x1b, 0xff)];

/// How long the window waits for its page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sets the window's background to the page's colour, so that nothing flashes before the page is loaded.
pub(crate) fn set_background(app: &AppHandle) {
    let Some(window) = crate::main_window(app) else {
        return;
    };
    let [light, dark] = CANVAS_COLORS;
    let dark_system = matches!(window.theme(), Ok(Theme::Dark));
    if let Err(error) = window.set_background_color(Some(if dark_system { dark } else { light })) {
        tracing::warn!(%error, "the window cannot be given its colour");
    }
}

/// Applies the theme of the settings to the parts that the operating system draws: the window's frame and the dialogs.
pub(crate) fn apply_theme(app: &AppHandle, theme: Wanted) {
    if let Err(error) = apply_theme_to_system(app, theme) {
        tracing::warn!(%error, "the frame of the window keeps its theme");
    }
}

#[cfg(target_os = "linux")]
fn apply_theme_to_system(app: &AppHandle, theme: Wanted) -> tauri::Result<()> {
    use gtk::prelude::GtkSettingsExt;

    app.run_on_main_thread(move || {
        let Some(settings) = gtk::Settings::default() else {
            return;
        };
        match theme {
            // As the system had it before.
            Wanted::System => settings.reset_property("gtk-application-prefer-dark-theme"),
            Wanted::Light => settings.set_gtk_application_prefer_dark_theme(false),
            Wanted::Dark => settings.set_gtk_application_prefer_dark_theme(true),
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn apply_theme_to_system(app: &AppHandle, theme: Wanted) -> tauri::Result<()> {
    app.set_theme(match theme {
        Wanted::System => None,
        Wanted::Light => Some(Theme::Light),
        Wanted::Dark => Some(Theme::Dark),
    });
    Ok(())
}

/// Shows the window once its page is loaded. Showing the window earlier blocks everything for up to half a second: its
/// first drawing waits for a frame, and the page may at that moment wait for the app.
pub(crate) fn show_window(app: &AppHandle) {
    // A page that is loaded anew must not pull forward what a person put behind something else.
    let is_shown = |window: &WebviewWindow| matches!(window.is_visible(), Ok(true));
    let Some(window) = crate::main_window(app).filter(|window| !is_shown(window)) else {
        return;
    };
    if !std::env::args().any(|argument| argument == MINIMIZED_ARGUMENT) {
        crate::raise_window(app);
    } else if let Err(error) = window.minimize().and_then(|()| window.show()) {
        tracing::warn!(%error, "the window cannot be shown minimized");
    }
}

/// Shows the window after a timeout, for a page that does not load: the problem must be visible.
pub(crate) fn show_window_after_timeout(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(PAGE_TIMEOUT).await;
        show_window(&app);
    });
}

/// Chooses the renderer of the web view. Without a render node the web view would draw every frame with OpenGL in
/// software, which first compiles each shader: the first screen then takes twice as long. The choice must be made
/// before there is any web view: one that started with OpenGL and is told afterwards may hang between the two renderers
/// and never show its page. A person's own choice is kept. No other code may run yet, because this changes the
/// environment; programs that the app starts inherit the variable.
#[cfg(target_os = "linux")]
pub(crate) fn choose_renderer() {
    const NO_OPENGL: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

    if crate::graphics::has_render_node() {
        return;
    }
    if let Err(error) = glib::setenv(NO_OPENGL, "1", false) {
        tracing::warn!(%error, "how the page is painted cannot be chosen");
    }
}

/// Does nothing: on other systems the operating system chooses the renderer.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose_renderer() {}
