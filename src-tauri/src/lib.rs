//! The shell: one window, a tray icon, notifications, updates, and thirteen commands, most of which pass a request of the
//! page on to the engine.
//!
//! **It contains no logic, no SQL and no file access**, and it is the only crate that depends on Tauri. The engine is a
//! process of its own, the same program as the command line (`engine_process.rs`): ops and queries go to it, events
//! come back. A request that allows or loosens needs more than the page's word: see `consent.rs`.
//!
//! Start reading at `commands.rs`.

mod attention;
mod browser;
mod commands;
mod confirm_dialog;
mod consent;
mod desktop_settings;
mod engine_process;
mod file_manager;
#[cfg(target_os = "linux")]
mod graphics;
mod links;
mod press_tracker;
mod restart;
mod session_export;
mod shown_in_page;
mod tray;
mod update_steps;
mod updates;
mod window;
mod window_appearance;

use std::process::ExitCode;

use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Builder, Manager, RunEvent, WebviewWindow, Wry};
use tauri_plugin_window_state::StateFlags;

use crate::desktop_settings::{AppliedShortcut, LOGIN_ENTRY, MINIMIZED_ARGUMENT};
use crate::engine_process::EngineCell;
use crate::shown_in_page::PageListener;
use crate::updates::{InstalledCopy, UpdateLimits, Updates};

/// Opens the app and runs it until it ends.
pub fn run() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    window_appearance::choose_renderer();
    match app_builder().build(tauri::generate_context!()) {
        Ok(app) => {
            app.run(|app, event| match event {
                RunEvent::Exit => tauri::async_runtime::block_on(update_steps::close_app(app)),
                // So macOS opens links.
                #[cfg(target_os = "macos")]
                RunEvent::Opened { urls } => {
                    raise_window(app);
                    urls.iter().for_each(|url| links::follow_link(app, url));
                }
                _ => {}
            });
            ExitCode::SUCCESS
        }
        Err(error) => {
            restart::restart_app(&error);
            tracing::error!(%error, "the window cannot be opened");
            ExitCode::FAILURE
        }
    }
}

fn app_builder() -> Builder<Wry> {
    Builder::default()
        .plugin(tauri_plugin_single_instance::init(
            |app, arguments, _folder| {
                raise_window(app);
                links::follow_argument(app, arguments);
            },
        ))
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(StateFlags::all() - StateFlags::VISIBLE)
                .build(),
        )
        .plugin(
            tauri_plugin_autostart::Builder::new()
                .app_name(LOGIN_ENTRY)
                .arg(MINIMIZED_ARGUMENT)
                .build(),
        )
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_updater::Builder::new().build())
        .plugin(
            tauri_plugin_opener::Builder::new()
                .open_js_links_on_click(false)
                .build(),
        )
        .invoke_handler(tauri::generate_handler![
            commands::submit,
            commands::snapshot,
            commands::query,
            commands::subscribe,
            commands::open_address,
            commands::show_in_folder,
            commands::list_connections,
            commands::plan_connection,
            commands::change_connection,
            commands::import_sessions,
            commands::export_session,
            commands::watch_updates,
            commands::update_app
        ])
        .on_page_load(|webview, load| match load.event() {
            PageLoadEvent::Started => webview.state::<PageListener>().set_loading(),
            PageLoadEvent::Finished => window_appearance::show_window(webview.app_handle()),
        })
        .setup(|app| {
            app.manage(press_tracker::PressTracker::default());
            app.manage(PageListener::default());
            app.manage(AppliedShortcut::default());
            let updates =
                Updates::new(app.handle(), InstalledCopy::find(), UpdateLimits::default());
            app.manage(updates);
            let window = window::build_window(app)?;
            press_tracker::track_window(&window)?;
            window_appearance::set_background(app.handle());
            window_appearance::show_window_after_timeout(app.handle());
            tray::build_tray(app.handle());
            if let Err(error) = attention::prepare_notification(app.handle()) {
                tracing::warn!(%error, "notifications lead nowhere");
            }
            links::follow_argument(app.handle(), std::env::args());
            app.manage(EngineCell::default());
            tauri::async_runtime::spawn(updates::follow_mode(app.handle().clone()));
            // Beside the page, which loads meanwhile.
            let handle = app.handle().clone();
            tauri::async_runtime::spawn(async move {
                // Why it cannot be started is what the window will ask and show.
                if let Ok(engine) = handle.state::<EngineCell>().start_engine(&handle).await {
                    engine_process::apply_settings(&handle, &engine).await;
                }
            });
            Ok(())
        })
}

/// Brings the window to the front, as a second start of the app does.
pub(crate) fn raise_window(app: &AppHandle) {
    if let Some(window) = main_window(app) {
        for done in [window.unminimize(), window.show(), window.set_focus()] {
            if let Err(error) = done {
                tracing::warn!(%error, "the window cannot be raised");
            }
        }
    }
}

pub(crate) fn main_window(app: &AppHandle) -> Option<WebviewWindow> {
    app.get_webview_window(window::MAIN_WINDOW_LABEL)
}
