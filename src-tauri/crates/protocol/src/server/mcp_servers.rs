//! Other people's servers of tools (MCP): how a person sets one up, and what is told of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::display_text::DisplaySpan;
use crate::{Digest, UserError};

/// Longest id of a server, in characters.
pub const SERVER_ID_CHARS_MAX: usize = 32;
/// How long a server may take to answer one request unless its person says otherwise, in milliseconds.
pub const SERVER_TIMEOUT_MS: u32 = 30_000;
/// The longest such time that may be set, in milliseconds.
pub const SERVER_TIMEOUT_MS_MAX: u32 = 600_000;

/// What a server is called: the first half of its tools' names, `server__tool` (M11). 1 to 32 letters, digits, `-` and `_`;
/// no `_` at an end and no two of them in a row, so that the halves can be told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct ServerId(String);

impl ServerId {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The nearest name that a server can have; none if nothing is left of the text.
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

impl From<ServerId> for String {
    fn from(id: ServerId) -> Self {
        id.0
    }
}

impl TryFrom<String> for ServerId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_id = !text.is_empty()
            && text.len() <= SERVER_ID_CHARS_MAX
            && text.chars().all(allowed)
            && !text.starts_with('_')
            && !text.ends_with('_')
            && !text.contains("__");
        match is_id {
            true => Ok(Self(text)),
            false => Err(format!(
                "`{}` cannot be the name of a server; use 1 to {SERVER_ID_CHARS_MAX} letters, digits, `-` and single `_`",
                crate::text::display_text::to_single_line(&text, 64)
            )),
        }
    }
}

/// One server as its person set it up.
///
/// Values may hold references: `${NAME}` and `${NAME:-default}` for variables of the app's environment, and a whole value
/// `keychain:NAME` for a secret of the system keychain. They are looked up when the server is started and never before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// Its name.
    pub id: ServerId,
    /// How it is reached.
    pub way: ServerTransport,
    /// How long it may take to start, and to answer one request, in milliseconds.
    pub timeout_ms: u32,
    /// Whether it may be started and its tools used. What was imported is off until its person switches it on.
    pub enabled: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerTransport {
    /// A program of this machine, spoken to through its standard input and output.
    Stdio {
        /// The program: a name that is looked up, or a path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside those that it inherits.
        env: BTreeMap<String, String>,
        /// The folder that it starts in, absolute; none for the home folder, and in a room for the folder of that.
        folder: Option<String>,
        /// The sealed room that it runs in; none: it runs as the person, and nothing keeps it from anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        room: Option<ServerSandbox>,
    },
    /// An address, spoken to by streamable HTTP.
    Http {
        /// `http://` or `https://`.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// Who Countersign is to whoever signs the person in; none: it introduces itself there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        client: Option<OauthClient>,
    },
}

/// The sealed room that a server runs in. Where it cannot be made, the server is not started.
///
/// Secrets are closed in it as they are found when the server is started: one that comes later is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ServerSandbox {
    /// The one folder that it may change, absolute.
    pub workspace: String,
    /// The hosts that it may reach, each with its port where that is not the usual one.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// As what Countersign is known to whoever signs the person in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OauthClient {
    /// The id that was given out, or the `https://` address of a document that tells who it is.
    pub id: String,
    /// The secret that goes with it, if there is one: `${NAME}` or `keychain:NAME`.
    pub secret: Option<String>,
}

impl ServerTransport {
    /// It in one line, with its references as they are written.
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

/// What a person does with a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerChange {
    /// Sets it up, or sets it up otherwise: it is off then, until it is switched on.
    Set {
        /// How it is reached.
        way: ServerTransport,
        /// How long it may take to start, and to answer one request, in milliseconds.
        timeout_ms: u32,
    },
    /// Switches it on or off. The first time that it is switched on its tools are approved as they are then.
    Switch {
        /// On: it is started, and stays off if it cannot be.
        enabled: bool,
    },
    /// Approves its tools as they are now.
    Approve {
        /// What was looked at, as its view told it in `waits`; an approval of anything else is refused.
        digest: Digest,
    },
    /// Ends it and starts it anew.
    Restart,
    /// Begins to sign the person in: its view then tells the address that the person opens. Nobody opens it for them.
    SignIn,
    /// Takes out of the keychain what the person signed in with.
    SignOut,
    /// Ends it and forgets it, with what was approved of it.
    Remove,
}

