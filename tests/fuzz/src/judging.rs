//! Properties of rules and paths that hold whatever they are.

use policy::path::{Os, Roots, resolve_path};
use policy::patterns::{PathForms, PathPattern};
use policy::rules_file::{RulesFile, RulesFileSource, parse_rules_file};
use policy::{
    CallFacts, EvaluationRequest, RuleSet, ToolClass, ToolDeclaration, classify_tool, evaluate,
};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Capability, Digest, ResolvedAccess, RuleScope, Trail, Verdict};

/// A rules file, a second one and a command, with a zero byte between them: a file that is wrong says where and what to do,
/// a deny more never loosens, an untrusted file never loosens, and where nobody is nothing asks.
pub fn fuzz_rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (first, second, command) = (part(), part(), part());
    let Some(first) = parse_rules(first, RuleScope::User) else {
        return;
    };
    let facts = CallFacts::from_iter([
        ResolvedAccess::new_inside(Capability::ShellRun, command),
        ResolvedAccess::new_inside(Capability::FsRead, command),
    ]);
    let before = evaluate_facts(&facts, vec![first.clone()], None);
    for scope in ["*", "bash", "shell.run", "fs.read", "mode:local"] {
        let deny = format!("[[rule]]\npermission = \"{scope}\"\naction = \"deny\"\n");
        let deny = parse_rules(&deny, RuleScope::User).expect("a rule");
        let after = evaluate_facts(&facts, vec![first.clone(), deny], None);
        assert!(after.verdict >= before.verdict, "{before:#?}{after:#?}");
    }
    if let Some(second) = parse_rules(second, RuleScope::Project) {
        let after = evaluate_facts(&facts, vec![first.clone(), second], None);
        assert!(after.verdict >= before.verdict, "{before:#?}{after:#?}");
    }
    let nobody = evaluate_facts(&facts, vec![first], Some("Nobody is there."));
    assert_ne!(nobody.verdict, Verdict::Ask);
    assert!(
        before.lead.ends_with('.') && !before.lead.contains('\n'),
        "{}",
        before.lead
    );
}

fn parse_rules(text: &str, scope: RuleScope) -> Option<RulesFile> {
    match parse_rules_file(text, &RulesFileSource::new("rules.toml", scope)) {
        Ok(file) => Some(file),
        Err(fault) => {
            assert!(fault.message.starts_with("rules.toml, line "), "{fault}");
            assert!(!fault.hint.is_empty(), "{fault}");
            None
        }
    }
}

fn evaluate_facts(facts: &CallFacts, files: Vec<RulesFile>, headless: Option<&str>) -> Trail {
    let mut rules = RuleSet::builtin();
    files.into_iter().for_each(|file| rules.add(file));
    let classified: ToolClass = classify_tool(
        "bash",
        ToolDeclaration {
            mode: Some(protocol::ToolMode::Local),
            ..ToolDeclaration::default()
        },
    );
    let judgement = evaluate(&EvaluationRequest {
        call: &CallId("c".to_owned()),
        tool: "bash",
        tool_class: &classified,
        facts,
        undo: &UndoAvailability::NotNeeded,
        needs_person: false,
        rules: &rules,
        ask_for_everything: false,
        headless,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        shown_digest: &|| Digest(String::new()),
    });
    judgement.trail().as_ref().clone()
}

/// A path, and where it is seen from, with a zero byte between them: on every system what lies inside is a plain way from
/// the root that leads to itself, and a deny on exactly that covers it.
pub fn fuzz_paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (target, from) = text.split_once('\0').unwrap_or((&text, ""));
    // The place from which it is seen is the runtime's own word.
    if from.chars().any(protocol::text::display_text::is_hidden) {
        return;
    }
    for (os, workspace) in [
        (Os::Linux, "/home/me/project"),
        (Os::Macos, "/Users/me/project"),
        (Os::Windows, "C:\\project"),
    ] {
        let roots = Roots {
            workspace,
            readable: &[],
        };
        let fact = resolve_path(os, &roots, from, target);
        if !fact.inside || fact.unresolved.is_some() {
            assert!(!fact.inside || !fact.real.is_empty() || !target.is_empty());
            continue;
        }
        let plain = |name: &str| !matches!(name, "" | "." | "..");
        assert!(
            fact.real.is_empty() || fact.real.split('/').all(plain),
            "{target:?} from {from:?} on {os:?}: {fact:?}"
        );
        if fact.real.is_empty() || fact.doubt.is_some() || fact.real.starts_with('~') {
            continue;
        }
        let again = resolve_path(os, &roots, "", &fact.real);
        assert_eq!(again.real, fact.real, "{target:?} from {from:?} on {os:?}");
        let literal: String = fact
            .real
            .chars()
            .flat_map(|c| match c {
                '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ',' | '!' => vec!['\\', c],
                c => vec![c],
            })
            .collect();
        let Ok(pattern) = PathPattern::new(&literal, os) else {
            continue;
        };
        let forms = PathForms {
            real: &fact.real,
            root: Some(workspace),
            inside: true,
        };
        assert!(
            os == Os::Windows || pattern.covers(&forms),
            "{literal:?} on {os:?}: {fact:?}"
        );
    }
}
