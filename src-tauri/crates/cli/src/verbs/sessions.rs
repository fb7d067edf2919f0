//! `sessions`: the list in columns, the session that a word names, and closing one.

use std::path::Path;

use agent::Desk;
use protocol::entry::SessionView;
use protocol::query::{Answer, Query};
use protocol::{At, EntryBody, Op, SessionId, SessionState};
use serde_json::json;

use super::ask;
use crate::columns::{self, Cell, ago, cell};
use crate::ending::{Code, Ended, Ending};
use crate::ids::{self, Ids};
use crate::limits::PAGE;
use crate::out::{Ink, Out};

/// Pages of a session that are looked through for the person's last words.
const PAGES_MAX: usize = 5;

/// Lists the sessions, the one that changed last first.
pub(crate) async fn list(
    desk: &Desk,
    workspace: Option<&Path>,
    limit: usize,
    out: &mut Out,
) -> Ended {
    let snapshot = desk.snapshot().await?;
    let all = snapshot.sessions;
    let length = ids_of(&all).short_length();
    let workspace = workspace.map(super::absolute);
    let listed: Vec<&SessionView> = all
        .iter()
        .filter(|view| {
            workspace
                .as_ref()
                .is_none_or(|root| view.workspace == *root)
        })
        .take(if limit == 0 { usize::MAX } else { limit })
        .collect();
    if out.is_json() {
        out.json(&json!({ "sessions": listed }))?;
        return Ok(Code::Done);
    }
    if listed.is_empty() {
        out.line(
            "There is no session yet. Begin one: countersign run PROMPT, or: countersign demo",
        )?;
    }
    let now = columns::now();
    let rows: Vec<Vec<Cell>> = listed
        .iter()
        .map(|view| row(view, length, now, &snapshot.home))
        .collect();
    for line in columns::lines(out, &rows, columns::terminal_width()) {
        out.line(&line)?;
    }
    Ok(Code::Done)
}

fn row(view: &SessionView, length: usize, now: At, home: &str) -> Vec<Cell> {
    let (mark, ink) = match view.state {
        SessionState::Idle => ("·", Ink::Faint),
        SessionState::Running => ("●", Ink::Plain),
        SessionState::Waiting => ("◐", Ink::Warn),
        SessionState::Done => ("✓", Ink::Good),
        SessionState::Failed => ("✗", Ink::Bad),
        SessionState::Interrupted => ("–", Ink::Faint),
    };
    let below_home = view.workspace.strip_prefix(home);
    let folder = match below_home
        .filter(|rest| !home.is_empty() && (rest.is_empty() || rest.starts_with('/')))
    {
        Some(rest) => format!("~{rest}"),
        None => view.workspace.clone(),
    };
    vec![
        cell(ink, mark),
        cell(Ink::Strong, ids::end(view.id.as_str(), length)),
        cell(Ink::Faint, view.state.as_str()),
        cell(Ink::Faint, &ago(view.changed_at, now)),
        cell(Ink::Faint, &folder),
        cell(Ink::Plain, &view.title),
    ]
}

/// The session that a word names: its id, the end or the beginning of it, or `last`.
pub(crate) async fn find(desk: &Desk, name: &str) -> Result<SessionView, Ending> {
    let mut all = desk.snapshot().await?.sessions;
    if name == "last"
        && let Some(last) = last(desk, &all).await?
    {
        return Ok(last);
    }
    let at = ids_of(&all).find(name)?;
    Ok(all.swap_remove(at))
}

/// The session that the person began or spoke in last, of those that are given. What works for another session, and what
/// an undo, a title or a closing changed, does not count.
pub(crate) async fn last(
    desk: &Desk,
    sessions: &[SessionView],
) -> Result<Option<SessionView>, Ending> {
    let mut best: Option<(At, &SessionView)> = None;
    for view in sessions.iter().filter(|view| view.parent.is_none()) {
        // Nothing was said in it after its last change, so that most sessions need not be read.
        if best.is_some_and(|(at, _)| view.changed_at <= at) {
            continue;
        }
        let said = said_at(desk, &view.id).await?;
        let at = said.unwrap_or(view.opened_at).max(view.opened_at);
        // Of two at the same moment the one that is listed first is the newer one.
        if best.is_none_or(|(best, _)| at > best) {
            best = Some((at, view));
        }
    }
    Ok(best.map(|(_, view)| view.clone()))
}

/// When the person said something last; none if it is not among the newest entries.
async fn said_at(desk: &Desk, session: &SessionId) -> Result<Option<At>, Ending> {
    let mut before = None;
    for _ in 0..PAGES_MAX {
        let query = Query::Transcript {
            session: session.clone(),
            before,
            limit: PAGE,
        };
        let (entries, more) = ask(desk, query, |answer| match answer {
            Answer::Transcript { entries, more, .. } => Some((entries, more)),
            _ => None,
        })
        .await?;
        let said = entries
            .iter()
            .rev()
            .find(|entry| matches!(entry.body, EntryBody::Person { .. }));
        if let Some(entry) = said {
            return Ok(Some(entry.at));
        }
        before = entries.first().map(|entry| entry.seq);
        if !more || before.is_none() {
            break;
        }
    }
    Ok(None)
}

/// Closes sessions that do nothing: their long outputs and their grants go, their record stays.
pub(crate) async fn close(desk: &Desk, names: &[String], out: &mut Out) -> Ended {
    // All are found before the first is closed: a name that is wrong closes nothing.
    let mut found: Vec<SessionView> = Vec::new();
    for name in names {
        found.push(find(desk, name).await?);
    }
    for view in &found {
        let session = view.id.clone();
        desk.submit(Op::CloseSession { session }).await?;
        if !out.is_json() {
            let title = out.ink(Ink::Strong, &view.title);
            let kept = "its long outputs and its grants are gone, its record stays.";
            out.line(&format!("Closed: {title}; {kept}"))?;
        }
    }
    if out.is_json() {
        let closed: Vec<&SessionId> = found.iter().map(|view| &view.id).collect();
        out.json(&json!({ "closed": closed }))?;
    }
    Ok(Code::Done)
}

fn ids_of(all: &[SessionView]) -> Ids<'_> {
    Ids {
        thing: "session",
        hint: "Look at the list: countersign sessions.",
        all: all.iter().map(|view| view.id.as_str()).collect(),
    }
}
