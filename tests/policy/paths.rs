//! The table of paths: a system, a path and some rules, and what is said of reading or writing it.

use std::path::Path;

use agent::rulebook::simulation::{PolicySimulation, SimulationOptions};
use policy::path::Os;
use protocol::Verdict;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathTable {
    /// The rules that all cases are judged by, alone.
    rules: String,
    case: Vec<PathCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathCase {
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
    let table: PathTable = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, &table.rules).unwrap();
    let trial = |os: &str| {
        let os = Os::from_name(os).unwrap_or_else(|| panic!("there is no system {os}"));
        PolicySimulation::open(SimulationOptions {
            rules: vec![(protocol::RuleScope::User, rules.clone())],
            // None of them is on this disk.
            workspace: match os {
                Os::Linux => "/home/me/no-such-workspace",
                Os::Macos => "/Users/me/project",
                Os::Windows => r"C:\Users\me\project",
            }
            .into(),
            os,
            headless: false,
            only_rules: true,
            agent: None,
            data_dir: None,
        })
        .unwrap()
    };
    let mut wrong = Vec::new();
    for case in &table.case {
        let arguments = json!({ "path": case.path });
        let trail = trial(&case.os)
            .simulate(&case.tool, arguments.as_object().unwrap())
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

/// Operands of commands, judged by rules on paths that stand beside an allow for the command: braces are
/// spelled out, and what the shell completes is denied where it may come to name what is denied.
#[test]
fn operands_of_commands() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    let text = "[[rule]]\npermission = \"bash\"\npattern = \"cat *\"\naction = \"allow\"\n\
                [[rule]]\npermission = \"fs.read\"\npattern = \".env*\"\naction = \"deny\"\n";
    std::fs::write(&rules, text).unwrap();
    let trial = PolicySimulation::open(SimulationOptions {
        rules: vec![(protocol::RuleScope::User, rules)],
        workspace: "/home/me/no-such-workspace".into(),
        os: Os::Linux,
        headless: false,
        only_rules: true,
        agent: None,
        data_dir: None,
    })
    .unwrap();
    for (command, verdict) in [
        ("cat a.rs", Verdict::Allow),
        ("cat '.en?'", Verdict::Allow),
        ("cat *", Verdict::Ask),
        ("cat *.rs", Verdict::Ask),
        ("cat $F", Verdict::Ask),
        ("cat .env", Verdict::Deny),
        ("cat {.env,x}", Verdict::Deny),
        ("cat .e{nv,x}", Verdict::Deny),
        ("cat .en?", Verdict::Deny),
        ("cat .*", Verdict::Deny),
        ("cat a/.[e]nv", Verdict::Deny),
        ("cat < .e*v", Verdict::Deny),
        ("tar cf x.tar .env", Verdict::Deny),
        ("cat /etc/pass*", Verdict::Deny),
        ("cat \"/etc\"/*", Verdict::Deny),
        ("cat /etc/$X", Verdict::Deny),
        ("cat ../*", Verdict::Deny),
        ("cat a/../*", Verdict::Ask),
        ("cat ~/x", Verdict::Deny),
        ("cat $HOME/x", Verdict::Deny),
        ("f=.env; cat $f", Verdict::Deny),
        ("f=a; cat $f", Verdict::Ask),
        ("for f in a .env; do cat \"$f\"; done", Verdict::Deny),
        ("cat $(echo .env)", Verdict::Deny),
        ("cat ${x:-.env}", Verdict::Deny),
        ("git add .env", Verdict::Deny),
        ("git diff main -- .env", Verdict::Deny),
        ("git show HEAD:.env", Verdict::Deny),
        ("git checkout main", Verdict::Ask),
        ("node --env-file=.env x.js", Verdict::Deny),
    ] {
        let arguments = json!({ "command": command });
        let trail = trial
            .simulate("bash", arguments.as_object().unwrap())
            .unwrap();
        assert_eq!(trail.verdict, verdict, "{command}: {}", trail.lead);
    }
}
