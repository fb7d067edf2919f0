//! Verdict tables: what the gates say of a call under some rules.

use std::path::Path;

use policy::rules_file::{self, RulesFileSource};
use policy::{CallFacts, RuleSet, evaluate};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Capability, Digest, ResolvedAccess, RuleScope, ToolMode, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictTable {
    case: Vec<VerdictCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictCase {
    /// Title of the case, with the requirement's id where it proves one.
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

/// The fault of a case, if there is one.
fn check(case: &VerdictCase) -> Option<String> {
    let facts: CallFacts = case
        .facts
        .iter()
        .map(|fact| ResolvedAccess {
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
        (
            &case.user,
            RulesFileSource::new("user.toml", RuleScope::User),
        ),
        (
            &case.project,
            RulesFileSource::new("rules.toml", RuleScope::Project),
        ),
    ] {
        rules.add(rules_file::parse_rules_file(text, &source).expect(&case.name));
    }
    let undo = match case.unsecured {
        true => UndoAvailability::Unsecured {
            reason: "it is too large to be copied.".into(),
        },
        false => UndoAvailability::Secured,
    };
    let judgement = evaluate(&policy::EvaluationRequest {
        call: &CallId("c".into()),
        tool: &case.tool,
        tool_class: &policy::classify_tool(
            &case.tool,
            policy::ToolDeclaration {
                mode: case.mode,
                ..Default::default()
            },
        ),
        facts: &facts,
        undo: &undo,
        needs_person: case.needs_person,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        rules: &rules,
        ask_for_everything: case.ask_for_everything,
        headless: case
            .headless
            .then_some("Nobody is there to ask, so asking means denying."),
        shown_digest: &|| Digest("shown".into()),
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
        let table: VerdictTable =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        wrong.extend(table.case.iter().filter_map(check));
        cases += table.case.len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 40, "only {cases} cases were found");
}
