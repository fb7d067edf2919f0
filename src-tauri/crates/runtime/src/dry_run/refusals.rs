//! Accesses that a command was refused while it ran, destinations that it reached, and files that it read elsewhere.

use protocol::view::effects::{NetworkContact, Refusal, RefusalKind};
use protocol::{CommandExit, CommandRun};

/// The signal by which a sandbox ends the processes in it.
pub(super) const KILL_SIGNAL: i32 = 9;

/// Accesses that a command was refused, and notes for a person about that list.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals {
    pub list: Vec<Refusal>,
    pub notes: Vec<String>,
    /// Destinations that the command reached.
    pub reached: Vec<NetworkContact>,
    /// Files and folders of the person's own that the command read outside of the workspace.
    pub outside_reads: Vec<String>,
    /// Whether every refusal is in the list.
    pub is_complete: bool,
}

impl Refusals {
    /// Whether the command certainly tried no change that it was refused, and reached no limit.
    #[cfg(target_os = "linux")]
    pub fn is_free_of_changes(&self) -> bool {
        let is_change = |one: &Refusal| matches!(one.kind, RefusalKind::Write | RefusalKind::Limit);
        self.is_complete && !self.list.iter().any(is_change)
    }

    /// Records that a command was ended because it changed too much, for real.
    pub fn add_limit_exceeded(&mut self, ran: &mut CommandRun, why: String, is_cancelled: bool) {
        if !is_cancelled {
            ran.exit = CommandExit::Signal(KILL_SIGNAL);
        }
        self.list.push(Refusal {
            kind: RefusalKind::Limit,
            target: why,
        });
    }
}
