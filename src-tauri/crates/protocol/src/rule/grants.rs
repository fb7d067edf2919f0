//! Grants: rules that a person makes on a card, and the ledger that lists them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::GrantId;
use crate::{At, CallId, Rule, RuleAction, SessionId};

/// Scope and duration of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// In this session, until it is closed.
    Session,
    /// In this workspace, for this person: others who share the project never see the grant.
    Project,
    /// Wherever this person works.
    Everywhere,
}

/// The rule that an answer makes, beside deciding on the call that is shown: an answer with *allow* makes a rule that
/// allows, an answer with *reject* one that denies (`S002-90`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct GrantRequest {
    /// Scope and duration of the grant.
    pub lasts: GrantScope,
    /// A tool id or a capability, as in a rule.
    pub permission: String,
    /// The pattern that the grant applies to, as in a rule; none: everything that the permission names.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Whether the grant is for the very call that is shown, although its watchdogs ask (`S002-90`); then there is no
    /// pattern.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub exactly: bool,
    /// When the grant ends, in milliseconds since the epoch; none: without an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub until_ms: Option<i64>,
    /// Number of calls after this one that the grant covers; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_uses: Option<u32>,
}

/// A grant that a card offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantOffer {
    /// The permission that `always` would name.
    pub permission: String,
    /// The pattern; a person may edit it.
    pub pattern: Option<String>,
    /// Whether the grant is for the very call that is shown and for no other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub exactly: bool,
    /// Whether the grant is offered for *allow* or for *reject*.
    pub action: RuleAction,
    /// Description of the grant's coverage, in one line.
    pub words: String,
    /// Scopes in which the grant would be strong enough to decide on a call like this one, the shortest first.
    pub lasts: Vec<GrantScope>,
    /// A rule of a file that asks about this call, and that the grant would override.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub overrides: Option<Rule>,
}

/// All grants that a card offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantOffers {
    /// The grants, the narrowest first.
    pub offers: Vec<GrantOffer>,
    /// Why no grant for *allow* is possible, in a sentence; none if one is.
    pub refused: Option<String>,
}

/// A grant as the ledger shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantView {
    /// The grant's id.
    pub id: GrantId,
    /// Scope and duration of the grant.
    pub lasts: GrantScope,
    /// The workspace that the grant holds in; none if it holds everywhere.
    pub workspace: Option<String>,
    /// The session that the grant holds in; none if it outlasts sessions.
    pub session: Option<SessionId>,
    /// The rule.
    pub rule: Rule,
    /// Short description of the grant's coverage: "cargo update".
    pub words: String,
    /// When the grant was made.
    pub since: At,
    /// When the grant ends; none: without an end.
    pub until: Option<At>,
    /// Number of uses so far, where the uses are limited.
    pub uses: u32,
    /// Largest number of uses; none: any number.
    pub max_uses: Option<u32>,
    /// Number of recorded verdicts that the grant decided.
    pub hits: u64,
    /// When the grant last decided a verdict.
    pub last_used: Option<At>,
    /// The card that the grant was made on.
    pub made_by: GrantOrigin,
    /// When the grant was revoked.
    pub revoked: Option<At>,
    /// Whether the grant is in force: not revoked, expired or used up.
    pub in_force: bool,
}

/// The card that a grant was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantOrigin {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
}
