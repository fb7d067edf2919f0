//! Warnings about entries of a rules file that are valid but hardly meant: reported by `policy lint`.

use std::collections::HashMap;

use protocol::{Capability, RuleAction};
use similar::get_close_matches;

use super::RulesFileSource;
use crate::rules::loaded_file::RulesFileWarning;
use crate::rules::{CompiledRule, NET_READ};
use crate::shell::runs_other_programs;

/// Finds all entries of these rules that are hardly meant.
pub(super) fn find_warnings(
    rules: &[CompiledRule],
    source: &RulesFileSource<'_>,
) -> Vec<RulesFileWarning> {
    let mut warnings = Vec::new();
    let mut rules_by_text: HashMap<(&str, Option<&str>), &CompiledRule> = HashMap::new();
    for compiled in rules {
        let mut warn = |text: String| {
            warnings.push(RulesFileWarning {
                file: source.file.to_owned(),
                line: compiled.rule.line.unwrap_or(1),
                text,
            });
        };
        find_rule_warnings(compiled, source)
            .into_iter()
            .for_each(&mut warn);
        let name = (
            compiled.permission(),
            compiled.rule.pattern.as_deref().map(str::trim),
        );
        match rules_by_text.get(&name) {
            Some(earlier) => warn(format!(
                "it speaks of the same as the rule in line {}; the stricter of both holds",
                earlier.rule.line.unwrap_or(1)
            )),
            None => {
                rules_by_text.insert(name, compiled);
            }
        }
    }
    warnings
}

fn find_rule_warnings(compiled: &CompiledRule, source: &RulesFileSource<'_>) -> Vec<String> {
    let rule = &compiled.rule;
    let mut warnings = Vec::new();
    let pattern = rule.pattern.as_deref().unwrap_or("everything").trim();
    let allows = rule.action == RuleAction::Allow;
    if compiled.is_catch_all() && allows {
        let of = match rule.permission.as_str() {
            "*" => "every call of every tool".to_owned(),
            permission => format!("everything that `{permission}` can do"),
        };
        warnings.push(format!("it allows {of}"));
    }
    let is_command = matches!(rule.permission.as_str(), "bash" | "shell.run" | "*");
    if compiled.is_catch_all() && allows && is_command {
        warnings.push(
            "builds, tests and scripts of the workspace run whatever their files say; commands that reach other machines, \
             install, remove, change who may do what, or run a file as a script still ask"
                .to_owned(),
        );
    }
    let words: Vec<String> = pattern
        .trim_end_matches('*')
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let is_open = pattern.ends_with('*') && !words.is_empty();
    let is_for_some = is_open && compiled.can_allow_command() == Some(true);
    if allows && is_for_some && runs_other_programs(&words) {
        warnings.push(format!(
            "`{pattern}` lets any program run: `{}` runs what its arguments or a file say",
            words[0]
        ));
    }
    if rule.pattern.is_some() && compiled.is_catch_all() && !allows {
        warnings.push(format!(
            "the pattern `{pattern}` means everything; it can be left out"
        ));
    }
    if allows && compiled.can_allow_command() == Some(false) {
        warnings.push(format!(
            "`{pattern}` never allows anything: a program is allowed by its bare name, or by a path that is spelled out"
        ));
    }
    let is_path = rule.permission.starts_with("fs.");
    if allows && is_path && (pattern.starts_with('~') || pattern.starts_with("..")) {
        warnings.push(format!(
            "`{pattern}` never allows anything: it lies outside the workspace"
        ));
    }
    let is_address = pattern.split_once("://").is_some_and(|(_, rest)| {
        rest.split_once('/')
            .is_some_and(|(_, path)| !matches!(path, "" | "*" | "**"))
    });
    if allows && is_address && compiled.remote_address().is_none() {
        warnings.push(format!(
            "`{pattern}` never allows anything: rules hold for whole hosts, not for parts of a site"
        ));
    }
    let permission = compiled.permission();
    let is_name = permission != "*"
        && !permission.ends_with('*')
        && !permission.starts_with("mode:")
        && permission != NET_READ
        && compiled.remote_address().is_none()
        && compiled.cache().is_none()
        && !Capability::ALL.iter().any(|one| one.as_str() == permission);
    if is_name && !source.known_tools.contains(&permission) {
        let close = get_close_matches(permission, source.known_tools, 1, 0.6);
        if let Some(close) = close.first() {
            warnings.push(format!(
                "there is no tool `{permission}` yet (did you mean `{close}`?)"
            ));
        }
    }
    warnings
}
