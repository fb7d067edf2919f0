//! `policy check | explain | lint`: what scripts rely on.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{CliFixture, CliRun};

/// Runs the program with something on its standard input.
fn fed(place: &CliFixture, args: &[&str], input: &[u8]) -> CliRun {
    let mut child = place
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Judges calls by one rules file; gives `id verdict` of each line.
fn verdicts(place: &CliFixture, more: &[&str], rules: &str, calls: &[Value]) -> Vec<String> {
    let file = place.write_outside_file("rules.toml", rules);
    let args = [&["policy", "check", "--rules", &file], more].concat();
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let ran = fed(place, &args, input.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let lines = ran.out.lines().map(|line| {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            answer.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["id", "verdict", "trail"],
            "{line}"
        );
        format!("{} {}", answer["id"], answer["verdict"].as_str().unwrap())
    });
    lines.collect()
}

fn bash(id: u32, command: &str) -> Value {
    json!({"id": id, "tool": "bash", "args": {"command": command}})
}

fn call(id: u32, tool: &str, args: Value) -> Value {
    json!({"id": id, "tool": tool, "args": args})
}

const RULES: &str = r#"
[[rule]]
permission = "bash"
pattern = "git status*"
action = "allow"

[[rule]]
permission = "bash"
pattern = "rm*"
action = "deny"

[[rule]]
permission = "fs.read"
pattern = "src/**"
action = "allow"
"#;

#[test]
fn calls_are_judged_in_their_order() {
    let place = CliFixture::new();
    let calls = [
        bash(1, "git status"),
        bash(2, "git stash"),
        bash(3, "git status; rm -rf x"),
        call(4, "read", json!({"path": "src/a.rs"})),
        call(5, "read", json!({"path": "../a.rs"})),
        call(6, "read_file", json!({"path": "src/a.rs"})),
        call(7, "server__unknown", json!({"x": 1})),
    ];
    let alone = verdicts(&place, &["--only-rules"], RULES, &calls);
    assert_eq!(
        alone,
        [
            "1 allow", "2 ask", "3 deny", "4 allow", "5 deny", "6 allow", "7 ask"
        ]
    );
    let denying = verdicts(
        &place,
        &["--only-rules"],
        &format!("default = \"deny\"\n{RULES}"),
        &calls,
    );
    assert_eq!(
        denying,
        [
            "1 allow", "2 deny", "3 deny", "4 allow", "5 deny", "6 allow", "7 deny"
        ]
    );
    // `S002-85`: nobody is there, so what asks is denied.
    let headless = verdicts(&place, &["--only-rules", "--headless"], RULES, &calls);
    assert_eq!(headless, denying);
}

#[test]
fn modes_protections_and_the_watchdog_speak_beside_the_rules() {
    let place = CliFixture::new();
    for path in ["docs/a.md", ".env", ".env.example", "a"] {
        place.write_file(path, "x\n");
    }
    let calls = [
        call(1, "read", json!({"path": "docs/a.md"})),
        call(2, "read", json!({"path": ".env"})),
        call(3, "read", json!({"path": ".env.example"})),
        call(
            4,
            "write",
            json!({"path": ".git/hooks/pre-commit", "content": "x"}),
        ),
        call(
            5,
            "write",
            json!({"path": ".countersign/rules.toml", "content": "x"}),
        ),
        bash(6, "rm -rf /"),
        call(7, "web_fetch", json!({"url": "https://docs.rs/x"})),
        call(
            8,
            "web_fetch",
            json!({"url": "http://169.254.169.254/latest"}),
        ),
        call(9, "delete_path", json!({"path": "a"})),
        call(10, "grep", json!({"pattern": "x"})),
    ];
    let rules = "[[rule]]\npermission = \"*\"\naction = \"allow\"\npattern = \"docs/**\"\n";
    assert_eq!(
        verdicts(&place, &[], rules, &calls),
        [
            "1 allow", "2 ask", "3 allow", "4 deny", "5 deny", "6 deny", "7 allow", "8 deny",
            "9 allow", "10 allow"
        ]
    );
}

/// `S002-82`, `S002-84`: scopes are named before the file; a manifest's deny is final.
#[test]
fn scopes_are_named_before_the_file() {
    let place = CliFixture::new();
    let rule = |action: &str| {
        format!("[[rule]]\npermission = \"bash\"\npattern = \"ls*\"\naction = \"{action}\"\n")
    };
    let deny = place.write_outside_file("deny.toml", &rule("deny"));
    let allow = place.write_outside_file("allow.toml", &rule("allow"));
    let input = bash(1, "ls").to_string();
    for (first, second, verdict) in [
        ("user", "project", "allow"),
        ("session", "project", "deny"),
        ("manifest", "session", "deny"),
        ("project", "project", "deny"),
    ] {
        let (first, second) = (format!("{first}:{deny}"), format!("{second}:{allow}"));
        let args = [
            "policy",
            "check",
            "--only-rules",
            "--rules",
            &first,
            "--rules",
            &second,
        ];
        let ran = fed(&place, &args, input.as_bytes());
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["verdict"], verdict, "{first} {second}: {}", ran.out);
    }
}

