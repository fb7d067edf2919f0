//! Services with an OpenAPI document: how a person configures one, and how it is shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::server::audience::Audience;
use crate::server::mcp_servers::{PinState, ServerId};
use crate::text::display_text::DisplaySpan;
use crate::{Digest, ToolMode, UserError};

/// Default time in which a service has to answer one request, in milliseconds.
pub const API_TIMEOUT_MS: u32 = 30_000;
/// The longest answer time that may be configured, in milliseconds.
pub const API_TIMEOUT_MS_MAX: u32 = 600_000;

/// One service as the person configured it. Its name follows the rules for names of MCP servers, and differs from all
/// of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ApiSettings {
    /// The service's name: the first half of its tools' names, `name__operation` (M11).
    pub id: ServerId,
    /// How the service is reached.
    pub setup: ApiSetup,
    /// Whether the service's tools may be used.
    pub enabled: bool,
}

/// How a service is reached.
///
/// Values of headers and of `auth` may contain references: `${NAME}` and `${NAME:-default}` for variables of the app's
/// environment, and a whole value `keychain:NAME` for a secret of the system keychain. References are resolved when a
/// request is sent and never before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ApiSetup {
    /// The service's document: an address, or the absolute path of a file.
    pub document: String,
    /// Whether files that the document refers to are read as well, if they lie in its folder.
    pub follow_files: bool,
    /// The base address of the service, which replaces the addresses in the document; none to use those.
    pub base_url: Option<String>,
    /// Values of variables in the document's addresses.
    pub variables: BTreeMap<String, String>,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// Credentials, by the names of the document's security schemes.
    pub auth: BTreeMap<String, ApiAuth>,
    /// Tags of the operations to include; empty for operations of any tag. `*` matches any text, here and below.
    pub tags: Vec<String>,
    /// Names of the operations to include, as in the document; empty for all.
    pub operations: Vec<String>,
    /// Paths of the operations to include, each with all paths below it; empty for all.
    pub paths: Vec<String>,
    /// Time in which the service has to answer one request, in milliseconds; 0 for the default.
    pub timeout_ms: u32,
    /// Who reads what is sent there; none if nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub audience: Option<Audience>,
}

impl ApiSetup {
    /// Returns the time in which the service has to answer one request, in milliseconds.
    pub fn timeout_ms(&self) -> u32 {
        match self.timeout_ms {
            0 => API_TIMEOUT_MS,
            own => own,
        }
    }
}

/// Credentials for a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ApiAuth {
    /// A key or a token.
    Token {
        /// The key or the token.
        token: String,
    },
    /// A user name and a password.
    Basic {
        /// The user name.
        username: String,
        /// The password.
        password: String,
    },
    /// A token that is requested in the app's own name (OAuth 2.0 client credentials).
    Client {
        /// The app's client id.
        client_id: String,
        /// The secret that authenticates the client.
        client_secret: String,
    },
}

/// A person's change to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ApiChange {
    /// Configures the service, anew or for the first time: it is off afterwards, until it is switched on.
    Set {
        /// How the service is reached.
        setup: Box<ApiSetup>,
    },
    /// Switches the service on or off. When it is switched on for the first time, its tools are approved as they are
    /// then.
    Switch {
        /// Whether the service is on. To switch it on, its document is read; it stays off if that fails.
        enabled: bool,
    },
    /// Reads the service's document again: changed tools are reported, and not used before they are approved.
    Read,
    /// Approves the service's tools as they are now.
    Approve {
        /// Digest of the tools that were reviewed, as given in `pending_digest` of the view; an approval of any other
        /// digest is refused.
        digest: Digest,
    },
    /// Removes the service and its approvals.
    Remove,
}

/// All configured services.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ApiList {
    /// The services, sorted by name.
    pub apis: Vec<ApiView>,
    /// Why no service can be used, if so.
    pub fault: Option<UserError>,
}

/// A service with its configuration and its current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ApiView {
    /// The configuration.
    pub settings: ApiSettings,
    /// Title and version of the document, as it was last read; none if it was never read.
    pub title: Option<String>,
    /// The service's tools: first the approved ones, in the order of approval, then the others in its document.
    pub tools: Vec<ApiTool>,
    /// Parts of the document that could not be used, one sentence each.
    pub left_out: Vec<String>,
    /// Digest that an approval of the tools as they are now must name; none if nothing waits for approval.
    pub pending_digest: Option<Digest>,
}

/// One operation as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiTool {
    /// The tool's name for models; none before the tool is approved.
    pub id: Option<String>,
    /// Method and path of the operation, hidden characters named.
    pub operation: Vec<DisplaySpan>,
    /// Description of the operation, in the document's words, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// Mode of the tool's calls; none for an operation that changes something at the service, so that each call asks.
    pub mode: Option<ToolMode>,
    /// State of the tool relative to its approval.
    pub pin: PinState,
    /// Difference from the approved version, as a unified difference; empty if there is none.
    pub changes: Vec<DisplaySpan>,
}
