//! Permissions of other products as suggestions of rules, never looser than where they come from.
//!
//! Other products order their rules otherwise: with one a denial always wins, with another the last word. Here the most
//! specific rule does. So a permission is taken only if everything stricter beside it, that could speak of the same call,
//! would win here too; and of a pattern that means something else here, an allow keeps the narrower meaning and a denial
//! the wider one.
//!
//! Start reading at [`read`].

mod claude_code;
mod codex;
mod held;
mod json;
mod opencode;
mod spell;
mod tokens;

use protocol::import::{ImportSuggestion, Product};
use protocol::rules_view::NewRule;
use protocol::{Action, Fault, RuleScope};

use crate::rules_file::{Source, read_new};
use spell::Spelled;

/// Whose file is read: some patterns are relative to its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The person's own, in the home folder.
    Person,
    /// The project's.
    Project,
}

/// One permission as it stands in another product's file.
#[derive(Debug, Clone)]
struct Said {
    written: String,
    line: Option<u32>,
    action: Action,
    reading: Reading,
}

/// What a permission comes to here.
#[derive(Debug, Clone)]
enum Reading {
    /// A rule that says no more, and what is to be said of it.
    Rule { rule: Form, note: String },
    /// It cannot be said here, though it is about this permission; none: about anything.
    Unsayable { about: Option<String>, note: String },
    /// It has no use here.
    Needless(String),
}

/// The part of a rule that a permission is translated into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Form {
    permission: String,
    pattern: Option<String>,
    reason: Option<String>,
    matches: Vec<String>,
    not_matches: Vec<String>,
}

/// Which permission wins where it comes from, when several match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wins {
    Strictest,
    Last,
}

/// Reads the text of another product's file.
///
/// # Errors
/// It is not what that product writes: with the line, what is wrong and what to do.
pub fn read(product: Product, text: &str, whose: Whose) -> Result<Vec<ImportSuggestion>, Fault> {
    let (said, wins) = match product {
        Product::ClaudeCode => (claude_code::read(text, whose)?, Wins::Strictest),
        Product::Opencode => (opencode::read(text)?, Wins::Last),
        Product::Codex => (codex::read(text)?, Wins::Strictest),
    };
    let shadows = held::shadows(&said, wins);
    let suggestions = said.into_iter().zip(shadows);
    Ok(suggestions
        .map(|(said, shadow)| suggestion(said, shadow))
        .collect())
}

/// A permission as it is shown, with its rule if there is one and nothing stricter stands in its way.
fn suggestion(said: Said, shadow: Option<String>) -> ImportSuggestion {
    let (rule, note) = match said.reading {
        Reading::Unsayable { note, .. } | Reading::Needless(note) => (None, note),
        Reading::Rule { rule, note } => match shadow {
            Some(stricter) => (
                None,
                format!("`{stricter}` wins there, and would not here."),
            ),
            None => taken(rule, said.action, note),
        },
    };
    ImportSuggestion {
        written: said.written,
        line: said.line,
        rule,
        note,
    }
}

/// The rule, if a rules file would be read with it; without its examples, if it is they that fail.
fn taken(form: Form, action: Action, note: String) -> (Option<NewRule>, String) {
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
    let source = Source::new("import", RuleScope::User);
    match (read_new(&with, &source), read_new(&without, &source)) {
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
fn of(permission: &str, spelled: Spelled) -> Reading {
    let rule = |pattern, note: &str| Reading::Rule {
        rule: Form {
            permission: permission.to_owned(),
            pattern,
            ..Form::default()
        },
        note: note.to_owned(),
    };
    match spelled {
        Spelled::Everything => rule(None, ""),
        Spelled::As(pattern, note) => rule(Some(pattern), note),
        Spelled::Not(note) => unsayable(Some(permission), note),
    }
}

fn unsayable(about: Option<&str>, note: &str) -> Reading {
    Reading::Unsayable {
        about: about.map(str::to_owned),
        note: note.to_owned(),
    }
}

/// A fault about a line of a file.
fn wrong(product: &str, line: usize, what: &str) -> Fault {
    Fault::new(
        format!("Line {line} cannot be read as {product} writes it: {what}."),
        "Correct the file, or import another.",
    )
}

#[cfg(test)]
mod tests;
