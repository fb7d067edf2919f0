//! Who reads what is sent to a server or a service, as its person says.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Who reads what is sent to a server or a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The person alone.
    Mine,
    /// Others: what is sent there is a message, which nothing takes back.
    Others,
}

impl Audience {
    /// The audience as settings and the command line write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Others => "others",
        }
    }
}
