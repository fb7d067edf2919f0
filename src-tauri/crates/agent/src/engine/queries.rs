//! Questions that change nothing.

use std::path::Path;
use std::sync::Arc;

use protocol::account::CallAccount;
use protocol::event::SessionOptions;
use protocol::event::masked_event;
use protocol::query::{Answer, EngineView, Query};
use protocol::server::apis::ApiList;
use protocol::text::cut;
use protocol::text::display_text::to_spans;
use protocol::view::masked_call;
use protocol::{CallId, Event, SessionId, UserError};
use runtime::{FileError, SessionFolder, Workspace};
use serde_json::{Map, Value};
use tools::Registry;

use crate::engine::settings::settings_path;
use crate::engine::{
    agent_options, attachments, attention_report, dry_run_command, editors, session_deletion,
    skipped_asks,
};
use crate::host::config::EngineConfig;
use crate::limits::{LINES_FILE_BYTES_MAX, LINES_MAX, OUTPUT_PAGE_BYTES};
use crate::permissions::trust;
use crate::rulebook::queries;
use crate::session::engine_state::EngineState;
use crate::session::grants;
use crate::session::toolbox::Toolbox;
use crate::toolset::web_search;
use crate::undo;

/// Maximum number of entries on one page.
const EVENTS_PAGE_MAX: u32 = 1_000;

/// Returns the whole state that an interface needs to start from.
pub(crate) async fn build_snapshot(engine: &Arc<EngineState>) -> Result<EngineView, UserError> {
    let providers = engine.providers().list_views().await;
    let moment = engine.record.overview()?;
    Ok(EngineView {
        seq: moment.seq,
        sessions: moment.sessions,
        desk: moment.desk,
        settings: (*engine.settings()).clone(),
        providers,
        faults: engine.current_errors(),
        settings_file: settings_path(&engine.config.data_dir).display().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: EngineConfig::home_dir()
            .map(|home| home.display().to_string())
            .unwrap_or_default(),
    })
}

