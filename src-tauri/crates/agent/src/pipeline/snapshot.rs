//! Before step 8: copies for undo and snapshots, on disk before anything changes.

use std::sync::Arc;

use policy::Approved;
use protocol::event::CallChange;
use protocol::rule::evidence::Confinement;
use protocol::text::display_text;
use protocol::text::redact;
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, EventBody, FileChange, Plan, Preview, UndoEntry, UndoId};
use runtime::{FileError, Snapshot, UndoEntryMeta};

use crate::pipeline::abort::Abort;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::prepare::PreparedCall;
use crate::session::Session;

/// Maximum length of a title in the history, in characters.
const CHARS_MAX: usize = 100;

/// Outcome of taking a copy, for undo, of the files that a plan touches.
pub(crate) enum FileCopy {
    /// The copy was taken; none if the call was approved as one that changes nothing or cannot be undone.
    Taken(Option<Box<UndoEntry>>),
    /// The copy was not taken, for this reason: the call must be judged as one that cannot be undone.
    Failed(String),
    /// The copy was not taken, because the files are no longer those that were approved.
    Changed,
}

/// Takes a copy, for undo, of everything that the approved plan touches.
pub(crate) async fn take_copy(
    session: &Session,
    approved: &Approved,
    prepared: &PreparedCall,
) -> Result<FileCopy, Abort> {
    let is_secured = match &prepared.undo {
        UndoAvailability::Secured => true,
        // Judged and approved as it is: without a copy.
        UndoAvailability::NotNeeded
        | UndoAvailability::Captured
        | UndoAvailability::Snapshot
        | UndoAvailability::Unsecured { .. } => false,
    };
    if !is_secured || approved.plan() == &Plan::None {
        return Ok(FileCopy::Taken(None));
    }
    let plan = approved.plan().clone();
    let title = copy_title(&plan, &prepared.preview);
    let meta = entry_meta(session, approved.call(), &title);
    let history = session.engine.history.clone();
    let workspace = session.tool_context.workspace.clone();
    let taken =
        tokio::task::spawn_blocking(move || history.prepare_entry(&workspace, &plan, meta)).await;
    match taken {
        Ok(Ok(entry)) => {
            let event = EventBody::for_call(
                approved.call(),
                CallChange::UndoPrepared {
                    entry: entry.clone(),
                },
            );
            session.journal.record_synced(event).await?;
            Ok(FileCopy::Taken(Some(Box::new(entry))))
        }
        Ok(Err(FileError::Changed { .. })) => Ok(FileCopy::Changed),
        Ok(Err(error)) => Ok(FileCopy::Failed(format!("no copy could be taken: {error}"))),
        Err(_) => Ok(FileCopy::Failed(
            "no copy could be taken: the copying broke off.".to_owned(),
        )),
    }
}

/// Takes a snapshot of the whole workspace before a call runs for real.
///
/// # Errors
/// Returns the reason why no snapshot was taken, worded to follow "because".
pub(crate) async fn take_workspace_snapshot(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
) -> Result<Arc<Snapshot>, String> {
    let session = cx.session;
    let environment = &session.engine.dry_run_environment;
    let (workspace, history) = (&session.tool_context.workspace, &session.engine.history);
    let taken = match cx.tool.0.tool.confinement() {
        Confinement::Held | Confinement::Remote => {
            let meta = entry_meta(session, &cx.call.id, &command_title(&prepared.preview));
            environment.take_snapshot(workspace, history, meta).await
        }
        Confinement::Unconfined | Confinement::Sandboxed => {
            let meta = entry_meta(session, &cx.call.id, &call_title(cx));
            environment
                .take_companion_snapshot(workspace, history, meta)
                .await
        }
    };
    match taken {
        Ok(snapshot) => Ok(Arc::new(snapshot)),
        Err(error) => Err(format!("no snapshot of the workspace was taken: {error}")),
    }
}

/// Returns the metadata of a copy for the history.
pub(super) fn entry_meta(session: &Session, call: &CallId, title: &str) -> UndoEntryMeta {
    let config = &session.engine.config;
    let title = session.journal.secret_mask(call).mask_text(title);
    UndoEntryMeta {
        id: UndoId(config.ids.next_id("und")),
        session: session.id.clone(),
        call: call.clone(),
        at: config.clock.now(),
        title: redact::text(&title).0.into_owned(),
    }
}

/// Returns the title of a copy in the history.
fn copy_title(plan: &Plan, preview: &Preview) -> String {
    match (plan, preview) {
        (Plan::None, _) => String::new(),
        (Plan::Remove(removal), _) => format!("Deleted {}", removal.path),
        (Plan::Effects(_), preview) => command_title(preview),
        (Plan::Write(changes), _) => match changes.as_slice() {
            [one] if one.before.is_none() => format!("Created {}", one.path),
            [one] if one.after.is_none() => format!("Deleted {}", one.path),
            [one] => format!("Changed {}", one.path),
            [gone, come] if come.from.as_ref() == Some(&gone.path) => {
                format!("Moved {} to {}", gone.path, come.path)
            }
            many => format!("Changed {} files", FileChange::count_files(many)),
        },
    }
}

/// Returns the title for a tool that is no command: `write_file (files) new.txt`.
pub(super) fn call_title(cx: &CallContext<'_>) -> String {
    let target = cx.tool.0.tool.target(&cx.arguments);
    let title = format!("{} {target}", cx.tool.interface().title());
    display_text::to_single_line(title.trim_end(), CHARS_MAX)
}

/// Returns the title for a command that is shown.
fn command_title(preview: &Preview) -> String {
    let command = match preview {
        Preview::Effects(shown) => &shown.command,
        Preview::Command(command) => command,
        _ => return "Ran a command".to_owned(),
    };
    let command = display_text::join_spans(&command.command);
    format!("Ran {}", display_text::to_single_line(&command, CHARS_MAX))
}
