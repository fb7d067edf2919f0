//! A rule: an action for a permission and a pattern, with its origin and the reason that a person gave.

pub mod backtest;
pub mod evidence;
pub mod grants;
pub mod import;
pub mod rules_view;
pub mod verdict;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Digest;
use crate::ids::GrantId;
use crate::text::display_text::DisplaySpan;

/// Action of a rule (`S002-81`). A rule without an action asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    /// Lets the call pass.
    Allow,
    /// Asks a person.
    #[default]
    Ask,
    /// Refuses the call.
    Deny,
}

/// Origin of a rule. The order is the order of precedence among rules that are equally specific (M14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    /// Built-in rules, which hold before anybody wrote a rule. They are not part of the order: see `policy::builtin`.
    Builtin,
    /// The agent's manifest; its deny is final (`S002-84`).
    Manifest,
    /// The person's own file.
    User,
    /// The workspace's `.countersign/rules.toml`.
    Project,
    /// Granted during the session.
    Session,
}

/// One rule, with the place that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rule {
    /// A tool id, a capability (`fs.write`), `mode:local`, or `*` (`S002-79`).
    pub permission: String,
    /// Pattern of the subjects that the rule applies to: a command, a path or a host (`S002-80`); for a tool of a
    /// server or a service also one argument, `branch=release/*`. None: everything.
    pub pattern: Option<String>,
    /// Action of the rule.
    pub action: RuleAction,
    /// The reason for the rule, in its author's words.
    pub reason: Option<String>,
    /// Origin of the rule.
    pub scope: RuleScope,
    /// The rule's file, shortened for display.
    pub file: Option<String>,
    /// The line of the rule's `[[rule]]` header, from 1.
    pub line: Option<u32>,
    /// When the rule expires, in milliseconds since the epoch; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub expires_ms: Option<i64>,
    /// Number of calls that the rule may decide; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_uses: Option<u32>,
    /// The grant that made the rule, if it was made on a card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub grant: Option<GrantId>,
}

/// Whether the person trusts a project's rules file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The person trusted exactly this text.
    Trusted,
    /// Another text at this place was trusted: the file was changed since.
    Changed,
    /// The person has not reviewed the file yet.
    Unknown,
}

impl Trust {
    /// Whether the rules of the file may loosen.
    pub fn can_loosen(self) -> bool {
        match self {
            Self::Trusted => true,
            Self::Changed | Self::Unknown => false,
        }
    }
}

/// A project's rules file as a person reviews it before trusting it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectRules {
    /// The file, relative to the workspace root.
    pub file: String,
    /// Digest of the file's text, which trusting the file must name.
    pub digest: Digest,
    /// Whether the person trusts the file.
    pub trust: Trust,
    /// The file's text, hidden characters named.
    pub text: Vec<DisplaySpan>,
    /// Changes since the file was trusted, as a unified difference, hidden characters named; empty if there are none.
    pub changes: Vec<DisplaySpan>,
}
