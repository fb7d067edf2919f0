//! The gate over command lines held against tables of commands, on a real folder: what other programs for the same
//! purpose do not let pass by themselves, and what was once let pass here, asks or is denied.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use agent::rulebook::simulation::{PolicySimulation, SimulationOptions};
use policy::path::Os;
use protocol::{RuleScope, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

/// A file of commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    /// Source of the facts: project and file.
    source: String,
    table: Vec<CommandTable>,
}

/// Commands under one set of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandTable {
    /// Patterns of commands that are allowed.
    #[serde(default)]
    allow: Vec<String>,
    /// The first word of each command is allowed with whatever follows.
    #[serde(default)]
    allow_programs: bool,
    /// Patterns of commands that are denied.
    #[serde(default)]
    deny: Vec<String>,
    /// Patterns of paths that must not be read.
    #[serde(default)]
    deny_read: Vec<String>,
    /// Commands that must not pass.
    #[serde(default)]
    stops: Vec<String>,
    /// Commands that must be asked about, and not denied.
    #[serde(default)]
    asks: Vec<String>,
    /// Commands that must be denied.
    #[serde(default)]
    denies: Vec<String>,
    /// Commands that must pass.
    #[serde(default)]
    passes: Vec<String>,
    /// Paths that the tool `write` must not write by itself.
    #[serde(default)]
    unwritable: Vec<String>,
}

impl CommandTable {
    fn rules(&self, program: Option<&str>) -> String {
        let mut text = String::new();
        let mut add = |permission: &str, pattern: &str, action: &str| {
            text += &format!(
                "[[rule]]\npermission = \"{permission}\"\npattern = '''{pattern}'''\naction = \"{action}\"\n"
            );
        };
        for pattern in &self.allow {
            add("bash", pattern, "allow");
        }
        if let Some(program) = program {
            add("bash", &format!("{program} *"), "allow");
        }
        for pattern in &self.deny {
            add("bash", pattern, "deny");
        }
        for pattern in &self.deny_read {
            add("fs.read", pattern, "deny");
        }
        text
    }
}

/// A workspace with a secret, a repository, and what is run.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["src", "sub", ".git/hooks", ".countersign"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for name in [
        ".env",
        "sub/.env",
        "x",
        "y",
        "a",
        "src/a.rs",
        ".git/config",
        "Makefile",
    ] {
        fs::write(at(name), "text\n").unwrap();
    }
    fs::hard_link(at(".env"), at("notes")).unwrap();
    folder
}

fn trial(rules: &str, workspace: &Path) -> PolicySimulation {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), rules).unwrap();
    PolicySimulation::open(SimulationOptions {
        rules: vec![(RuleScope::User, file.path().to_owned())],
        workspace: workspace.to_owned(),
        os: Os::CURRENT,
        headless: false,
        only_rules: false,
        agent: None,
        data_dir: None,
    })
    .unwrap()
}

fn evaluate_call(trial: &PolicySimulation, tool: &str, arguments: Value) -> (Verdict, String) {
    let arguments = arguments.as_object().unwrap();
    let trail = trial.simulate(tool, arguments).unwrap();
    (trail.verdict, trail.lead.clone())
}

/// A fault of a table.
fn check_table(table: &CommandTable, workspace: &Path) -> (usize, Vec<String>) {
    type Expected = fn(Verdict) -> bool;
    let groups: [(&Vec<String>, Expected); 4] = [
        (&table.stops, |verdict| verdict != Verdict::Allow),
        (&table.asks, |verdict| verdict == Verdict::Ask),
        (&table.denies, |verdict| verdict == Verdict::Deny),
        (&table.passes, |verdict| verdict == Verdict::Allow),
    ];
    let mut wrong = Vec::new();
    let mut count = table.unwritable.len();
    let shared = trial(&table.rules(None), workspace);
    // One for each program, where the table allows each command's own.
    let mut trials: HashMap<&str, PolicySimulation> = HashMap::new();
    for (commands, is_expected) in groups {
        count += commands.len();
        for command in commands {
            let program = command.split([' ', '\n']).next().unwrap_or_default();
            let trial = match table.allow_programs {
                true => &*trials
                    .entry(program)
                    .or_insert_with(|| trial(&table.rules(Some(program)), workspace)),
                false => &shared,
            };
            let (verdict, lead) = evaluate_call(trial, "bash", json!({ "command": command }));
            if !is_expected(verdict) {
                wrong.push(format!("{command:?}\n    is {verdict:?}: {lead}"));
            }
        }
    }
    for path in &table.unwritable {
        let (verdict, lead) =
            evaluate_call(&shared, "write", json!({ "path": path, "content": "x" }));
        if verdict == Verdict::Allow {
            wrong.push(format!("writing {path:?}\n    is {verdict:?}: {lead}"));
        }
    }
    (count, wrong)
}

