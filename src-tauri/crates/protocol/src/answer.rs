//! Answers of the engine to queries.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::account::{AccountLine, CallAccount};
use crate::history::{RestorePreview, RestoreReceipt, Timeline, UndoCheck};
use crate::rule::backtest::{Backtest, RuleSuggestion};
use crate::rule::grants::GrantOffers;
use crate::rule::import::ImportSource;
use crate::rule::rules_view::{RuleCheck, RulesCheck, RulesComparison, RulesView};
use crate::server::mcp_servers::{ServerImportSource, ServerLogLine, ServerView};
use crate::server::resources::ServerResources;
use crate::session::agent_options::AgentOption;
use crate::session::attachments::ImageSupport;
use crate::session::deletion::{DeletedSession, DeletionPreview};
use crate::session::skipped_asks::SkippedAsk;
use crate::text::display_text::DisplaySpan;
use crate::view::attention::AttentionReport;
use crate::view::briefing::{Briefing, BriefingText};
use crate::view::effects::AssuranceReport;
use crate::view::engine_view::ToolView;
use crate::view::search::SearchPage;
use crate::{Entry, Event, ProjectRules, Trail, UndoEntry, UserError};

/// Answer to a query, of the query's kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// Answer to `promise`.
    Promise(AssuranceReport),
    /// Answer to `transcript` and `transcript_from`.
    Transcript {
        /// The entries, oldest first.
        entries: Vec<Entry>,
        /// Whether there are more entries in the requested direction.
        more: bool,
        /// Position of the last event that the entries include; later events are not in them.
        seq: u64,
    },
    /// Answer to `failed_call`.
    FailedCall {
        /// The call; none if no such call failed.
        entry: Option<Box<Entry>>,
    },
    /// Answer to `search`.
    Search(SearchPage),
    /// Answer to `history`.
    History {
        /// The undo entries, newest first.
        entries: Vec<UndoEntry>,
        /// Whether there are more entries.
        more: bool,
    },
    /// Answer to `undo_check`.
    UndoCheck(UndoCheck),
    /// Answer to `restore`.
    Restore(Box<RestorePreview>),
    /// Answer to `restore_receipt`.
    RestoreReceipt(RestoreReceipt),
    /// Answer to `timeline`.
    Timeline(Timeline),
    /// Answer to `call_events`.
    CallEvents {
        /// The events, in order.
        events: Vec<Event>,
    },
    /// Answer to `account`.
    Account {
        /// The account in text, one line for each of its parts.
        summary: Vec<AccountLine>,
        /// The whole account.
        account: Box<CallAccount>,
    },
    /// Answer to `skipped_asks`.
    SkippedAsks {
        /// The calls, the newest first, at most [`SkippedAsk::LISTED_MAX`]; none if the session asks.
        calls: Vec<SkippedAsk>,
        /// Number of all of them.
        total: u64,
    },
    /// Answer to `agent_options`.
    AgentOptions {
        /// The options with their values, as the agent last offered them; none if it offered none.
        options: Vec<AgentOption>,
    },
    /// Answer to `lines`.
    Lines {
        /// The lines, hidden characters named.
        lines: Vec<Vec<DisplaySpan>>,
    },
    /// Answer to `output`.
    Output {
        /// The text from the offset on, at most 256 KB.
        text: String,
        /// Length of the whole output in bytes.
        bytes: u64,
        /// Offset of the next part; none if there is no more.
        next: Option<u64>,
    },
    /// Answer to `project_rules`.
    ProjectRules {
        /// Rules of the project's file; none if there is no file.
        rules: Option<ProjectRules>,
    },
    /// Answer to `check_arguments` and `check_tool`.
    CheckArguments {
        /// Problems found, one sentence each; empty if there are none.
        problems: Vec<String>,
    },
    /// Answer to `models`.
    Models {
        /// Names of the models.
        models: Vec<String>,
    },
    /// Answer to `tools`.
    Tools {
        /// Every tool with its mode.
        tools: Vec<ToolView>,
    },
    /// Answer to `rules`.
    Rules(RulesView),
    /// Answer to `offers`.
    Offers(GrantOffers),
    /// Answer to `backtest`.
    Backtest(Backtest),
    /// Answer to `evaluate_call`.
    EvaluateCall {
        /// The verdict with its reasons.
        trail: Trail,
    },
    /// Answer to `check_rules`.
    CheckRules(RulesCheck),
    /// Answer to `check_rule`.
    CheckRule(RuleCheck),
    /// Answer to `compare_rules`.
    CompareRules(RulesComparison),
    /// Answer to `suggestions`.
    Suggestions {
        /// The suggestions, starting with the one that would spare the most answers.
        suggestions: Vec<RuleSuggestion>,
    },
    /// Answer to `rule_offer`.
    RuleOffer {
        /// The rule; none if fewer than three answers were alike, or one of them was a rejection.
        offer: Option<Box<RuleSuggestion>>,
    },
    /// Answer to `attention`.
    Attention(Box<AttentionReport>),
    /// Answer to `briefing`.
    Briefing(Briefing),
    /// Answer to `briefing_text`.
    BriefingText(BriefingText),
    /// Answer to `imports`.
    Imports {
        /// Sources, one for each file that exists.
        found: Vec<ImportSource>,
    },
    /// Answer to `servers`.
    Servers {
        /// The servers, sorted by name.
        servers: Vec<ServerView>,
        /// Why no server can be used, if so.
        fault: Option<UserError>,
    },
    /// Answer to `server_log`.
    ServerLog {
        /// Lines of the log, oldest first.
        lines: Vec<ServerLogLine>,
    },
    /// Answer to `server_resources`.
    ServerResources {
        /// Resources of the server.
        resources: ServerResources,
    },
    /// Answer to `discover_servers`.
    DiscoverServers {
        /// Sources, one for each file that exists and names servers.
        sources: Vec<ServerImportSource>,
    },
    /// Answer to `apis`.
    Apis(crate::server::apis::ApiList),
    /// Answer to `language_servers`.
    LanguageServers {
        /// The language servers: those that are offered, then the person's own.
        servers: Vec<crate::server::language_servers::LanguageServerView>,
    },
    /// Answer to `editors`.
    Editors {
        /// The known editors that are installed, in the order in which the first one is chosen.
        editors: Vec<crate::settings::EditorView>,
    },
    /// Answer to `search_providers`.
    SearchProviders {
        /// The search providers, in the order of the settings.
        providers: Vec<crate::server::search_providers::SearchProviderView>,
    },
    /// Answer to `image_support`.
    ImageSupport {
        /// What becomes of them.
        support: ImageSupport,
    },
    /// Answer to `file_names`.
    FileNames {
        /// Paths relative to the workspace root, `/`-separated.
        paths: Vec<String>,
    },
    /// Answer to `dropped_file`.
    DroppedFile {
        /// Paths relative to the workspace root, `/`-separated; none if it is not in the workspace.
        paths: Vec<String>,
    },
    /// Answer to `deletion_preview`.
    DeletionPreview(DeletionPreview),
    /// Answer to `deleted_sessions`.
    DeletedSessions {
        /// The sessions, the last deleted one first.
        sessions: Vec<DeletedSession>,
    },
    /// Answer to `export`.
    Export {
        /// The exported text.
        text: String,
    },
}
