//! The shell: one window, a tray icon, notifications, and ten commands: four delegate to the engine, four to the
//! gateway for connections of agents and their sessions, one opens the browser, one the save dialog for an export.
//!
//! **It contains no logic, no SQL and no file access**, and it is the only crate that depends on Tauri. Requests of the
//! person are passed to the engine as ops or queries; events come back. A request that allows or loosens needs more
//! than the page's word: see `consent.rs`.
//!
//! Start reading at `commands.rs`.

mod agent_connections;
mod agent_hooks;
mod attention;
mod browser;
mod commands;
mod confirm_dialog;
mod consent;
mod file_manager;
mod press_tracker;
mod restart;
mod session_export;
mod tray;
mod waiting_call;
mod window;
mod window_appearance;

use std::process::ExitCode;
use std::time::Duration;

use agent::{Engine, EngineConfig, Host};
use protocol::{Op, UserError};
use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Builder, Manager, RunEvent, WebviewWindow, Wry};
use tauri_plugin_window_state::StateFlags;
use tokio::sync::Mutex;

/// The engine, once it could be opened. Until then every command tries again and reports why it cannot.
#[derive(Default)]
pub(crate) struct EngineCell(Mutex<Option<Engine>>);

impl EngineCell {
    /// Returns the engine; opens it if it is not open yet.
    pub(crate) async fn open_engine(&self, app: &AppHandle) -> Result<Engine, UserError> {
        let mut open = self.0.lock().await;
        if let Some(desk) = open.as_ref() {
            return Ok(desk.clone());
        }
        let own = std::env::current_exe().ok();
        let desk = Engine::open(EngineConfig {
            home: EngineConfig::home_dir(),
            watches_record: true,
            sandbox_program: own.and_then(|own| agent::find_sandbox_program(&own)),
            ..EngineConfig::new(EngineConfig::resolve_data_dir(None)?, Host::Person)
        })
        .await;
        let desk =
            desk.inspect_err(|fault| tracing::error!(%fault, "the engine cannot be opened"))?;
        gateway::acp_client::add_agents(&desk, agent_connections::find_program());
        window_appearance::apply_theme(app, desk.settings().theme);
        play_demo(&desk);
        attention::follow_attention(app.clone(), desk.clone());
        agent_hooks::serve_hooks(desk.clone());
        *open = Some(desk.clone());
        Ok(desk)
    }
}

/// Plays the demo at once: `countersign-desktop --demo`.
const DEMO_FLAG: &str = "--demo";
/// Plays the demo unattended: waiting calls are decided on after a while. For taking screenshots.
const DEMO_UNATTENDED_FLAG: &str = "--demo=unattended";
/// How long a card of the unattended demo stays before it is decided on.
const DEMO_PACE: Duration = Duration::from_secs(4);

/// Opens the app and runs it until it ends.
pub fn run() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    window_appearance::choose_renderer();
    match app_builder().build(tauri::generate_context!()) {
        Ok(app) => {
            app.run(|app, event| {
                if let RunEvent::Exit = event {
                    close_engine(app);
                }
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
        .plugin(tauri_plugin_single_instance::init(|app, _argv, _folder| {
            raise_window(app)
        }))
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(StateFlags::all() - StateFlags::VISIBLE)
                .build(),
        )
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_dialog::init())
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
            commands::export_session
        ])
        .on_page_load(|webview, load| {
            if load.event() == PageLoadEvent::Finished {
                window_appearance::show_window(webview.app_handle());
            }
        })
        .setup(|app| {
            app.manage(press_tracker::PressTracker::default());
            let window = window::build_window(app)?;
            press_tracker::track_window(&window)?;
            window_appearance::set_background(app.handle());
            window_appearance::show_window_after_timeout(app.handle());
            tray::build_tray(app.handle());
            app.manage(EngineCell::default());
            // Beside the page, which loads meanwhile and waits with its first question.
            let handle = app.handle().clone();
            tauri::async_runtime::spawn(async move {
                // Why it cannot be opened is what the window will ask and show.
                let _ = handle.state::<EngineCell>().open_engine(&handle).await;
            });
            Ok(())
        })
}

fn play_demo(desk: &Engine) {
    let desk = desk.clone();
    let asked =
        std::env::args().find(|argument| argument == DEMO_FLAG || argument == DEMO_UNATTENDED_FLAG);
    tauri::async_runtime::spawn(async move {
        let played = match asked.as_deref() {
            Some(DEMO_FLAG) => desk.submit(Op::PlayDemo).await.map(drop),
            Some(DEMO_UNATTENDED_FLAG) => agent::engine::demo::run_demo(&desk, DEMO_PACE)
                .await
                .map(drop),
            _ => Ok(()),
        };
        if let Err(fault) = played {
            tracing::error!(%fault, "the demo cannot be played");
        }
    });
}

fn close_engine(app: &AppHandle) {
    let engine = app.state::<EngineCell>();
    if let Some(desk) = tauri::async_runtime::block_on(engine.0.lock()).as_ref() {
        desk.close();
    }
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
