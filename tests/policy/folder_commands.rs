//! Commands that read whole folders, and programs that are named by a path: what a rule that denies something below says of
//! the one, and which rule allows the other.

use agent::rulebook::simulation::{PolicySimulation, SimulationOptions};
use policy::path::Os;
use protocol::{RuleScope, Verdict};
use serde_json::json;

/// Everything may run, but for what is named by a path; nothing that looks like secrets may be read.
const RULES: &str = r#"
[[rule]]
permission = "bash"
action = "allow"

[[rule]]
permission = "fs.read"
pattern = ".env*"
action = "deny"

[[rule]]
permission = "*"
pattern = "secrets/**"
action = "deny"

[[rule]]
permission = "fs.read"
pattern = "/etc/**"
action = "deny"

[[rule]]
permission = "fs.read"
pattern = "~/.ssh/**"
action = "deny"
"#;

fn trial(rules: &str, workspace: &std::path::Path) -> PolicySimulation {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), rules).unwrap();
    PolicySimulation::open(SimulationOptions {
        rules: vec![(RuleScope::User, file.path().to_owned())],
        workspace: workspace.to_owned(),
        os: Os::CURRENT,
        headless: false,
        only_rules: true,
        agent: None,
        data_dir: None,
    })
    .unwrap()
}

/// The verdict, and the sentence that says why.
fn evaluate_command(trial: &PolicySimulation, command: &str) -> (Verdict, String) {
    let arguments = json!({ "command": command });
    let trail = trial
        .simulate("bash", arguments.as_object().unwrap())
        .unwrap();
    (trail.verdict, trail.lead.clone())
}

/// A command that reads a folder whole may read what is denied there, so it asks.
#[test]
fn what_is_denied_may_lie_below() {
    let nowhere = trial(RULES, "/no/such/workspace".as_ref());
    for (command, verdict) in [
        ("grep x file", Verdict::Allow),
        ("grep -r x .", Verdict::Ask),
        ("grep -rn x", Verdict::Ask),
        ("grep -r x src", Verdict::Ask),
        ("grep -r x ./src/", Verdict::Ask),
        ("cd src && grep -r x .", Verdict::Ask),
        ("timeout 5 grep -r x .", Verdict::Ask),
        ("ls && rg x", Verdict::Ask),
        ("rg x", Verdict::Ask),
        ("rg x src", Verdict::Ask),
        ("ls | rg x", Verdict::Allow),
        ("rg x | head", Verdict::Ask),
        ("cp a b", Verdict::Allow),
        ("cp -r . x", Verdict::Ask),
        ("cp -r src x", Verdict::Ask),
        ("rsync -a src/ x", Verdict::Ask),
        ("tar c .", Verdict::Ask),
        ("tar -czf x.tgz src", Verdict::Ask),
        ("tar -c -f x.tar .", Verdict::Ask),
        ("tar --create --file=x.tar .", Verdict::Ask),
        ("tar xf x.tar", Verdict::Allow),
        ("zip -r x.zip .", Verdict::Ask),
        ("7z a x.7z .", Verdict::Ask),
        ("diff -r a b", Verdict::Ask),
        ("git grep x", Verdict::Allow),
        ("git grep --no-index x", Verdict::Ask),
        ("find . -exec cat {} +", Verdict::Ask),
        ("find . -name x", Verdict::Allow),
        ("ls -R", Verdict::Allow),
        ("cat .env", Verdict::Deny),
        ("grep -r x .env", Verdict::Deny),
        ("grep -r x secrets", Verdict::Deny),
        ("grep -r x /etc", Verdict::Deny),
    ] {
        let (is, why) = evaluate_command(&nowhere, command);
        assert_eq!(is, verdict, "{command}: {why}");
    }
    let (_, why) = evaluate_command(&nowhere, "grep -r x .");
    assert_eq!(
        why,
        "Needs approval by a rule: it denies `.env*`, which may lie below `.`."
    );
}

/// A file has nothing below it, and where nothing is denied nothing is asked.
#[test]
fn a_search_that_cannot_come_to_it_runs() {
    let env = "[[rule]]\npermission = \"bash\"\naction = \"allow\"\n\
               [[rule]]\npermission = \"fs.read\"\npattern = \".env*\"\naction = \"deny\"\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let here = trial(env, folder.path());
    for (command, verdict) in [
        ("rg x notes.txt", Verdict::Allow),
        ("grep -r x notes.txt", Verdict::Allow),
        ("rg x src", Verdict::Ask),
        ("rg x missing", Verdict::Ask),
    ] {
        let (is, why) = evaluate_command(&here, command);
        assert_eq!(is, verdict, "{command}: {why}");
    }
    // Without such a rule nothing is asked.
    let plain = trial(
        "[[rule]]\npermission = \"bash\"\naction = \"allow\"\n",
        folder.path(),
    );
    assert_eq!(evaluate_command(&plain, "grep -r x .").0, Verdict::Allow);
    // A path that another rule allows by its own name is still only a part of the folder.
    let sample =
        format!("{env}[[rule]]\npermission = \"fs.read\"\npattern = \"**\"\naction = \"allow\"\n");
    assert_eq!(
        evaluate_command(&trial(&sample, folder.path()), "grep -r x .").0,
        Verdict::Ask
    );
}

/// A program that is named by a path is allowed by a rule that spells that path, and by no other.
#[test]
fn a_path_is_allowed_by_its_own_rule() {
    let rules = |rules: &[(&str, &str)]| -> String {
        let one = |(pattern, action): &(&str, &str)| {
            format!(
                "[[rule]]\npermission = \"bash\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
            )
        };
        rules.iter().map(one).collect()
    };
    let gradle = rules(&[
        ("./gradlew test*", "allow"),
        ("ls*", "allow"),
        ("cd*", "allow"),
    ]);
    let loose = rules(&[
        ("gradlew*", "allow"),
        ("*gradlew test", "allow"),
        ("./*", "allow"),
        ("*", "allow"),
    ]);
    let denied = rules(&[("./gradlew test*", "allow"), ("gradlew*", "deny")]);
    let default = "default = \"allow\"\n".to_owned();
    for (rules, command, verdict) in [
        (&gradle, "./gradlew test", Verdict::Allow),
        (&gradle, "./gradlew test --info", Verdict::Allow),
        (&gradle, "timeout 60 ./gradlew test && ls", Verdict::Allow),
        (&gradle, "./gradlew build", Verdict::Ask),
        (&gradle, "././gradlew test", Verdict::Ask),
        (&gradle, "../gradlew test", Verdict::Ask),
        (&gradle, "gradlew test", Verdict::Ask),
        (&gradle, "'./gradlew' test", Verdict::Ask),
        (&gradle, "cd sub && ./gradlew test", Verdict::Ask),
        (&gradle, "./gradlew test; cd sub", Verdict::Ask),
        (&gradle, "./gradlew test > out", Verdict::Ask),
        (&loose, "./gradlew test", Verdict::Ask),
        (&loose, "gradlew test", Verdict::Allow),
        (&denied, "./gradlew test", Verdict::Deny),
        (&default, "./gradlew test", Verdict::Ask),
        (&default, "gradlew test", Verdict::Allow),
    ] {
        let (is, why) = evaluate_command(&trial(rules, "/no/such/workspace".as_ref()), command);
        assert_eq!(is, verdict, "{command} under\n{rules}{why}");
    }
}
