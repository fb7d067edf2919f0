//! The eleven commands that the interface may call. Each only delegates.

use agent::EventBatch;
use gateway::connections;
use gateway::transcripts::{self, ImportQuery};
use protocol::connection::{ConnectionAction, ConnectionPlan, ConnectionView, SessionImport};
use protocol::op::OpReceipt;
use protocol::query::{Answer, EngineView, Query};
use protocol::{Digest, Op, SessionId, UserError};
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use crate::{
    EngineCell, agent_connections, browser, consent, file_manager, session_export,
    window_appearance,
};

/// Submits a request, once it is known to come from the person.
#[tauri::command]
pub(crate) async fn submit(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    op: Op,
) -> Result<OpReceipt, UserError> {
    let desk = engine.open_engine(&app).await?;
    consent::obtain_consent(&app, &desk, &op).await?;
    let sets = matches!(op, Op::SetSettings { .. });
    let receipt = desk.submit(op).await?;
    if sets {
        window_appearance::apply_theme(&app, desk.settings().theme);
    }
    Ok(receipt)
}

/// Returns everything that the interface needs to rebuild its state.
#[tauri::command]
pub(crate) async fn snapshot(
    app: AppHandle,
    engine: State<'_, EngineCell>,
) -> Result<EngineView, UserError> {
    engine.open_engine(&app).await?.snapshot().await
}

/// Answers a query.
#[tauri::command]
pub(crate) async fn query(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    query: Query,
) -> Result<Answer, UserError> {
    engine.open_engine(&app).await?.query(query).await
}

/// Sends every event after `since`, then new ones, in batches, until the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    since: u64,
    channel: Channel<EventBatch>,
) -> Result<(), UserError> {
    let mut events = engine.open_engine(&app).await?.subscribe(since);
    tauri::async_runtime::spawn(async move {
        while let Ok(Some(batch)) = events.next().await {
            if channel.send(batch).is_err() {
                break;
            }
        }
    });
    Ok(())
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
    let desk = engine.open_engine(&app).await?;
    let file = desk.find_file(&workspace, &path)?;
    consent::obtain_consent_for_file(&app, &file).await?;
    file_manager::show_in_folder(&app, &file)
}

/// Lists the agents that can be connected, as they are on this machine.
#[tauri::command]
pub(crate) async fn list_connections(
    app: AppHandle,
    engine: State<'_, EngineCell>,
) -> Result<Vec<ConnectionView>, UserError> {
    let place = agent_connections::find_place(&engine.open_engine(&app).await?)?;
    Ok(connections::inspect_agents(&place))
}

/// Plans a change of an agent's configuration; none if there is nothing to change.
#[tauri::command]
pub(crate) async fn plan_connection(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
    action: ConnectionAction,
) -> Result<Option<ConnectionPlan>, UserError> {
    let place = agent_connections::find_place(&engine.open_engine(&app).await?)?;
    connections::plan_change(&agent, action, &place)
}

/// Makes a change of an agent's configuration as it was shown, once it is known to come from the person.
#[tauri::command]
pub(crate) async fn change_connection(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
    action: ConnectionAction,
    shown: Digest,
) -> Result<(), UserError> {
    consent::obtain_consent_for_connection(&app, connections::find_agent(&agent)?, action).await?;
    let place = agent_connections::find_place(&engine.open_engine(&app).await?)?;
    connections::make_shown_change(&agent, action, &shown, &place)
}

/// Imports the sessions of an agent that went on in the last week into the record.
#[tauri::command]
pub(crate) async fn import_sessions(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    agent: String,
) -> Result<SessionImport, UserError> {
    let desk = engine.open_engine(&app).await?;
    let agent = transcripts::find_transcript_agent(&agent)?;
    let query = ImportQuery {
        agent,
        place: agent_connections::find_place(&desk)?.transcripts(agent)?,
        workspace: None,
        since: connections::recent_since(),
    };
    transcripts::import_sessions(&desk, query).await
}

/// Exports a session into a file that the person chooses; returns its path, none if they chose none.
#[tauri::command]
pub(crate) async fn export_session(
    app: AppHandle,
    engine: State<'_, EngineCell>,
    session: SessionId,
    format: String,
) -> Result<Option<String>, UserError> {
    let desk = engine.open_engine(&app).await?;
    session_export::export_session(&app, &desk, session, &format).await
}