/// A server with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerView {
    /// As it was set up.
    pub settings: ServerSettings,
    /// How it is at the moment.
    pub state: ServerState,
    /// What it said of itself when it was connected last.
    pub said: Option<ServerIdentity>,
    /// Its tools: those that were approved, in that order, then those that it has beyond them.
    pub tools: Vec<ServerTool>,
    /// What of its tools could not be taken, one sentence each.
    pub left_out: Vec<String>,
    /// What an approval of its tools as they are now must name; none if nothing waits for one.
    pub waits: Option<Digest>,
    /// How it stands to signing in; none if nobody was asked to.
    pub sign_in: Option<SignInState>,
}

/// How a person stands to a server that wants to know who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SignInState {
    /// They have to sign in before it answers.
    Needed {
        /// Why the last try came to nothing, as a clause; none if there was none.
        why: Option<String>,
    },
    /// They are to open an address, and sign in there.
    Waiting {
        /// The address.
        url: String,
        /// Its host, as it is shown.
        host: String,
    },
    /// They are signed in.
    Done,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerState {
    /// Switched off.
    Off,
    /// Not started: it is when one of its tools is called.
    Idle,
    /// Being started.
    Starting,
    /// Connected.
    Ready,
    /// It cannot be reached; it is tried again by itself.
    Unavailable {
        /// Why, in a sentence.
        why: String,
        /// When it is tried again, in seconds from when it failed.
        retry_in_s: u32,
    },
    /// It wants to know who asks: it is tried again once the person signed in.
    NeedsSignIn,
}

/// What a server says of itself. Nothing of it is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that is spoken: `2025-11-25`, `2026-07-28`.
    pub protocol: String,
}

/// One tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerTool {
    /// As the server calls it, hidden characters named.
    pub name: Vec<DisplaySpan>,
    /// What it does, in the server's words, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// What the server says of its safety: hints, which only ever tighten.
    pub hints: ToolHints,
    /// How it stands to what was approved.
    pub pin: PinState,
    /// What is other than what was approved, as a unified difference; empty if nothing is.
    pub changes: Vec<DisplaySpan>,
}

/// What a server says of a tool's safety; what it did not say is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolHints {
    /// It changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub read_only: Option<bool>,
    /// It may remove something.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub destructive: Option<bool>,
    /// Twice is as once.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub idempotent: Option<bool>,
    /// It reaches beyond its own data.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub open_world: Option<bool>,
}

/// How a tool of a server stands to what was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PinState {
    /// It is as it was approved, as far as is known.
    Pinned,
    /// It was not there. It cannot be called before it is approved.
    New,
    /// It is another. It cannot be called before it is approved.
    Changed,
    /// The server has it no more.
    Gone,
}

/// One line of what a server says, or of what happens to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerLogLine {
    /// When, in milliseconds since the epoch.
    #[ts(type = "number")]
    pub at_ms: i64,
    /// Who says it.
    pub from: ServerLogSource,
    /// The text, hidden characters named.
    pub text: Vec<DisplaySpan>,
}

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerLogSource {
    /// Countersign.
    Us,
    /// The server, on its standard error.
    Stderr,
    /// The server, by the protocol.
    Log,
}

/// A file of another product, or of a project, with the servers that it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ServerImportSource {
    /// Whose file it is: "Claude Desktop", "the project".
    pub product: String,
    /// The file.
    pub file: String,
    /// Why nothing could be read, if so.
    pub fault: Option<UserError>,
    /// The servers, each off.
    pub found: Vec<ServerImport>,
}

/// A server that another product's file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerImport {
    /// As it is written there.
    pub written: String,
    /// The same for us; none if it cannot be.
    pub settings: Option<ServerSettings>,
    /// What was left out or put otherwise, one sentence each.
    pub notes: Vec<String>,
    /// Whether a server of this name is set up already.
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
