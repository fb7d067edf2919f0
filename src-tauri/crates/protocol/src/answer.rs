//! What the engine answers to a question.

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
use crate::text::display_text::DisplaySpan;
use crate::view::briefing::{Briefing, BriefingText};
use crate::view::effects::AssuranceReport;
use crate::view::engine_view::ToolView;
use crate::view::search::SearchPage;
use crate::{Entry, Event, ProjectRules, Trail, UndoEntry, UserError};

/// An answer, of the question's kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// To `promise`.
    Promise(AssuranceReport),
    /// To `transcript` and `transcript_from`.
    Transcript {
        /// Oldest first.
        entries: Vec<Entry>,
        /// Whether there are more in the direction asked.
        more: bool,
        /// The last event that they include: what was heard after it is not in them.
        seq: u64,
    },
    /// To `search`.
    Search(SearchPage),
    /// To `history`.
    History {
        /// Newest first.
        entries: Vec<UndoEntry>,
        /// Whether there are more.
        more: bool,
    },
    /// To `undo_check`.
    UndoCheck(UndoCheck),
    /// To `restore`.
    Restore(Box<RestorePreview>),
    /// To `restore_receipt`.
    RestoreReceipt(RestoreReceipt),
    /// To `timeline`.
    Timeline(Timeline),
    /// To `call_events`.
    CallEvents {
        /// In order.
        events: Vec<Event>,
    },
    /// To `account`.
    Account {
        /// One line for each of its parts.
        told: Vec<AccountLine>,
        /// All of it.
        account: Box<CallAccount>,
    },
    /// To `lines`.
    Lines {
        /// The lines, hidden characters named.
        lines: Vec<Vec<DisplaySpan>>,
    },
    /// To `output`.
    Output {
        /// The text from the offset on, at most 256 KB.
        text: String,
        /// Length of the whole in bytes.
        bytes: u64,
        /// Where to go on, if there is more.
        next: Option<u64>,
    },
    /// To `project_rules`.
    ProjectRules {
        /// The file; none if there is none.
        rules: Option<ProjectRules>,
    },
    /// To `check_arguments` and `check_tool`.
    CheckArguments {
        /// What is wrong, one sentence each; empty if nothing is.
        problems: Vec<String>,
    },
    /// To `models`.
    Models {
        /// The names.
        models: Vec<String>,
    },
    /// To `tools`.
    Tools {
        /// Every tool with its mode.
        tools: Vec<ToolView>,
    },
    /// To `rules`.
    Rules(RulesView),
    /// To `offers`.
    Offers(GrantOffers),
    /// To `backtest`.
    Backtest(Backtest),
    /// To `try_call`.
    TryCall {
        /// The verdict with its reasons.
        trail: Trail,
    },
    /// To `check_rules`.
    CheckRules(RulesCheck),
    /// To `check_rule`.
    CheckRule(RuleCheck),
    /// To `compare_rules`.
    CompareRules(RulesComparison),
    /// To `suggestions`.
    Suggestions {
        /// What would spare the most answers first.
        suggestions: Vec<RuleSuggestion>,
    },
    /// To `briefing`.
    Briefing(Briefing),
    /// To `briefing_text`.
    BriefingText(BriefingText),
    /// To `imports`.
    Imports {
        /// One for each file that is there.
        found: Vec<ImportSource>,
    },
    /// To `servers`.
    Servers {
        /// By their names.
        servers: Vec<ServerView>,
        /// Why none of them can be used, if so.
        fault: Option<UserError>,
    },
    /// To `server_log`.
    ServerLog {
        /// Oldest first.
        lines: Vec<ServerLogLine>,
    },
    /// To `server_has`.
    ServerHas {
        /// What it has.
        has: ServerResources,
    },
    /// To `servers_found`.
    ServersFound {
        /// One for each file that is there and names servers.
        sources: Vec<ServerImportSource>,
    },
    /// To `apis`.
    Apis(crate::server::apis::ApiList),
    /// To `language_servers`.
    LanguageServers {
        /// Those that are offered, then the person's own.
        servers: Vec<crate::server::language_servers::LanguageServerView>,
    },
    /// To `seekers`.
    Seekers {
        /// In the order of the settings.
        seekers: Vec<crate::server::search_providers::SearchProviderView>,
    },
    /// To `export`.
    Export {
        /// The text.
        text: String,
    },
}
