//! Questions that change nothing.

use std::path::Path;
use std::sync::Arc;

use protocol::account::Account;
use protocol::apis::Apis;
use protocol::event::Asked;
use protocol::query::{Answer, Query, Snapshot};
use protocol::shown::shown;
use protocol::{CallId, EntryBody, Event, Fault, SessionId, cut, masked_call};
use runtime::{FileError, Workspace};
use serde_json::{Map, Value};
use tools::Registry;

use crate::config::DeskConfig;
use crate::desk::Shared;
use crate::limits::{LINES_FILE_BYTES_MAX, LINES_MAX, OUTPUT_PAGE_BYTES};
use crate::rulebook::asked;
use crate::toolbox::Toolbox;
use crate::{dry_run, seeks, trust, undo};

/// Entries that one page holds at most.
const PAGE_MAX: u32 = 1_000;

/// Everything that an interface needs to be whole again.
pub(crate) async fn snapshot(shared: &Arc<Shared>) -> Result<Snapshot, Fault> {
    let providers = shared.providers().views().await;
    let moment = shared.record.moment()?;
    Ok(Snapshot {
        seq: moment.seq,
        sessions: moment.sessions,
        desk: moment.desk,
        settings: (*shared.settings()).clone(),
        providers,
        faults: shared.faults(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: DeskConfig::home_dir()
            .map(|home| home.display().to_string())
            .unwrap_or_default(),
    })
}

/// Answers one question.
pub(crate) async fn answer(shared: &Arc<Shared>, query: Query) -> Result<Answer, Fault> {
    let record = &shared.record;
    Ok(match query {
        Query::Promise { workspace } => {
            let workspace = runtime::Workspace::open(Path::new(&workspace))?;
            Answer::Promise(dry_run::promise(shared, &workspace).await)
        }
        Query::Transcript {
            session,
            before,
            limit,
        } => told(record.stretch_before(&session, before, limit.min(PAGE_MAX))?),
        Query::TranscriptFrom {
            session,
            from,
            limit,
        } => told(record.stretch_from(&session, from, limit.min(PAGE_MAX))?),
        Query::Search {
            text,
            offset,
            limit,
        } => Answer::Search(record.search(
            &text,
            shared.config.clock.now(),
            offset,
            limit.min(PAGE_MAX),
        )?),
        Query::History { offset, limit } => {
            let (entries, more) = record.undo_entries(offset, limit.min(PAGE_MAX))?;
            Answer::History { entries, more }
        }
        Query::UndoCheck { entry } => Answer::UndoCheck(undo::check(shared, entry).await?),
        Query::Restore { restore } => {
            Answer::Restore(Box::new(undo::preview(shared, restore).await?))
        }
        Query::RestoreReceipt { entry } => {
            Answer::RestoreReceipt(undo::receipt(shared, entry).await?)
        }
        Query::Timeline {
            workspace,
            offset,
            limit,
        } => {
            Answer::Timeline(undo::timeline(shared, workspace, offset, limit.min(PAGE_MAX)).await?)
        }
        Query::CallEvents { session, call } => Answer::CallEvents {
            events: call_events(shared, &session, &call)?,
        },
        Query::Account { session, call } => account(shared, &session, &call)?,
        Query::ProjectRules { workspace } => {
            let rules = trust::view(&shared.config.data_dir, Path::new(&workspace))?;
            Answer::ProjectRules { rules }
        }
        Query::Lines {
            session,
            path,
            start,
            count,
        } => lines(shared, &session, &path, start, count)?,
        Query::Output {
            session,
            call,
            offset,
        } => output(shared, &session, &call, offset)?,
        Query::CheckArguments {
            session,
            call,
            arguments,
        } => check_arguments(shared, &session, &call, &arguments)?,
        Query::CheckTool {
            workspace,
            tool,
            arguments,
        } => {
            let tools = Toolbox::of_folder(shared, workspace.as_deref())?;
            problems(&tools, &tool, &arguments)
        }
        Query::Models { provider } => {
            let models = shared.provider(&provider)?.models().await?;
            Answer::Models { models }
        }
        Query::Tools { workspace } => Answer::Tools {
            tools: Toolbox::of_folder(shared, workspace.as_deref())?.views(),
        },
        Query::Offers { session, call } => {
            let session = shared.session(&session)?;
            let weighed = session.weighed(&call).ok_or_else(|| {
                Fault::new(
                    "This call does not wait, so nothing can be granted from its card.",
                    "Write a rule in Rules.",
                )
            })?;
            Answer::Offers(crate::grant::offers(&session, &weighed))
        }
        Query::Rules { workspace, session } => {
            by_rulebook(shared, move |shared| {
                asked::rules(shared, workspace.as_deref(), session.as_ref())
            })
            .await?
        }
        Query::Backtest {
            workspace,
            change,
            calls_max,
        } => {
            by_rulebook(shared, move |shared| {
                asked::backtest(shared, workspace.as_deref(), &change, calls_max)
            })
            .await?
        }
        Query::TryCall {
            workspace,
            tool,
            arguments,
            draft,
        } => {
            let call = (tool.as_str(), &arguments);
            asked::try_call(shared, workspace.as_deref(), call, draft.as_ref()).await?
        }
        Query::CheckRules { scope, text, .. } => {
            by_rulebook(shared, move |shared| {
                Ok(asked::check_rules(shared, &text, scope))
            })
            .await?
        }
        Query::CheckRule { rule, instead } => {
            by_rulebook(shared, move |shared| {
                Ok(asked::check_rule(shared, &rule, instead.as_ref()))
            })
            .await?
        }
        Query::CompareRules { a, b, workspace } => {
            by_rulebook(shared, move |shared| {
                asked::compare(shared, workspace.as_deref(), &a, &b)
            })
            .await?
        }
        Query::Suggestions { workspace } => {
            by_rulebook(shared, move |shared| {
                asked::suggestions(shared, workspace.as_deref())
            })
            .await?
        }
        Query::Briefing { workspace } => {
            by_rulebook(shared, move |shared| {
                let workspace = Workspace::open(Path::new(&workspace))?;
                let briefing = shared.briefing(&workspace, &Asked::default());
                Ok(Answer::Briefing(briefing.view(workspace.root())))
            })
            .await?
        }
        Query::BriefingText { workspace, of } => {
            by_rulebook(shared, move |shared| {
                let workspace = Workspace::open(Path::new(&workspace))?;
                let briefing = shared.briefing(&workspace, &Asked::default());
                let text = briefing.text(workspace.root(), &of)?;
                Ok(Answer::BriefingText(text))
            })
            .await?
        }
        Query::Imports { workspace } => {
            by_rulebook(shared, move |_| asked::imports(workspace.as_deref())).await?
        }
        Query::Servers => Answer::Servers {
            servers: shared.servers.views(),
            fault: shared.servers.shelf().faults().into_iter().next(),
        },
        Query::ServerLog { server } => Answer::ServerLog {
            lines: shared.servers.lines(&server)?,
        },
        Query::ServerHas { server, asked } => Answer::ServerHas {
            has: shared.servers.has(&server, &asked).await?,
        },
        Query::ServersFound { workspace } => Answer::ServersFound {
            sources: crate::servers::found(&shared.servers, workspace.as_deref().map(Path::new)),
        },
        Query::Apis => Answer::Apis(Apis {
            apis: shared.apis.views(),
            fault: shared.apis.faults().into_iter().next(),
        }),
        Query::LanguageServers => Answer::LanguageServers {
            servers: lsp::settings::views(&shared.settings().language_servers),
        },
        Query::Seekers => {
            by_rulebook(shared, move |shared| {
                let seekers = seeks::views(&shared.settings().web_search, &shared.keys);
                Ok(Answer::Seekers { seekers })
            })
            .await?
        }
        Query::Export { session, format } => {
            let format = record::Format::parse(&format)?;
            Answer::Export {
                text: record.export(&session, format)?,
            }
        }
    })
}

/// Asks what reads files, and may judge many calls.
async fn by_rulebook(
    shared: &Arc<Shared>,
    ask: impl FnOnce(&Shared) -> Result<Answer, Fault> + Send + 'static,
) -> Result<Answer, Fault> {
    let shared = shared.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&shared));
    asked
        .await
        .map_err(|_| Fault::new("The question broke off.", "Report this."))?
}

