//! Web search providers for agents and their state: configured by the person, with a key or without one.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One configured search provider (`S002-43`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchProviderView {
    /// The provider's id, as in the settings.
    pub id: String,
    /// Whether the provider can be used as it is configured now.
    pub ready: bool,
    /// Where the provider's key was found, or why the provider cannot be used: a few words, and never the key.
    pub note: String,
}
