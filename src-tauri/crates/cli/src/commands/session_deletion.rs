//! `sessions delete`, and the list of what was deleted.

use agent::{Engine, format_byte_size};
use protocol::query::{Answer, Query};
use protocol::session::deletion::{DeletedSession, DeletionHost, DeletionPreview};
use protocol::text::display_text::format_count;
use protocol::view::entry::SessionView;
use protocol::{At, Op};
use serde_json::json;

use super::sessions::find_sessions;
use crate::args::DeleteSessionsArgs;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};
use crate::table::{self, TableCell, format_age, new_cell};
use crate::terminal::{external_programs, is_attended};

/// A session to delete, and what goes with it.
struct Deletion {
    view: SessionView,
    preview: DeletionPreview,
}

/// Deletes sessions once the person agreed to what goes. Nothing is deleted if one of them cannot be.
pub(super) async fn delete_sessions(
    desk: &Engine,
    args: &DeleteSessionsArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let mut deletions: Vec<Deletion> = Vec::new();
    for view in find_sessions(desk, &args.names).await? {
        if deletions.iter().all(|one| one.view.id != view.id) {
            let preview = load_preview(desk, &view).await?;
            deletions.push(Deletion { view, preview });
        }
    }
    if !args.yes && !ask_person(&deletions, out)? {
        let hint = "To delete without a question: --yes";
        return Err(CliError::usage("Nothing was deleted.", hint));
    }
    for Deletion { view, preview } in &deletions {
        let op = Op::DeleteSession {
            session: view.id.clone(),
            host: DeletionHost::CommandLine,
        };
        desk.submit(op).await?;
        if !out.is_json() {
            let title = out.apply_style(TextStyle::Strong, &view.title);
            let line = format!("Deleted: {title}; {}.", describe_preview(preview));
            out.write_line(&line)?;
        }
    }
    if out.is_json() {
        let deleted = deletions
            .iter()
            .map(|one| json!({ "session": one.view.id, "erased": one.preview }));
        let deleted: Vec<_> = deleted.collect();
        out.write_json(&json!({ "deleted": deleted }))?;
    }
    Ok(ExitReason::Done)
}

/// Lists the sessions that were deleted, the last one first.
pub(super) async fn list_deleted(desk: &Engine, limit: usize, out: &mut OutputWriter) -> CliResult {
    let Answer::DeletedSessions { mut sessions } = desk.query(Query::DeletedSessions).await? else {
        return Err(CliError::unexpected_answer());
    };
    if limit > 0 {
        sessions.truncate(limit);
    }
    out.write_answer(&json!({ "deleted": sessions }), |out| {
        if sessions.is_empty() {
            return out.write_line("No session was deleted.");
        }
        let now = table::current_time();
        let rows: Vec<_> = sessions.iter().map(|one| format_row(one, now)).collect();
        table::write_rows(out, &rows, table::terminal_width())
    })
}

async fn load_preview(desk: &Engine, view: &SessionView) -> Result<DeletionPreview, CliError> {
    let query = Query::DeletionPreview {
        session: view.id.clone(),
    };
    match desk.query(query).await? {
        Answer::DeletionPreview(preview) => Ok(preview),
        _ => Err(CliError::unexpected_answer()),
    }
}

/// Shows what goes, and asks whether it may. Where nobody can be asked, nobody agrees.
fn ask_person(deletions: &[Deletion], out: &mut OutputWriter) -> Result<bool, CliError> {
    if out.is_json() || !is_attended() {
        return Ok(false);
    }
    for Deletion { view, preview } in deletions {
        let title = out.apply_style(TextStyle::Strong, &view.title);
        out.write_line(&format!("{title}: {}", describe_preview(preview)))?;
    }
    let what = match deletions.len() {
        1 => "this session".to_owned(),
        count => format!("these {count} sessions"),
    };
    external_programs::ask(&format!("Delete {what}? This cannot be undone."))
}

/// Describes what goes with a session: `12 calls, 3 copies for undo (1.2 MB)`.
fn describe_preview(preview: &DeletionPreview) -> String {
    let mut parts = vec![format_count(preview.calls, "call")];
    if preview.sub_agents > 0 {
        parts.push(format_count(preview.sub_agents, "sub-agent session"));
    }
    if preview.undo_entries > 0 {
        let copies = match preview.undo_entries {
            1 => "1 copy".to_owned(),
            count => format!("{count} copies"),
        };
        let bytes = format_byte_size(preview.undo_bytes);
        parts.push(format!("{copies} for undo ({bytes})"));
    }
    parts.join(", ")
}

fn format_row(deleted: &DeletedSession, now: At) -> Vec<TableCell> {
    let host = match deleted.host {
        DeletionHost::Window => "in the app",
        DeletionHost::CommandLine => "on the command line",
    };
    vec![
        new_cell(TextStyle::Strong, deleted.session.as_str()),
        new_cell(TextStyle::Faint, &format_age(deleted.at, now)),
        new_cell(TextStyle::Faint, host),
        new_cell(TextStyle::Plain, &format_count(deleted.calls, "call")),
    ]
}