#[test]
fn no_table_of_commands_passes() {
    let workspace = workspace();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/peers");
    let mut wrong = Vec::new();
    let mut all = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let file: TableFile =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!file.source.is_empty(), "{}", path.display());
        for table in &file.table {
            let (count, found) = check_table(table, workspace.path());
            all += count;
            wrong.extend(found.iter().map(|one| format!("{}: {one}", path.display())));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(all >= 500, "only {all} commands were found");
}

/// A file is the same under each of its names, and what is written to a pipe is no file.
#[test]
#[cfg(unix)]
fn a_file_is_known_under_all_its_names() {
    let workspace = workspace();
    let rules = "[[rule]]\npermission = 'fs.read'\npattern = '.env'\naction = 'deny'\n\
                 [[rule]]\npermission = 'bash'\naction = 'allow'\n";
    let trial = trial(rules, workspace.path());
    let (verdict, why) = evaluate_call(&trial, "read", json!({ "path": "notes" }));
    assert_eq!(verdict, Verdict::Deny, "{why}");
    let (verdict, why) = evaluate_call(&trial, "bash", json!({ "command": "cat notes" }));
    assert_eq!(verdict, Verdict::Deny, "{why}");
    let (verdict, why) = evaluate_call(&trial, "bash", json!({ "command": "frob --in=notes" }));
    assert_eq!(verdict, Verdict::Deny, "{why}");
    let (verdict, why) = evaluate_call(&trial, "read", json!({ "path": "a" }));
    assert_eq!(verdict, Verdict::Allow, "{why}");

    let pipe = workspace.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let (verdict, why) = evaluate_call(&trial, "write", json!({ "path": "pipe", "content": "x" }));
    assert_eq!(verdict, Verdict::Ask, "{why}");
    let (verdict, why) = evaluate_call(&trial, "bash", json!({ "command": "tee pipe" }));
    assert_eq!(verdict, Verdict::Ask, "{why}");
}

/// A command that names more than any limit is denied, because a target that is left out may be.
#[test]
fn a_limit_never_weakens_a_deny() {
    let workspace = workspace();
    let rules = "[[rule]]\npermission = 'fs.read'\npattern = '.env'\naction = 'deny'\n\
                 [[rule]]\npermission = 'bash'\npattern = 'rm*'\naction = 'deny'\n\
                 [[rule]]\npermission = 'bash'\naction = 'allow'\n";
    let trial = trial(rules, workspace.path());
    for command in [
        format!("cat {}.env", "a ".repeat(30_000)),
        format!(
            "cat {}.env",
            (0..9_000).map(|n| format!("a{n} ")).collect::<String>()
        ),
        format!("{}rm x", "eval ".repeat(30)),
        format!("{}rm x", "env ".repeat(60)),
        format!("{}rm x", "command ".repeat(100)),
        format!("{}rm x", "command ".repeat(2_000)),
        format!("{}cat .env", "env ".repeat(500)),
        format!("echo x | {}rm", "env -z ".repeat(60)),
    ] {
        let (verdict, why) = evaluate_call(&trial, "bash", json!({ "command": command }));
        assert_eq!(verdict, Verdict::Deny, "{}… {why}", &command[..40]);
    }
}
