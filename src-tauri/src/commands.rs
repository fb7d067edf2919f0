//! The thirteen commands that the interface may call. Each only delegates.

use std::path::PathBuf;

use protocol::connection::ConnectionAction;
use protocol::engine_process::EngineRequest;
use protocol::query::Query;
use protocol::update::{UpdateStep, UpdateView};
use protocol::{Digest, Op, SessionId, Settings, UserError};
use tauri::ipc::{Channel, InvokeResponseBody, Response};
use tauri::{AppHandle, State};

use crate::engine_process::{self, EngineCell, EngineProcess};
use crate::updates::Updates;
use crate::{
    browser, consent, desktop_settings, file_manager, session_export, shown_in_page, update_steps,
};

/// The answer of the engine, as it came.
type EngineAnswer = Result<Response, UserError>;

/// Submits a request, once it is known to come from the person.
#[tauri::command]
pub(crate) async fn submit(app: AppHandle, engine: State<'_, EngineCell>, op: Op) -> EngineAnswer {
    let engine = engine.start_engine(&app).await?;
    consent::obtain_consent(&app, &engine, &op).await?;
    match op {
        Op::SetSettings { settings } => save_settings(&app, &engine, settings).await,
        op => {
            let receipt = engine.ask(EngineRequest::Submit { op }).await;
            receipt.map(json_response)
        }
    }
}

/// Saves settings, once what they say of the desktop could be applied.
async fn save_settings(
    app: &AppHandle,
    engine: &EngineProcess,
    settings: Box<Settings>,
) -> EngineAnswer {
    let present = engine.settings().await?;
    desktop_settings::apply_change(app, &settings.desktop, &present.desktop)?;
    let op = Op::SetSettings { settings };
    let receipt = engine.ask(EngineRequest::Submit { op }).await;
    // Also where they are refused: then the present ones hold again.
    engine_process::apply_settings(app, engine).await;
    receipt.map(json_response)
}

/// Returns everything that the interface needs to rebuild its state.
#[tauri::command]
pub(crate) async fn snapshot(app: AppHandle, engine: State<'_, EngineCell>) -> EngineAnswer {
    pass_on(&app, &engine, EngineRequest::Snapshot).await
}

/// Answers a query.
#[tauri::command]
pub(crate) async fn query(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    query: Query,
) -> EngineAnswer {
    pass_on(&app, &engine, EngineRequest::Query { query }).await
}

/// Sends every event after `since`, then new ones, in batches, until the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    since: u64,
    channel: Channel<InvokeResponseBody>,
) -> Result<(), UserError> {
    let engine = engine.start_engine(&app).await?;
    engine.subscribe(since, channel).await?;
    shown_in_page::page_is_ready(&app);
    Ok(())
}

/// Passes a request on that needs no consent.
async fn pass_on(app: &AppHandle, engine: &EngineCell, request: EngineRequest) -> EngineAnswer {
    let engine = engine.start_engine(app).await?;
    Ok(json_response(engine.ask(request).await?))
}

fn json_response(json: String) -> Response {
    Response::new(InvokeResponseBody::Json(json))
}

/// Opens a URL in the person's browser, once the person is known to want it.
#[tauri::command]
pub(crate) async fn open_address(app: AppHandle, address: String) -> Result<(), UserError> {
    consent::obtain_consent_for_address(&app, &address).await?;
    browser::open_in_browser(&app, &address)
}

/// Shows a file of a workspace in the file manager, once the person is known to want it.
#[tauri::command]
pub(crate) async fn show_in_folder(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    workspace: String,
    path: String,
) -> Result<(), UserError> {
    let engine = engine.start_engine(&app).await?;
    let file: PathBuf = engine
        .ask_for(EngineRequest::FindFile { workspace, path })
        .await?;
    consent::obtain_consent_for_file(&app, &file).await?;
    file_manager::show_in_folder(&app, &file)
}

/// Lists the agents that can be connected, as they are on this machine.
#[tauri::command]
pub(crate) async fn list_connections(
    app: AppHandle,
    engine: State<'_, EngineCell>,
) -> EngineAnswer {
    pass_on(&app, &engine, EngineRequest::ListConnections).await
}

/// Plans a change of an agent's configuration; none if there is nothing to change.
#[tauri::command]
pub(crate) async fn plan_connection(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
    action: ConnectionAction,
) -> EngineAnswer {
    pass_on(
        &app,
        &engine,
        EngineRequest::PlanConnection { agent, action },
    )
    .await
}

/// Makes a change of an agent's configuration as it was shown, once it is known to come from the person.
#[tauri::command]
pub(crate) async fn change_connection(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
    action: ConnectionAction,
    shown: Digest,
) -> EngineAnswer {
    let engine = engine.start_engine(&app).await?;
    consent::obtain_consent_for_connection(&app, &engine, &agent, action).await?;
    let request = EngineRequest::ChangeConnection {
        agent,
        action,
        shown,
    };
    Ok(json_response(engine.ask(request).await?))
}

/// Imports the sessions of an agent that went on in the last week into the record.
#[tauri::command]
pub(crate) async fn import_sessions(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
) -> EngineAnswer {
    pass_on(&app, &engine, EngineRequest::ImportSessions { agent }).await
}

/// Exports a session into a file that the person chooses; returns its path, none if they chose none.
#[tauri::command]
pub(crate) async fn export_session(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    session: SessionId,
    format: String,
) -> Result<Option<String>, UserError> {
    let engine = engine.start_engine(&app).await?;
    session_export::export_session(&app, &engine, session, format).await
}

/// Tells the page what is known of a newer version of the app, and each change from then on.
#[tauri::command]
pub(crate) fn watch_updates(updates: State<'_, Updates>, channel: Channel<UpdateView>) {
    updates.tell_page(channel);
}

/// Takes a step to a newer version of the app, once it is known to come from the person.
#[tauri::command]
pub(crate) async fn update_app(app: AppHandle, step: UpdateStep) -> Result<(), UserError> {
    consent::obtain_consent_for_update(&app, step).await?;
    update_steps::take_step(&app, step).await
}