#[test]
fn a_bad_line_is_denied_and_the_rest_goes_on() {
    let place = CliFixture::new();
    let file = place.write_outside_file("rules.toml", RULES);
    let input = b"nonsense\n\n{\"id\":\"a\"}\n[1]\n{\"id\":2,\"tool\":\"bash\",\"args\":[]}\n{\"id\":3,\"tool\":\"bash\",\"args\":{}}\n{\"id\":4,\"tool\":\"bash\",\"args\":{\"command\":\"git status\"}}\n{\"id\":5,\"tool\":\"bash\",\"args\":{\"command\":\"git status \xff\"}}";
    let ran = fed(
        &place,
        &["policy", "check", "--only-rules", "--rules", &file],
        input,
    );
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<(Value, Value, bool)> = answers
        .iter()
        .map(|one| {
            (
                one["id"].clone(),
                one["verdict"].clone(),
                one.get("error").is_some(),
            )
        })
        .collect();
    let line = |id: Value, verdict: &str, wrong: bool| (id, json!(verdict), wrong);
    assert_eq!(
        told,
        [
            line(Value::Null, "deny", true),
            line(json!("a"), "deny", true),
            line(Value::Null, "deny", true),
            line(json!(2), "deny", true),
            line(json!(3), "deny", true),
            line(json!(4), "allow", false),
            line(Value::Null, "deny", true),
        ],
        "{}",
        ran.out
    );
    assert_eq!(ran.code, 1);
    assert!(
        answers[0]["error"]
            .as_str()
            .unwrap()
            .starts_with("Line 1: ")
    );
}

#[test]
fn a_broken_rules_file_is_told_before_anything_is_judged() {
    let place = CliFixture::new();
    let file = place.write_outside_file("rules.toml", "[[rule]]\npermision = \"bash\"\n");
    let input = bash(1, "ls").to_string();
    let ran = fed(
        &place,
        &["policy", "check", "--rules", &file],
        input.as_bytes(),
    );
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert!(
        ran.err
            .contains("line 2: the key `permision` is not known here (did you mean `permission`?)"),
        "{}",
        ran.err
    );
    let none = fed(&place, &["policy", "check", "--rules", "none.toml"], b"");
    assert_eq!(none.code, 4);
    assert_eq!(
        fed(&place, &["policy", "check", "--os", "dos"], b"").code,
        2
    );
}

