//! `sessions`: lists sessions in columns, finds the session that a word names, and moves, archives, forks and closes sessions.

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::session::list_place::ListPlace;
use protocol::view::entry::SessionView;
use protocol::{At, Entry, EntryBody, MessageId, Op, SessionId, SessionState};
use serde_json::json;

use super::agent_sessions::list_agent_sessions;
use super::session_deletion::{delete_sessions, list_deleted};
use super::session_import::import_sessions;
use crate::args::{ForkSessionArgs, SessionNames, SessionsArgs, SessionsCommand};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::PAGE_ENTRIES;
use crate::output::{OutputWriter, TextStyle};
use crate::short_ids::{self, ShortIds};
use crate::table::{self, TableCell, format_age, new_cell};

/// Maximum number of pages of a session that are searched for the person's last message.
const PAGES_SEARCHED_MAX: usize = 5;

/// Lists the sessions, the last changed one first, or runs the given subcommand.
pub(crate) async fn run_sessions(
    desk: &Engine,
    args: SessionsArgs,
    out: &mut OutputWriter,
) -> CliResult {
    match args.command {
        Some(SessionsCommand::Archive(names)) => {
            place_sessions(desk, &names, ListPlace::Archived, out).await
        }
        Some(SessionsCommand::Pin(names)) => {
            place_sessions(desk, &names, ListPlace::Pinned, out).await
        }
        Some(SessionsCommand::Restore(names)) => {
            place_sessions(desk, &names, ListPlace::Recent, out).await
        }
        Some(SessionsCommand::Close(names)) => close_sessions(desk, &names, out).await,
        Some(SessionsCommand::Fork(args)) => fork_session(desk, &args, out).await,
        Some(SessionsCommand::Delete(args)) => delete_sessions(desk, &args, out).await,
        Some(SessionsCommand::Import(args)) => import_sessions(desk, args, out).await,
        None if args.deleted => list_deleted(desk, args.limit, out).await,
        None => match &args.agent {
            Some(agent) => list_agent_sessions(desk, agent, &args, out).await,
            None => list_sessions(desk, &args, out).await,
        },
    }
}

async fn list_sessions(desk: &Engine, args: &SessionsArgs, out: &mut OutputWriter) -> CliResult {
    let snapshot = desk.snapshot().await?;
    let all = snapshot.sessions;
    let length = short_ids(&all).short_length();
    let workspace = args.workspace.as_deref();
    let workspace = workspace.map(super::absolute_workspace).transpose()?;
    let in_folder = all.iter().filter(|view| {
        let root = workspace.as_ref();
        root.is_none_or(|root| view.workspace == *root)
    });
    let (archived, listed): (Vec<&SessionView>, Vec<&SessionView>) =
        in_folder.partition(|view| view.place == ListPlace::Archived);
    let archived_count = archived.len();
    let mut listed = if args.archived { archived } else { listed };
    listed.sort_by_key(|view| view.place != ListPlace::Pinned);
    if args.limit > 0 {
        listed.truncate(args.limit);
    }
    out.write_answer(&json!({ "sessions": listed }), |out| {
        if listed.is_empty() && args.archived {
            out.write_line("No session is in the archive.")?;
        } else if listed.is_empty() && archived_count == 0 {
            out.write_line(
                "There is no session yet. Begin one: countersign run PROMPT, or: countersign demo",
            )?;
        }
        let now = table::current_time();
        let rows = listed.iter();
        let rows: Vec<_> = rows
            .map(|view| format_row(view, length, now, &snapshot.home))
            .collect();
        table::write_rows(out, &rows, table::terminal_width())?;
        if archived_count > 0 && !args.archived {
            let line = format!(
                "In the archive: {archived_count}. `countersign sessions --archived` lists them."
            );
            out.write_line(&out.apply_style(TextStyle::Faint, &line))?;
        }
        Ok(())
    })
}