fn told(stretch: record::Stretch) -> Answer {
    Answer::Transcript {
        entries: stretch.entries,
        more: stretch.more,
        seq: stretch.seq,
    }
}

/// What happened to a call, in order; masked once it is over.
fn call_events(shared: &Shared, session: &SessionId, call: &CallId) -> Result<Vec<Event>, Fault> {
    let events = shared.record.call_events(session, call, 0)?;
    if !is_over(shared, session, call)? {
        return Ok(events);
    }
    let masked: Option<_> = events.iter().map(masked_call::mask_event).collect();
    masked.ok_or_else(|| withheld("events", call))
}

/// Something of a call that has another shape without its secrets, and so is not shown.
fn withheld(what: &str, call: &CallId) -> Fault {
    Fault::new(
        format!("The {what} of call {call} cannot be shown without its secrets."),
        "`countersign export` writes the session without them.",
    )
}

fn is_over(shared: &Shared, session: &SessionId, call: &CallId) -> Result<bool, Fault> {
    let entry = shared.record.entry(session, call.as_str())?;
    let view = entry.as_ref().and_then(|entry| entry.body.call());
    Ok(view.is_some_and(|view| view.ended_at.is_some()))
}

/// Everything that is on record about a call, as its account; masked once it is over.
fn account(shared: &Shared, session: &SessionId, call: &CallId) -> Result<Answer, Fault> {
    let (mut account, mut since) = (None, 0);
    loop {
        let events = shared.record.call_events(session, call, since)?;
        for event in &events {
            Account::add(&mut account, call, event);
        }
        match events.last() {
            Some(last) => since = last.seq,
            None => break,
        }
    }
    let account = account.ok_or_else(|| {
        let message = format!("There is no call {call} in this session.");
        Fault::new(message, "The session's story names each call's id.")
    })?;
    let account = match is_over(shared, session, call)? {
        false => account,
        true => masked_call::mask_strings(&account).ok_or_else(|| withheld("account", call))?,
    };
    Ok(Answer::Account {
        told: account.told(),
        account: Box::new(account),
    })
}

