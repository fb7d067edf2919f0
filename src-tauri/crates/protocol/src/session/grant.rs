//! Grants that the answers on a card offer.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Scope of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GrantReach {
    /// The current call only.
    Once,
    /// The rest of the session.
    Session,
    /// Similar calls, from now on.
    Always,
    /// No grant.
    Nothing,
}

/// The grant that one answer offers: one line on the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Grant {
    /// Scope of the grant.
    pub reach: GrantReach,
    /// Label of the button: "Allow", "Reject".
    pub button: String,
    /// Description of the effect, without the button's label: "writes the checked hunks to the file."
    pub text: String,
}
