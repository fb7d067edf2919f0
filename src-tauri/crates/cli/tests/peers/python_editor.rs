//! An editor that is made with the Python library of the Agent Client Protocol, in front of `countersign acp`.

use serde_json::json;

use crate::run_script;
use crate::support::{CliFixture, read_folder};

/// What the agent does with the prompts of the editor: one command each, of which the third is never run, and a write in
/// the mode *Plan*.
const SCRIPT: &str = r#"{"turns":[
  {"calls":[{"name":"bash","arguments":{"command":"cp kept.txt allowed.txt"}}]}, {"text":"Copied."},
  {"calls":[{"name":"bash","arguments":{"command":"cp kept.txt rejected.txt"}}]}, {"text":"Left."},
  {"calls":[{"name":"bash","arguments":{"command":"cp kept.txt cancelled.txt"}}]},
  {"calls":[{"name":"write","arguments":{"path":"planned.txt","content":"two\n"}}]}, {"text":"Planned."}]}"#;

#[test]
fn an_editor_allows_rejects_cancels_and_loads() {
    let place = CliFixture::new();
    place.write_file("kept.txt", "one\n");
    let script = place.write_outside_file("script.json", SCRIPT);
    let folder = place.workspace();
    let words = [
        folder.to_str().unwrap(),
        env!("CARGO_BIN_EXE_countersign"),
        "acp",
        "--script",
        &script,
    ];
    let said = run_script(&place, "editor.py", &words);
    assert_eq!(said["agent"], "countersign");
    // Each command is asked about once; what a mode forbids is not.
    let always = ["allow_always"; 3];
    let kinds = [&["allow_once"; 2][..], &always, &["reject_once"]].concat();
    let told = |stop: &str, asked: usize, call: [&str; 2], text: &str| json!({ "stop": stop, "asked": vec![&kinds; asked], "calls": [call], "text": text });
    let (done, failed) = (["execute", "completed"], ["execute", "failed"]);
    assert_eq!(said["allowed"], told("end_turn", 1, done, "Copied."));
    assert_eq!(said["rejected"], told("end_turn", 1, failed, "Left."));
    assert_eq!(said["cancelled"], told("cancelled", 1, failed, ""));
    let refused = ["edit", "failed"];
    assert_eq!(said["planned"], told("end_turn", 0, refused, "Planned."));
    // Of the files of four calls there is that of the one that was allowed.
    let files = read_folder(&place.workspace());
    let names = files.iter().map(|(path, _)| path.file_name().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["allowed.txt", "kept.txt"]);
    // Another start of the agent tells all of it again.
    assert_eq!(said["listed"], json!(["Allow it."]));
    let prompts = ["Allow it.", "Reject it.", "Cancel it.", "Plan it."];
    let loaded = json!({
        "prompts": prompts,
        "asked": [],
        "calls": [done, failed, failed, refused],
        "text": "Copied.Left.Planned.",
    });
    assert_eq!(said["loaded"], loaded);
    let refused = said["refused"].as_str().unwrap();
    assert!(refused.contains("ses_missing"), "{refused}");
}
