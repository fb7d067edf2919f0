//! Identifiers, one type for each kind, so that a call is never mistaken for a session.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    };
}

define_id!(
    /// One conversation with one agent in one workspace: `ses_` and a time-sorted UUID.
    SessionId
);
define_id!(
    /// One run of a session, called a loop in specification 001: the session's id, a dot, and the number of the run
    /// from 1.
    LoopId
);
define_id!(
    /// One tool call; unique within its session (`S000-02`).
    CallId
);
impl LoopId {
    /// Returns the id of the run with this number, counted from 1.
    pub fn new(session: &SessionId, run: u32) -> Self {
        Self(format!("{session}.{run}"))
    }

    /// Returns the session that the run belongs to.
    pub fn session(&self) -> SessionId {
        let (session, _) = self.0.rsplit_once('.').unwrap_or((&self.0, ""));
        SessionId(session.to_owned())
    }
}

define_id!(
    /// One request of a server to the person: `ask_` and a time-sorted UUID.
    ServerRequestId
);
define_id!(
    /// One message of the person or of the agent: `msg_` and a time-sorted UUID.
    MessageId
);
define_id!(
    /// One entry of the undo history: `und_` and a time-sorted UUID.
    UndoId
);
define_id!(
    /// One grant: `grt_` and a time-sorted UUID.
    GrantId
);
define_id!(
    /// A BLAKE3 hash in lower-case hexadecimal, 64 characters.
    Digest
);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_hash(&blake3::hash(bytes))
    }

    /// Returns the digest for a hash.
    pub fn from_hash(hash: &blake3::Hash) -> Self {
        Self(HEXLOWER.encode(hash.as_bytes()))
    }

    /// Returns the digest of a value's JSON text. Object members count in their order.
    pub fn from_json(value: &impl Serialize) -> Self {
        // A value that cannot be written as JSON (a map with non-text keys) has no place in the protocol; its digest
        // is that of nothing, which no decision can ever match.
        serde_json::to_vec(value)
            .map_or_else(|_| Self(String::new()), |bytes| Self::from_bytes(&bytes))
    }
}