/// Answers one question.
#[expect(
    clippy::cognitive_complexity,
    reason = "one arm a question, each a call"
)]
pub(crate) async fn answer_query(
    engine: &Arc<EngineState>,
    query: Query,
) -> Result<Answer, UserError> {
    let record = &engine.record;
    Ok(match query {
        Query::Promise { workspace } => {
            let workspace = runtime::Workspace::open(Path::new(&workspace))?;
            Answer::Promise(dry_run_command::read_assurance(engine, &workspace).await)
        }
        Query::Transcript {
            session,
            before,
            limit,
        } => transcript_answer(record.transcript_page_before(
            &session,
            before,
            limit.min(EVENTS_PAGE_MAX),
        )?),
        Query::TranscriptFrom {
            session,
            from,
            limit,
        } => transcript_answer(record.transcript_page_from(
            &session,
            from,
            limit.min(EVENTS_PAGE_MAX),
        )?),
        Query::FailedCall { session, before } => Answer::FailedCall {
            entry: record.newest_failed_call(&session, before)?.map(Box::new),
        },
        Query::Search {
            text,
            offset,
            limit,
        } => Answer::Search(record.search(
            &text,
            engine.now(),
            offset,
            limit.min(EVENTS_PAGE_MAX),
        )?),
        Query::History { offset, limit } => {
            let (entries, more) = record.undo_entries(offset, limit.min(EVENTS_PAGE_MAX))?;
            Answer::History { entries, more }
        }
        Query::UndoCheck { entry } => Answer::UndoCheck(undo::check_undo(engine, entry).await?),
        Query::Restore { restore } => {
            Answer::Restore(Box::new(undo::preview_restore(engine, restore).await?))
        }
        Query::RestoreReceipt { entry } => {
            Answer::RestoreReceipt(undo::restore_receipt(engine, entry).await?)
        }
        Query::Timeline {
            workspace,
            offset,
            limit,
        } => Answer::Timeline(
            undo::undo_timeline(engine, workspace, offset, limit.min(EVENTS_PAGE_MAX)).await?,
        ),
        Query::CallEvents { session, call } => Answer::CallEvents {
            events: call_events(engine, &session, &call)?,
        },
        Query::Account { session, call } => call_account(engine, &session, &call)?,
        Query::ProjectRules { workspace } => {
            let rules = trust::project_rules_view(&engine.config.data_dir, Path::new(&workspace))?;
            Answer::ProjectRules { rules }
        }
        Query::SkippedAsks { session } => skipped_asks::list_skipped_asks(engine, &session)?,
        Query::AgentOptions { session } => Answer::AgentOptions {
            options: agent_options::list_agent_options(engine, &session).await?,
        },
        Query::Lines {
            session,
            path,
            start,
            count,
        } => file_lines(engine, &session, &path, start, count)?,
        Query::Output {
            session,
            call,
            offset,
        } => output_page(engine, &session, &call, offset)?,
        Query::CheckArguments {
            session,
            call,
            arguments,
        } => check_arguments(engine, &session, &call, &arguments)?,
        Query::CheckTool {
            workspace,
            tool,
            arguments,
        } => {
            let tools = Toolbox::for_folder(engine, workspace.as_deref())?;
            argument_problems(&tools, &tool, &arguments)
        }
        Query::Models { provider } => {
            let models = engine.provider(&provider)?.models().await?;
            Answer::Models { models }
        }
        Query::Tools { workspace } => Answer::Tools {
            tools: Toolbox::for_folder(engine, workspace.as_deref())?.views(),
        },
        Query::Offers { session, call } => {
            let session = engine.session(&session)?;
            let weighed = session.pending_policy_input(&call).ok_or_else(|| {
                UserError::new(
                    "This call does not wait, so nothing can be granted from its card.",
                    "Write a rule in Rules.",
                )
            })?;
            Answer::Offers(grants::offer_grants(&session, &weighed))
        }
        Query::Rules { workspace, session } => {
            query_rulebook(engine, move |engine| {
                queries::list_rules(engine, workspace.as_deref(), session.as_ref())
            })
            .await?
        }
        Query::Backtest {
            workspace,
            change,
            calls_max,
        } => {
            query_rulebook(engine, move |engine| {
                queries::backtest_change(engine, workspace.as_deref(), &change, calls_max)
            })
            .await?
        }
        Query::EvaluateCall {
            workspace,
            tool,
            arguments,
            draft,
        } => {
            let folder = workspace.as_deref();
            queries::simulate_call(engine, folder, &tool, &arguments, draft.as_ref()).await?
        }
        Query::CheckRules { scope, text, .. } => {
            query_rulebook(engine, move |engine| {
                Ok(queries::check_rules(engine, &text, scope))
            })
            .await?
        }
        Query::CheckRule { rule, instead } => {
            query_rulebook(engine, move |engine| {
                Ok(queries::check_rule(engine, &rule, instead.as_ref()))
            })
            .await?
        }
        Query::CompareRules { a, b, workspace } => {
            query_rulebook(engine, move |engine| {
                queries::compare_rules(engine, workspace.as_deref(), &a, &b)
            })
            .await?
        }
        Query::Suggestions { workspace } => {
            query_rulebook(engine, move |engine| {
                queries::suggest_rules(engine, workspace.as_deref())
            })
            .await?
        }
        Query::RuleOffer { session, call } => {
            query_rulebook(engine, move |engine| {
                queries::offer_rule(engine, &session, &call)
            })
            .await?
        }
        Query::Attention { since } => Answer::Attention(Box::new(
            attention_report::build_report(engine, since).await?,
        )),
        Query::Briefing { workspace } => {
            query_rulebook(engine, move |engine| {
                let workspace = Workspace::open(Path::new(&workspace))?;
                let briefing = engine.read_briefing(&workspace, &SessionOptions::default());
                Ok(Answer::Briefing(briefing.view(workspace.root())))
            })
            .await?
        }
        Query::BriefingText { workspace, of } => {
            query_rulebook(engine, move |engine| {
                let workspace = Workspace::open(Path::new(&workspace))?;
                let briefing = engine.read_briefing(&workspace, &SessionOptions::default());
                let text = briefing.text(workspace.root(), &of)?;
                Ok(Answer::BriefingText(text))
            })
            .await?
        }
        Query::Imports { workspace } => {
            query_rulebook(engine, move |_| queries::list_imports(workspace.as_deref())).await?
        }
        Query::Servers => Answer::Servers {
            servers: engine.servers.views(),
            fault: engine.servers.store().errors().into_iter().next(),
        },
        Query::ServerLog { server } => Answer::ServerLog {
            lines: engine.servers.log_lines(&server)?,
        },
        Query::ServerResources { server, wanted } => Answer::ServerResources {
            resources: engine.servers.server_contents(&server, &wanted).await?,
        },
        Query::DiscoverServers { workspace } => Answer::DiscoverServers {
            sources: crate::toolset::servers::find_servers(
                &engine.servers,
                workspace.as_deref().map(Path::new),
            ),
        },
        Query::Apis => Answer::Apis(ApiList {
            apis: engine.apis.views(),
            fault: engine.apis.errors().into_iter().next(),
        }),
        Query::LanguageServers => Answer::LanguageServers {
            servers: lsp::settings::build_views(&engine.settings().language_servers),
        },
        Query::Editors => query_rulebook(engine, |_| Ok(editors::list_editors())).await?,
        Query::SearchProviders => {
            query_rulebook(engine, move |engine| {
                let providers =
                    web_search::search_provider_views(&engine.settings().web_search, &engine.keys);
                Ok(Answer::SearchProviders { providers })
            })
            .await?
        }
        Query::ImageSupport { session } => Answer::ImageSupport {
            support: attachments::image_support(engine, &session)?,
        },
        Query::FileNames {
            workspace,
            text,
            limit,
        } => {
            let limit = limit.min(EVENTS_PAGE_MAX) as usize;
            Answer::FileNames {
                paths: attachments::list_file_names(workspace, text, limit).await?,
            }
        }
        Query::DroppedFile { workspace, file } => Answer::DroppedFile {
            paths: attachments::find_dropped_file(workspace, file).await?,
        },
        Query::DeletionPreview { session } => {
            Answer::DeletionPreview(session_deletion::preview_deletion(engine, &session).await?)
        }
        Query::DeletedSessions => Answer::DeletedSessions {
            sessions: session_deletion::list_deleted_sessions(engine)?,
        },
        Query::Export { session, format } => {
            let format = record::ExportFormat::parse(&format)?;
            Answer::Export {
                text: record.export_session(&session, format)?,
            }
        }
    })
}

