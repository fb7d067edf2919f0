//! Verdict tables: what the gates say of a call under some rules.

use std::path::Path;

use policy::rules_file::{self, Source};
use policy::{Facts, RuleSet, judge};
use protocol::preview::UndoOutlook;
use protocol::{CallId, Capability, Digest, Fact, RuleScope, ToolMode, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows, with the requirement's id where it proves one.
    name: String,
    tool: String,
    mode: Option<ToolMode>,
    #[serde(default)]
    facts: Vec<WrittenFact>,
    #[serde(default)]
    user: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    unsecured: bool,
    #[serde(default)]
    headless: bool,
    #[serde(default)]
    ask_for_everything: bool,
    #[serde(default)]
    needs_person: bool,
    verdict: Verdict,
    /// The sentence that answers *why*.
    lead: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFact {
    capability: Capability,
    target: String,
    real: Option<String>,
    #[serde(default)]
    outside: bool,
}

/// What is wrong with a case, if anything is.
fn check(case: &Case) -> Option<String> {
    let facts: Facts = case
        .facts
        .iter()
        .map(|fact| Fact {
            capability: fact.capability,
            target: fact.target.clone(),
            real: fact.real.clone().unwrap_or_else(|| fact.target.clone()),
            inside: !fact.outside,
            unresolved: None,
            doubt: None,
            derived: false,
        })
        .collect();
    let mut rules = RuleSet::builtin();
    for (text, source) in [
        (&case.user, Source::new("user.toml", RuleScope::User)),
        (&case.project, Source::new("rules.toml", RuleScope::Project)),
    ] {
        rules.add(rules_file::read(text, &source).expect(&case.name));
    }
    let undo = match case.unsecured {
        true => UndoOutlook::Unsecured {
            reason: "it is too large to be copied.".into(),
        },
        false => UndoOutlook::Secured,
    };
    let judgement = judge(&policy::Request {
        call: &CallId("c".into()),
        tool: &case.tool,
        classified: &policy::classify(
            &case.tool,
            policy::Declared {
                mode: case.mode,
                ..Default::default()
            },
        ),
        facts: &facts,
        undo: &undo,
        needs_person: case.needs_person,
        alarms: &[],
        tried: None,
        now: 0,
        alone: false,
        rules: &rules,
        ask_for_everything: case.ask_for_everything,
        headless: case
            .headless
            .then_some("Nobody is there to ask, so asking means denying."),
        shown: &|| Digest("shown".into()),
    });
    let said = (judgement.verdict(), judgement.trail().lead.as_str());
    (said != (case.verdict, case.lead.as_str())).then(|| {
        format!(
            "{}\n  expected {:?} {}\n  got      {:?} {}",
            case.name, case.verdict, case.lead, said.0, said.1
        )
    })
}

#[test]
fn every_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        // Commands and paths have tables of their own form and tests of their own.
        let is_table = path.extension().is_some_and(|ending| ending == "toml")
            && path
                .file_name()
                .is_some_and(|name| name != "commands.toml" && name != "paths.toml");
        if !is_table {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let table: Table =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        wrong.extend(table.case.iter().filter_map(check));
        cases += table.case.len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 40, "only {cases} cases were found");
}
