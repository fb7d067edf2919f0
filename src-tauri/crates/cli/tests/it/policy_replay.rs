//! `policy replay`: what scripts rely on.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{CliFixture, read_folder};

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn call(id: u32, tool: &str, args: &Value) -> Value {
    json!({"id": id, "tool": tool, "args": args, "session": "day"})
}

/// A workspace, and a file of calls beside it; gives the file's path.
fn place_with_calls(calls: &str) -> (CliFixture, String) {
    let place = CliFixture::new();
    place
        .write_file("a.txt", "alpha\n")
        .write_file(".env", "K=1\n");
    let file = place.write_outside_file("calls.jsonl", calls);
    (place, file)
}

/// Whether commands run in dry runs here.
fn has_dry_runs(place: &CliFixture) -> bool {
    let report = place.run_json(&["doctor"]);
    report.to_string().contains("\"speculative\"")
}

#[test]
fn each_call_has_its_line_and_all_have_their_sums() {
    let calls = lines(&[
        call(1, "read", &json!({"path": "a.txt"})),
        call(2, "bash", &json!({"command": "ls"})),
        call(3, "bash", &json!({"command": "echo more >> a.txt"})),
        call(4, "bash", &json!({"command": "cat .env"})),
        call(5, "web_fetch", &json!({"url": "https://packages.example/"})),
        call(6, "no_such_tool", &json!({})),
    ]);
    let (place, file) = place_with_calls(&calls);
    let has_dry_runs = has_dry_runs(&place);
    let read_all = || [place.workspace(), place.data()].map(|folder| read_folder(&folder));
    let before = read_all();
    let mut table = vec![("ask-first", "passed asked asked asked passed failed")];
    match has_dry_runs {
        true => table.extend([
            (
                "ask-about-effects",
                "passed passed passed asked passed failed",
            ),
            ("unattended", "passed passed passed denied passed failed"),
        ]),
        false => eprintln!("this machine cannot do dry runs"),
    }
    for (posture, expected) in table {
        let args = ["policy", "replay", &file, "--posture", posture];
        let told = place.run_ok(&args);
        let found: Vec<_> = told.lines().collect();
        let verdicts: Vec<_> = found[..6]
            .iter()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(verdicts.join(" "), expected, "{told}");
        assert!(
            found[4].contains("not run: it reaches the network"),
            "{told}"
        );
        let count = |verdict: &str| expected.matches(verdict).count();
        let sums = format!(
            "6 calls: {} passed, {} asked, {} denied, {} failed",
            count("passed"),
            count("asked"),
            count("denied"),
            count("failed")
        );
        assert_eq!(found[6], sums);

        let json = place.run_ok(&[&args[..], &["--json"]].concat());
        let values: Vec<Value> = json
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let verdicts: Vec<_> = values[..6]
            .iter()
            .filter_map(|value| value["verdict"].as_str())
            .collect();
        assert_eq!(verdicts.join(" "), expected);
        assert_eq!(
            (&values[0]["id"], &values[0]["session"]),
            (&json!("1"), &json!("day"))
        );
        assert_eq!(values[6]["sums"]["calls"], 6);
    }
    assert_eq!(read_all(), before);
}

#[test]
fn answers_come_from_a_file_by_the_calls_ids() {
    let calls = lines(&[
        call(1, "bash", &json!({"command": "ls"})),
        call(2, "bash", &json!({"command": "pwd"})),
    ]);
    let (place, file) = place_with_calls(&calls);
    let answers = place.write_outside_file("answers", "{\"id\":2,\"answer\":\"allow\"}\n\n");
    let args = ["policy", "replay", &file, "--answers"];
    let told = place.run_ok(&[&args[..], &[&answers, "--json"]].concat());
    let given: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["answer"].clone())
        .collect();
    assert_eq!(given[..2], [json!("deny"), json!("allow")]);

    for (text, named) in [
        ("{\"id\":1}\n", "line 1: `answer` is missing."),
        (
            "\n{\"id\":1,\"answer\":\"maybe\"}\n",
            "line 2: `answer` is neither",
        ),
        ("{\"answer\":\"allow\"}\n", "line 1: `id` is missing."),
    ] {
        let answers = place.write_outside_file("answers", text);
        let ran = place.run(&[&args[..], &[&answers]].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(named), "{ran:?}");
    }
}