/// Lines of a file, for more context around a hunk.
fn lines(
    shared: &Arc<Shared>,
    session: &SessionId,
    path: &str,
    start: u32,
    count: u32,
) -> Result<Answer, Fault> {
    let session = shared.session(session)?;
    let bytes = session
        .hands
        .workspace
        .read_whole(path, LINES_FILE_BYTES_MAX)?
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let skipped = start.saturating_sub(1) as usize;
    let lines = text
        .lines()
        .skip(skipped)
        .take(count.min(LINES_MAX) as usize)
        .map(shown)
        .collect();
    Ok(Answer::Lines { lines })
}

/// A stretch of the whole output: from the sidecar file, or from the outcome if it was short.
fn output(
    shared: &Arc<Shared>,
    session: &SessionId,
    call: &CallId,
    offset: u64,
) -> Result<Answer, Fault> {
    let entry = shared.record.entry(session, call.as_str())?;
    let outcome = match entry.map(|entry| entry.body) {
        Some(EntryBody::Call(view)) => view.outcome,
        _ => None,
    };
    let outcome = outcome
        .ok_or_else(|| Fault::new("This call has no output yet.", "Wait until it ended."))?;
    // Of what was cut and not kept, the head is all that there is.
    let Some(path) = outcome.truncated.and_then(|cut| cut.output_path) else {
        let bytes = outcome.text.len() as u64;
        return Ok(Answer::Output {
            text: outcome.text,
            bytes,
            next: None,
        });
    };
    let hands = &shared.session(session)?.hands;
    hands.folder.restore(Path::new(&path))?;
    let read = hands
        .workspace
        .read(&path, offset, OUTPUT_PAGE_BYTES)
        .map_err(|error| match error {
            FileError::NotFound { .. } => Fault::new(
                "The whole output is gone: it went when the session was closed.",
                "Its beginning is on record, in the card.",
            ),
            other => other.into(),
        })?;
    let (text, used) = whole_characters(&read.bytes);
    let end = offset + used;
    Ok(Answer::Output {
        text,
        bytes: read.total,
        next: (end < read.total && used > 0).then_some(end),
    })
}

/// The text up to the last whole character, and how many bytes that is.
fn whole_characters(bytes: &[u8]) -> (String, u64) {
    let whole = match cut::whole(bytes) {
        // Nothing but a beginning: shown as it is, so that reading comes to an end.
        0 => bytes.len(),
        length => length,
    };
    let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
    (text, whole as u64)
}

fn check_arguments(
    shared: &Arc<Shared>,
    session: &SessionId,
    call: &CallId,
    arguments: &Map<String, Value>,
) -> Result<Answer, Fault> {
    let session = shared.session(session)?;
    let entry = shared.record.entry(&session.id, call.as_str())?;
    // By the name that it was called by: an alias has names of its own for the members.
    let name = match entry.map(|entry| entry.body) {
        Some(EntryBody::Call(view)) => view.call.name,
        _ => return Err(Fault::new("There is no such call.", "")),
    };
    Ok(problems(&session.tools(), &name, arguments))
}

/// What is wrong with arguments for the tool of that name.
fn problems(tools: &Registry, name: &str, arguments: &Map<String, Value>) -> Answer {
    let problems = match tools.find(name) {
        Err(error) => vec![error.to_string()],
        Ok(found) => found.problems(arguments),
    };
    Answer::CheckArguments { problems }
}
