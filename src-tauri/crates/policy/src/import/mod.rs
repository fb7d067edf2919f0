//! Permissions of other products as suggestions of rules, never looser than where they come from.
//!
//! Other products order their rules otherwise: with one a denial always wins, with another the last word. Here the most
//! specific rule does. So a permission is taken only if everything stricter beside it, that could speak of the same
//! call, would win here too; and of a pattern that means something else here, an allow keeps the narrower meaning and a
//! denial the wider one.
//!
//! Start reading at [`import_permissions`].

mod claude_code;
mod codex;
mod json;
mod opencode;
mod shadowing;
mod tokens;
mod translated_pattern;

use protocol::rule::import::{ImportSuggestion, RuleImportProduct};
use protocol::rule::rules_view::NewRule;
use protocol::{RuleAction, RuleScope, UserError};

use crate::rules_file::{RulesFileSource, parse_new_rule};
use translated_pattern::TranslatedPattern;

/// The owner of the file that is read: some patterns are relative to its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOwner {
    /// The person's own, in the home folder.
    Person,
    /// The project's.
    Project,
}

/// One permission as it stands in another product's file.
#[derive(Debug, Clone)]
struct ImportedPermission {
    written: String,
    line: Option<u32>,
    action: RuleAction,
    reading: Translation,
}

/// The translation of a permission into the rules here.
#[derive(Debug, Clone)]
enum Translation {
    /// A rule that allows no more than the permission, and a note on the rule.
    Rule { rule: TranslatedRule, note: String },
    /// The permission cannot be expressed here. `about` is the permission that it is about; none if it is about
    /// anything.
    Unsupported { about: Option<String>, note: String },
    /// The permission has no use here.
    Unneeded(String),
}

/// The part of a rule that a permission is translated into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct TranslatedRule {
    permission: String,
    pattern: Option<String>,
    reason: Option<String>,
    matches: Vec<String>,
    not_matches: Vec<String>,
}

/// How the other product resolves several permissions that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConflictOrder {
    StrictestWins,
    LastWins,
}

/// Reads the text of another product's file.
///
/// # Errors The text is not in that product's format: with the line, what is wrong and what to do.
pub fn import_permissions(
    product: RuleImportProduct,
    text: &str,
    whose: ConfigOwner,
) -> Result<Vec<ImportSuggestion>, UserError> {
    let (said, wins) = match product {
        RuleImportProduct::ClaudeCode => (
            claude_code::parse_settings(text, whose)?,
            ConflictOrder::StrictestWins,
        ),
        RuleImportProduct::Opencode => (opencode::parse_config(text)?, ConflictOrder::LastWins),
        RuleImportProduct::Codex => (codex::parse_rules(text)?, ConflictOrder::StrictestWins),
    };
    let shadows = shadowing::find_shadows(&said, wins);
    let suggestions = said.into_iter().zip(shadows);
    Ok(suggestions
        .map(|(said, shadow)| build_suggestion(said, shadow))
        .collect())
}

/// A permission as it is shown, with its rule if there is one and nothing stricter stands in its way.
fn build_suggestion(permission: ImportedPermission, shadow: Option<String>) -> ImportSuggestion {
    let (rule, note) = match permission.reading {
        Translation::Unsupported { note, .. } | Translation::Unneeded(note) => (None, note),
        Translation::Rule { rule, note } => match shadow {
            Some(stricter) => (
                None,
                format!("`{stricter}` wins there, and would not here."),
            ),
            None => build_new_rule(rule, permission.action, note),
        },
    };
    ImportSuggestion {
        written: permission.written,
        line: permission.line,
        rule,
        note,
    }
}

/// Builds the rule, if a rules file with it would be read; without its examples if only these fail.
fn build_new_rule(
    form: TranslatedRule,
    action: RuleAction,
    note: String,
) -> (Option<NewRule>, String) {
    let with = NewRule {
        permission: form.permission,
        pattern: form.pattern,
        action,
        reason: form.reason,
        matches: form.matches,
        not_matches: form.not_matches,
        ..NewRule::default()
    };
    let without = NewRule {
        matches: Vec::new(),
        not_matches: Vec::new(),
        ..with.clone()
    };
    let source = RulesFileSource::new("import", RuleScope::User);
    match (
        parse_new_rule(&with, &source),
        parse_new_rule(&without, &source),
    ) {
        (Ok(_), _) => (Some(with), note),
        (Err(_), Ok(_)) => {
            let left = "Its examples mean something else here and were left out.";
            (
                Some(without),
                [note.as_str(), left].join(" ").trim().to_owned(),
            )
        }
        (Err(_), Err(fault)) => (None, fault.message),
    }
}

/// A permission with its pattern in our spelling.
fn translate_pattern(permission: &str, spelled: TranslatedPattern) -> Translation {
    let rule = |pattern, note: &str| Translation::Rule {
        rule: TranslatedRule {
            permission: permission.to_owned(),
            pattern,
            ..TranslatedRule::default()
        },
        note: note.to_owned(),
    };
    match spelled {
        TranslatedPattern::Everything => rule(None, ""),
        TranslatedPattern::Pattern(pattern, note) => rule(Some(pattern), note),
        TranslatedPattern::Unsupported(note) => unsupported_permission(Some(permission), note),
    }
}

fn unsupported_permission(about: Option<&str>, note: &str) -> Translation {
    Translation::Unsupported {
        about: about.map(str::to_owned),
        note: note.to_owned(),
    }
}

/// A fault about a line of a file.
fn parse_error(product: &str, line: usize, what: &str) -> UserError {
    UserError::new(
        format!("Line {line} cannot be read as {product} writes it: {what}."),
        "Correct the file, or import another.",
    )
}

#[cfg(test)]
mod tests;
