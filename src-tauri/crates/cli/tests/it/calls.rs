//! `call`, `history`, `undo`, `redo`, `tools`.

use serde_json::{Value, json};

use crate::support::{CliFixture, HEADLESS_REFUSAL};

#[test]
fn the_exit_code_says_how_a_call_ended() {
    let place = CliFixture::new();
    place
        .write_file("a.txt", "alpha\n")
        .write_file(".env", "SECRET=1\n");
    place.write_file(
        ".countersign/rules.toml",
        "[[rule]]\npermission = \"fs.read\"\npattern = \".env\"\naction = \"deny\"\nreason = \"secrets stay here\"\n",
    );
    let table: &[(&[&str], i32, &str)] = &[
        (&["read", r#"{"path":"a.txt"}"#], 0, "alpha"),
        (&["read_file", r#"{"path":"a.txt"}"#], 0, "alpha"),
        (&["read", r#"{"path":"none.txt"}"#], 1, "none.txt"),
        (&["read", r#"{"path":7}"#], 1, "path"),
        (&["read", "{}"], 1, "path"),
        (&["no_such_tool", "{}"], 1, "no_such_tool"),
        (
            &["bash", r#"{"command":"exit 3"}"#, "--approve-all"],
            0,
            "Exit code 3",
        ),
        (
            &["bash", r#"{"command":"echo hi"}"#, "--approve-all"],
            0,
            "hi",
        ),
        (
            &["bash", r#"{"command":"echo hi"}"#],
            3,
            "nobody is there to ask",
        ),
        (&["read", r#"{"path":".env"}"#], 3, "secrets stay here"),
        (
            &["read", r#"{"path":".env"}"#, "--approve-all"],
            3,
            "secrets stay here",
        ),
        (
            &["read", r#"{"path":"../home"}"#],
            3,
            "outside the workspace",
        ),
    ];
    for (args, code, named) in table {
        let args = [&["call"], *args].concat();
        let ran = place.run(&args);
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (*code, ""),
            "{args:?}: {ran:?}"
        );
        assert!(ran.out.contains(named), "{args:?}: {}", ran.out);
    }
}

/// S002-85: where no person is, ask means deny.
#[test]
fn what_asks_is_denied_with_its_trail() {
    let place = CliFixture::new();
    let ran = place.run(&["call", "bash", r#"{"command":"touch made"}"#]);
    assert_eq!(ran.code, 3);
    for line in ["⊘ Run touch made", "mode        ask", "headless    deny"] {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    assert_eq!(place.read_file("made"), None);
}

/// S002-37, S002-105: where no person is, a question has its fixed sentence, whatever was allowed beforehand; a run goes on.
#[test]
fn a_question_is_refused_where_nobody_is() {
    let place = CliFixture::new();
    let question =
        json!({ "questions": [{ "question": "Which one?", "options": [{ "label": "This" }] }] });
    let call = json!({ "name": "question", "arguments": question });
    let turns = json!({ "turns": [{ "calls": [call] }, { "text": "I go on." }] });
    let script = place.write_outside_file("script.json", &turns.to_string());
    let question = question.to_string();
    for allowed in [&[][..], &["--approve-all"]] {
        let called = place.run(&[&["call", "question", &question], allowed].concat());
        assert_eq!(called.code, 3, "{called:?}");
        let refusal = format!("\n{HEADLESS_REFUSAL}\n");
        assert!(called.out.ends_with(&refusal), "{}", called.out);

        let ran = place.run(&[&["run", "--script", &script, "Go."], allowed].concat());
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.out.contains("I go on."), "{}", ran.out);
        let shown = place.run_ok(&["show", "last", "--json"]);
        let entries = shown
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let refused: Vec<Value> = entries
            .map(|entry: Value| entry["body"]["outcome"]["text"].clone())
            .filter(|text| !text.is_null())
            .collect();
        assert_eq!(refused, [HEADLESS_REFUSAL]);
    }
}

#[test]
fn rules_that_the_caller_names_hold_and_must_be_right() {
    let place = CliFixture::new();
    let allow = place.write_outside_file(
        "allow.toml",
        "[[rule]]\npermission = \"bash\"\npattern = \"echo *\"\naction = \"allow\"\n",
    );
    let call = [
        "call",
        "bash",
        r#"{"command":"echo let through"}"#,
        "--rules",
    ];
    let ran = place.run(&[&call[..], &[&allow]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("let through"), "{}", ran.out);

    let broken = place.write_outside_file("broken.toml", "[[rule]]\npermission = 7\n");
    for (file, named) in [
        (broken.as_str(), "broken.toml"),
        ("missing.toml", "missing.toml"),
    ] {
        let ran = place.run(&[&call[..], &[file]].concat());
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.err.contains(named), "{}", ran.err);
        assert!(!ran.out.contains("let through"));
    }
    let both = [&call[..], &[&allow, "--approve-all"]].concat();
    assert_eq!(place.run(&both).code, 2);
}

#[test]
fn a_call_as_json_has_everything() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let value = place.run_json(&["call", "read", r#"{"path":"a.txt"}"#]);
    assert!(value["session"].as_str().unwrap().starts_with("ses_"));
    let call = &value["call"];
    assert_eq!(call["call"]["arguments"], json!({ "path": "a.txt" }));
    assert_eq!(call["state"], "done");
    assert_eq!(call["trail"]["verdict"], "allow");
    assert!(call["outcome"]["text"].as_str().unwrap().contains("alpha"));
}

#[test]
fn a_deletion_is_taken_back_and_brought_again() {
    let place = CliFixture::new();
    place
        .write_file("old/a.txt", "alpha\n")
        .write_file("old/b.txt", "beta\n");
    assert!(
        place
            .run_ok(&["history"])
            .contains("Nothing that could be undone")
    );
    assert_eq!(place.run(&["undo"]).code, 1);
    let out = place.run_ok(&["call", "delete_path", r#"{"path":"old"}"#]);
    assert!(out.contains("countersign undo und_"), "{out}");
    assert_eq!(place.read_file("old/a.txt"), None);

    let history = place.run_json(&["history"]);
    let entry = &history["entries"][0];
    assert_eq!(
        (entry["state"].as_str(), &history["more"]),
        (Some("applied"), &json!(false))
    );
    let id = entry["id"].as_str().unwrap().to_owned();

    assert!(
        place
            .run_ok(&["undo", "--look"])
            .contains("Restores 3 paths.")
    );
    assert_eq!(
        place.read_file("old/a.txt"),
        None,
        "looking changes nothing"
    );
    let out = place.run_ok(&["undo"]);
    assert!(out.contains("Undid: Deleted old"), "{out}");
    assert!(out.contains("created old/a.txt"), "{out}");
    assert_eq!(place.read_file("old/a.txt").as_deref(), Some("alpha\n"));
    assert_eq!(place.read_file("old/b.txt").as_deref(), Some("beta\n"));
    assert_eq!(place.run(&["undo"]).code, 1, "nothing is left to undo");
    let redone = place.run_json(&["redo"]);
    assert_eq!(redone["redone"]["entry"]["title"], "Redid: Deleted old");
    assert_eq!(place.run(&["redo"]).code, 1, "nothing is left to redo");
    assert_eq!(place.read_file("old/a.txt"), None);
    let undone = place.run_json(&["undo", &id]);
    let of = json!({ "direction": "undo", "of": [id] });
    assert_eq!(undone["undone"]["entry"]["action"], of);
    assert_eq!(place.read_file("old/b.txt").as_deref(), Some("beta\n"));
}

/// Without a name it is the newest of the folder that it is run in, and that is told.
#[test]
fn an_undo_is_of_the_folder_that_it_is_run_in() {
    let place = CliFixture::new();
    place
        .write_file("mine.txt", "mine\n")
        .write_file("sub/x", "x\n");
    let other = place.workspace().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("theirs.txt"), "theirs\n").unwrap();
    place.run_ok(&["call", "delete_path", r#"{"path":"mine.txt"}"#]);
    let root = other.display().to_string();
    let call = [
        "call",
        "--workspace",
        &root,
        "delete_path",
        r#"{"path":"theirs.txt"}"#,
    ];
    place.run_ok(&call);

    // The newest of all is that of the other folder.
    let elsewhere = place.create_outside_folder("elsewhere");
    let ran = place.run(&["undo", "--workspace", &elsewhere]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains(&elsewhere) && ran.err.contains("countersign history"),
        "{}",
        ran.err
    );
    let inner = place.workspace().join("sub").display().to_string();
    let looked = place.run_ok(&["undo", "--look", "--workspace", &inner]);
    assert!(looked.contains("mine.txt"), "{looked}");
    let out = place.run_ok(&["undo"]);
    assert!(
        out.contains("Undid: Deleted mine.txt")
            && out.contains(&place.workspace().display().to_string()),
        "{out}"
    );
    assert_eq!(place.read_file("mine.txt").as_deref(), Some("mine\n"));
    assert!(!other.join("theirs.txt").exists());
    assert_eq!(
        place.run(&["undo"]).code,
        1,
        "nothing of this folder is left"
    );

    let id = place.run_json(&["history", "--workspace", &root])["entries"][0]["id"].clone();
    place.run_ok(&["undo", id.as_str().unwrap()]);
    assert!(other.join("theirs.txt").exists());
    place.run_ok(&["redo", "--workspace", &root]);
    assert!(!other.join("theirs.txt").exists());
    assert_eq!(place.read_file("mine.txt").as_deref(), Some("mine\n"));
}

#[test]
fn a_change_begins_with_what_it_is_in() {
    let place = CliFixture::new();
    place.write_file(
        "jobs.json",
        "[\n  {\n    \"id\": 4711,\n    \"status\": \"running\"\n  }\n]\n",
    );
    let patch = "*** Begin Patch\n*** Update File: jobs.json\n@@\n-    \"status\": \"running\"\n+    \"status\": \"done\"\n*** End Patch";
    let arguments = json!({ "patch": patch }).to_string();
    let out = place.run_ok(&["call", "apply_patch", &arguments]);
    let (summary, hunk) = (
        "4711 › status: running → done",
        "@@ line 1 @@ 4711 › status",
    );
    let (before, after) = out.split_once(hunk).unwrap();
    assert!(before.contains(summary), "{out}");
    assert!(after.contains("+     \"status\": \"done\""), "{out}");
}

#[test]
fn a_patch_is_done_and_undone_whole() {
    let place = CliFixture::new();
    place
        .write_file("a.txt", "one\n")
        .write_file("b.txt", "b\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n*** End Patch";
    let arguments = json!({ "patch": patch }).to_string();
    let out = place.run_ok(&["call", "apply_patch", &arguments]);
    for line in [
        "* changed a.txt",
        "- one",
        "+ two",
        "* moved b.txt -> c.txt",
        "@@ moves as it is",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    let stands = || ["a.txt", "b.txt", "c.txt"].map(|path| place.read_file(path));
    let texts = |texts: [Option<&str>; 3]| texts.map(|text| text.map(str::to_owned));
    assert_eq!(stands(), texts([Some("two\n"), None, Some("b\n")]));
    let out = place.run_ok(&["undo"]);
    assert!(out.contains("Undid: Changed 2 files"), "{out}");
    assert_eq!(stands(), texts([Some("one\n"), Some("b\n"), None]));
    assert!(place.run_ok(&["tools"]).contains("apply_patch"));
}

#[test]
fn an_undo_that_would_overwrite_something_does_nothing() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    place.run_ok(&["call", "delete_path", r#"{"path":"a.txt"}"#]);
    place.write_file("a.txt", "made meanwhile\n");
    let ran = place.run(&["undo"]);
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("a.txt"), "{}", ran.err);
    assert_eq!(
        place.read_file("a.txt").as_deref(),
        Some("made meanwhile\n")
    );
    let out = place.run_ok(&["undo", "--look"]);
    assert!(
        out.contains("changed since: a.txt (--keep, --restore)"),
        "{out}"
    );
    assert_eq!(
        place.run(&["undo", "--keep", "a.txt"]).code,
        1,
        "then nothing is left to do"
    );

    place.run_ok(&["undo", "--restore", "a.txt"]);
    assert_eq!(place.read_file("a.txt").as_deref(), Some("alpha\n"));
    place.run_ok(&["redo"]);
    let back = place.read_file("a.txt");
    assert_eq!(
        back.as_deref(),
        Some("made meanwhile\n"),
        "what was overwritten came back"
    );
}

#[test]
fn everything_after_a_point_goes_back_at_once() {
    let place = CliFixture::new();
    place
        .write_file("a.txt", "one\n")
        .write_file("b.txt", "b\n");
    let edit = |from: &str, to: &str| {
        let args = json!({ "path": "a.txt", "old_string": from, "new_string": to }).to_string();
        place.run_ok(&["call", "edit", &args, "--approve-all"]);
    };
    edit("one", "two");
    edit("two", "three");
    place.run_ok(&["call", "delete_path", r#"{"path":"b.txt"}"#]);
    let history = place.run_json(&["history"]);
    assert_eq!(
        (&history["entries_total"], &history["more"]),
        (&json!(3), &json!(false))
    );
    assert!(history["store_bytes"].as_u64().unwrap() > 0);
    let first = history["entries"][2]["id"].as_str().unwrap().to_owned();
    let out = place.run_ok(&["undo", "--to", &first]);
    assert!(out.contains("Undid 2 changes"), "{out}");
    assert_eq!(place.read_file("a.txt").as_deref(), Some("two\n"));
    assert_eq!(place.read_file("b.txt").as_deref(), Some("b\n"));
    assert!(place.run_ok(&["redo"]).contains("Redid 2 changes"));
    assert_eq!(place.read_file("a.txt").as_deref(), Some("three\n"));
    assert_eq!(place.read_file("b.txt"), None);

    assert_eq!(place.run(&["undo", "und_nowhere"]).code, 2);
    let left = place.run_json(&["history", "gc"])["collected"]["entries_left"].clone();
    assert_eq!(left, json!(5), "nothing is too old yet");
}

#[test]
fn tools_are_listed() {
    let place = CliFixture::new();
    let ids = [
        "read",
        "write",
        "edit",
        "glob",
        "grep",
        "bash",
        "question",
        "todo",
        "task",
        "web_search",
        "web_fetch",
        "skill",
        "tool_search",
        "delete_path",
        "apply_patch",
        "plan",
        "plan_exit",
        "repo_overview",
        "lsp",
        "lsp_rename",
        "notebook_edit",
    ];
    let out = place.run_ok(&["tools"]);
    let listed: Vec<&str> = out
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(listed, ids);
    let value = place.run_json(&["tools"]);
    let record = &value["tools"][5]["record"];
    assert_eq!(record["identity"]["tool_id"], "bash");
    // S003-01, S003-61: all ten partitions, and what of them was inferred.
    for partition in [
        "identity",
        "discovery",
        "schemas",
        "availability",
        "validation",
        "safety",
        "permission",
        "execution",
        "result",
        "rendering",
    ] {
        assert!(record[partition].is_object(), "{partition}");
    }
    assert!(
        record["inferred"]
            .as_array()
            .unwrap()
            .contains(&"identity.tool_id".into())
    );
    assert_eq!(value["tools"][5]["mode"], "local");
}
