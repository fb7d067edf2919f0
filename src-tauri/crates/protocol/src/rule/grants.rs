//! Grants: rules that a person makes on a card, and the ledger in which all of them stand.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::GrantId;
use crate::{At, CallId, Rule, RuleAction, SessionId};

/// How long and where a grant holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// In this session, until it is closed.
    Session,
    /// In this workspace, for this person: what others who share the project never see.
    Project,
    /// Wherever this person works.
    Everywhere,
}

/// The rule that an answer makes, beside deciding on the call that is shown: with *allow* it allows, with *reject* it
/// denies (`S002-90`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct GrantRequest {
    /// How long and where.
    pub lasts: GrantScope,
    /// A tool id, a capability, as in a rule.
    pub permission: String,
    /// What it applies to, as in a rule; none: everything that the permission names.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Just the very call that is shown, although its watchdogs ask (`S002-90`); then there is no pattern.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub exactly: bool,
    /// Until when, in milliseconds since the epoch; none: without an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub until_ms: Option<i64>,
    /// For how many calls after this one; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_uses: Option<u32>,
}

/// What may be granted from a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantOffer {
    /// What `always` would name.
    pub permission: String,
    /// The pattern; a person may edit it.
    pub pattern: Option<String>,
    /// Whether it is for the very call that is shown and for no other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub exactly: bool,
    /// Whether it is offered for *allow* or for *reject*.
    pub action: RuleAction,
    /// One line: what it covers.
    pub words: String,
    /// Where it would be strong enough to decide on a call like this one, the shortest first.
    pub lasts: Vec<GrantScope>,
    /// A rule of a file that wants this call to be asked about, and that it would override.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub overrides: Option<Rule>,
}

/// Everything that may be granted from a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantOffers {
    /// The narrowest first.
    pub offers: Vec<GrantOffer>,
    /// Why nothing may be allowed from now on, in a sentence; none if something may.
    pub refused: Option<String>,
}

/// A grant as the ledger shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantView {
    /// Its id.
    pub id: GrantId,
    /// How long and where.
    pub lasts: GrantScope,
    /// The workspace that it holds in; none if everywhere.
    pub workspace: Option<String>,
    /// The session that it holds in; none if it outlasts sessions.
    pub session: Option<SessionId>,
    /// The rule.
    pub rule: Rule,
    /// What it covers, in short: "cargo update".
    pub words: String,
    /// When it was made.
    pub since: At,
    /// Until when; none: without an end.
    pub until: Option<At>,
    /// How many of its uses were had, where they are limited.
    pub uses: u32,
    /// How many there are; none: any number.
    pub max_uses: Option<u32>,
    /// How many verdicts on record it made.
    pub hits: u64,
    /// When it last did.
    pub last_used: Option<At>,
    /// The card that it was made on.
    pub made_by: GrantOrigin,
    /// When it was taken back.
    pub revoked: Option<At>,
    /// Whether it decides calls now: not taken back, over or used up.
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
