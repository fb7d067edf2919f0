//! MCP servers of other parties: how a person configures one, and how it is shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::server::audience::Audience;
use crate::text::define_checked_text;
use crate::text::display_text::DisplaySpan;
use crate::{Digest, UserError};

/// Longest id of a server, in characters.
pub const SERVER_ID_CHARS_MAX: usize = 32;
/// Default time in which a server has to answer one request, in milliseconds.
pub const SERVER_TIMEOUT_MS: u32 = 30_000;
/// The longest answer time that may be configured, in milliseconds.
pub const SERVER_TIMEOUT_MS_MAX: u32 = 600_000;

/// Name of a server: the first half of its tools' names, `server__tool` (M11). 1 to 32 letters, digits, `-` and `_`; no
/// `_` at either end and no two `_` in a row, so that the halves can be told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct ServerId(String);

impl ServerId {
    /// Returns the nearest valid name; none if nothing is left of the text.
    pub fn from_nearest(text: &str) -> Option<Self> {
        let mut near = String::new();
        for c in text.chars() {
            let c = match c {
                c if c.is_ascii_alphanumeric() || c == '-' => c,
                _ => '_',
            };
            if c != '_' || !near.ends_with('_') {
                near.push(c);
            }
        }
        let cut: String = near
            .trim_matches('_')
            .chars()
            .take(SERVER_ID_CHARS_MAX)
            .collect();
        Self::try_from(cut.trim_end_matches('_').to_owned()).ok()
    }
}

impl std::fmt::Display for ServerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

define_checked_text!(ServerId, |text| {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_id = !text.is_empty()
        && text.len() <= SERVER_ID_CHARS_MAX
        && text.chars().all(allowed)
        && !text.starts_with('_')
        && !text.ends_with('_')
        && !text.contains("__");
    match is_id {
        true => Ok(()),
        false => Err(format!(
            "`{}` cannot be the name of a server; use 1 to {SERVER_ID_CHARS_MAX} letters, digits, `-` and single `_`",
            crate::text::display_text::to_single_line(text, 64)
        )),
    }
});

/// One server as the person configured it.
///
/// Values may contain references: `${NAME}` and `${NAME:-default}` for variables of the app's environment, and a whole
/// value `keychain:NAME` for a secret of the system keychain. References are resolved when the server is started and
/// never before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// The server's name.
    pub id: ServerId,
    /// How the server is reached.
    pub transport: ServerTransport,
    /// Time in which the server has to start, and to answer one request, in milliseconds.
    pub timeout_ms: u32,
    /// Who reads what is sent there; none if nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub audience: Option<Audience>,
    /// Whether the server may be started and its tools used. An imported server is off until the person switches it on.
    pub enabled: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerTransport {
    /// A program of this machine, which communicates through its standard input and output.
    Stdio {
        /// The program: a name that is looked up, or a path.
        command: String,
        /// Arguments of the program.
        args: Vec<String>,
        /// Environment variables beside those that the program inherits.
        env: BTreeMap<String, String>,
        /// The folder that the program starts in, absolute; none for the home folder, or, in a sandbox, for the
        /// sandbox's folder.
        folder: Option<String>,
        /// The sandbox that the program runs in; none: the program runs as the person, without any restriction.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<ServerSandbox>,
    },
    /// An address, reached by streamable HTTP.
    Http {
        /// The address: `http://` or `https://`.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
        /// Countersign's registration with the authorisation server; none: Countersign registers itself there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        client: Option<OauthClient>,
    },
}

/// The sandbox that a server runs in. If the sandbox cannot be made, the server is not started.
///
/// Files with secrets that are found when the server starts are closed in the sandbox; a secret that appears later is
/// not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ServerSandbox {
    /// The only folder that the server may change, absolute.
    pub workspace: String,
    /// The hosts that the server may reach, each with its port unless that is the usual one.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// Countersign's registration as a client with an authorisation server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OauthClient {
    /// The client id: the id that was given out, or the `https://` address of a client metadata document.
    pub id: String,
    /// The client secret, if there is one: `${NAME}` or `keychain:NAME`.
    pub secret: Option<String>,
}

impl ServerTransport {
    /// Returns a one-line summary of the transport, with its references as they are written.
    pub fn summary(&self) -> String {
        match self {
            Self::Stdio { command, args, .. } => std::iter::once(command)
                .chain(args)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            Self::Http { url, .. } => url.clone(),
        }
    }
}

/// A person's change to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerChange {
    /// Configures the server, anew or for the first time: it is off afterwards, until it is switched on.
    Set {
        /// How the server is reached.
        transport: ServerTransport,
        /// Time in which the server has to start, and to answer one request, in milliseconds.
        timeout_ms: u32,
        /// Who reads what is sent there; none if nobody said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        audience: Option<Audience>,
    },
    /// Switches the server on or off. When it is switched on for the first time, its tools are approved as they are
    /// then.
    Switch {
        /// Whether the server is on. To switch it on, the server is started; it stays off if that fails.
        enabled: bool,
    },
    /// Approves the server's tools as they are now.
    Approve {
        /// Digest of the tools that were reviewed, as given in `pending_digest` of the view; an approval of any other
        /// digest is refused.
        digest: Digest,
    },
    /// Stops and restarts the server.
    Restart,
    /// Begins to sign the person in: the server's view then has the address that the person opens. The address is never
    /// opened automatically.
    SignIn,
    /// Signs the person out: removes the credentials from the keychain.
    SignOut,
    /// Stops and removes the server, with its approvals.
    Remove,
}

