//! Permissions of other products, imported as suggested rules.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UserError;
use crate::rule::rules_view::NewRule;

/// A product whose permissions can be imported.
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

/// A file of another product, with the permissions found in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ImportSource {
    /// The product that the file belongs to.
    pub product: RuleImportProduct,
    /// The file's path, as a person writes it.
    pub file: String,
    /// Why nothing could be read from the file, if so.
    pub fault: Option<UserError>,
    /// One suggestion for each permission in the file, in its order.
    pub suggestions: Vec<ImportSuggestion>,
}

/// One permission of another product, and a rule that allows no more than the permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportSuggestion {
    /// The permission, as it is written in the file.
    pub written: String,
    /// The line of the permission, from 1; none if it is not known.
    pub line: Option<u32>,
    /// The rule; none if no rule can express the permission.
    pub rule: Option<NewRule>,
    /// Why the rule is narrower, or why there is none; empty if there is no note.
    pub note: String,
}
