//! What must hold of rules and paths, whatever they are.

use policy::path::{Os, Roots, resolve};
use policy::pattern::{Forms, PathPattern};
use policy::rules_file::{RulesFile, Source, read};
use policy::{Classified, Declared, Facts, Request, RuleSet, classify, judge};
use protocol::preview::UndoOutlook;
use protocol::{CallId, Capability, Digest, Fact, RuleScope, Trail, Verdict};

/// A rules file, a second one and a command, with a zero byte between them: a file that is wrong says where and what to do,
/// a deny more never loosens, an untrusted file never loosens, and where nobody is nothing asks.
pub fn rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (first, second, command) = (part(), part(), part());
    let Some(first) = file(first, RuleScope::User) else {
        return;
    };
    let facts = Facts::from_iter([
        Fact::inside(Capability::ShellRun, command),
        Fact::inside(Capability::FsRead, command),
    ]);
    let before = said(&facts, vec![first.clone()], None);
    for scope in ["*", "bash", "shell.run", "fs.read", "mode:local"] {
        let deny = format!("[[rule]]\npermission = \"{scope}\"\naction = \"deny\"\n");
        let deny = file(&deny, RuleScope::User).expect("a rule");
        let after = said(&facts, vec![first.clone(), deny], None);
        assert!(after.verdict >= before.verdict, "{before:#?}{after:#?}");
    }
    if let Some(second) = file(second, RuleScope::Project) {
        let after = said(&facts, vec![first.clone(), second], None);
        assert!(after.verdict >= before.verdict, "{before:#?}{after:#?}");
    }
    let nobody = said(&facts, vec![first], Some("Nobody is there."));
    assert_ne!(nobody.verdict, Verdict::Ask);
    assert!(
        before.lead.ends_with('.') && !before.lead.contains('\n'),
        "{}",
        before.lead
    );
}

fn file(text: &str, scope: RuleScope) -> Option<RulesFile> {
    match read(text, &Source::new("rules.toml", scope)) {
        Ok(file) => Some(file),
        Err(fault) => {
            assert!(fault.message.starts_with("rules.toml, line "), "{fault}");
            assert!(!fault.hint.is_empty(), "{fault}");
            None
        }
    }
}

fn said(facts: &Facts, files: Vec<RulesFile>, headless: Option<&str>) -> Trail {
    let mut rules = RuleSet::builtin();
    files.into_iter().for_each(|file| rules.add(file));
    let classified: Classified = classify(
        "bash",
        Declared {
            mode: Some(protocol::ToolMode::Local),
            ..Declared::default()
        },
    );
    let judgement = judge(&Request {
        call: &CallId("c".to_owned()),
        tool: "bash",
        classified: &classified,
        facts,
        undo: &UndoOutlook::NotNeeded,
        needs_person: false,
        rules: &rules,
        ask_for_everything: false,
        headless,
        alarms: &[],
        tried: None,
        now: 0,
        alone: false,
        shown: &|| Digest(String::new()),
    });
    judgement.trail().as_ref().clone()
}

/// A path, and where it is seen from, with a zero byte between them: on every system what lies inside is a plain way from
/// the root that leads to itself, and a deny on exactly that covers it.
pub fn paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (target, from) = text.split_once('\0').unwrap_or((&text, ""));
    // Where it is seen from is the runtime's own word.
    if from.chars().any(protocol::shown::is_hidden) {
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
        let fact = resolve(os, &roots, from, target);
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
        let again = resolve(os, &roots, "", &fact.real);
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
        let forms = Forms {
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
