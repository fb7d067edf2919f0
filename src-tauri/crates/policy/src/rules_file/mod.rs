//! Reads `rules.toml`: every error names the file, the line, what is wrong and what to do.

mod edit;
mod example_report;
mod examples;
mod format;
pub mod manifest;
mod raw;
mod time;
mod warnings;

use protocol::rule::evidence::RemoteUseKind;
use protocol::{Capability, Rule, RuleScope, ToolMode, UserError};
use similar::get_close_matches;

use crate::limits::{EXAMPLES_MAX, PATTERN_BYTES_MAX, RULES_MAX, USES_MAX};
use crate::path::Os;
use crate::rules::{CompiledRule, HOME_KEEP, NET_READ};
use raw::{RawRule, RawRulesFile};

pub use crate::rules::loaded_file::{RulesFile, RulesFileWarning};
pub use edit::{format_replaced_rule, remove_rule, replace_rule};
pub use example_report::{RuleExamples, parse_rule_examples};
pub use format::{format_rule, parse_new_rule, verdict_word};

/// Where a rules file comes from.
#[derive(Debug, Clone, Copy)]
pub struct RulesFileSource<'a> {
    /// Name of the file as a person writes it.
    pub file: &'a str,
    /// Scope of the rules.
    pub scope: RuleScope,
    /// Whether the rules may loosen. A project's file may not before the person has trusted it ([`crate::trust`]).
    pub trusted: bool,
    /// The system whose path rules apply.
    pub os: Os,
    /// Tools that are known, for suggestions where a rule names another.
    pub known_tools: &'a [&'a str],
}

impl<'a> RulesFileSource<'a> {
    /// A file of this system's; a project's is not trusted.
    pub fn new(file: &'a str, scope: RuleScope) -> Self {
        Self {
            file,
            scope,
            trusted: scope != RuleScope::Project,
            os: Os::CURRENT,
            known_tools: &[],
        }
    }
}

/// Something wrong, and where.
struct RulesFileError {
    at: usize,
    what: String,
    next: &'static str,
}

impl RulesFileError {
    fn new(at: usize, what: impl Into<String>, next: &'static str) -> Self {
        Self {
            at,
            what: what.into(),
            next,
        }
    }
}

/// Reads the text of a rules file.
///
/// # Errors
/// Anything that is not as it must be: with file, line, what is wrong and what to do.
pub fn parse_rules_file(text: &str, source: &RulesFileSource<'_>) -> Result<RulesFile, UserError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineStarts::new(text);
    parse_toml(text, &lines, source).map_err(|wrong| {
        let line = lines.line_at(wrong.at);
        UserError::new(
            format!("{}, line {line}: {}.", source.file, wrong.what),
            format!("{} Until then every call asks.", wrong.next),
        )
    })
}

fn parse_toml(
    text: &str,
    lines: &LineStarts,
    source: &RulesFileSource<'_>,
) -> Result<RulesFile, RulesFileError> {
    let read: RawRulesFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        RulesFileError::new(at, explain_toml_error(error.message()), "Correct the line.")
    })?;
    check_rules(read, lines, source)
}

fn check_rules(
    read: RawRulesFile,
    lines: &LineStarts,
    source: &RulesFileSource<'_>,
) -> Result<RulesFile, RulesFileError> {
    if read.rule.len() > RULES_MAX {
        return Err(RulesFileError::new(
            0,
            format!("there are more than {RULES_MAX} rules"),
            "Join or remove some.",
        ));
    }
    let mut rules = Vec::with_capacity(read.rule.len());
    for spanned in read.rule {
        let at = spanned.span().start;
        rules.push(compile_rule(spanned.into_inner(), at, lines, source)?);
    }
    let warnings = warnings::find_warnings(&rules, source);
    Ok(RulesFile {
        default: read.default,
        rules,
        warnings,
    })
}

fn compile_rule(
    raw: RawRule,
    at: usize,
    lines: &LineStarts,
    source: &RulesFileSource<'_>,
) -> Result<CompiledRule, RulesFileError> {
    let (matching, not_match) = (raw.matching.clone(), raw.not_match.clone());
    let compiled = compile_unchecked(raw, at, lines, source)?;
    if matching.len().max(not_match.len()) > EXAMPLES_MAX {
        return Err(RulesFileError::new(
            at,
            format!("there are more than {EXAMPLES_MAX} examples"),
            "Leave some out.",
        ));
    }
    examples::check_examples(compiled, &matching, &not_match)
        .map_err(|(at, what)| RulesFileError::new(at, what, "Correct the rule or its example."))
}

