//! What a command was refused while it ran, and where it was let.

use protocol::effects::{Reached, Refused, RefusedKind};
use protocol::{Exit, Ran};

/// The signal by which a room ends what is in it.
pub(super) const KILLED: i32 = 9;

/// What a command was refused, and what a person should know of that list.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals {
    pub list: Vec<Refused>,
    pub notes: Vec<String>,
    /// Where it was let.
    pub reached: Vec<Reached>,
}

impl Refusals {
    /// Adds that a command was ended because it changed too much, for real.
    pub fn outgrew(&mut self, ran: &mut Ran, why: String, is_cancelled: bool) {
        if !is_cancelled {
            ran.exit = Exit::Signal(KILLED);
        }
        self.list.push(Refused {
            kind: RefusedKind::Limit,
            target: why,
        });
    }
}
