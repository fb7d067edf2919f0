//! The life of a program that runs beside us: stayed with to its end, and ended whole when it is let go.

use std::sync::{Arc, OnceLock};

use protocol::view::effects::Refusal;
use tokio::process::Child;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{CommandExit, ProcessGroup, exit_from_status, reap_child_until};
use crate::limits::COMPANION_EXIT_GRACE;

/// The life of a program. Dropped, the program ends, with everything that it started.
#[derive(Debug)]
pub struct ProcessLifetime {
    ended: watch::Receiver<Option<CommandExit>>,
    in_room: Arc<OnceLock<SandboxOutcome>>,
    _leash: DropGuard,
}

/// How a program fared that was to run in a room, once it has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxOutcome {
    /// Why the room could not be entered, as a clause: then the program did not run. None: it did.
    pub entry_error: Option<String>,
    /// What it was refused.
    pub refused: Vec<Refusal>,
}

impl ProcessLifetime {
    /// How it ended, if it did.
    pub fn exit(&self) -> Option<CommandExit> {
        *self.ended.borrow()
    }

    /// Tells how it ends, also after this is gone.
    pub fn subscribe(&self) -> watch::Receiver<Option<CommandExit>> {
        self.ended.clone()
    }

    /// How it fared in its room, once it has ended; none where it was to run in none.
    pub fn sandbox_outcome(&self) -> Option<&SandboxOutcome> {
        self.in_room.get()
    }
}

/// The room around a program.
pub(crate) trait SandboxGuard: Send + 'static {
    /// Ends it, with everything that runs in it.
    fn terminate(&mut self);

    /// How the program in it ended and fared, which is known once the program of the room is gone. `exit` is how that one ended.
    fn into_outcome(self: Box<Self>, exit: CommandExit) -> (CommandExit, SandboxOutcome);
}

/// Stays with a program that was started. When its life is dropped it has a moment to end by itself, since what it reads mostly
/// ends then too; after that its room is ended, if it has one, and its group is asked to end and then made to. When the program
/// ends, what it left running ends with it.
pub(crate) fn supervise(
    mut child: Child,
    mut around: Option<Box<dyn SandboxGuard>>,
) -> ProcessLifetime {
    let mut group = ProcessGroup::from_child(&child);
    let (tell, ended) = watch::channel(None);
    let in_room = Arc::new(OnceLock::new());
    let settled = in_room.clone();
    let leash = CancellationToken::new();
    let let_go = leash.clone();
    tokio::spawn(async move {
        let mut exit = tokio::select! {
            exit = child.wait() => exit.map_or(CommandExit::Code(-1), exit_from_status),
            () = let_go.cancelled() => {
                let own = tokio::time::timeout(COMPANION_EXIT_GRACE, child.wait()).await;
                own.ok().and_then(Result::ok).map_or(CommandExit::Cancelled, exit_from_status)
            }
        };
        if let Some(around) = &mut around {
            around.terminate();
        }
        let has_room = around.is_some();
        let end = async {
            if has_room {
                group.wait_for_exit().await;
            }
            group.terminate().await;
        };
        reap_child_until(&mut child, end).await;
        if let Some(around) = around {
            let (really, fared) = around.into_outcome(exit);
            exit = really;
            settled.get_or_init(|| fared);
        }
        // Nobody may be left to hear it.
        let _ = tell.send(Some(exit));
    });
    ProcessLifetime {
        ended,
        in_room,
        _leash: leash.drop_guard(),
    }
}
