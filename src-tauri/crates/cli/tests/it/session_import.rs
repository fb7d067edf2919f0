//! `sessions import`: sessions of other agents, from their transcripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use protocol::Content;
use serde_json::{Value, json};

use crate::support::{CliFixture, CliRun};

const CLAUDE_CODE: &str = include_str!("../../../gateway/tests/fixtures/claude-code.jsonl");
const CODEX: &str = include_str!("../../../gateway/tests/fixtures/codex.jsonl");
const GEMINI_CLI: &str = include_str!("../../../gateway/tests/fixtures/gemini-cli.jsonl");

/// The workspace by the path that agents name it by.
fn workspace(place: &CliFixture) -> String {
    let folder = fs::canonicalize(place.workspace()).unwrap();
    folder.display().to_string()
}

/// A transcript of a session in the workspace.
fn in_workspace(transcript: &str, place: &CliFixture) -> String {
    transcript.replace("/home/me/project", &workspace(place))
}

/// Writes a file below a folder; gives its path.
fn write(folder: &str, path: &str, text: &str) -> String {
    let file = Path::new(folder).join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// The program with the agents' folders.
fn command(place: &CliFixture, agents: &str, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command
        .env("CLAUDE_CONFIG_DIR", agents)
        .env("CODEX_HOME", agents);
    command
}

fn run(place: &CliFixture, agents: &str, args: &[&str]) -> CliRun {
    let output = command(place, agents, args).output().unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Imports, and returns what was said of it as JSON.
fn import(place: &CliFixture, agents: &str, args: &[&str]) -> Value {
    let args = [&["sessions", "import", "--json"], args].concat();
    let ran = run(place, agents, &args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

/// What an import says that added this many sessions, with this many messages and calls.
fn added(sessions: u64, entries: u64) -> Value {
    json!({
        "added": sessions, "grown": 0, "unchanged": 0, "entries": entries, "elsewhere": 0, "faults": 0, "reasons": [],
    })
}

/// A place with an imported session of Claude Code; gives the folder of the agents.
fn imported(place: &CliFixture) -> String {
    let agents = place.create_outside_folder("agents");
    let transcript = in_workspace(CLAUDE_CODE, place);
    write(&agents, "projects/a/8a0c1f0e.jsonl", &transcript);
    let told = import(place, &agents, &["--from", "claude-code"]);
    assert_eq!(told, added(1, 16));
    agents
}

#[test]
fn an_imported_session_is_listed_shown_found_and_exported() {
    let place = CliFixture::new();
    imported(&place);
    let sessions = place.run_json(&["sessions"]);
    let session = &sessions["sessions"][0];
    assert_eq!(session["title"], "Write a file.");
    assert_eq!(session["workspace"], workspace(&place));
    let model = json!({"provider": "imported", "model": "Claude Code 2.1.332"});
    assert_eq!(session["model"], model);
    assert_eq!(session["state"], "idle");
    assert_eq!(session["opened_at"], 1_795_694_009_744_i64, "as it was");

    let shown = place.run_ok(&["show", "last"]);
    for words in [
        "imported from a transcript of Claude Code 2.1.332. Its calls were not judged here.",
        "Write a file.",
        "Step 0.",
        "echo hello > cl.txt && cat cl.txt",
        "claude done",
    ] {
        assert!(shown.contains(words), "{words:?} is not in\n{shown}");
    }
    let found = place.run_json(&["search", "claude", "done"]);
    assert_eq!(found["total"], 1, "{found}");
    let exported = place.run_ok(&["export", "last"]);
    assert!(exported.contains("Exit code 3"), "{exported}");
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    assert!(events.contains("8a0c1f0e-0000-4000-8000-000000000001"));
    assert!(
        !events.contains("call_judged"),
        "no verdict is made up:\n{events}"
    );
}

#[test]
fn rules_are_tried_on_imported_calls_and_nothing_else_counts_them() {
    let place = CliFixture::new();
    imported(&place);
    let tested = place.run_json(&["policy", "backtest", "--rule", "allow bash exit*"]);
    assert_eq!(tested["calls"], 8, "{tested}");
    assert_eq!(tested["changed"][0]["from"], "ask");
    assert_eq!(tested["changed"][0]["to"], "allow");
    assert_eq!(tested["changed"][0]["calls"], 1);
    assert_eq!(tested["changed"][0]["by_person_allowed"], 0);

    let replayed = place.run_ok(&["policy", "replay", "--from-record", "--json"]);
    let verdicts = replayed.lines().filter(|line| line.contains("\"verdict\""));
    assert_eq!(verdicts.count(), 8, "{replayed}");

    let report = place.run_json(&["attention", "--since", "2026-01-01"]);
    assert_eq!(report["calls"], 0, "{report}");
    assert_eq!(report["questions"]["total"], 0);
    assert_eq!(report["unasked"]["total"], 0);
    let history = place.run_json(&["history"]);
    assert_eq!(history["entries"], json!([]), "{history}");
}

#[test]
fn an_account_says_that_nobody_judged_the_call_here() {
    let place = CliFixture::new();
    imported(&place);
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    let proposed = events.lines().find(|line| line.contains("exit 3")).unwrap();
    let event: Value = serde_json::from_str(proposed).unwrap();
    let call = event["body"]["call"]["id"].as_str().unwrap();
    let account = place.run_ok(&["show", "last", "--call", call]);
    for words in [
        "Not judged here.",
        "Run by its agent; failed.",
        "3 events on record",
    ] {
        assert!(account.contains(words), "{words:?} is not in\n{account}");
    }
}

#[test]
fn a_second_import_adds_what_is_new_and_nothing_twice() {
    let place = CliFixture::new();
    let agents = imported(&place);
    let from = ["--from", "claude-code"];
    let unchanged = json!({
        "added": 0, "grown": 0, "unchanged": 1, "entries": 0, "elsewhere": 0, "faults": 0, "reasons": [],
    });
    let before = place.run_ok(&["export", "last", "--format", "jsonl"]);
    assert_eq!(import(&place, &agents, &from), unchanged);
    // The session was continued in another file, which repeats it.
    let transcript = in_workspace(CLAUDE_CODE, &place);
    write(&agents, "projects/b/9b.jsonl", &transcript);
    let told = import(&place, &agents, &from);
    assert_eq!(
        (&told["unchanged"], &told["entries"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(
        place.run_ok(&["export", "last", "--format", "jsonl"]),
        before
    );

    // The session goes on: with a call whose result is not there yet, and then with the result.
    let lines: Vec<&str> = transcript.lines().collect();
    let next_day = |lines: &[&str]| lines.join("\n").replace("2026-11-26", "2026-11-27") + "\n";
    let grown = transcript.clone() + &next_day(&lines[1..4]);
    write(&agents, "projects/a/8a0c1f0e.jsonl", &grown);
    let told = import(&place, &agents, &from);
    assert_eq!((&told["grown"], &told["entries"]), (&json!(1), &json!(3)));
    let shown = place.run_ok(&["show", "last"]);
    assert!(shown.contains("no result of this call"), "{shown}");
    let grown = grown + &next_day(&lines[4..5]);
    write(&agents, "projects/a/8a0c1f0e.jsonl", &grown);
    let told = import(&place, &agents, &from);
    assert_eq!((&told["grown"], &told["entries"]), (&json!(1), &json!(1)));
    let shown = place.run_ok(&["show", "last"]);
    assert!(!shown.contains("no result of this call"), "{shown}");
    assert_eq!(import(&place, &agents, &from)["entries"], 0);
    assert_eq!(
        shown.matches("Write a file.").count(),
        3,
        "title and messages"
    );
}

#[test]
fn sessions_of_codex_and_gemini_cli_are_imported() {
    let place = CliFixture::new();
    let agents = place.create_outside_folder("agents");
    let typed = r#"{"timestamp":"2026-11-26T11:53:30.450Z","type":"event_msg","payload":{"type":"user_message","message":"Add b.txt"}}"#;
    let codex = in_workspace(CODEX, &place) + typed + "\nno JSON\n";
    write(&agents, "sessions/2026/11/26/rollout-1.jsonl", &codex);
    let told = import(&place, &agents, &["--from", "codex"]);
    assert_eq!((&told["added"], &told["entries"]), (&json!(1), &json!(8)));
    assert_eq!(told["faults"], 1);
    let reason = told["reasons"][0].as_str().unwrap();
    assert!(
        reason.starts_with("2026/11/26/rollout-1.jsonl, line 14: "),
        "{reason}"
    );

    let gemini = place.create_outside_folder("gemini");
    let file = write(
        &gemini,
        "chats/session-1.jsonl",
        &in_workspace(GEMINI_CLI, &place),
    );
    write(&gemini, ".project_root", &workspace(&place));
    let told = import(&place, &agents, &[&file, "--from", "gemini-cli"]);
    assert_eq!(told, added(1, 15));

    let sessions = place.run_json(&["sessions"]);
    let sessions = sessions["sessions"].as_array().unwrap();
    let summary = |one: &Value| format!("{} {}", one["model"]["model"], one["title"]);
    let summaries: Vec<String> = sessions.iter().map(summary).collect();
    let expected = [
        r#""Gemini CLI" "Write a file.""#,
        r#""Codex 0.171.0" "Add b.txt""#,
    ];
    assert_eq!(summaries, expected, "the one that went on last is first");
}

#[test]
fn sessions_elsewhere_and_earlier_are_left_out_and_said() {
    let place = CliFixture::new();
    let agents = place.create_outside_folder("agents");
    write(&agents, "projects/a/1.jsonl", CLAUDE_CODE);
    let told = import(&place, &agents, &["--from", "claude-code"]);
    assert_eq!((&told["added"], &told["elsewhere"]), (&json!(0), &json!(1)));
    let told = import(
        &place,
        &agents,
        &["--from", "claude-code", "--all", "--since", "2099-01-01"],
    );
    assert_eq!(told, added(0, 0));
    // A folder that is not there has no secrets and no links, and its calls are imported all the same.
    let told = import(&place, &agents, &["--from", "claude-code", "--all"]);
    assert_eq!(told, added(1, 16));

    let ran = run(
        &place,
        &agents,
        &["sessions", "import", "--from", "claude-code"],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("in other folders: 1 session."),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("Imported from Claude Code: 0 sessions"),
        "{}",
        ran.out
    );
    let ran = run(&place, &agents, &["sessions", "import", "--from", "codex"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err.contains("There are no transcripts of Codex"),
        "{}",
        ran.err
    );
}

#[test]
fn an_imported_session_cannot_be_continued() {
    let place = CliFixture::new();
    imported(&place);
    let script = place.write_outside_file("script.json", r#"{"turns": [{"text": "Hello."}]}"#);
    let sessions = place.run_json(&["sessions"]);
    let id = sessions["sessions"][0]["id"].as_str().unwrap();
    let before = place.run_ok(&["export", id, "--format", "jsonl"]);
    let ran = place.run(&["run", "--script", &script, "--resume", id, "Go on."]);
    assert_ne!(ran.code, 0);
    assert!(
        ran.err
            .contains("was imported from Claude Code 2.1.332, so it cannot be continued here"),
        "{}",
        ran.err
    );
    let ran = place.run(&["run", "--script", &script, "--continue", "Go on."]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("There is no session in"), "{}", ran.err);
    assert_eq!(place.run_ok(&["export", id, "--format", "jsonl"]), before);
}

#[test]
fn secrets_are_masked_and_long_results_are_cut() {
    let place = CliFixture::new();
    let agents = place.create_outside_folder("agents");
    place.write_file(".env", "SERVICE_TOKEN=correct-horse-battery-staple-77\n");
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let long = "x".repeat(300 * 1024);
    let transcript = in_workspace(CLAUDE_CODE, &place)
        .replace("Write a file.", &format!("Write {key}"))
        .replace("claude done", &format!("I wrote {key}"))
        .replace("echo hello", "echo correct-horse-battery-staple-77")
        .replace(
            "\"content\": \"hello\"",
            "\"content\": \"correct-horse-battery-staple-77\"",
        )
        .replace("Exit code 3", &format!("{key} {long}"));
    write(&agents, "projects/a/1.jsonl", &transcript);
    assert_eq!(
        import(&place, &agents, &["--from", "claude-code"]),
        added(1, 16)
    );
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    // An export masks by itself, so what is kept is looked at as well.
    for (file, kept) in crate::support::read_folder(&place.data()) {
        for secret in [key, "correct-horse"] {
            let mut parts = kept.windows(secret.len());
            let holds = parts.any(|part| part == secret.as_bytes());
            assert!(!holds, "{secret} in {}", file.display());
        }
    }
    assert!(events.contains("[SERVICE_TOKEN in .env]"), "{events}");
    assert!(!events.contains(&long));
    assert!(events.contains("The rest is in the transcript of the agent."));
}

/// An image of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Lines of a transcript in which the agent thinks, the person shows an image, and a call gives one back.
fn thoughtful_transcripts(folder: &str) -> [(&'static str, &'static str, Vec<Value>); 3] {
    let time = "2026-11-26T11:00:00.000Z";
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } });
    let line = |role: &str, content: Value| {
        json!({ "type": role, "sessionId": "s1", "cwd": folder, "timestamp": time, "version": "2.1.0",
            "message": { "role": role, "content": content } })
    };
    let claude = vec![
        line(
            "user",
            json!([{ "type": "text", "text": "What is this?" }, image]),
        ),
        line(
            "assistant",
            json!([{ "type": "thinking", "thinking": "A single pixel.", "signature": "x" }]),
        ),
        line(
            "assistant",
            json!([{ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "a.png" } }]),
        ),
        line(
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": [image] }]),
        ),
    ];
    let url = format!("data:image/png;base64,{PIXEL}");
    let item =
        |kind: &str, payload: Value| json!({ "timestamp": time, "type": kind, "payload": payload });
    let codex = vec![
        item(
            "session_meta",
            json!({ "id": "s2", "cwd": folder, "cli_version": "0.171.0" }),
        ),
        item(
            "event_msg",
            json!({ "type": "user_message", "message": "What is this?", "images": [url] }),
        ),
        item(
            "response_item",
            json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "A single pixel." }],
            "encrypted_content": "zzz" }),
        ),
        item(
            "response_item",
            json!({ "type": "function_call", "call_id": "t1", "name": "view_image", "arguments": "{}" }),
        ),
        item(
            "response_item",
            json!({ "type": "function_call_output", "call_id": "t1",
            "output": [{ "type": "input_image", "image_url": url }] }),
        ),
    ];
    [
        ("claude-code", "projects/a/s1.jsonl", claude),
        ("codex", "sessions/2026/11/26/rollout-s2.jsonl", codex),
        (
            "gemini-cli",
            "tmp/project/chats/session-2026-11-26T11-00-s3.jsonl",
            gemini_transcript(),
        ),
    ]
}

/// Gemini CLI writes a message with its thoughts, each with a time of its own, and once more when its calls have ended.
fn gemini_transcript() -> Vec<Value> {
    let time = |second: u32| format!("2026-11-26T11:00:{second:02}.000Z");
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": PIXEL } });
    let thought =
        json!({ "subject": "Looking", "description": "A single pixel.", "timestamp": time(1) });
    let answer = json!({ "id": "m2", "timestamp": time(2), "type": "gemini", "content": "", "thoughts": [thought],
        "model": "gemini-3-pro-preview" });
    let mut answered = answer.clone();
    let response = json!({ "functionResponse": { "id": "t1", "name": "read_file", "response": { "output": "An image." } } });
    answered["toolCalls"] = json!([{ "id": "t1", "name": "read_file", "args": { "file_path": "a.png" }, "result": [response, image],
        "status": "success", "timestamp": time(3) }]);
    vec![
        json!({ "sessionId": "s3", "projectHash": "0", "startTime": time(0), "lastUpdated": time(0), "kind": "main" }),
        json!({ "id": "m1", "timestamp": time(0), "type": "user", "content": [{ "text": "What is this?" }, image] }),
        answer,
        answered,
    ]
}

#[test]
fn thoughts_and_images_are_imported() {
    let place = CliFixture::new();
    for (agent, path, lines) in thoughtful_transcripts(&workspace(&place)) {
        let agents = place.create_outside_folder(agent);
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let transcript = write(&agents, path, &lines.join("\n"));
        write(&agents, "tmp/project/.project_root", &workspace(&place));
        let args = ["--from", agent, &transcript];
        assert_eq!(import(&place, &agents, &args), added(1, 3), "{agent}");
        let again = import(&place, &agents, &args);
        assert_eq!(again["unchanged"], 1, "{agent}: {again}");

        let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
        let events: Vec<Value> = events
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of_type = |kind: &str| {
            events
                .iter()
                .find(|event| event.to_string().contains(&format!("\"{kind}\"")))
                .unwrap()
                .to_string()
        };
        let said = of_type("person_said");
        assert!(
            said.contains("What is this?") && said.contains(PIXEL),
            "{agent}: {said}"
        );
        let thought = of_type("agent_said");
        assert!(
            thought.contains("A single pixel.") && thought.contains("\"reasoning\":true"),
            "{agent}: {thought}"
        );
        assert!(of_type("call_ended").contains(PIXEL), "{agent}");
    }
}

/// Codex names the images of a message by their files. One that is gone later does not make it another message.
#[test]
fn images_that_are_named_by_their_files_are_imported_while_they_are_there() {
    let place = CliFixture::new();
    let folder = workspace(&place);
    let pixel = Content::Image {
        mime: "image/png".to_owned(),
        base64: PIXEL.to_owned(),
    };
    let pixel = pixel.image_bytes().unwrap();
    fs::write(place.workspace().join("a.png"), &pixel).unwrap();
    place.write_file("notes.png", "SECRET NOTES\n");
    let mut large = pixel.clone();
    large.resize(4_000_000, 0);
    fs::write(place.workspace().join("large.png"), large).unwrap();
    let item = |kind: &str, payload: Value| json!({ "timestamp": "2026-11-26T11:00:00.000Z", "type": kind, "payload": payload });
    let named =
        ["a.png", "gone.png", "notes.png", "large.png"].map(|name| format!("{folder}/{name}"));
    let lines = [
        item(
            "session_meta",
            json!({ "id": "s4", "cwd": folder, "cli_version": "0.171.0" }),
        ),
        item(
            "event_msg",
            json!({ "type": "user_message", "message": "What is this?", "images": [], "local_images": named }),
        ),
    ];
    let agents = place.create_outside_folder("codex");
    let lines = lines.map(|line| line.to_string()).join("\n");
    write(&agents, "sessions/2026/11/26/rollout-s4.jsonl", &lines);
    assert_eq!(import(&place, &agents, &["--from", "codex"]), added(1, 1));

    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    let said = events
        .lines()
        .find(|event| event.contains("person_said"))
        .unwrap();
    let said: Value = serde_json::from_str(said).unwrap();
    let images = said["body"]["images"].as_array().unwrap();
    assert_eq!(images.len(), 1, "{said}");
    assert_eq!(images[0]["base64"], PIXEL);
    let unread =
        ["gone.png", "notes.png", "large.png"].map(|name| format!("[Image: {folder}/{name}]"));
    assert_eq!(
        said["body"]["text"],
        format!("What is this?\n{}", unread.join("\n"))
    );
    assert!(!events.contains("SECRET NOTES"));

    fs::remove_file(place.workspace().join("a.png")).unwrap();
    assert_eq!(
        import(&place, &agents, &["--from", "codex"])["unchanged"],
        1
    );
}
