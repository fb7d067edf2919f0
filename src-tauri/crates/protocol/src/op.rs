//! Operations that a person requests of the engine.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::event::{Enclosure, FormerAgentSession};
use crate::history::{CollectionReceipt, PathChoice, RestoreReceipt, RestoreRequest};
use crate::rule::grants::GrantRequest;
use crate::rule::rules_view::{NewRule, RuleLocation};
use crate::server::apis::ApiChange;
use crate::server::mcp_servers::{ServerChange, ServerId};
use crate::session::deletion::DeletionHost;
use crate::session::list_place::ListPlace;
use crate::{
    CallId, Content, Digest, GrantId, MessageId, ModelChoice, RuleScope, ServerAnswer,
    ServerRequestId, SessionId, Settings, ToolMode, UndoId,
};

/// One request of the person. The answer is a receipt; the effects are reported by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Opens a session in a folder, and begins a run if there is a prompt.
    OpenSession {
        /// The workspace root, absolute.
        workspace: String,
        /// The model that answers.
        model: ModelChoice,
        /// The first message.
        prompt: Option<String>,
        /// JSON Schema of the output that the run must produce (`S004-30`); none if free text is enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "unknown")]
        output_schema: Option<serde_json::Value>,
        /// Sampling temperature of the model, from 0 to 2; the provider's default if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        temperature: Option<f64>,
        /// The manifest of the agent that works in the session, `agent.toml`, absolute; none for the built-in agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        agent: Option<String>,
        /// Whether the session plans first, from its first message on, as with [`Op::SetPlanning`] (`S002-32`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(optional, as = "Option<bool>")]
        planning: bool,
        /// Sandbox around the agent of somebody else that answers in the session; none where it runs in the open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        enclosure: Option<Enclosure>,
        /// MCP servers whose tools an agent of somebody else is given in the session; none given for all that are on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        servers: Option<Vec<ServerId>>,
        /// The session of its own with which an agent of somebody else goes on; none for a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        former: Option<FormerAgentSession>,
    },
    /// Creates the sample workspace and plays the built-in demo in it.
    PlayDemo,
    /// Sends a message: begins a turn, or steers the running one (`S001-37`).
    Say {
        /// The session.
        session: SessionId,
        /// The text.
        text: String,
        /// Images that accompany the text; no other content is accepted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Content>>", optional)]
        images: Vec<Content>,
    },
    /// Switches planning on or off; while a session plans, no tool that could change anything is in reach.
    SetPlanning {
        /// The session.
        session: SessionId,
        /// Whether the session plans.
        on: bool,
    },
    /// Sets an option of whoever answers in the session: the mode, the model, or another option that an agent of somebody
    /// else offers, which is set again whenever the agent starts; the model of a provider, or its reasoning effort, from the
    /// next turn on.
    SetAgentOption {
        /// The session.
        session: SessionId,
        /// The id of the option.
        option: String,
        /// The id of the value.
        value: String,
    },
    /// Skips asks for a while, where what a call does can be taken back (M32).
    SkipAsks {
        /// The session, with its sub-agents; none for every session.
        session: Option<SessionId>,
        /// For how long, in minutes: from 1 to [`SKIP_MINUTES_MAX`](crate::session::skipped_asks::SKIP_MINUTES_MAX); none
        /// until the session is closed or the app ends.
        minutes: Option<u32>,
    },
    /// Lets calls ask again.
    ResumeAsks {
        /// The session; none for every session.
        session: Option<SessionId>,
    },
    /// Stops the session's current work; nothing that has not started will start.
    Interrupt {
        /// The session.
        session: SessionId,
    },
    /// Continues after an interruption, an error or a restart, without a message.
    Resume {
        /// The session.
        session: SessionId,
    },
    /// Decides on a waiting call.
    Decide {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The digest of exactly what was shown on the card; a decision on anything else is refused.
        digest: Digest,
        /// The person's decision.
        decision: Decision,
    },
    /// Decides alike on waiting calls that were shown on one card. A call that cannot be decided on keeps waiting and makes
    /// the request an error; the others are decided on all the same.
    DecideGroup {
        /// The calls.
        calls: Vec<ShownCall>,
        /// The decision: one that allows or rejects the calls as they are, without a rule.
        decision: Decision,
    },
    /// Answers a question from the server of a running call. An answer that does not fit the question is refused, and
    /// the question stays.
    AnswerServer {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The question.
        request_id: ServerRequestId,
        /// The person's answer.
        answer: ServerAnswer,
    },
    /// Takes an effect back.
    Undo {
        /// The history entry.
        entry: UndoId,
    },
    /// Redoes an undone effect.
    Redo {
        /// The history entry.
        entry: UndoId,
    },
    /// Undoes or redoes entries of the history, with a choice for each path that changed since. If a changed path has
    /// no choice, nothing is touched.
    Restore {
        /// The entries to undo or redo.
        restore: RestoreRequest,
        /// Choices for the paths that changed since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<PathChoice>,
    },
    /// Drops entries from the history that exceed the age or size limits of the settings.
    CollectHistory,
    /// Gives a session another title.
    RenameSession {
        /// The session.
        session: SessionId,
        /// The title; not empty.
        title: String,
    },
    /// Moves a session in the list of sessions: pins it, archives it, or puts it back among the others. One that is at work
    /// or waits for the person cannot be archived.
    PlaceSession {
        /// The session.
        session: SessionId,
        /// Where the session stands from now on.
        place: ListPlace,
    },
    /// Opens a session that goes on from a message of another one, with its conversation, over the folder as it is now.
    /// Nothing runs before the person says something.
    ForkSession {
        /// The session whose conversation is taken over; it is not changed.
        session: SessionId,
        /// The person's message before which the conversation ends; none to take all of it over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        before: Option<MessageId>,
    },
    /// Closes an idle session: its long outputs are deleted, its record stays (`S002-71`). Sending a message opens the
    /// session again.
    CloseSession {
        /// The session.
        session: SessionId,
    },
    /// Deletes a session that does nothing, with those of its sub-agents: its events, its copies for undo, and its long
    /// outputs are erased, which cannot be undone. That it was deleted stays on record, without any content.
    DeleteSession {
        /// The session.
        session: SessionId,
        /// Host in which the person deletes it.
        host: DeletionHost,
    },
    /// Opens a file in the person's editor.
    OpenInEditor {
        /// The workspace root, absolute.
        workspace: String,
        /// Path of the file, relative to the workspace root.
        path: String,
        /// The line to go to, from 1; the first one if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        line: Option<u32>,
    },
    /// Trusts a project's rules file: from now on, exactly the text that was shown may loosen.
    TrustRules {
        /// The workspace root, absolute.
        workspace: String,
        /// Digest of the text, as `project_rules` gave it.
        digest: Digest,
    },
    /// Revokes the trust in a project's rules file, at once.
    DistrustRules {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// Revokes a grant, at once, in every running session.
    RevokeGrant {
        /// The grant.
        grant: GrantId,
    },
    /// Replaces the text of a rules file. Saving a project's file this way also trusts it.
    SaveRules {
        /// Scope of the file: the person's or the project's.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The text.
        text: String,
        /// Digest of the text that was edited; none if there was no file. Refused if the file changed since.
        base: Option<Digest>,
    },
    /// Adds rules at the end of a rules file and leaves the rest unchanged.
    AddRules {
        /// Scope of the file: the person's or the project's.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The rules.
        rules: Vec<NewRule>,
    },
    /// Changes or removes one rule of a rules file and leaves the rest unchanged.
    ChangeRule {
        /// Location of the rule.
        place: RuleLocation,
        /// The new rule; none to remove the rule.
        rule: Option<NewRule>,
    },
    /// Replaces the settings.
    SetSettings {
        /// The complete settings.
        settings: Box<Settings>,
    },
    /// Switches a tool on or off and makes its mode stricter.
    SetTool {
        /// The tool's id.
        tool: String,
        /// Whether the tool can be used.
        enabled: bool,
        /// A mode at least as strict as the tool's own; none for its own.
        mode: Option<ToolMode>,
    },
    /// Opens a session whose only call, the person's own, passes through the real pipeline.
    TryTool {
        /// The workspace root, absolute.
        workspace: String,
        /// The tool's id.
        tool: String,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// Changes an MCP server.
    ChangeServer {
        /// The server.
        server: ServerId,
        /// The change.
        change: ServerChange,
    },
    /// Changes a service that has an OpenAPI document.
    ChangeApi {
        /// The service.
        api: ServerId,
        /// The change.
        change: ApiChange,
    },
    /// Stores a provider's key; an empty key removes it. Never recorded.
    SetKey {
        /// The provider's id; `mcp:NAME` for a key that a server refers to as `keychain:NAME`.
        provider: String,
        /// The key.
        key: String,
        /// How long the key is kept.
        #[serde(default, skip_serializing_if = "KeyLifetime::is_default")]
        #[ts(as = "Option<KeyLifetime>", optional)]
        lasts: KeyLifetime,
    },
}

/// How long a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyLifetime {
    /// Until it is removed, in the system keychain.
    #[default]
    Kept,
    /// As long as the app runs, in its memory alone.
    Run,
}

