//! What a person asks of the engine.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::history::{CollectionReceipt, PathChoice, RestoreReceipt, RestoreRequest};
use crate::rule::grants::GrantRequest;
use crate::rule::rules_view::{NewRule, RuleLocation};
use crate::server::apis::ApiChange;
use crate::server::mcp_servers::{ServerChange, ServerId};
use crate::{
    AskId, CallId, Content, Digest, GrantId, ModelChoice, RuleScope, ServerAnswer, SessionId,
    Settings, ToolMode, UndoId,
};

/// One request of the person. The answer is a receipt; what came of it is told by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Opens a session in a folder, and begins if there is something to say.
    OpenSession {
        /// The workspace root, absolute.
        workspace: String,
        /// Who answers.
        model: ModelChoice,
        /// The first message.
        prompt: Option<String>,
        /// JSON Schema of the output that the run must come to (`S004-30`); none if words will do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "unknown")]
        output_schema: Option<serde_json::Value>,
        /// How freely the model chooses its words, from 0 to 2; as the provider has it if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        temperature: Option<f64>,
        /// The manifest of the agent that is to work there, `agent.toml`, absolute; none for the built-in agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        agent: Option<String>,
        /// Whether it plans first, from its first message on, as [`Op::SetPlanning`] has it (`S002-32`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(optional, as = "Option<bool>")]
        planning: bool,
    },
    /// Makes the sample workspace and plays the built-in demo in it.
    PlayDemo,
    /// Says something: begins a turn, or steers the one that runs (`S001-37`).
    Say {
        /// The session.
        session: SessionId,
        /// The text.
        text: String,
        /// Images to be seen beside it, and nothing else.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Content>>", optional)]
        images: Vec<Content>,
    },
    /// Has a session plan first, so that nothing which could change anything is in reach; or ends that.
    SetPlanning {
        /// The session.
        session: SessionId,
        /// Whether it is to plan.
        on: bool,
    },
    /// Stops what the session does now; nothing that has not started will start.
    Interrupt {
        /// The session.
        session: SessionId,
    },
    /// Goes on after an interruption, an error or a restart, without saying anything.
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
        /// The digest of exactly what was shown; a decision on anything else is refused.
        digest: Digest,
        /// What the person said.
        decision: Decision,
    },
    /// Answers what the server of a running call asks. One that does not fit the question is refused, and the question stays.
    AnswerServer {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// Which question.
        ask: AskId,
        /// What the person said.
        answer: ServerAnswer,
    },
    /// Takes an effect back.
    Undo {
        /// The history entry.
        entry: UndoId,
    },
    /// Brings an undone effect again.
    Redo {
        /// The history entry.
        entry: UndoId,
    },
    /// Takes back or brings again, with a choice for each path that changed since. If one has none, nothing is touched.
    Restore {
        /// What.
        restore: RestoreRequest,
        /// What becomes of the paths that changed since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<PathChoice>,
    },
    /// Drops what is too old or too much by the settings from the history.
    CollectHistory,
    /// Gives a session another title.
    RenameSession {
        /// The session.
        session: SessionId,
        /// The title; not empty.
        title: String,
    },
    /// Closes a session that does nothing: its long outputs go, its record stays (`S002-71`). Saying something opens it
    /// again.
    CloseSession {
        /// The session.
        session: SessionId,
    },
    /// Trusts a project's rules file: exactly the text that was looked at may loosen from now on.
    TrustRules {
        /// The workspace root, absolute.
        workspace: String,
        /// Digest of the text, as `project_rules` gave it.
        digest: Digest,
    },
    /// Takes that back, at once.
    DistrustRules {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// Takes a grant back, at once, in every running session.
    RevokeGrant {
        /// The grant.
        grant: GrantId,
    },
    /// Puts a text in the place of a rules file. A project's file that is saved so is trusted by that act.
    SaveRules {
        /// The person's or the project's.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The text.
        text: String,
        /// Digest of the text that was edited; none if there was no file. Refused if the file changed since.
        base: Option<Digest>,
    },
    /// Adds rules at the end of a rules file and keeps the rest as it stands.
    AddRules {
        /// The person's or the project's.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The rules.
        rules: Vec<NewRule>,
    },
    /// Changes one rule of a rules file, or takes it out, and keeps the rest as it stands.
    ChangeRule {
        /// Which one.
        place: RuleLocation,
        /// What it is to say; none: it goes.
        rule: Option<NewRule>,
    },
    /// Replaces the settings.
    SetSettings {
        /// All of them.
        settings: Box<Settings>,
    },
    /// Switches a tool on or off and makes its mode stricter.
    SetTool {
        /// Its id.
        tool: String,
        /// Whether it can be used.
        enabled: bool,
        /// A mode at least as strict as its own; none for its own.
        mode: Option<ToolMode>,
    },
    /// Opens a session whose one call, the person's own, walks the real pipeline.
    TryTool {
        /// The workspace root, absolute.
        workspace: String,
        /// The tool's id.
        tool: String,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// Changes a server of tools.
    ChangeServer {
        /// Which one.
        server: ServerId,
        /// How.
        change: ServerChange,
    },
    /// Changes a service that has a document.
    ChangeApi {
        /// Which one.
        api: ServerId,
        /// How.
        change: ApiChange,
    },
    /// Puts a provider's key into the system keychain; an empty key removes it. Never recorded.
    SetKey {
        /// The provider's id; `mcp:NAME` for what a server refers to as `keychain:NAME`.
        provider: String,
        /// The key.
        key: String,
    },
}

impl Op {
    /// Says something in words alone.
    pub fn say(session: SessionId, text: impl Into<String>) -> Self {
        Self::Say {
            session,
            text: text.into(),
            images: Vec::new(),
        }
    }
}

/// What a person says of a waiting call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// Let it run, once.
    Allow {
        /// The hunks to apply, by their ids; all of them if none are named.
        hunks: Option<Vec<u32>>,
        /// A word for the agent, given after the result; empty for none.
        note: String,
        /// A rule that allows such calls from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        always: Option<GrantRequest>,
    },
    /// Do not let it run.
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
    /// Run it in a sealed copy first, where nothing real changes: the call is judged and shown anew with what it did.
    DryRun,
    /// Run it in a sealed copy with a way to these hosts and no others: the call is judged and shown anew with what it did and
    /// where it reached. Its changes still wait for consent; what it sent is out.
    WithNetwork {
        /// The hosts, at least one: `docs.rs` at the ports 80 and 443, `localhost:8080` at its own.
        hosts: Vec<String>,
    },
    /// Run it for real, in the workspace itself, after a picture of all of it was taken: what it changes there can be undone.
    /// Only a person says so, never a rule or a setting.
    InPlace {
        /// The hosts that it may reach, none for no network; named as with [`Decision::WithNetwork`].
        hosts: Vec<String>,
    },
    /// Other arguments: the call is judged and shown anew with them.
    Edit {
        /// All arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
}

/// That an op was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct OpReceipt {
    /// The session that was opened, if one was.
    pub session: Option<SessionId>,
    /// What an undo or redo did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub restored: Option<Box<RestoreReceipt>>,
    /// What a collection did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub collected: Option<CollectionReceipt>,
}