/// The rule, its examples unchecked.
fn compile_unchecked(
    raw: RawRule,
    at: usize,
    lines: &LineStarts,
    source: &RulesFileSource<'_>,
) -> Result<CompiledRule, RulesFileError> {
    const NEXT: &str = "Correct the rule.";
    let permission = raw.permission.get_ref();
    check_permission(permission)
        .map_err(|what| RulesFileError::new(raw.permission.span().start, what, NEXT))?;
    let pattern_at = raw.pattern.as_ref().map_or(at, |text| text.span().start);
    let pattern = raw.pattern.map(toml::Spanned::into_inner);
    if let Some(what) = pattern.as_deref().and_then(find_pattern_error) {
        return Err(RulesFileError::new(pattern_at, what, NEXT));
    }
    if raw.max_uses > Some(USES_MAX) {
        return Err(RulesFileError::new(
            at,
            format!("`max_uses` is more than {USES_MAX}"),
            "Give less, or leave it out: then it holds for any number.",
        ));
    }
    if raw.max_uses == Some(0) {
        return Err(RulesFileError::new(
            at,
            "`max_uses = 0` never applies",
            "Give at least 1.",
        ));
    }
    let expires_ms = raw
        .expires
        .map(|value| {
            let span = value.span().start;
            time::parse_time(&value.into_inner()).map_err(|what| {
                RulesFileError::new(span, what, "Write it like 2026-12-01T00:00:00Z.")
            })
        })
        .transpose()?;
    let rule = Rule {
        permission: permission.clone(),
        pattern,
        action: raw.action,
        reason: raw.reason,
        scope: source.scope,
        file: Some(source.file.to_owned()),
        line: u32::try_from(lines.line_at(at)).ok(),
        expires_ms,
        max_uses: raw.max_uses,
        grant: None,
    };
    CompiledRule::new(rule, source.os, source.trusted)
        .map_err(|what| RulesFileError::new(pattern_at, what, NEXT))
}

fn find_pattern_error(pattern: &str) -> Option<String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Some(format!(
            "the pattern is longer than {PATTERN_BYTES_MAX} bytes"
        ));
    }
    if pattern.trim().is_empty() {
        return Some("the pattern is empty; leave it out to mean everything".to_owned());
    }
    let hidden = crate::path::find_hidden_char(pattern)?;
    Some(format!(
        "the pattern cannot be read: {}",
        hidden.trim_end_matches('.')
    ))
}

fn check_permission(permission: &str) -> Result<(), String> {
    let modes = ToolMode::ALL.map(ToolMode::as_str);
    if let Some(mode) = permission.strip_prefix("mode:") {
        return match modes.contains(&mode) {
            true => Ok(()),
            false => Err(format!(
                "`{mode}` is not a mode; the modes are {}{}",
                modes.join(", "),
                suggest_name(mode, &modes)
            )),
        };
    }
    let permission = &*crate::rules::resolve_permission(permission)?;
    let capabilities = Capability::ALL.map(Capability::as_str);
    let further = RemoteUseKind::ALL.map(RemoteUseKind::permission);
    let known = [&capabilities[..], &[NET_READ], &further[..], &[HOME_KEEP]].concat();
    if permission.contains('.') && !known.contains(&permission) {
        return Err(format!(
            "`{permission}` is not a capability; the capabilities are {}{}",
            known.join(", "),
            suggest_name(permission, &known)
        ));
    }
    let bare = permission.strip_suffix('*').unwrap_or(permission);
    if bare.contains(['*', '?', '[', '{']) || bare.contains(char::is_whitespace) {
        return Err(format!(
            "`{permission}` is not a permission; only its end can be a `*`, as in `server__*`"
        ));
    }
    match permission.is_empty() {
        true => {
            Err("the permission is empty; name a tool, a capability, `mode:…` or `*`".to_owned())
        }
        false => Ok(()),
    }
}

/// The reader's own words for an unknown key or word, with the one that may be meant.
fn explain_toml_error(message: &str) -> String {
    let describe = |kind: &str, rest: &str| -> Option<String> {
        let name = rest.split('`').next()?;
        let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
        Some(format!(
            "{kind} `{name}` is not known here{}; known are {}",
            suggest_name(name, &known),
            known.join(", ")
        ))
    };
    let explanation = message
        .strip_prefix("unknown field `")
        .and_then(|rest| describe("the key", rest))
        .or_else(|| {
            message
                .strip_prefix("unknown variant `")
                .and_then(|rest| describe("the word", rest))
        });
    explanation.unwrap_or_else(|| message.trim_end_matches('.').replace('\n', " "))
}

fn suggest_name(name: &str, names: &[&str]) -> String {
    match get_close_matches(name, names, 1, 0.6).first() {
        Some(close) => format!(" (did you mean `{close}`?)"),
        None => String::new(),
    }
}

/// Where the lines of a text begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line, from 1, that a byte lies in.
    fn line_at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }
}

#[cfg(test)]
mod tests;
