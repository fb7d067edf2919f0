//! What each answer on a card would grant.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How far an answer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GrantReach {
    /// This one call.
    Once,
    /// Something for the rest of the session.
    Session,
    /// Calls like it, from now on.
    Always,
    /// Nothing.
    Nothing,
}

/// What one answer would grant: one line on the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Grant {
    /// How far it reaches.
    pub reach: GrantReach,
    /// The button: "Allow", "Reject".
    pub button: String,
    /// What it does, without the button's name: "writes the checked hunks to the file."
    pub text: String,
}
