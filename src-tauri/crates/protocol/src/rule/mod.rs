//! A rule: who may do what to which, and what a person said about why.

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

/// What a rule says (`S002-81`). A rule that says nothing asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    /// Let it pass.
    Allow,
    /// Ask a person.
    #[default]
    Ask,
    /// Refuse it.
    Deny,
}

/// Where a rule comes from. The order is the order of precedence among rules that are equally specific (M14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    /// What holds before anybody wrote a rule. It stands beside the order: see `policy::builtin`.
    Builtin,
    /// The agent's manifest; its deny is final (`S002-84`).
    Manifest,
    /// The person's own file.
    User,
    /// The workspace's `.countersign/rules.toml`.
    Project,
    /// Granted while the session runs.
    Session,
}

/// One rule, with the place it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rule {
    /// A tool id, a capability (`fs.write`), `mode:local`, or `*` (`S002-79`).
    pub permission: String,
    /// What it applies to: a command, a path or a host (`S002-80`); of a tool of a server or a service also one argument,
    /// `branch=release/*`. None: everything.
    pub pattern: Option<String>,
    /// What it says.
    pub action: RuleAction,
    /// Why, in the words of whoever wrote it.
    pub reason: Option<String>,
    /// Where it comes from.
    pub scope: RuleScope,
    /// The file it stands in, shortened for display.
    pub file: Option<String>,
    /// The line of its `[[rule]]` header, from 1.
    pub line: Option<u32>,
    /// When it stops to hold, in milliseconds since the epoch; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub expires_ms: Option<i64>,
    /// How many calls it may decide; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_uses: Option<u32>,
    /// The grant that it is, if it was made on a card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub grant: Option<GrantId>,
}

/// What is known of a project's rules file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The person trusted exactly this text.
    Trusted,
    /// Another text at this place was trusted: it was changed since.
    Changed,
    /// Nobody looked at it yet.
    Unknown,
}

impl Trust {
    /// Whether its rules may loosen.
    pub fn can_loosen(self) -> bool {
        match self {
            Self::Trusted => true,
            Self::Changed | Self::Unknown => false,
        }
    }
}

/// A project's rules file as a person looks at it before trusting it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectRules {
    /// The file, relative to the workspace root.
    pub file: String,
    /// Digest of its text: what trusting it must name.
    pub digest: Digest,
    /// Whether it may loosen.
    pub trust: Trust,
    /// Its text, hidden characters named.
    pub text: Vec<DisplaySpan>,
    /// What changed since it was trusted, as a unified difference, hidden characters named; empty if nothing did.
    pub changes: Vec<DisplaySpan>,
}