#[test]
fn another_system_s_paths_are_judged_without_a_disk() {
    let place = CliFixture::new();
    let calls = [
        call(1, "read", json!({"path": "src\\a.rs"})),
        call(2, "read", json!({"path": "C:\\work\\src\\a.rs"})),
        call(3, "read", json!({"path": "NUL"})),
        call(4, "read", json!({"path": "D:\\x"})),
    ];
    let args = ["--only-rules", "--os", "windows", "--workspace", "C:\\work"];
    assert_eq!(
        verdicts(&place, &args, RULES, &calls),
        ["1 allow", "2 allow", "3 deny", "4 deny"]
    );
}

#[test]
fn a_verdict_is_explained_in_words() {
    let place = CliFixture::new();
    let file = place.write_outside_file("rules.toml", RULES);
    let args = [
        "policy",
        "explain",
        "bash",
        r#"{"command":"rm x"}"#,
        "--rules",
        &file,
    ];
    let told = place.run_ok(&args);
    assert!(
        told.starts_with("Denied by the rule `bash rm*`.\n"),
        "{told}"
    );
    assert!(told.contains("line 7"), "{told}");
    let trail = place.run_json(&args);
    assert_eq!(trail["verdict"], "deny");
    assert_eq!(place.run(&["policy", "explain", "bash", "[]"]).code, 2);
}

#[test]
fn lint_tells_all_that_is_wrong() {
    let place = CliFixture::new();
    let good = place.write_outside_file("good.toml", RULES);
    let odd = place.write_outside_file(
        "odd.toml",
        "[[rule]]\npermission = \"bsh\"\naction = \"allow\"\nexpires = 2020-01-01T00:00:00Z\n",
    );
    let bad = place.write_outside_file("bad.toml", "default = \"alow\"\n");
    let told = place.run_ok(&["policy", "lint", &good]);
    assert!(told.contains("nothing is wrong"), "{told}");
    let told = place.run_ok(&["policy", "lint", &odd]);
    for part in [
        "line 1: it allows everything",
        "did you mean `bash`",
        "has expired",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let ran = place.run(&["policy", "lint", &odd, &bad, "--json"]);
    assert_eq!(ran.code, 4);
    let kinds: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    assert_eq!(
        kinds,
        ["warning", "warning", "warning", "error"],
        "{}",
        ran.out
    );
}

/// A project's file loosens nothing before exactly its text was trusted; a change asks again, with what changed.
#[test]
fn a_project_is_trusted_by_what_its_file_says() {
    let place = CliFixture::new();
    let allow = "[[rule]]\npermission = \"bash\"\npattern = \"ls*\"\naction = \"allow\"\n";
    place.write_file(".countersign/rules.toml", allow);
    let verdict = || {
        let explained = place.run_json(&["policy", "explain", "bash", r#"{"command":"ls"}"#]);
        explained["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(place.run(&["policy", "trust"]).code, 1);
    assert_eq!(verdict(), "ask");
    let digest = |place: &CliFixture| {
        let ran = place.run(&["policy", "trust", "--json"]);
        let view: Value = serde_json::from_str(&ran.out).unwrap();
        view["digest"].as_str().unwrap().to_owned()
    };
    let first = digest(&place);
    let told = place.run_ok(&["policy", "trust", "--accept", &first]);
    assert!(told.contains("is trusted"), "{told}");
    assert_eq!(verdict(), "allow");

    place.write_file(".countersign/rules.toml", &allow.replace("ls*", "ls *"));
    let ran = place.run(&["policy", "trust"]);
    assert_eq!(ran.code, 1);
    for part in [
        "changed since you trusted it",
        "-pattern = \"ls*\"",
        "+pattern = \"ls *\"",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(verdict(), "ask");
    let stale = place.run(&["policy", "trust", "--accept", &first]);
    assert!(stale.code != 0 && stale.err.contains("changed since you looked"));

    let second = digest(&place);
    place.run_ok(&["policy", "trust", "--accept", &second]);
    assert_eq!(verdict(), "allow");
    place.run_ok(&["policy", "trust", "--revoke"]);
    assert_eq!(verdict(), "ask");
}
