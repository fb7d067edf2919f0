//! Validation of rules before they are saved, example by example.

use policy::path::Os;
use policy::patterns::ArgumentPattern;
use policy::rules_file::{self, RuleExamples, RulesFileSource, parse_rule_examples};
use protocol::rule::rules_view::{
    NewRule, RuleCheck, RuleState, RuleView, RuleWarning, RulesCheck,
};
use protocol::{At, Capability, RuleAction, RuleScope, UserError};
use tools::registry::Registry;

/// Checks a text of rules.
pub(super) fn check_rules(text: &str, scope: RuleScope, now: At) -> RulesCheck {
    let known = known_tool_ids();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let source = RulesFileSource {
        trusted: true,
        os: Os::CURRENT,
        known_tools: &known,
        ..RulesFileSource::new("The text", scope)
    };
    let looked = parse_rule_examples(text, &source);
    let (fault, warnings) = match rules_file::parse_rules_file(text, &source) {
        Ok(read) => (None, warning_views(read.warnings)),
        Err(fault) => (Some(unsaved_error(fault)), Vec::new()),
    };
    RulesCheck {
        fault,
        warnings,
        examples: looked
            .iter()
            .flat_map(|one| one.examples.iter().cloned())
            .collect(),
        rules: looked
            .into_iter()
            .filter_map(|one| rule_view(one, now))
            .collect(),
    }
}

/// Checks one rule.
pub(super) fn check_rule(rule: &NewRule) -> RuleCheck {
    let known = known_tool_ids();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let source = RulesFileSource {
        known_tools: &known,
        ..RulesFileSource::new("", RuleScope::User)
    };
    let text = rules_file::format_rule(rule);
    let mut examples: Vec<_> = parse_rule_examples(&text, &source)
        .into_iter()
        .flat_map(|one| one.examples)
        .collect();
    for example in &mut examples {
        (example.line, example.rule_line) = (None, None);
    }
    let (fault, warnings) = match rules_file::parse_new_rule(rule, &source) {
        Ok(read) => (None, self::warning_views(read.warnings)),
        Err(fault) => (Some(fault), Vec::new()),
    };
    RuleCheck {
        fault,
        warnings,
        examples,
        meaning: describe_rule(rule),
        text,
    }
}

/// Describes the meaning of a rule in a sentence.
fn describe_rule(rule: &NewRule) -> String {
    let what = match rule.permission.as_str() {
        "*" => "every call".to_owned(),
        permission => match permission.strip_prefix("mode:") {
            Some(mode) => format!("every call of mode {}", mode.replace('_', " ")),
            None => match Capability::ALL
                .iter()
                .find(|one| one.as_str() == permission)
            {
                Some(Capability::FsRead) => "reading".to_owned(),
                Some(Capability::FsWrite) => "writing".to_owned(),
                Some(Capability::FsDelete) => "deleting".to_owned(),
                Some(Capability::NetFetch) => "reaching hosts".to_owned(),
                Some(Capability::ShellRun) => "running commands".to_owned(),
                None => format!("`{permission}`"),
            },
        },
    };
    let verb = match rule.action {
        RuleAction::Allow => "Allows",
        RuleAction::Ask => "Asks about",
        RuleAction::Deny => "Denies",
    };
    let is_command = matches!(rule.permission.as_str(), "bash" | "shell.run");
    let on = match rule.pattern.as_deref().map(str::trim) {
        None => ", whatever it is about".to_owned(),
        Some(pattern) if is_command => match (pattern.strip_suffix('*'), rule.action) {
            (Some(words), RuleAction::Allow) => {
                format!(": `{}`, then the end or more words", words.trim_end())
            }
            (Some(words), RuleAction::Ask | RuleAction::Deny) => format!(
                ": `{}`, then anything, wherever in a command it may run",
                words.trim_end()
            ),
            (None, RuleAction::Allow) => format!(": exactly `{pattern}`"),
            (None, RuleAction::Ask | RuleAction::Deny) => {
                format!(": `{pattern}`, wherever in a command it may run")
            }
        },
        Some(pattern) if argument_pattern(rule).is_some() => {
            let (name, value) = argument_pattern(rule).unwrap_or(("", pattern));
            format!(" whose `{name}` is `{value}`")
        }
        Some(pattern) => match rule.action {
            RuleAction::Allow => format!(": `{pattern}`"),
            RuleAction::Ask | RuleAction::Deny => format!(": `{pattern}`, at any depth"),
        },
    };
    let uses = match rule.max_uses {
        Some(1) => ", once",
        Some(_) => ", for a number of calls",
        None => "",
    };
    format!("{verb} {what}{on}{uses}.")
}

/// Returns the argument that a rule is about, and the pattern of its value, if it is about one.
fn argument_pattern(rule: &NewRule) -> Option<(&str, &str)> {
    let pattern = rule.pattern.as_deref()?;
    let found = ArgumentPattern::from_rule(&rule.permission, pattern).ok()?;
    found.and_then(|_| pattern.trim().split_once('='))
}

fn known_tool_ids() -> Vec<String> {
    let builtin = Registry::builtin();
    let mut known: Vec<String> = builtin
        .views()
        .iter()
        .map(|view| view.record.id().to_owned())
        .collect();
    known.extend(tools::LOCKED_TOOL_IDS.iter().map(|name| (*name).to_owned()));
    known
}

pub(super) fn warning_views(warnings: Vec<rules_file::RulesFileWarning>) -> Vec<RuleWarning> {
    warnings
        .into_iter()
        .map(|warning| RuleWarning {
            line: warning.line,
            text: warning.text,
        })
        .collect()
}

/// Returns the error of a draft, without the remark that calls ask because of it.
fn unsaved_error(fault: UserError) -> UserError {
    let hint = fault.hint.replace(" Until then every call asks.", "");
    UserError { hint, ..fault }
}

/// Returns the view of a rule before its use is known.
pub(super) fn rule_view(examples: RuleExamples, now: At) -> Option<RuleView> {
    let compiled = examples.rule?;
    let state = match compiled.rule.expires_ms {
        Some(at) if at <= now => RuleState::Expired,
        _ if !compiled.trusted && compiled.rule.action == RuleAction::Allow => RuleState::Untrusted,
        _ => RuleState::Active,
    };
    Some(RuleView {
        rule: compiled.rule,
        matches: examples.matches,
        not_matches: examples.not_matches,
        hits: 0,
        last_used: None,
        uses_left: None,
        state,
        grant: None,
    })
}