/// A server with its configuration and its current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerView {
    /// The configuration.
    pub settings: ServerSettings,
    /// The current state of the server.
    pub state: ServerState,
    /// The server's own description from its last connection.
    pub said: Option<ServerIdentity>,
    /// The server's tools: first the approved ones, in the order of approval, then its others.
    pub tools: Vec<ServerTool>,
    /// Tools of the server that could not be used, one sentence each.
    pub left_out: Vec<String>,
    /// Digest that an approval of the tools as they are now must name; none if nothing waits for approval.
    pub pending_digest: Option<Digest>,
    /// State of signing in; none if the server never asked for it.
    pub sign_in: Option<SignInState>,
}

/// State of a person's sign-in to a server that requires one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SignInState {
    /// The person has to sign in before the server answers.
    Needed {
        /// Why the last attempt failed, as a clause; none if there was none.
        why: Option<String>,
    },
    /// The person has to open an address, and sign in there.
    Waiting {
        /// The address.
        url: String,
        /// The host of the address, for display.
        host: String,
    },
    /// The person is signed in.
    Done,
}

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerState {
    /// Switched off.
    Off,
    /// Not started: the server starts when one of its tools is called.
    Idle,
    /// Starting.
    Starting,
    /// Connected.
    Ready,
    /// The server cannot be reached; a new attempt follows automatically.
    Unavailable {
        /// Why the server cannot be reached, in a sentence.
        why: String,
        /// Time from the failure to the next attempt, in seconds.
        retry_in_s: u32,
    },
    /// The server requires the person to sign in; a new attempt follows once they did.
    NeedsSignIn,
}

/// A server's description of itself. Nothing in it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerIdentity {
    /// The server's name.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// The version of the protocol in use: `2025-11-25`, `2026-07-28`.
    pub protocol: String,
}

/// One tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerTool {
    /// The tool's name at the server, hidden characters named.
    pub name: Vec<DisplaySpan>,
    /// Description of the tool, in the server's words, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// The server's hints on the tool's safety, which only ever tighten.
    pub hints: ToolHints,
    /// State of the tool relative to its approval.
    pub pin: PinState,
    /// Difference from the approved version, as a unified difference; empty if there is none.
    pub changes: Vec<DisplaySpan>,
}

/// A server's hints on a tool's safety; a hint that the server did not give is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolHints {
    /// Whether the tool changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub read_only: Option<bool>,
    /// Whether the tool may remove something.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub destructive: Option<bool>,
    /// Whether calling the tool twice has the same effect as calling it once.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub idempotent: Option<bool>,
    /// Whether the tool reaches beyond its own data.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub open_world: Option<bool>,
}

/// State of a server's tool relative to its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PinState {
    /// The tool is as it was approved, as far as is known.
    Pinned,
    /// The tool is new. It cannot be called before it is approved.
    New,
    /// The tool differs from the approved one. It cannot be called before it is approved.
    Changed,
    /// The server no longer has the tool.
    Gone,
}

/// One line of a server's log: a message of the server, or an event about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerLogLine {
    /// Time of the line, in milliseconds since the epoch.
    #[ts(type = "number")]
    pub at_ms: i64,
    /// Source of the line.
    pub from: ServerLogSource,
    /// The text, hidden characters named.
    pub text: Vec<DisplaySpan>,
}

/// Source of a line of a server's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerLogSource {
    /// Countersign itself.
    Us,
    /// The server, on its standard error.
    Stderr,
    /// The server, by a log message of the protocol.
    Log,
}

/// A file of another product, or of a project, with the servers that it configures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerImportSource {
    /// Owner of the file: "Claude Desktop", "the project".
    pub product: String,
    /// The file.
    pub file: String,
    /// Why nothing could be read from the file, if so.
    pub fault: Option<UserError>,
    /// The servers, each switched off.
    pub found: Vec<ServerImport>,
}

/// A server that another product's file configures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerImport {
    /// The server's name, as it is written in the file.
    pub written: String,
    /// The equivalent settings; none if there are none.
    pub settings: Option<ServerSettings>,
    /// Parts of the entry that were left out or changed, one sentence each.
    pub notes: Vec<String>,
    /// Whether a server of this name is already configured.
    pub known: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_servers() {
        for (text, is_id) in [
            ("fs", true),
            ("my-server_2", true),
            ("", false),
            ("a__b", false),
            ("_a", false),
            ("a_", false),
            ("a b", false),
            ("a\u{202e}b", false),
            (&"a".repeat(33), false),
        ] {
            assert_eq!(ServerId::try_from(text.to_owned()).is_ok(), is_id, "{text}");
        }
        for (text, near) in [
            ("GitHub Server (prod)", Some("GitHub_Server_prod")),
            ("a__b", Some("a_b")),
            ("\u{202e}", None),
            ("@scope/name", Some("scope_name")),
        ] {
            let found = ServerId::from_nearest(text);
            assert_eq!(found.as_ref().map(ServerId::as_str), near, "{text}");
        }
        let long = ServerId::from_nearest(&format!("{}_x", "a".repeat(31)));
        assert_eq!(long.unwrap().as_str(), "a".repeat(31));
    }
}
