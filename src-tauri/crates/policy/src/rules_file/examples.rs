//! A rule's own examples, checked when it is read.

use protocol::rule::evidence::ArgumentValue;
use protocol::{Capability, ResolvedAccess, RuleAction, ToolMode};
use toml::Spanned;

use crate::facts::CallFacts;
use crate::rules::{CompiledRule, NET_READ, RuleSet, Subject, mode_permission};

/// Checks the examples and returns the rule, or the position of the failing example and its effect.
///
/// `rm*` also denies `rmdir`, because a deny is broad; a counter-example that says that this is not meant narrows the
/// rule.
pub(super) fn check_examples(
    rule: CompiledRule,
    matching: &[Spanned<String>],
    not_match: &[Spanned<String>],
) -> Result<CompiledRule, (usize, String)> {
    let hits =
        |rule: &CompiledRule, example: &Spanned<String>| matches_example(rule, example.get_ref());
    let rule = narrow_by_counterexamples(rule, not_match);
    let failing = matching
        .iter()
        .find(|example| !hits(&rule, example))
        .map(|example| (example, "does not match its example"))
        .or_else(|| {
            let hit = not_match.iter().find(|example| hits(&rule, example));
            hit.map(|example| (example, "matches its counter-example"))
        });
    match failing {
        Some((example, verb)) => Err((
            example.span().start,
            format!("the rule {verb} `{}`", example.get_ref()),
        )),
        None => Ok(rule),
    }
}

/// Returns the rule, matched no more broadly than its counter-examples allow.
pub(super) fn narrow_by_counterexamples(
    rule: CompiledRule,
    not_match: &[Spanned<String>],
) -> CompiledRule {
    match not_match
        .iter()
        .any(|example| matches_example(&rule, example.get_ref()))
    {
        true => rule.with_whole_words(),
        false => rule,
    }
}

/// Whether a rule alone speaks of an example: a command for rules about commands, a host for rules about hosts,
/// `name=value` for rules about an argument, an address for rules about a remote, a cache for rules that keep one, a path for all others.
pub(super) fn matches_example(rule: &CompiledRule, example: &str) -> bool {
    if let Some(address) = rule.remote_address() {
        return address.as_str() == example;
    }
    if let Some(cache) = rule.cache() {
        return cache == example;
    }
    let capability = match rule.rule.permission.as_str() {
        "bash" | "shell.run" | "mode:local" => Capability::ShellRun,
        "net.fetch" | NET_READ | "web_fetch" | "web_search" | "mode:external" => {
            Capability::NetFetch
        }
        "fs.write" => Capability::FsWrite,
        "fs.delete" => Capability::FsDelete,
        _ => Capability::FsRead,
    };
    let is_path = !matches!(capability, Capability::ShellRun | Capability::NetFetch);
    let mut fact = ResolvedAccess::new_inside(capability, example);
    if capability == Capability::NetFetch {
        fact.real = crate::patterns::host::resolve_host(example).real;
    }
    if is_path {
        fact.real = example.trim_start_matches("./").to_owned();
    }
    // An absolute example is matched as if the workspace were everything.
    let mut set = RuleSet::default();
    if is_path && example.starts_with('/') {
        fact.real = example.trim_start_matches('/').to_owned();
        set = set.with_root("");
    }
    let mut alone = rule.clone();
    alone.trusted = true;
    set.extend([alone]);
    let mode = ToolMode::ALL
        .into_iter()
        .find(|mode| mode_permission(*mode) == rule.rule.permission);
    let mut facts = CallFacts::from_iter([fact]);
    if rule.argument_pattern().is_some() {
        facts = CallFacts::default();
        let argument = example.split_once('=').unwrap_or((example, ""));
        facts.set_arguments(vec![ArgumentValue {
            name: argument.0.to_owned(),
            text: Some(argument.1.to_owned()),
        }]);
    }
    let subjects = Subject::from_facts(rule.permission(), mode, &facts);
    let speaks = |subject: &Subject<'_>| {
        let decision = set.evaluate_subject(subject, protocol::At::MIN, protocol::Verdict::Ask);
        decision.verdict.is_some()
    };
    match rule.rule.action {
        RuleAction::Allow => subjects.iter().filter(|one| !one.tightens).all(speaks),
        RuleAction::Ask | RuleAction::Deny => subjects.iter().any(speaks),
    }
}