impl KeyLifetime {
    /// Whether the key is kept until it is removed.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Op {
    /// Returns an op that sends a message of text alone.
    pub fn say(session: SessionId, text: impl Into<String>) -> Self {
        Self::Say {
            session,
            text: text.into(),
            images: Vec::new(),
        }
    }
}

/// A waiting call as a card showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ShownCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The digest of exactly what was shown.
    pub digest: Digest,
}

/// A person's decision on a waiting call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// Lets the call run, once.
    Allow {
        /// The hunks to apply, by their ids; all hunks if none are named.
        hunks: Option<Vec<u32>>,
        /// A note for the agent, given after the result; empty for none.
        note: String,
        /// A rule that allows such calls from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        always: Option<GrantRequest>,
    },
    /// Rejects the call.
    Reject {
        /// The reason that the agent gets; empty for none.
        note: String,
        /// Whether the turn ends as well.
        stop: bool,
        /// A rule that denies such calls from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        always: Option<GrantRequest>,
    },
    /// Answers to a question's form: one list for each question, in order (`S002-36`).
    Answer {
        /// The answers.
        answers: Vec<Vec<String>>,
    },
    /// The person chose not to answer.
    Skip,
    /// Runs the call in a dry run first, where nothing real changes: the call is judged again and shown with its
    /// effects.
    DryRun,
    /// Runs the call in a dry run with network access to these hosts and no others: the call is judged again and shown
    /// with its effects and the hosts that it reached. Its changes still wait for consent; data that it sent cannot be
    /// taken back.
    WithNetwork {
        /// The hosts, at least one: `docs.rs` at the ports 80 and 443, `localhost:8080` at its own.
        hosts: Vec<String>,
    },
    /// Runs the call for real, in the workspace itself, after a snapshot of all of it was taken: its changes there can
    /// be undone. Only a person can decide this, never a rule or a setting.
    InPlace {
        /// The hosts that the call may reach, none for no network; named as with [`Decision::WithNetwork`].
        hosts: Vec<String>,
    },
    /// Replaces the arguments: the call is judged again and shown with the new ones.
    Edit {
        /// The complete arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
}

impl Decision {
    /// Returns a decision that lets all of the call run, without a note.
    pub fn allow() -> Self {
        Self::Allow {
            hunks: None,
            note: String::new(),
            always: None,
        }
    }

    /// Returns a decision that lets the call run, and such calls from now on.
    pub fn allow_always(grant: GrantRequest) -> Self {
        Self::Allow {
            hunks: None,
            note: String::new(),
            always: Some(grant),
        }
    }

    /// Returns a decision that rejects the call and lets the turn go on.
    pub fn reject(note: impl Into<String>) -> Self {
        Self::Reject {
            note: note.into(),
            stop: false,
            always: None,
        }
    }
}

/// Receipt of an op that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct OpReceipt {
    /// The session that was opened, if one was.
    pub session: Option<SessionId>,
    /// Receipt of an undo or redo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub restored: Option<Box<RestoreReceipt>>,
    /// Receipt of a collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub collected: Option<CollectionReceipt>,
}
