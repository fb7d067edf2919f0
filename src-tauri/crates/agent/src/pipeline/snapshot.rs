//! Stage 11: a copy of what will change, on disk before anything changes.

use std::sync::Arc;

use policy::Approved;
use protocol::rule::evidence::Confinement;
use protocol::text::redact;
use protocol::view::display_text;
use protocol::view::preview::UndoAvailability;
use protocol::{EventBody, FileChange, Plan, Preview, UndoEntry, UndoId};
use runtime::{FileError, Snapshot, UndoEntryMeta};
use serde_json::{Map, Value};

use crate::pipeline::abort::Abort;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

/// How long a title of the history is.
const CHARS_MAX: usize = 100;

/// What became of the copy.
pub(crate) enum SnapshotResult {
    /// Taken, or not needed.
    Taken(CallSnapshot),
    /// Not taken, for this reason: the call must be judged as one that cannot be undone.
    Failed(String),
    /// Not taken, because what stands there is not what was approved any more.
    Changed,
}

/// What a call is taken back by.
pub(crate) enum CallSnapshot {
    /// Nothing: it changes nothing, or was approved as one that cannot be taken back.
    None,
    /// Copies of what its plan touches.
    Entry(Box<UndoEntry>),
    /// A picture of the whole workspace, in which it runs for real.
    Workspace(Arc<Snapshot>),
}

/// Takes a copy of everything that the approved plan touches; of the whole workspace where the call runs in it for real.
pub(crate) async fn take_snapshot(
    session: &Session,
    called: &ResolvedTool<'_>,
    approved: &Approved,
    ready: &PreparedCall,
    for_real: bool,
) -> Result<SnapshotResult, Abort> {
    let config = &session.engine.config;
    let meta = |title: String| UndoEntryMeta {
        id: UndoId(config.ids.next_id("und")),
        session: session.id.clone(),
        call: approved.call().clone(),
        at: config.clock.now(),
        title: redact::text(&title).0.into_owned(),
    };
    let (history, workspace) = (
        session.engine.history.clone(),
        session.tool_context.workspace.clone(),
    );
    if for_real {
        let environment = &session.engine.dry_run_environment;
        let taken = match called.0.tool.confinement() {
            Confinement::Held | Confinement::Remote => {
                let meta = meta(command_title(&ready.preview));
                environment.take_snapshot(&workspace, &history, meta).await
            }
            Confinement::Unconfined | Confinement::Room => {
                let meta = meta(call_title(called, approved.arguments()));
                environment
                    .take_companion_snapshot(&workspace, &history, meta)
                    .await
            }
        };
        return Ok(match taken {
            Ok(picture) => SnapshotResult::Taken(CallSnapshot::Workspace(Arc::new(picture))),
            Err(error) => {
                SnapshotResult::Failed(format!("no picture of the workspace was taken: {error}"))
            }
        });
    }
    let secured = match &ready.undo {
        UndoAvailability::Secured => true,
        // Judged and approved as it is: without a copy.
        UndoAvailability::NotNeeded
        | UndoAvailability::Captured
        | UndoAvailability::Pictured
        | UndoAvailability::Unsecured { .. } => false,
    };
    if !secured || approved.plan() == &Plan::None {
        return Ok(SnapshotResult::Taken(CallSnapshot::None));
    }
    let plan = approved.plan().clone();
    let meta = meta(snapshot_title(&plan, &ready.preview));
    let taken =
        tokio::task::spawn_blocking(move || history.prepare_entry(&workspace, &plan, meta)).await;
    match taken {
        Ok(Ok(entry)) => {
            let event = EventBody::UndoPrepared {
                call: approved.call().clone(),
                entry: entry.clone(),
            };
            session.journal.record_synced(event).await?;
            Ok(SnapshotResult::Taken(CallSnapshot::Entry(Box::new(entry))))
        }
        Ok(Err(FileError::Changed { .. })) => Ok(SnapshotResult::Changed),
        Ok(Err(error)) => Ok(SnapshotResult::Failed(format!(
            "no copy could be taken: {error}"
        ))),
        Err(_) => Ok(SnapshotResult::Failed(
            "no copy could be taken: the copying broke off.".to_owned(),
        )),
    }
}

/// What the history calls it.
fn snapshot_title(plan: &Plan, preview: &Preview) -> String {
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

/// The same of a tool that is no command: `write_file (files) new.txt`.
pub(super) fn call_title(called: &ResolvedTool<'_>, arguments: &Map<String, Value>) -> String {
    let target = called.0.tool.target(arguments);
    let title = format!("{} {target}", called.interface().title());
    display_text::to_single_line(title.trim_end(), CHARS_MAX)
}

/// The same of a command that is shown.
fn command_title(preview: &Preview) -> String {
    let command = match preview {
        Preview::Effects(shown) => &shown.command,
        Preview::Command(command) => command,
        _ => return "Ran a command".to_owned(),
    };
    let command = display_text::join_spans(&command.command);
    format!("Ran {}", display_text::to_single_line(&command, CHARS_MAX))
}
