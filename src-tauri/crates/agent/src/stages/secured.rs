//! Stage 11: a copy of what will change, on disk before anything changes.

use policy::Approved;
use protocol::preview::UndoOutlook;
use protocol::{EventBody, FileChange, Plan, Preview, UndoEntry, UndoId, shown};
use runtime::{EntryMeta, FileError};

use super::Ended;
use super::prepared::Ready;
use crate::session::Session;

/// What became of the copy.
pub(crate) enum Copy {
    /// Taken, or not needed.
    Taken(Option<Box<UndoEntry>>),
    /// Not taken, for this reason: the call must be judged as one that cannot be undone.
    Failed(String),
    /// Not taken, because what stands there is not what was approved any more.
    Changed,
}

/// Takes a copy of everything that the approved plan touches.
pub(crate) async fn before_image(
    session: &Session,
    approved: &Approved,
    ready: &Ready,
) -> Result<Copy, Ended> {
    let secured = match &ready.undo {
        UndoOutlook::Secured => true,
        // Judged and approved as it is: without a copy.
        UndoOutlook::NotNeeded | UndoOutlook::Captured | UndoOutlook::Unsecured { .. } => false,
    };
    if !secured || approved.plan() == &Plan::None {
        return Ok(Copy::Taken(None));
    }
    let config = &session.shared.config;
    let meta = EntryMeta {
        id: UndoId(config.ids.next("und")),
        session: session.id.clone(),
        call: approved.call().clone(),
        at: config.clock.now(),
        title: title(approved.plan(), &ready.preview),
    };
    let (history, workspace, plan) = (
        session.shared.history.clone(),
        session.hands.workspace.clone(),
        approved.plan().clone(),
    );
    let taken = tokio::task::spawn_blocking(move || history.prepare(&workspace, &plan, meta)).await;
    match taken {
        Ok(Ok(entry)) => {
            let event = EventBody::UndoPrepared {
                call: approved.call().clone(),
                entry: entry.clone(),
            };
            session.journal.keep(event).await?;
            Ok(Copy::Taken(Some(Box::new(entry))))
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
    const CHARS_MAX: usize = 100;
    match (plan, preview) {
        (Plan::None, _) => String::new(),
        (Plan::Remove(removal), _) => format!("Deleted {}", removal.path),
        (Plan::Effects(_), Preview::Effects(shown)) => {
            let command = shown::plain(&shown.command.command);
            format!("Ran {}", shown::in_a_sentence(&command, CHARS_MAX))
        }
        (Plan::Effects(_), _) => "Ran a command".to_owned(),
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