#[test]
fn lines_that_are_no_calls_are_named_and_the_rest_goes_on() {
    let good = call(9, "read", &json!({"path": "a.txt"}));
    let bad = [
        ("nonsense", "Line 1: it is not JSON"),
        ("[]", "Line 2: it is not an object."),
        (r#"{"tool":"read","args":{}}"#, "Line 3: `id` is missing."),
        (r#"{"id":"x","args":{}}"#, "Line 4: `tool` is missing."),
        (r#"{"id":"x","tool":"read"}"#, "Line 5: `args` is missing."),
        (
            r#"{"id":"x","tool":"read","args":[]}"#,
            "Line 6: `args` is not an object.",
        ),
        (
            r#"{"id":"x","tool":1,"args":{}}"#,
            "Line 7: `tool` is not a text.",
        ),
        (
            r#"{"id":"x","tool":"read","args":{},"session":1}"#,
            "Line 8: `session` is not a text.",
        ),
    ];
    let text: String = bad.iter().map(|(line, _)| format!("{line}\n")).collect();
    let (place, file) = place_with_calls(&format!("{text}\n{good}"));
    let ran = place.run(&["policy", "replay", &file]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for (line, (_, named)) in ran.out.lines().zip(bad) {
        assert!(line.starts_with("failed") && line.contains(named), "{line}");
    }
    assert!(
        ran.out
            .contains("9 calls: 1 passed, 0 asked, 0 denied, 8 failed"),
        "{}",
        ran.out
    );

    let empty = place.write_outside_file("empty", "");
    let told = place.run_ok(&["policy", "replay", &empty]);
    assert!(told.starts_with("0 calls: 0 passed"), "{told}");
    for args in [
        &["policy", "replay"][..],
        &["policy", "replay", "/no/such/file"],
        &["policy", "replay", &empty, "--workspace", "/no/such/folder"],
        &["policy", "replay", &empty, "--rules", "/no/such/rules"],
        &["policy", "replay", &empty, "--from-record"],
        &["policy", "replay", "--from-record", "--since", "soon"],
    ] {
        assert_eq!(place.run(args).code, 2, "{args:?}");
    }
}

/// A call is replayed when its line is there, not when the file is at its end.
#[test]
fn calls_are_read_one_by_one() {
    let (place, _) = place_with_calls("");
    let mut child = place
        .command(&["policy", "replay", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in ["1", "2"] {
        writeln!(
            input,
            r#"{{"id":"{id}","tool":"read","args":{{"path":"a.txt"}}}}"#
        )
        .unwrap();
        let line = told.next().unwrap().unwrap();
        let report: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&report["id"], &report["verdict"]),
            (&json!(id), &json!("passed"))
        );
    }
    drop(input);
    let last = told.next().unwrap().unwrap();
    assert!(last.starts_with("{\"sums\""), "{last}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn calls_on_record_are_replayed_by_another_policy() {
    let (place, _) = place_with_calls("");
    let args = ["call", "read", r#"{"path":"a.txt"}"#];
    place.run_ok(&args);
    let replay = ["policy", "replay", "--from-record"];
    let told = place.run_ok(&replay);
    assert!(told.contains("1 call: 1 passed, 0 asked"), "{told}");

    let rule = "[[rule]]\npermission = \"fs.read\"\npattern = \"a.txt\"\naction = \"ask\"\n";
    let rules = place.write_outside_file("rules.toml", rule);
    let told = place.run_ok(&[&replay[..], &["last", "--rules", &rules, "--since", "1d"]].concat());
    assert!(told.contains("1 call: 0 passed, 1 asked"), "{told}");
    assert!(told.contains("asked by rules: 1"), "{told}");
    let none = place.run_ok(&[&replay[..], &["--since", "2100-01-01"]].concat());
    assert!(none.starts_with("0 calls"), "{none}");
}
