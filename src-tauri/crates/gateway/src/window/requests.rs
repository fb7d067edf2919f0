//! Answers the requests of a window, each with the JSON of the type that [`EngineRequest`] names.

use std::path::Path;

use agent::engine::session_export::ExportKind;
use agent::{Engine, EngineConfig};
use protocol::engine_process::{CallName, EngineRequest, ExportTarget, NumberedRequest};
use protocol::op::ShownCall;
use protocol::query::{Answer, Query};
use protocol::server::mcp_servers::{ServerId, ServerSettings};
use protocol::{Entry, EntryBody, UserError};
use serde::Serialize;

use super::{WindowConfig, WindowHost};
use crate::connections::{self, ConnectionPlace};
use crate::transcripts::{self, ImportQuery};

/// Answers a request.
pub(super) async fn answer_request(
    host: &WindowHost,
    engine: &Engine,
    NumberedRequest { id, request }: NumberedRequest,
) -> Result<Vec<u8>, UserError> {
    let config = &host.config;
    match request {
        EngineRequest::Submit { op } => to_json(&engine.submit(op).await?),
        EngineRequest::Snapshot => to_json(&engine.snapshot().await?),
        EngineRequest::Query { query } => to_json(&engine.query(query).await?),
        EngineRequest::Subscribe { since } => {
            host.send_events(engine, id, since);
            to_json(&())
        }
        EngineRequest::Settings => to_json(&*engine.settings()),
        EngineRequest::OngoingWork => to_json(&engine.ongoing_work()?),
        EngineRequest::NameWaitingCalls { calls } => to_json(&name_calls(engine, &calls).await?),
        EngineRequest::ServerSettings { server } => to_json(&find_server(engine, &server).await?),
        EngineRequest::FindFile { workspace, path } => {
            to_json(&engine.find_file(&workspace, &path)?)
        }
        EngineRequest::ListConnections => {
            to_json(&connections::inspect_agents(&find_place(engine, config)?))
        }
        EngineRequest::PlanConnection { agent, action } => {
            let place = find_place(engine, config)?;
            to_json(&connections::plan_change(&agent, action, &place)?)
        }
        EngineRequest::ChangeConnection {
            agent,
            action,
            shown,
        } => {
            let place = find_place(engine, config)?;
            to_json(&connections::make_shown_change(
                &agent, action, &shown, &place,
            )?)
        }
        EngineRequest::ImportSessions { agent } => {
            let agent = transcripts::find_transcript_agent(&agent)?;
            let query = ImportQuery {
                agent,
                place: find_place(engine, config)?.transcripts(agent)?,
                workspace: None,
                since: connections::recent_since(),
            };
            to_json(&transcripts::import_sessions(engine, query).await?)
        }
        EngineRequest::ExportTarget { session, format } => {
            let kind = ExportKind::parse(&format)?;
            to_json(&ExportTarget {
                name: engine.export_file_name(&session, kind)?,
                title: kind.title.to_owned(),
                extension: kind.extension.to_owned(),
            })
        }
        EngineRequest::ExportSession {
            session,
            format,
            file,
        } => {
            let kind = ExportKind::parse(&format)?;
            to_json(
                &engine
                    .export_session(session, kind, Path::new(&file))
                    .await?,
            )
        }
    }
}

/// Writes an answer as JSON.
fn to_json(answer: &impl Serialize) -> Result<Vec<u8>, UserError> {
    serde_json::to_vec(answer).map_err(|error| {
        UserError::new("The answer cannot be shown.", "Try again.").with_source(&error)
    })
}

fn find_place(engine: &Engine, config: &WindowConfig) -> Result<ConnectionPlace, UserError> {
    let (home, variables) = (EngineConfig::home_dir(), config.variables.iter().cloned());
    let program = config.hook_program.clone();
    ConnectionPlace::new(home, variables, engine.data_dir().to_owned(), program)
}

/// Returns the names of those calls that still wait.
async fn name_calls(engine: &Engine, calls: &[ShownCall]) -> Result<Vec<CallName>, UserError> {
    let waiting = engine.snapshot().await?.desk;
    let names = calls.iter().filter_map(|call| find_name(&waiting, call));
    Ok(names.collect())
}

/// Finds a call among the waiting ones. Two sessions may have calls with the same id.
fn find_name(waiting: &[Entry], call: &ShownCall) -> Option<CallName> {
    let mut own = waiting.iter().filter(|entry| entry.session == call.session);
    match &own.find(|entry| entry.id == call.call.as_str())?.body {
        EntryBody::Call(view) => Some(CallName {
            title: view.title.clone(),
            target: view.target.clone(),
        }),
        _ => None,
    }
}

async fn find_server(
    engine: &Engine,
    server: &ServerId,
) -> Result<Option<ServerSettings>, UserError> {
    let Answer::Servers { servers, .. } = engine.query(Query::Servers).await? else {
        return Ok(None);
    };
    let mut known = servers.into_iter().map(|view| view.settings);
    Ok(known.find(|one| one.id == *server))
}

#[cfg(test)]
mod tests {
    use protocol::{CallId, Digest, SessionId};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_allowed_is_told_of_the_call_of_that_session() {
        let folded = include_str!("../../../../../tests/golden/sample.folded.json");
        let folded: Value = serde_json::from_str(folded).unwrap();
        let mut entries = folded["entries"].as_array().unwrap().iter();
        let call = entries.find(|entry| entry["body"]["type"] == "call");
        let desk: Vec<Entry> = ["ses_a", "ses_b"]
            .map(|session| {
                let mut entry = call.unwrap().clone();
                entry["id"] = json!("call_1");
                entry["session"] = json!(session);
                entry["body"]["target"] = json!(format!("file of {session}"));
                serde_json::from_value(entry).unwrap()
            })
            .into();
        let target = |session: &str, call: &str| {
            let shown = ShownCall {
                session: SessionId(session.into()),
                call: CallId(call.into()),
                digest: Digest::from("d"),
            };
            find_name(&desk, &shown).map(|name| name.target)
        };
        assert_eq!(target("ses_a", "call_1").as_deref(), Some("file of ses_a"));
        assert_eq!(target("ses_b", "call_1").as_deref(), Some("file of ses_b"));
        assert_eq!(target("ses_c", "call_1"), None);
        assert_eq!(target("ses_b", "call_2"), None);
    }
}
