//! Services by their documents (OpenAPI): how a person sets one up, and what is told of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::server::mcp_servers::{PinState, ServerId};
use crate::text::display_text::DisplaySpan;
use crate::{Digest, ToolMode, UserError};

/// How long a service may take to answer one request unless its person says otherwise, in milliseconds.
pub const API_TIMEOUT_MS: u32 = 30_000;
/// The longest such time that may be set, in milliseconds.
pub const API_TIMEOUT_MS_MAX: u32 = 600_000;

/// One service as its person set it up. It has the same kind of name as a server of tools, and no name that one of them has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ApiSettings {
    /// Its name: the first half of its tools' names, `name__operation` (M11).
    pub id: ServerId,
    /// How it is reached.
    pub setup: ApiSetup,
    /// Whether its tools may be used.
    pub enabled: bool,
}

/// How a service is reached.
///
/// Values of headers and of `auth` may hold references: `${NAME}` and `${NAME:-default}` for variables of the app's
/// environment, and a whole value `keychain:NAME` for a secret of the system keychain. They are looked up when a request is
/// sent and never before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ApiSetup {
    /// Its document: an address, or the absolute path of a file.
    pub document: String,
    /// Whether files that the document refers to are read as well, as far as they lie in its folder.
    pub follow_files: bool,
    /// The address of the service, in the place of those that the document names; none for those.
    pub base_url: Option<String>,
    /// Values of variables in the document's addresses.
    pub variables: BTreeMap<String, String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Who asks, by the names of the document's security schemes.
    pub auth: BTreeMap<String, ApiAuth>,
    /// Only operations of these tags are taken; of all if there are none. `*` stands for anything, here and below.
    pub tags: Vec<String>,
    /// Only operations that the document calls so; all if there are none.
    pub operations: Vec<String>,
    /// Only operations of these paths and what is below them; all if there are none.
    pub paths: Vec<String>,
    /// How long it may take to answer one request, in milliseconds; 0 for the usual.
    pub timeout_ms: u32,
}

impl ApiSetup {
    /// How long it may take to answer one request, in milliseconds.
    pub fn timeout_ms(&self) -> u32 {
        match self.timeout_ms {
            0 => API_TIMEOUT_MS,
            own => own,
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ApiAuth {
    /// By a key or a token.
    Token {
        /// The key or the token.
        token: String,
    },
    /// By a name and a password.
    Basic {
        /// The name.
        username: String,
        /// The password.
        password: String,
    },
    /// By a token that is asked for in our own name (OAuth 2.0 client credentials).
    Client {
        /// Our name.
        client_id: String,
        /// What proves it.
        client_secret: String,
    },
}

/// What a person does with a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ApiChange {
    /// Sets it up, or sets it up otherwise: it is off then, until it is switched on.
    Set {
        /// How it is reached.
        setup: Box<ApiSetup>,
    },
    /// Switches it on or off. The first time that it is switched on its tools are approved as they are then.
    Switch {
        /// On: its document is read, and it stays off if it cannot be.
        enabled: bool,
    },
    /// Reads its document again: what became another is told, and not used before it is approved.
    Read,
    /// Approves its tools as they are now.
    Approve {
        /// What was looked at, as its view told it in `waits`; an approval of anything else is refused.
        digest: Digest,
    },
    /// Forgets it, with what was approved of it.
    Remove,
}

/// Every service that is set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ApiList {
    /// By their names.
    pub apis: Vec<ApiView>,
    /// Why none of them can be used, if so.
    pub fault: Option<UserError>,
}

/// A service with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ApiView {
    /// As it was set up.
    pub settings: ApiSettings,
    /// What its document is called and its version, as it was read last; none if it was not yet.
    pub title: Option<String>,
    /// Its tools: those that were approved, in that order, then those that its document has beyond them.
    pub tools: Vec<ApiTool>,
    /// What of its document could not be taken, one sentence each.
    pub left_out: Vec<String>,
    /// What an approval of its tools as they are now must name; none if nothing waits for one.
    pub waits: Option<Digest>,
}

/// One operation as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiTool {
    /// Its name for models; none before it is approved.
    pub id: Option<String>,
    /// Its method and its path, hidden characters named.
    pub operation: Vec<DisplaySpan>,
    /// What it does, in the document's words, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// How a call of it is treated; none where it changes something at the service, so that each call asks.
    pub mode: Option<ToolMode>,
    /// How it stands to what was approved.
    pub pin: PinState,
    /// What is other than what was approved, as a unified difference; empty if nothing is.
    pub changes: Vec<DisplaySpan>,
}
