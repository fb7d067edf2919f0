//! Who searches the web for agents, as it stands: set up by the person, with a key or without one.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One of those who search, as it was set up (`S002-43`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchProviderView {
    /// Its id, as the settings have it.
    pub id: String,
    /// Whether it can be asked as it is set up now.
    pub ready: bool,
    /// Where its key was found, or why it cannot be asked: a few words, and never the key.
    pub note: String,
}
