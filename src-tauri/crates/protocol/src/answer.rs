//! What the engine answers to a question.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::account::{Account, AccountLine};
use crate::backtest::{Backtest, Suggestion};
use crate::briefing::{Briefing, BriefingText};
use crate::effects::Promise;
use crate::history::{RestorePreview, RestoreReceipt, Timeline, UndoCheck};
use crate::import::ImportSource;
use crate::ledger::Offers;
use crate::rules_view::{RuleCheck, RulesCheck, RulesCompared, RulesView};
use crate::search::SearchPage;
use crate::server_has::ServerHas;
use crate::servers::{ServerLine, ServerSource, ServerView};
use crate::shown::Span;
use crate::shown_whole::ToolView;
use crate::{Entry, Event, Fault, ProjectRules, Trail, UndoEntry};

/// An answer, of the question's kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// To `promise`.
    Promise(Promise),
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
        account: Box<Account>,
    },
    /// To `lines`.
    Lines {
        /// The lines, hidden characters named.
        lines: Vec<Vec<Span>>,
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
    Offers(Offers),
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
    CompareRules(RulesCompared),
    /// To `suggestions`.
    Suggestions {
        /// What would spare the most answers first.
        suggestions: Vec<Suggestion>,
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
        fault: Option<Fault>,
    },
    /// To `server_log`.
    ServerLog {
        /// Oldest first.
        lines: Vec<ServerLine>,
    },
    /// To `server_has`.
    ServerHas {
        /// What it has.
        has: ServerHas,
    },
    /// To `servers_found`.
    ServersFound {
        /// One for each file that is there and names servers.
        sources: Vec<ServerSource>,
    },
    /// To `apis`.
    Apis(crate::apis::Apis),
    /// To `language_servers`.
    LanguageServers {
        /// Those that are offered, then the person's own.
        servers: Vec<crate::languages::LanguageServerView>,
    },
    /// To `seekers`.
    Seekers {
        /// In the order of the settings.
        seekers: Vec<crate::seekers::SeekerView>,
    },
    /// To `export`.
    Export {
        /// The text.
        text: String,
    },
}