/// Answers a query about rules, which reads files and may judge many calls.
async fn query_rulebook(
    engine: &Arc<EngineState>,
    ask: impl FnOnce(&EngineState) -> Result<Answer, UserError> + Send + 'static,
) -> Result<Answer, UserError> {
    let engine = engine.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&engine));
    asked
        .await
        .map_err(|_| UserError::new("The question broke off.", "Report this."))?
}

fn transcript_answer(stretch: record::TranscriptPage) -> Answer {
    Answer::Transcript {
        entries: stretch.entries,
        more: stretch.more,
        seq: stretch.seq,
    }
}

/// Returns the events of a call, in order; masked once the call is over.
fn call_events(
    engine: &EngineState,
    session: &SessionId,
    call: &CallId,
) -> Result<Vec<Event>, UserError> {
    let events = engine.record.call_events(session, call, 0)?;
    if !has_ended(engine, session, call)? {
        return Ok(events);
    }
    let masked: Option<_> = events.iter().map(masked_event::mask_event).collect();
    masked.ok_or_else(|| withheld_error("events", call))
}

/// Returns the error that a part of a call is not shown, because masking its secrets would change its form.
fn withheld_error(what: &str, call: &CallId) -> UserError {
    UserError::new(
        format!("The {what} of call {call} cannot be shown without its secrets."),
        "`countersign export` writes the session without them.",
    )
}

fn has_ended(engine: &EngineState, session: &SessionId, call: &CallId) -> Result<bool, UserError> {
    let view = engine.call_view(session, call)?;
    Ok(view.is_some_and(|view| view.ended_at.is_some()))
}

