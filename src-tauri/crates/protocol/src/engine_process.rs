//! The messages between the app's window and the process of its engine, over that process's standard input and output.
//!
//! The window writes [`NumberedRequest`]s, one JSON value a line. The engine writes [`MessageHead`]s, one JSON value a
//! line, each followed by a body of as many bytes as the head says. The body is JSON too, and most bodies are meant for
//! the page: the window passes them on as they are.

use serde::{Deserialize, Serialize};

use crate::connection::ConnectionAction;
use crate::op::ShownCall;
use crate::query::Query;
use crate::server::mcp_servers::ServerId;
use crate::{CallId, Digest, Op, SessionId};

/// A request with the number that its answer will have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberedRequest {
    /// Number that no other request of this window has.
    pub id: u64,
    /// The request.
    pub request: EngineRequest,
}

/// A request of the window. The comment of each names the type of its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EngineRequest {
    /// [`OpReceipt`](crate::op::OpReceipt): carries out a request of the person.
    Submit {
        /// The request, to which the person consented if it needs consent.
        op: Op,
    },
    /// [`EngineView`](crate::query::EngineView): everything that the page needs to rebuild its state.
    Snapshot,
    /// [`Answer`](crate::query::Answer): answers a query.
    Query {
        /// The query.
        query: Query,
    },
    /// Nothing; from then on every event after `since` is sent, in batches with the number of this request.
    Subscribe {
        /// Position after which events are wanted.
        since: u64,
    },
    /// [`Settings`](crate::Settings): the settings in force.
    Settings,
    /// [`OngoingWork`]: what would be interrupted if the engine ended.
    OngoingWork,
    /// A list of [`CallName`]s: those of the calls that still wait.
    NameWaitingCalls {
        /// The calls.
        calls: Vec<ShownCall>,
    },
    /// An optional [`ServerSettings`](crate::server::mcp_servers::ServerSettings): how a server is started.
    ServerSettings {
        /// The server.
        server: ServerId,
    },
    /// A string: the absolute path of a file of a workspace.
    FindFile {
        /// Folder of the workspace.
        workspace: String,
        /// Path within it.
        path: String,
    },
    /// A list of [`ConnectionView`](crate::connection::ConnectionView)s: the agents that can be connected.
    ListConnections,
    /// An optional [`ConnectionPlan`](crate::connection::ConnectionPlan): plans a change of an agent's configuration.
    PlanConnection {
        /// Id of the agent.
        agent: String,
        /// The change.
        action: ConnectionAction,
    },
    /// Nothing: makes a change of an agent's configuration as it was shown.
    ChangeConnection {
        /// Id of the agent.
        agent: String,
        /// The change.
        action: ConnectionAction,
        /// Digest of the plan that was shown.
        shown: Digest,
    },
    /// [`SessionImport`](crate::connection::SessionImport): imports the recent sessions of an agent.
    ImportSessions {
        /// Id of the agent.
        agent: String,
    },
    /// [`ExportTarget`]: what the save dialog proposes for a session.
    ExportTarget {
        /// The session.
        session: SessionId,
        /// `md`, `jsonl`, or `html`.
        format: String,
    },
    /// Nothing: writes a session into a file.
    ExportSession {
        /// The session.
        session: SessionId,
        /// `md`, `jsonl`, or `html`.
        format: String,
        /// Absolute path of the file.
        file: String,
    },
}

/// What goes on in the engine, and would be interrupted if it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OngoingWork {
    /// Number of sessions in which a turn runs, or a call waits.
    pub active_sessions: usize,
    /// Number of calls that wait for a decision.
    pub waiting_calls: usize,
}

/// A call as a dialog names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallName {
    /// Title of the call: the tool's name.
    pub title: String,
    /// What the call is about, as its card shows it.
    pub target: String,
}

/// What the save dialog proposes for the export of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportTarget {
    /// Name of the file.
    pub name: String,
    /// Name of the kind of file: `Markdown`.
    pub title: String,
    /// Ending of the name: `md`.
    pub extension: String,
}

/// The head of a message of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageHead {
    /// What the body is.
    pub kind: MessageKind,
    /// Number of bytes of the body, which follows after the line of the head.
    pub bytes: usize,
}

/// What the body of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// The answer to the request with that number.
    Answer(u64),
    /// A [`UserError`](crate::UserError): why the request with that number was not carried out.
    Failure(u64),
    /// A list of [`Event`](crate::Event)s of the subscription with that number.
    Events(u64),
    /// An [`AttentionChange`].
    Attention,
}

/// The calls that wait, and those that began to wait since the last change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AttentionChange {
    /// Number of calls that wait for a decision.
    pub waiting: usize,
    /// The calls that wait longest, at most three.
    pub oldest: Vec<WaitingCall>,
    /// Titles of the calls that began to wait since the last change and are to be notified of: the tool's name, never
    /// its arguments.
    pub landed: Vec<String>,
}

/// A call that waits, as it is named outside the window: never by its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// Title of the call: the tool's name.
    pub title: String,
    /// Title of the session; empty if it is not known.
    pub session_title: String,
}
