//! Questions to the engine that change nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

pub use crate::answer::Answer;
use crate::history::RestoreRequest;
use crate::rule::backtest::RuleChange;
use crate::rule::rules_view::{NewRule, RuleLocation, RuleText};
use crate::server::mcp_servers::ServerId;
use crate::server::resources::ServerResourceQuery;
use crate::view::briefing::BriefingPart;
pub use crate::view::engine_view::{EngineView, ToolView};
use crate::{CallId, RuleScope, SessionId, UndoId};

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Query {
    /// What this machine can promise of commands in a workspace. It is tried once.
    Promise {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// Entries of a session before a position (from the end if none), oldest first within the page.
    Transcript {
        /// The session.
        session: SessionId,
        /// Only entries with a smaller `seq`.
        before: Option<u64>,
        /// At most this many.
        limit: u32,
    },
    /// Entries of a session from a position on.
    TranscriptFrom {
        /// The session.
        session: SessionId,
        /// Only entries with this `seq` or a greater one.
        from: u64,
        /// At most this many.
        limit: u32,
    },
    /// Full-text search with filters.
    Search {
        /// Words, "phrases", prefix*, `tool:` `mode:` `state:` `session:` `path:` `before:` `after:`.
        text: String,
        /// Skip this many hits.
        offset: u32,
        /// At most this many.
        limit: u32,
    },
    /// The undo history, newest first.
    History {
        /// Skip this many.
        offset: u32,
        /// At most this many.
        limit: u32,
    },
    /// What an undo or redo would meet.
    UndoCheck {
        /// The history entry.
        entry: UndoId,
    },
    /// What taking back or bringing again would meet and do, path by path.
    Restore {
        /// What.
        restore: RestoreRequest,
    },
    /// What an act of the person did, path by path.
    RestoreReceipt {
        /// The act.
        entry: UndoId,
    },
    /// What can be taken back in a workspace, acts of the person included, the newest first.
    Timeline {
        /// The workspace root, absolute; none for all workspaces.
        workspace: Option<String>,
        /// Skip this many.
        offset: u32,
        /// At most this many.
        limit: u32,
    },
    /// All events about one call, in order; or those of a message, with its images.
    CallEvents {
        /// The session.
        session: SessionId,
        /// The call, or the id of the message's entry.
        call: CallId,
    },
    /// How a call was validated, authorised, executed, streamed, rendered, persisted and audited (`S003-73`).
    Account {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
    },
    /// Lines of a file that a waiting call would change, for more context.
    Lines {
        /// The session.
        session: SessionId,
        /// Path relative to the workspace root.
        path: String,
        /// First line, from 1.
        start: u32,
        /// How many lines, at most 2,000.
        count: u32,
    },
    /// A stretch of a call's whole output.
    Output {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// First byte.
        offset: u64,
    },
    /// A project's rules file, and whether the person trusts it.
    ProjectRules {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// What is wrong with other arguments for a waiting call.
    CheckArguments {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// What is wrong with arguments for a tool that a person wants to try; answered like `check_arguments`.
    CheckTool {
        /// The folder that it is tried in; none for the tools of the desk alone.
        workspace: Option<String>,
        /// The tool's id.
        tool: String,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// The models of a provider.
    Models {
        /// The provider's id.
        provider: String,
    },
    /// Every tool.
    Tools {
        /// The folder whose own tools are among them; none for those of the desk alone.
        workspace: Option<String>,
    },
    /// Every rule that holds in a workspace, every grant, every watchdog.
    Rules {
        /// The workspace root, absolute; none for what holds everywhere.
        workspace: Option<String>,
        /// A session, for its own rules.
        session: Option<SessionId>,
    },
    /// What may be granted from a waiting card.
    Offers {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
    },
    /// What a change of the rules would have made of the calls on record.
    Backtest {
        /// The calls of this workspace alone; none for all.
        workspace: Option<String>,
        /// The change.
        change: RuleChange,
        /// Look at so many of the newest calls at most; 0 for all.
        calls_max: u32,
    },
    /// What would be said of a call that nobody makes. Nothing runs.
    TryCall {
        /// The workspace root, absolute; none for an empty folder that no rule is about.
        workspace: Option<String>,
        /// The tool's id or an alias.
        tool: String,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
        /// As if the rules were changed so.
        #[serde(default)]
        draft: Option<RuleChange>,
    },
    /// Whether a text of rules could be saved.
    CheckRules {
        /// Whose rules they would be.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The text.
        text: String,
    },
    /// Whether one rule could be saved, and what it means.
    CheckRule {
        /// The rule.
        rule: NewRule,
        /// The rule of a file that it is to take the place of; none for one more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        instead: Option<RuleLocation>,
    },
    /// What distinguishes two texts of rules.
    CompareRules {
        /// The first.
        a: RuleText,
        /// The second.
        b: RuleText,
        /// The workspace root, absolute; none for what holds everywhere.
        workspace: Option<String>,
    },
    /// Rules that would have spared the person answers.
    Suggestions {
        /// From the calls of this workspace alone; none for all.
        workspace: Option<String>,
    },
    /// What the model of a session of a workspace is told first: instructions, skills, agents.
    Briefing {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// The text of a part of that.
    BriefingText {
        /// The workspace root, absolute.
        workspace: String,
        /// Which part.
        of: BriefingPart,
    },
    /// Permissions of other products, found where those keep them.
    Imports {
        /// The workspace root, absolute; none for the person's own alone.
        workspace: Option<String>,
    },
    /// Every server of tools that is set up.
    Servers,
    /// What a server said, and what happened to it.
    ServerLog {
        /// Which one.
        server: ServerId,
    },
    /// What a server has for a person beside its tools. It is started if it is not.
    ServerHas {
        /// Which one.
        server: ServerId,
        /// What is asked for.
        asked: ServerResourceQuery,
    },
    /// Servers that other products, or the project, are set up with.
    ServersFound {
        /// The workspace root, absolute; none for the person's own alone.
        workspace: Option<String>,
    },
    /// Every service that is set up by its document.
    Apis,
    /// Every language server that is set up or offered.
    LanguageServers,
    /// Whoever is set up to search the web for agents, and whether each has the key that it needs.
    Seekers,
    /// A session as text.
    Export {
        /// The session.
        session: SessionId,
        /// `md`, `jsonl`, or a vocabulary: `chat`, `spans`, `agent`, `chunks`, `tool-events`.
        format: String,
    },
}