fn format_row(view: &SessionView, length: usize, now: At, home: &str) -> Vec<TableCell> {
    let (mark, ink) = match view.state {
        SessionState::Idle => ("·", TextStyle::Faint),
        SessionState::Running => ("●", TextStyle::Plain),
        SessionState::Waiting => ("◐", TextStyle::Warn),
        SessionState::Done => ("✓", TextStyle::Good),
        SessionState::Failed => ("✗", TextStyle::Bad),
        SessionState::Interrupted => ("–", TextStyle::Faint),
    };
    let below_home = view.workspace.strip_prefix(home);
    let folder = match below_home
        .filter(|rest| !home.is_empty() && (rest.is_empty() || rest.starts_with('/')))
    {
        Some(rest) => format!("~{rest}"),
        None => view.workspace.clone(),
    };
    vec![
        new_cell(ink, mark),
        new_cell(
            TextStyle::Strong,
            short_ids::id_suffix(view.id.as_str(), length),
        ),
        new_cell(TextStyle::Faint, view.state.as_str()),
        new_cell(TextStyle::Faint, &format_age(view.changed_at, now)),
        new_cell(TextStyle::Faint, &folder),
        new_cell(TextStyle::Plain, &view.title),
    ]
}

/// Returns the session that a word names: its id, the end or the beginning of the id, or `last`.
pub(crate) async fn find_session(desk: &Engine, name: &str) -> Result<SessionView, CliError> {
    let mut all = desk.snapshot().await?.sessions;
    if name == "last"
        && let Some(last) = find_last_active(desk, &all).await?
    {
        return Ok(last);
    }
    let at = short_ids(&all).find(name)?;
    Ok(all.swap_remove(at))
}

/// Returns the session that the person began or wrote in last, among the given ones. Sub-agent sessions do not count,
/// nor do changes by an undo, a title or a closing.
pub(crate) async fn find_last_active(
    desk: &Engine,
    sessions: &[SessionView],
) -> Result<Option<SessionView>, CliError> {
    let mut best: Option<(At, &SessionView)> = None;
    for view in sessions.iter().filter(|view| view.parent.is_none()) {
        // Nothing was said in it after its last change, so that most sessions need not be read.
        if best.is_some_and(|(at, _)| view.changed_at <= at) {
            continue;
        }
        let message_at = last_message_time(desk, &view.id).await?;
        let at = message_at.unwrap_or(view.opened_at).max(view.opened_at);
        // Of two at the same moment the one that is listed first is the newer one.
        if best.is_none_or(|(best, _)| at > best) {
            best = Some((at, view));
        }
    }
    Ok(best.map(|(_, view)| view.clone()))
}

/// Returns the time of the person's last message; none if it is not among the newest entries.
async fn last_message_time(desk: &Engine, session: &SessionId) -> Result<Option<At>, CliError> {
    let last = find_entry_back(desk, session, PAGES_SEARCHED_MAX, is_from_person).await?;
    Ok(last.map(|entry| entry.at))
}

fn is_from_person(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Person { .. })
}

/// Returns the newest entry of a session for which `is_wanted` holds, which is asked from the end on; none if it is not on
/// the last `pages_max` pages.
async fn find_entry_back(
    desk: &Engine,
    session: &SessionId,
    pages_max: usize,
    mut is_wanted: impl FnMut(&Entry) -> bool,
) -> Result<Option<Entry>, CliError> {
    let mut before = None;
    for _ in 0..pages_max {
        let query = Query::Transcript {
            session: session.clone(),
            before,
            limit: PAGE_ENTRIES,
        };
        let Answer::Transcript { entries, more, .. } = desk.query(query).await? else {
            return Err(CliError::unexpected_answer());
        };
        before = entries.first().map(|entry| entry.seq);
        if let Some(found) = entries.into_iter().rev().find(&mut is_wanted) {
            return Ok(Some(found));
        }
        if !more || before.is_none() {
            break;
        }
    }
    Ok(None)
}

