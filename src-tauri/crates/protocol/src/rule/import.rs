//! Permissions of other products, as suggestions of rules.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UserError;
use crate::rule::rules_view::NewRule;

/// A product whose permissions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleImportProduct {
    /// `permissions` of a `settings.json`.
    ClaudeCode,
    /// `permission` of an `opencode.json`.
    Opencode,
    /// `prefix_rule` of a `.rules` file.
    Codex,
}

/// A file of another product, with what was found in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ImportSource {
    /// Whose file it is.
    pub product: RuleImportProduct,
    /// The file, as a person writes it.
    pub file: String,
    /// Why nothing could be read, if so.
    pub fault: Option<UserError>,
    /// One for each permission in it, in its order.
    pub suggestions: Vec<ImportSuggestion>,
}

/// One permission of another product, and the rule that says no more than it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportSuggestion {
    /// As it is written there.
    pub written: String,
    /// Where, from 1; none if that is not known.
    pub line: Option<u32>,
    /// The rule; none if none can be made of it.
    pub rule: Option<NewRule>,
    /// Why the rule is narrower, or why there is none; empty if there is nothing to say.
    pub note: String,
}
