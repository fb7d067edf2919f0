//! The table of paths: a system, a path and some rules, and what is said of reading or writing it.

use std::path::Path;

use agent::trial::{Setup, Trial};
use policy::path::Os;
use protocol::Verdict;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The rules that all cases are judged by, alone.
    rules: String,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    os: String,
    #[serde(default = "read")]
    tool: String,
    path: String,
    verdict: Verdict,
    /// A part of the trail's text, or of a rule's reason.
    why: String,
}

fn read() -> String {
    "read".to_owned()
}

/// `S002-97`: at least a hundred paths, each with its verdict and reason.
#[test]
fn every_path() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/paths.toml");
    let table: Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, &table.rules).unwrap();
    let trial = |os: &str| {
        let os = Os::named(os).unwrap_or_else(|| panic!("there is no system {os}"));
        Trial::open(Setup {
            rules: vec![(protocol::RuleScope::User, rules.clone())],
            // None of them is on this disk.
            workspace: match os {
                Os::Linux => "/home/me/no-such-workspace",
                Os::Macos => "/Users/me/work",
                Os::Windows => r"C:\Users\me\work",
            }
            .into(),
            os,
            headless: false,
            only_rules: true,
            data_dir: None,
        })
        .unwrap()
    };
    let mut wrong = Vec::new();
    for case in &table.case {
        let arguments = json!({ "path": case.path });
        let trail = trial(&case.os)
            .weigh(&case.tool, arguments.as_object().unwrap())
            .unwrap();
        let told: Vec<String> = trail
            .steps
            .iter()
            .flat_map(|step| {
                let reasons = step
                    .rules
                    .iter()
                    .filter_map(|trace| trace.rule.reason.clone());
                std::iter::once(step.text.clone()).chain(reasons)
            })
            .collect();
        let said = told.join("\n");
        if trail.verdict != case.verdict || !said.contains(&case.why) {
            wrong.push(format!(
                "{} {:?} on {}: {:?}\n{said}",
                case.tool, case.path, case.os, trail.verdict
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(table.case.len() >= 100, "only {} paths", table.case.len());
}