/// Returns everything on record about a call, as an account; masked once the call is over.
fn call_account(
    engine: &EngineState,
    session: &SessionId,
    call: &CallId,
) -> Result<Answer, UserError> {
    let (mut account, mut since) = (None, 0);
    loop {
        let events = engine.record.call_events(session, call, since)?;
        for event in &events {
            CallAccount::add_event(&mut account, call, event);
        }
        match events.last() {
            Some(last) => since = last.seq,
            None => break,
        }
    }
    let account = account.ok_or_else(|| {
        let message = format!("There is no call {call} in this session.");
        UserError::new(message, "The session's story names each call's id.")
    })?;
    let account = match has_ended(engine, session, call)? {
        false => account,
        true => {
            masked_call::mask_strings(&account).ok_or_else(|| withheld_error("account", call))?
        }
    };
    Ok(Answer::Account {
        summary: account.summary(),
        account: Box::new(account),
    })
}

/// Returns lines of a file, for more context around a hunk.
fn file_lines(
    engine: &Arc<EngineState>,
    session: &SessionId,
    path: &str,
    start: u32,
    count: u32,
) -> Result<Answer, UserError> {
    let session = engine.session(session)?;
    let bytes = session
        .tool_context
        .workspace
        .read_whole(path, LINES_FILE_BYTES_MAX)?
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let skipped = start.saturating_sub(1) as usize;
    let lines = text
        .lines()
        .skip(skipped)
        .take(count.min(LINES_MAX) as usize)
        .map(to_spans)
        .collect();
    Ok(Answer::Lines { lines })
}

/// Returns a range of the whole output: from the sidecar file, or from the outcome if the output was short.
fn output_page(
    engine: &Arc<EngineState>,
    session: &SessionId,
    call: &CallId,
    offset: u64,
) -> Result<Answer, UserError> {
    let view = engine.call_view(session, call)?;
    let outcome = view
        .and_then(|view| view.outcome)
        .ok_or_else(|| UserError::new("This call has no output yet.", "Wait until it ended."))?;
    // Of what was cut and not kept, the head is all that there is.
    let Some(path) = outcome.truncated.and_then(|cut| cut.output_path) else {
        let bytes = outcome.text.len() as u64;
        return Ok(Answer::Output {
            text: outcome.text,
            bytes,
            next: None,
        });
    };
    // The session itself is not opened for it: that takes seconds where much is on record.
    let read = SessionFolder::open(&engine.config.data_dir, session)?
        .read_output(Path::new(&path), offset, OUTPUT_PAGE_BYTES)
        .map_err(|error| match error {
            FileError::NotFound { .. } => UserError::new(
                "The whole output is gone: it went when the session was closed.",
                "Its beginning is on record, in the card.",
            ),
            other => other.into(),
        })?;
    let (text, used) = truncate_to_utf8(&read.bytes);
    let end = offset + used;
    Ok(Answer::Output {
        text,
        bytes: read.total,
        next: (end < read.total && used > 0).then_some(end),
    })
}

/// Returns the text up to the last whole character, and its length in bytes.
fn truncate_to_utf8(bytes: &[u8]) -> (String, u64) {
    let whole = match cut::complete_chars_len(bytes) {
        // Nothing but a beginning: shown as it is, so that reading comes to an end.
        0 => bytes.len(),
        length => length,
    };
    let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
    (text, whole as u64)
}

fn check_arguments(
    engine: &Arc<EngineState>,
    session: &SessionId,
    call: &CallId,
    arguments: &Map<String, Value>,
) -> Result<Answer, UserError> {
    let session = engine.session(session)?;
    let view = engine.call_view(&session.id, call)?;
    let view = view.ok_or_else(|| UserError::new("There is no such call.", ""))?;
    let arguments = match session.restore_arguments(&view.call.id, arguments) {
        Ok(arguments) => arguments,
        Err(fault) => {
            return Ok(Answer::CheckArguments {
                problems: vec![fault.message],
            });
        }
    };
    // By the name that it was called by: an alias has names of its own for the members.
    Ok(argument_problems(
        &session.tools(),
        &view.call.name,
        &arguments,
    ))
}

/// Returns the problems of arguments for the tool of that name.
fn argument_problems(tools: &Registry, name: &str, arguments: &Map<String, Value>) -> Answer {
    let problems = match tools.find(name) {
        Err(error) => vec![error.to_string()],
        Ok(found) => found.find_problems(arguments),
    };
    Answer::CheckArguments { problems }
}
