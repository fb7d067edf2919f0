//! Input of `run` and `call` on the command line: standard input, files, going on with a session, global options.

use std::io::Write;
use std::process::Stdio;

use crate::support::{CliFixture, CliRun};

/// Runs the program with a text on its standard input.
fn piped(place: &CliFixture, args: &[&str], input: &str) -> CliRun {
    let mut child = place
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn script(place: &CliFixture, text: &str) -> String {
    let turns = serde_json::json!({ "turns": [{ "text": text }] });
    place.write_outside_file("script.json", &turns.to_string())
}

#[test]
fn a_prompt_comes_from_standard_input_and_files() {
    let place = CliFixture::new();
    let script = script(&place, "Said.");
    place.write_file("notes.md", "a\n```\nb\n```");
    let run = ["run", "--script", &script];
    for (more, input, told) in [
        (&["-"][..], "Do it.\n", "› Do it.\n\n"),
        (&[], "Do that.\n", "› Do that.\n\n"),
        (
            &["--file", "notes.md", "Read it."],
            "",
            "› Read it.\n\nnotes.md:\n````\na\n```\nb\n```\n````\n\n",
        ),
        (
            &["--file", "-", "Look."],
            "x\n",
            "› Look.\n\nstandard input:\n```\nx\n```\n\n",
        ),
    ] {
        let ran = piped(&place, &[&run[..], more].concat(), input);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{more:?}");
        assert!(ran.out.starts_with(told), "{more:?}: {}", ran.out);
    }
    for (name, bytes) in [
        ("image.png", &b"\x89PNG\r\n\x1a\n"[..]),
        ("noise", &[0x89, 0xff]),
    ] {
        place.write_file(name, "");
        std::fs::write(place.workspace().join(name), bytes).unwrap();
    }
    let seen = place.run(&[&run[..], &["--file", "image.png", "See."]].concat());
    assert_eq!((seen.code, seen.err.as_str()), (0, ""));
    assert!(
        seen.out.starts_with("› See.  with 1 image\n\n"),
        "{}",
        seen.out
    );
    for (more, input, told) in [
        (&["-", "--file", "-"][..], "x", "more than once"),
        (&["--file", "missing", "Go."], "", "missing"),
        (&["--file", "noise", "Go."], "", "not UTF-8 text"),
        (&["-"], " \n", "nothing to say"),
    ] {
        let ran = piped(&place, &[&run[..], more].concat(), input);
        assert_eq!(ran.code, 2, "{more:?}: {ran:?}");
        assert!(ran.err.contains(told), "{more:?}: {}", ran.err);
    }
}

#[test]
fn a_session_is_gone_on_with() {
    let place = CliFixture::new();
    let script = script(&place, "Said.");
    let say = |more: &[&str]| place.run(&[&["run", "--script", &script], more].concat());
    assert!(say(&["--continue", "Go."]).err.contains("no session in"));
    assert_eq!(say(&["First."]).code, 0);
    assert_eq!(say(&["Second."]).code, 0);
    let sessions = place.run_json(&["sessions"]);
    let id = |n: usize| sessions["sessions"][n]["id"].as_str().unwrap().to_owned();
    let first = &id(1)[id(1).len() - 6..];
    assert_eq!(say(&["--resume", first, "Third."]).code, 0);
    // The session with the last message is continued, not the one that was opened last.
    assert_eq!(say(&["-c", "Fourth."]).code, 0);
    let told = place.run_ok(&["show", first]);
    for text in ["› First.", "› Third.", "› Fourth."] {
        assert!(told.contains(text), "{told}");
    }
    assert_eq!(place.run_ok(&["show", "last"]), told);
    let all = place.run_json(&["sessions"])["sessions"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(all, 2, "no session was opened beside");
    let ran = say(&["--resume", first]);
    assert_eq!(ran.code, 2, "it is done, so there is nothing to go on from");
    assert!(ran.err.contains("nothing to say"), "{}", ran.err);
    assert_eq!(say(&["--resume", "zzzz", "Go."]).code, 2);
    assert_eq!(say(&["-c", "--resume", first, "Go."]).code, 2);
}

#[test]
fn a_call_reads_its_arguments_from_standard_input() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let ran = piped(&place, &["call", "read", "-"], "{\"path\":\"a.txt\"}\n");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("alpha"), "{}", ran.out);
    let ran = piped(&place, &["call", "read", "-"], "alpha");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not a JSON object"), "{}", ran.err);
}

#[test]
fn the_folder_is_named_as_git_names_it() {
    let place = CliFixture::new();
    place.write_file("below/a.txt", "alpha\n");
    for args in [
        ["-C", "below", "call", "read", r#"{"path":"a.txt"}"#],
        ["call", "read", r#"{"path":"a.txt"}"#, "-C", "below"],
    ] {
        assert!(place.run_ok(&args).contains("alpha"), "{args:?}");
    }
    let ran = place.run(&["-C", "missing", "sessions"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("missing"), "{}", ran.err);
}

#[test]
fn it_says_less_or_more_and_in_colours_where_that_is_wanted() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let turns = r#"{"turns":[{"calls":[{"name":"read","arguments":{"path":"a.txt"}}]},{"text":"It says alpha."}]}"#;
    let script = place.write_outside_file("script.json", turns);
    let run = ["run", "--script", &script, "Go."];
    let quiet = place.run_ok(&[&run[..], &["-q"]].concat());
    assert_eq!(quiet, "It says alpha.\n\n");
    let always = place.run_ok(&[&run[..], &["--color", "always"]].concat());
    assert!(always.contains("\u{1b}[32m✓\u{1b}[0m"), "{always:?}");
    assert!(!place.run_ok(&run).contains('\u{1b}'));
    let ran = place.run(&[&run[..], &["-vv"]].concat());
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("DEBUG"), "{}", ran.err);
    assert_eq!(place.run(&["sessions", "-q", "-v"]).code, 2);
    let ran = place.run(&["show", "nobody", "-q"]);
    assert!(ran.err.contains("no session nobody"), "errors are told");
}

#[test]
fn how_much_a_model_thinks_goes_along_with_its_name() {
    let place = CliFixture::new();
    let run = [
        "run",
        "--provider",
        "openai",
        "--model",
        "gpt-5",
        "--thinking",
        "high",
        "Go.",
    ];
    let ran = place.run(&run);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`gpt-5`"), "{}", ran.err);
    let run = [
        "run",
        "--provider",
        "anthropic",
        "-m",
        "claude-x",
        "--thinking",
        "low",
        "Go.",
    ];
    assert_eq!(place.run(&run).code, 1, "there is no key");
    let model = place.run_json(&["sessions"])["sessions"][0]["model"]["model"].clone();
    assert_eq!(model, "claude-x-low");
}

#[test]
fn a_temperature_is_asked_of_the_session_s_model() {
    let place = CliFixture::new();
    let run = |temperature: &str| {
        let model = ["--provider", "anthropic", "-m", "claude-x"];
        place.run(&[&["run", "--temperature", temperature][..], &model, &["Go."]].concat())
    };
    let ran = run("3");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("from 0 to 2"), "{}", ran.err);
    assert_eq!(
        place.run_json(&["sessions"])["sessions"],
        serde_json::json!([])
    );
    assert_eq!(run("0.3").code, 1, "there is no key");
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    assert!(events.contains("\"temperature\":0.3"), "{events}");
    let again = ["run", "--continue", "--temperature", "0.3", "Go on."];
    assert_eq!(place.run(&again).code, 2, "it holds for the whole session");
}
