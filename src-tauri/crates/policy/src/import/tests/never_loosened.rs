//! Imported rules are never looser than their originals: each product's own decision procedure, run beside ours.

use proptest::prelude::*;
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Capability, Digest, ResolvedAccess, ToolMode, Verdict};

use crate::import::*;
use crate::{
    CallFacts, EvaluationRequest, RuleSet, ToolClass, ToolDeclaration, classify_tool, evaluate,
};

/// Returns the verdict of the imported rules on a command, or the default where none matches.
fn ours(rules: &[ImportSuggestion], command: &str) -> Verdict {
    let source = RulesFileSource::new("import", RuleScope::User);
    let mut set = RuleSet::default();
    for rule in rules.iter().filter_map(|one| one.rule.as_ref()) {
        set.add(parse_new_rule(rule, &source).unwrap());
    }
    let classified: ToolClass = classify_tool(
        "bash",
        ToolDeclaration {
            mode: Some(ToolMode::Local),
            ..ToolDeclaration::default()
        },
    );
    let judgement = evaluate(&EvaluationRequest {
        call: &CallId("c".to_owned()),
        tool: "bash",
        tool_class: &classified,
        facts: &CallFacts::from_iter([ResolvedAccess::new_inside(Capability::ShellRun, command)]),
        undo: &UndoAvailability::NotNeeded,
        needs_person: false,
        rules: &set,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: true,
        shown_digest: &|| Digest(String::new()),
    });
    judgement.verdict()
}

/// A pattern in which `*` is any text; ` *` at the end may be nothing.
fn matches(pattern: &str, text: &str) -> bool {
    let optional = pattern
        .strip_suffix(" *")
        .is_some_and(|start| glob(start, text));
    optional || glob(pattern, text)
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .any(|at| glob(rest, &text[at..]))
        }),
    }
}

fn verdict(action: RuleAction) -> Verdict {
    Verdict::from(action)
}

const ACTIONS: [RuleAction; 3] = [RuleAction::Allow, RuleAction::Ask, RuleAction::Deny];

fn pattern() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["git", "push", "origin", "ls", "-f", "*", "p*", "main"]);
    prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
}

fn command() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["git", "push", "origin", "ls", "-f", "main", "pull"]);
    prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

fn listed() -> impl Strategy<Value = Vec<(usize, String)>> {
    prop::collection::vec((0..3_usize, pattern()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A denial wins over an ask over an allow, whatever is more specific.
    #[test]
    fn claude_code_is_never_loosened(rules in listed(), command in command()) {
        let list = |at: usize| {
            let texts: Vec<String> = rules
                .iter()
                .filter(|(action, _)| *action == at)
                .map(|(_, pattern)| format!("Bash({pattern})"))
                .collect();
            serde_json::to_string(&texts).unwrap()
        };
        let text = format!(
            r#"{{"permissions": {{"allow": {}, "ask": {}, "deny": {}}}}}"#,
            list(0), list(1), list(2)
        );
        let theirs = rules
            .iter()
            .filter(|(_, pattern)| pattern == "*" || matches(pattern, &command))
            .map(|(action, _)| verdict(ACTIONS[*action]))
            .max()
            .unwrap_or(Verdict::Ask);
        let taken = import_permissions(RuleImportProduct::ClaudeCode, &text, ConfigOwner::Project).unwrap();
        // A permission that has no rule here is shown as such, and makes no rule.
        let unsaid = taken.iter().any(|one| one.rule.is_none() && !one.note.contains("wins there"));
        let is = ours(&taken, &command);
        prop_assert!(is >= theirs || (unsaid && is != Verdict::Allow), "{text} {command}: {is:?} {theirs:?}");
    }

    /// In OpenCode, the last permission that matches wins.
    #[test]
    fn opencode_is_never_loosened(rules in listed(), command in command()) {
        let said = |action: usize| ["allow", "ask", "deny"][action];
        let mut seen = std::collections::HashSet::new();
        let rules: Vec<_> = rules.into_iter().filter(|(_, pattern)| seen.insert(pattern.clone())).collect();
        let members: Vec<String> = rules
            .iter()
            .map(|(action, pattern)| format!("{}: \"{}\"", serde_json::to_string(pattern).unwrap(), said(*action)))
            .collect();
        let text = format!(r#"{{"permission": {{"bash": {{{}}}}}}}"#, members.join(", "));
        let theirs = rules
            .iter()
            .rfind(|(_, pattern)| matches(pattern, &command))
            .map_or(Verdict::Ask, |(action, _)| verdict(ACTIONS[*action]));
        let taken = import_permissions(RuleImportProduct::Opencode, &text, ConfigOwner::Project).unwrap();
        let unsaid = taken.iter().any(|one| one.rule.is_none() && !one.note.contains("wins there"));
        let is = ours(&taken, &command);
        prop_assert!(is >= theirs || (unsaid && is != Verdict::Allow), "{text} {command}: {is:?} {theirs:?}");
    }

    /// A prefix of words; the strictest wins.
    #[test]
    fn codex_is_never_loosened(
        rules in prop::collection::vec((0..3_usize, prop::collection::vec(prop::sample::select(vec!["git", "push", "ls", "-f"]), 1..4)), 0..6),
        command in command(),
    ) {
        let text: String = rules
            .iter()
            .map(|(action, words)| {
                let decision = ["allow", "prompt", "forbidden"][*action];
                format!("prefix_rule(pattern = {words:?}, decision = \"{decision}\")\n")
            })
            .collect();
        let words: Vec<&str> = command.split(' ').collect();
        let theirs = rules
            .iter()
            .filter(|(_, prefix)| words.starts_with(prefix))
            .map(|(action, _)| verdict(ACTIONS[*action]))
            .max()
            .unwrap_or(Verdict::Ask);
        let taken = import_permissions(RuleImportProduct::Codex, &text, ConfigOwner::Person).unwrap();
        let is = ours(&taken, &command);
        prop_assert!(is >= theirs, "{text} {command}: {is:?} {theirs:?}");
    }
}
