//! Stage 11: a copy of what will change, on disk before anything changes.

use std::sync::Arc;

use policy::Approved;
use protocol::grounds::Confinement;
use protocol::preview::UndoOutlook;
use protocol::{EventBody, FileChange, Plan, Preview, UndoEntry, UndoId, redact, shown};
use runtime::{EntryMeta, FileError, Picture};
use serde_json::{Map, Value};

use super::Ended;
use super::found::Called;
use super::prepared::Ready;
use crate::session::Session;

/// How long a title of the history is.
const CHARS_MAX: usize = 100;

/// What became of the copy.
pub(crate) enum Copy {
    /// Taken, or not needed.
    Taken(Kept),
    /// Not taken, for this reason: the call must be judged as one that cannot be undone.
    Failed(String),
    /// Not taken, because what stands there is not what was approved any more.
    Changed,
}

/// What a call is taken back by.
pub(crate) enum Kept {
    /// Nothing: it changes nothing, or was approved as one that cannot be taken back.
    Nothing,
    /// Copies of what its plan touches.
    Entry(Box<UndoEntry>),
    /// A picture of the whole workspace, in which it runs for real.
    Picture(Arc<Picture>),
}

/// Takes a copy of everything that the approved plan touches; of the whole workspace where the call runs in it for real.
pub(crate) async fn before_image(
    session: &Session,
    called: &Called<'_>,
    approved: &Approved,
    ready: &Ready,
    for_real: bool,
) -> Result<Copy, Ended> {
    let config = &session.shared.config;
    let meta = |title: String| EntryMeta {
        id: UndoId(config.ids.next("und")),
        session: session.id.clone(),
        call: approved.call().clone(),
        at: config.clock.now(),
        title: redact::text(&title).0.into_owned(),
    };
    let (history, workspace) = (
        session.shared.history.clone(),
        session.hands.workspace.clone(),
    );
    if for_real {
        let environment = &session.shared.environment;
        let taken = match called.0.tool.confinement() {
            Confinement::Held | Confinement::Remote => {
                let meta = meta(ran(&ready.preview));
                environment.picture(&workspace, &history, meta).await
            }
            Confinement::Unconfined | Confinement::Room => {
                let meta = meta(called_title(called, approved.arguments()));
                environment.snapshot(&workspace, &history, meta).await
            }
        };
        return Ok(match taken {
            Ok(picture) => Copy::Taken(Kept::Picture(Arc::new(picture))),
            Err(error) => Copy::Failed(format!("no picture of the workspace was taken: {error}")),
        });
    }
    let secured = match &ready.undo {
        UndoOutlook::Secured => true,
        // Judged and approved as it is: without a copy.
        UndoOutlook::NotNeeded
        | UndoOutlook::Captured
        | UndoOutlook::Pictured
        | UndoOutlook::Unsecured { .. } => false,
    };
    if !secured || approved.plan() == &Plan::None {
        return Ok(Copy::Taken(Kept::Nothing));
    }
    let plan = approved.plan().clone();
    let meta = meta(title(&plan, &ready.preview));
    let taken = tokio::task::spawn_blocking(move || history.prepare(&workspace, &plan, meta)).await;
    match taken {
        Ok(Ok(entry)) => {
            let event = EventBody::UndoPrepared {
                call: approved.call().clone(),
                entry: entry.clone(),
            };
            session.journal.keep(event).await?;
            Ok(Copy::Taken(Kept::Entry(Box::new(entry))))
        }
        Ok(Err(FileError::Changed { .. })) => Ok(Copy::Changed),
        Ok(Err(error)) => Ok(Copy::Failed(format!("no copy could be taken: {error}"))),
        Err(_) => Ok(Copy::Failed(
            "no copy could be taken: the copying broke off.".to_owned(),
        )),
    }
}

/// What the history calls it.
fn title(plan: &Plan, preview: &Preview) -> String {
    match (plan, preview) {
        (Plan::None, _) => String::new(),
        (Plan::Remove(removal), _) => format!("Deleted {}", removal.path),
        (Plan::Effects(_), preview) => ran(preview),
        (Plan::Write(changes), _) => match changes.as_slice() {
            [one] if one.before.is_none() => format!("Created {}", one.path),
            [one] if one.after.is_none() => format!("Deleted {}", one.path),
            [one] => format!("Changed {}", one.path),
            [gone, come] if come.from.as_ref() == Some(&gone.path) => {
                format!("Moved {} to {}", gone.path, come.path)
            }
            many => format!("Changed {} files", FileChange::files(many)),
        },
    }
}

/// The same of a tool that is no command: `write_file (files) new.txt`.
pub(super) fn called_title(called: &Called<'_>, arguments: &Map<String, Value>) -> String {
    let target = called.0.tool.target(arguments);
    let title = format!("{} {target}", called.interface().title());
    shown::in_a_sentence(title.trim_end(), CHARS_MAX)
}

/// The same of a command that is shown.
fn ran(preview: &Preview) -> String {
    let command = match preview {
        Preview::Effects(shown) => &shown.command,
        Preview::Command(command) => command,
        _ => return "Ran a command".to_owned(),
    };
    let command = shown::plain(&command.command);
    format!("Ran {}", shown::in_a_sentence(&command, CHARS_MAX))
}
