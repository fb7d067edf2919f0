//! The life of a program that runs beside us: stayed with to its end, and ended whole when it is let go.

use std::sync::{Arc, OnceLock};

use protocol::effects::Refused;
use tokio::process::Child;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Exit, Group, exit_of, reap_until};
use crate::limits::LET_GO_GRACE;

/// The life of a program. Dropped, the program ends, with everything that it started.
#[derive(Debug)]
pub struct Life {
    ended: watch::Receiver<Option<Exit>>,
    in_room: Arc<OnceLock<InRoom>>,
    _leash: DropGuard,
}

/// How a program fared that was to run in a room, once it has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InRoom {
    /// Why the room could not be entered, as a clause: then the program did not run. None: it did.
    pub not_entered: Option<String>,
    /// What it was refused.
    pub refused: Vec<Refused>,
}

impl Life {
    /// How it ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        *self.ended.borrow()
    }

    /// Tells how it ends, also after this is gone.
    pub fn watch(&self) -> watch::Receiver<Option<Exit>> {
        self.ended.clone()
    }

    /// How it fared in its room, once it has ended; none where it was to run in none.
    pub fn in_room(&self) -> Option<&InRoom> {
        self.in_room.get()
    }
}

/// The room around a program.
pub(crate) trait Around: Send + 'static {
    /// Ends it, with everything that runs in it.
    fn end(&mut self);

    /// How the program in it ended and fared, which is known once the program of the room is gone. `exit` is how that one ended.
    fn settle(self: Box<Self>, exit: Exit) -> (Exit, InRoom);
}

/// Stays with a program that was started. When its life is dropped it has a moment to end by itself, since what it reads mostly
/// ends then too; after that its room is ended, if it has one, and its group is asked to end and then made to. When the program
/// ends, what it left running ends with it.
pub(crate) fn stay_with(mut child: Child, mut around: Option<Box<dyn Around>>) -> Life {
    let mut group = Group::of(&child);
    let (tell, ended) = watch::channel(None);
    let in_room = Arc::new(OnceLock::new());
    let settled = in_room.clone();
    let leash = CancellationToken::new();
    let let_go = leash.clone();
    tokio::spawn(async move {
        let mut exit = tokio::select! {
            exit = child.wait() => exit.map_or(Exit::Code(-1), exit_of),
            () = let_go.cancelled() => {
                let own = tokio::time::timeout(LET_GO_GRACE, child.wait()).await;
                own.ok().and_then(Result::ok).map_or(Exit::Cancelled, exit_of)
            }
        };
        if let Some(around) = &mut around {
            around.end();
        }
        let has_room = around.is_some();
        let end = async {
            if has_room {
                group.goes().await;
            }
            group.end().await;
        };
        reap_until(&mut child, end).await;
        if let Some(around) = around {
            let (really, fared) = around.settle(exit);
            exit = really;
            settled.get_or_init(|| fared);
        }
        // Nobody may be left to hear it.
        let _ = tell.send(Some(exit));
    });
    Life {
        ended,
        in_room,
        _leash: leash.drop_guard(),
    }
}
