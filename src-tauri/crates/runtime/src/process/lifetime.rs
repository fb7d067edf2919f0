//! The lifetime of a companion program: supervised to its end, and ended with its whole process group when the lifetime
//! is dropped.

use std::sync::{Arc, OnceLock};

use protocol::view::effects::{NetworkContact, Refusal};
use tokio::process::Child;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{CommandExit, ProcessGroup, exit_from_status, reap_child_until};
use crate::limits::COMPANION_EXIT_GRACE;

/// The lifetime of a program. Dropping it ends the program, with everything that the program started.
#[derive(Debug)]
pub struct ProcessLifetime {
    ended: watch::Receiver<Option<CommandExit>>,
    sandbox_outcome: Arc<OnceLock<SandboxOutcome>>,
    _leash: DropGuard,
}

/// The outcome of a program that was to run in a sandbox, once it has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxOutcome {
    /// Why the sandbox could not be entered, as a clause: the program did not run then. `None` if it ran.
    pub entry_error: Option<String>,
    /// Accesses that the program was refused.
    pub refused: Vec<Refusal>,
    /// Destinations that the program reached.
    pub reached: Vec<NetworkContact>,
    /// Files and folders of the person's own that the program read outside of the workspace.
    pub outside_reads: Vec<String>,
}

/// A program that has ended, with everything that it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedProgram {
    /// How the program ended.
    pub exit: CommandExit,
    /// The outcome of the program in its sandbox; `None` where it was to run in none.
    pub sandbox: Option<SandboxOutcome>,
}

impl ProcessLifetime {
    /// Returns how the program ended, if it has ended.
    pub fn exit(&self) -> Option<CommandExit> {
        *self.ended.borrow()
    }

    /// Returns a receiver for the exit of the program, also valid after this is dropped.
    pub fn subscribe(&self) -> watch::Receiver<Option<CommandExit>> {
        self.ended.clone()
    }

    /// Ends the program, as dropping this does, and waits until nothing of it runs any more.
    pub async fn end(self) -> EndedProgram {
        let Self {
            mut ended,
            sandbox_outcome,
            _leash: leash,
        } = self;
        drop(leash);
        // Whoever supervises it always tells how it ended.
        let exit = ended.wait_for(Option::is_some).await;
        let exit = exit.ok().and_then(|exit| *exit);
        EndedProgram {
            exit: exit.unwrap_or(CommandExit::Cancelled),
            sandbox: sandbox_outcome.get().cloned(),
        }
    }

    /// Returns the outcome of the program in its sandbox, once it has ended; `None` where it was to run in none.
    pub fn sandbox_outcome(&self) -> Option<&SandboxOutcome> {
        self.sandbox_outcome.get()
    }
}

/// The sandbox around a program.
pub(crate) trait SandboxGuard: Send + 'static {
    /// Ends the sandbox, with everything that runs in it.
    fn terminate(&mut self);

    /// Returns how the program in the sandbox ended, and its outcome, known once the sandbox program has ended. `exit`
    /// is the exit of the sandbox program.
    fn into_outcome(self: Box<Self>, exit: CommandExit) -> (CommandExit, SandboxOutcome);
}

/// Supervises a program that was started. When its lifetime is dropped, the program has a moment to end by itself,
/// since its input mostly ends then too; after that its sandbox is ended, if it has one, and its group is asked to end
/// and then killed. When the program ends, processes that it left running end with it.
pub(crate) fn supervise(
    mut child: Child,
    mut around: Option<Box<dyn SandboxGuard>>,
) -> ProcessLifetime {
    let mut group = ProcessGroup::from_child(&child);
    let (tell, ended) = watch::channel(None);
    let sandbox_outcome = Arc::new(OnceLock::new());
    let settled = sandbox_outcome.clone();
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
        let is_sandboxed = around.is_some();
        let end = async {
            if is_sandboxed {
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
        sandbox_outcome,
        _leash: leash.drop_guard(),
    }
}
