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
use crate::session::attachments::DroppedFile;
use crate::view::briefing::BriefingPart;
pub use crate::view::engine_view::{EngineView, ToolView};
use crate::{CallId, RuleScope, SessionId, UndoId};

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Query {
    /// Sandbox guarantees that this machine can give for commands in a workspace. The machine is probed once.
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
    /// The newest failed call of a session before a position (of all of its calls if none).
    FailedCall {
        /// The session.
        session: SessionId,
        /// Only a call with a smaller `seq`.
        before: Option<u64>,
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
    /// Conflicts that an undo or redo would meet.
    UndoCheck {
        /// The history entry.
        entry: UndoId,
    },
    /// Preview of an undo or redo: its conflicts and changes, path by path.
    Restore {
        /// The entries to undo or redo.
        restore: RestoreRequest,
    },
    /// Receipt of a restore that the person made, path by path.
    RestoreReceipt {
        /// The history entry of the restore.
        entry: UndoId,
    },
    /// The undo history of a workspace, with the person's own restores, the newest first.
    Timeline {
        /// The workspace root, absolute; none for all workspaces.
        workspace: Option<String>,
        /// Skip this many.
        offset: u32,
        /// At most this many.
        limit: u32,
    },
    /// All events about one call, in order; or all events of a message, with its images.
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
    /// The calls of a session, and of its sub-agents, that would have asked since it skips asks; the newest first.
    SkippedAsks {
        /// The session.
        session: SessionId,
    },
    /// What whoever answers in a session lets a person choose: an agent of somebody else its options, our own its model.
    AgentOptions {
        /// The session.
        session: SessionId,
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
    /// Problems with edited arguments for a waiting call.
    CheckArguments {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
    },
    /// Problems with arguments for a tool that a person wants to try; answered like `check_arguments`.
    CheckTool {
        /// The workspace root in which the tool is tried, absolute; none for the engine's own tools alone.
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
    /// All tools.
    Tools {
        /// The workspace root whose own tools are included; none for the engine's own tools alone.
        workspace: Option<String>,
    },
    /// All rules that hold in a workspace, all grants, and all watchdogs.
    Rules {
        /// The workspace root, absolute; none for the rules that hold everywhere.
        workspace: Option<String>,
        /// A session, to include its own rules.
        session: Option<SessionId>,
    },
    /// Grants that a waiting card offers.
    Offers {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
    },
    /// Effect that a change of the rules would have had on the recorded calls.
    Backtest {
        /// The workspace whose calls are judged again; none for all.
        workspace: Option<String>,
        /// The change.
        change: RuleChange,
        /// The most calls to look at, the newest first; 0 for all.
        calls_max: u32,
    },
    /// Verdict on a hypothetical call. Nothing runs.
    EvaluateCall {
        /// The workspace root, absolute; none for an empty folder that no rule covers.
        workspace: Option<String>,
        /// The tool's id or an alias.
        tool: String,
        /// The arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
        /// A change of the rules to apply before judging; none to judge by the rules in force.
        #[serde(default)]
        draft: Option<RuleChange>,
    },
    /// Whether a text of rules could be saved.
    CheckRules {
        /// Scope that the rules would have.
        scope: RuleScope,
        /// The workspace root, absolute, for a project's.
        workspace: Option<String>,
        /// The text.
        text: String,
    },
    /// Whether one rule could be saved, and its meaning.
    CheckRule {
        /// The rule.
        rule: NewRule,
        /// The rule of a file that the new rule would replace; none if it would be added.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        instead: Option<RuleLocation>,
    },
    /// Differences between two texts of rules.
    CompareRules {
        /// The first text.
        a: RuleText,
        /// The second text.
        b: RuleText,
        /// The workspace root, absolute; none for the rules that hold everywhere.
        workspace: Option<String>,
    },
    /// Suggested rules that would have spared the person answers.
    Suggestions {
        /// The workspace whose calls are considered; none for all.
        workspace: Option<String>,
    },
    /// The narrowest rule that would have given the person's last answers to calls like one that was just allowed.
    RuleOffer {
        /// The session.
        session: SessionId,
        /// The call that the person allowed.
        call: CallId,
    },
    /// What the person's attention was spent on.
    Attention {
        /// A day, `2026-05-01`, or how long ago, `30m`, `3h`, `2d` or `1w`; none for the beginning of today.
        since: Option<String>,
    },
    /// The briefing that the model gets first in a session of a workspace: instructions, skills, agents.
    Briefing {
        /// The workspace root, absolute.
        workspace: String,
    },
    /// The text of one part of the briefing.
    BriefingText {
        /// The workspace root, absolute.
        workspace: String,
        /// The part.
        of: BriefingPart,
    },
    /// Permissions of other products, read from where those products keep them.
    Imports {
        /// The workspace root, absolute; none for the person's own permissions alone.
        workspace: Option<String>,
    },
    /// All configured MCP servers.
    Servers,
    /// Log of a server: its messages, and events about it.
    ServerLog {
        /// The server.
        server: ServerId,
    },
    /// Prompts and resources that a server offers to a person beside its tools. The server is started if it is not
    /// running.
    ServerResources {
        /// The server.
        server: ServerId,
        /// The prompts or resources to return.
        wanted: ServerResourceQuery,
    },
    /// Servers that are configured in other products or in the project.
    DiscoverServers {
        /// The workspace root, absolute; none for the person's own configurations alone.
        workspace: Option<String>,
    },
    /// All services that are configured by an OpenAPI document.
    Apis,
    /// All language servers that are configured or offered.
    LanguageServers,
    /// The known editors that are installed.
    Editors,
    /// Configured web search providers, each with whether the key that it needs was found.
    SearchProviders,
    /// What becomes of images in a message to a session.
    ImageSupport {
        /// The session.
        session: SessionId,
    },
    /// Files of a workspace by a part of their path, for a message that names one; the best first.
    FileNames {
        /// The workspace root, absolute.
        workspace: String,
        /// Letters of the path, in their order; empty for any file.
        text: String,
        /// At most this many.
        limit: u32,
    },
    /// The files of a workspace that a dropped file may be: of its name, its length, and its time.
    DroppedFile {
        /// The workspace root, absolute.
        workspace: String,
        /// The file.
        file: DroppedFile,
    },
    /// What goes if a session is deleted.
    DeletionPreview {
        /// The session.
        session: SessionId,
    },
    /// The sessions that were deleted, the last one first, at most
    /// [`DeletedSession::LISTED_MAX`](crate::session::deletion::DeletedSession::LISTED_MAX).
    DeletedSessions,
    /// A session as text.
    Export {
        /// The session.
        session: SessionId,
        /// `md`, `html`, `jsonl`, or a vocabulary: `chat`, `spans`, `agent`, `chunks`, `tool-events`.
        format: String,
    },
}
