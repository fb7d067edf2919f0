//! The turn that the messages of an agent belong to.

use std::sync::Arc;

use agent_client_protocol::Error;
use parking_lot::Mutex;

use super::turn_handler::TurnHandler;

/// The turn that the agent's messages belong to; none between turns.
#[derive(Clone, Default)]
pub(super) struct CurrentTurn(Arc<Mutex<Option<Arc<TurnHandler>>>>);

impl CurrentTurn {
    /// Gives the agent's messages to a turn until what is returned is dropped.
    pub fn begin(&self, turn: Arc<TurnHandler>) -> impl Drop {
        *self.0.lock() = Some(turn);
        ResetTurn(self.clone())
    }

    /// Returns the turn, if one is running.
    pub fn get(&self) -> Option<Arc<TurnHandler>> {
        self.0.lock().clone()
    }

    /// Returns the turn for a request to use our tools.
    pub fn tools(&self) -> Result<Arc<TurnHandler>, Error> {
        let why = "No turn is running, so nothing can be asked for.";
        let turn = self
            .get()
            .ok_or_else(|| Error::invalid_request().data(why))?;
        match turn.serves_tools() {
            true => Ok(turn),
            false => Err(Error::method_not_found()),
        }
    }
}

/// Takes the turn away from the connection when a prompt is over.
struct ResetTurn(CurrentTurn);

impl Drop for ResetTurn {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}
