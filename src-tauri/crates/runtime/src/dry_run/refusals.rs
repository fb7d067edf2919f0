//! What a command was refused while it ran, and where it was let.

use protocol::view::effects::{NetworkContact, Refusal, RefusalKind};
use protocol::{CommandExit, CommandRun};

/// The signal by which a room ends what is in it.
pub(super) const KILL_SIGNAL: i32 = 9;

/// What a command was refused, and what a person should know of that list.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals {
    pub list: Vec<Refusal>,
    pub notes: Vec<String>,
    /// Where it was let.
    pub reached: Vec<NetworkContact>,
}

impl Refusals {
    /// Adds that a command was ended because it changed too much, for real.
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