/// Finds all sessions that are named: one wrong name is an error before anything is done.
pub(super) async fn find_sessions(
    desk: &Engine,
    names: &SessionNames,
) -> Result<Vec<SessionView>, CliError> {
    let mut sessions = Vec::new();
    for name in &names.sessions {
        sessions.push(find_session(desk, name).await?);
    }
    Ok(sessions)
}

/// Moves sessions in the list.
async fn place_sessions(
    desk: &Engine,
    names: &SessionNames,
    place: ListPlace,
    out: &mut OutputWriter,
) -> CliResult {
    let sessions = find_sessions(desk, names).await?;
    for view in &sessions {
        let session = view.id.clone();
        desk.submit(Op::PlaceSession { session, place }).await?;
        if !out.is_json() {
            let title = out.apply_style(TextStyle::Strong, &view.title);
            let done = match place {
                ListPlace::Recent => "Back in the list",
                ListPlace::Pinned => "Pinned",
                ListPlace::Archived => "In the archive",
            };
            out.write_line(&format!("{done}: {title}"))?;
        }
    }
    if out.is_json() {
        let moved: Vec<&SessionId> = sessions.iter().map(|view| &view.id).collect();
        out.write_json(&json!({ "moved": moved, "place": place }))?;
    }
    Ok(ExitReason::Done)
}

/// Opens a session with the conversation of another one.
async fn fork_session(desk: &Engine, args: &ForkSessionArgs, out: &mut OutputWriter) -> CliResult {
    let source = find_session(desk, &args.session).await?;
    let op = Op::ForkSession {
        before: find_message(desk, &source.id, args.back).await?,
        session: source.id,
    };
    let forked = desk.submit(op).await?.session;
    let fork = forked.ok_or_else(CliError::unexpected_answer)?;
    out.write_answer(&json!({ "session": fork }), |out| {
        let title = out.apply_style(TextStyle::Strong, &source.title);
        out.write_line(&format!("Forked: {title}"))?;
        out.write_line(&format!("Go on: countersign run --resume {fork} PROMPT"))
    })
}

/// Returns the first of the person's last `back` messages; none for no message.
async fn find_message(
    desk: &Engine,
    session: &SessionId,
    back: usize,
) -> Result<Option<MessageId>, CliError> {
    if back == 0 {
        return Ok(None);
    }
    let mut seen = 0;
    let is_wanted = |entry: &Entry| {
        seen += usize::from(is_from_person(entry));
        seen == back
    };
    match find_entry_back(desk, session, usize::MAX, is_wanted).await? {
        Some(entry) => Ok(Some(MessageId(entry.id))),
        None => Err(CliError::usage(
            format!("The session has {seen} messages of yours, and not {back}."),
            "Give a smaller number for --back.",
        )),
    }
}

/// Closes idle sessions: their long outputs and their grants are removed, their record stays.
async fn close_sessions(desk: &Engine, names: &SessionNames, out: &mut OutputWriter) -> CliResult {
    let sessions = find_sessions(desk, names).await?;
    for view in &sessions {
        let session = view.id.clone();
        desk.submit(Op::CloseSession { session }).await?;
        if !out.is_json() {
            let title = out.apply_style(TextStyle::Strong, &view.title);
            let effect = "its long outputs and its grants are gone, its record stays.";
            out.write_line(&format!("Closed: {title}; {effect}"))?;
        }
    }
    if out.is_json() {
        let closed: Vec<&SessionId> = sessions.iter().map(|view| &view.id).collect();
        out.write_json(&json!({ "closed": closed }))?;
    }
    Ok(ExitReason::Done)
}

fn short_ids(all: &[SessionView]) -> ShortIds<'_> {
    ShortIds {
        thing: "session",
        hint: "Look at the list: countersign sessions.",
        all: all.iter().map(|view| view.id.as_str()).collect(),
    }
}
