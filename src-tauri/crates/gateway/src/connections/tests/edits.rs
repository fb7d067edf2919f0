//! The text of configurations: what is put in and taken out, and that all else stays.

use proptest::prelude::*;

use super::super::config_text::{add_hooks, parse_config, remove_hooks};
use super::super::hook_command::HookTarget;
use super::*;

const PROGRAM: &str = "/usr/bin/countersign";

fn target() -> HookTarget {
    HookTarget {
        program: PROGRAM.into(),
        data_dir: Some("/data".into()),
    }
}

fn added(id: &str, text: &str) -> String {
    add_hooks(agent(id), text, &target()).unwrap()
}

#[test]
fn a_new_file_reads_as_one_would_write_it() {
    assert!(added("claude-code", "").starts_with(
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/bin/countersign --data-dir /data hook claude-code || sh -c 'echo \"Denied: Countersign gave no answer.\" >&2; exit 2'",
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
"#
    ));
    assert!(
        added("cursor", "")
            .starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [")
    );
    assert_eq!(
        added("codex", "model = \"x\" # mine"),
        r#"model = "x" # mine

[[hooks.PreToolUse]]
matcher = ".*"

[[hooks.PreToolUse.hooks]]
type = "command"
command = """/usr/bin/countersign --data-dir /data hook codex || sh -c 'echo "Denied: Countersign gave no answer." >&2; exit 2'"""
timeout = 600

[[hooks.PostToolUse]]
matcher = ".*"

[[hooks.PostToolUse.hooks]]
type = "command"
command = "/usr/bin/countersign --data-dir /data hook codex"
timeout = 60

[[hooks.Stop]]

[[hooks.Stop.hooks]]
type = "command"
command = "/usr/bin/countersign --data-dir /data hook codex"
timeout = 60
"#
    );
}

#[test]
fn ours_stand_beside_theirs_in_their_layout() {
    let theirs = "{\n\t// mine\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [] }, // one\n\t\t],\n\t},\n\t\"a\": 1\n}";
    let text = added("claude-code", theirs);
    assert!(
        text.starts_with("{\n\t// mine\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [] }, // one\n\t\t\t{\n\t\t\t\t\"matcher\": \"*\",\n"),
        "{text}"
    );
    assert!(text.ends_with("\n\t\t],\n\t},\n\t\"a\": 1\n}"), "{text}");
    let line = added("claude-code", "{\"a\":1}");
    assert!(
        line.starts_with("{\"a\":1, \"hooks\": {\"PreToolUse\":[") && !line.contains('\n'),
        "{line}"
    );
}

/// Somebody else's hook that came into an entry of ours stays, and so does what they emptied themselves.
#[test]
fn only_ours_is_taken_out() {
    let claude = agent("claude-code");
    let remove = |text: &str, before: Option<&str>| remove_hooks(claude, text, before).unwrap();
    let ours = "{\"command\":\"/x/countersign hook claude-code\"}";
    for (text, before, expected, is_empty) in [
        (
            "{\"hooks\":{\"Stop\":[{\"hooks\":[OURS]}]}}",
            None,
            "{}",
            true,
        ),
        (
            "{\"hooks\":{\"Stop\":[{\"hooks\":[OURS]}]}}",
            Some("{\"hooks\":{}}"),
            "{\"hooks\":{}}",
            false,
        ),
        (
            "{\"hooks\":{\"Stop\":[OURS]}}",
            Some("{\"hooks\":{\"Stop\":[]}}"),
            "{\"hooks\":{\"Stop\":[]}}",
            false,
        ),
        (
            "{\"hooks\":{\"Stop\":[],\"End\":[OURS]}}",
            None,
            "{\"hooks\":{\"Stop\":[]}}",
            false,
        ),
        (
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}, OURS]}]}}",
            None,
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}]}}",
            false,
        ),
        (
            "{\"hooks\":{\"Stop\":[OURS, {\"hooks\":[]}]}}",
            None,
            "{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}",
            false,
        ),
        (
            "{\"a\": 1, // a\n  \"hooks\":{\"Stop\":[OURS]}\n}",
            None,
            "{\"a\": 1 // a\n}",
            false,
        ),
        (
            "{\"a\": 1, // a\n  \"hooks\":{\"Stop\":[OURS]},\n}",
            None,
            "{\"a\": 1, // a\n}",
            false,
        ),
        (
            "{\n  // a\n  \"hooks\":{\"Stop\":[OURS]}, \"a\": 1\n}",
            None,
            "{\n  // a\n  \"a\": 1\n}",
            false,
        ),
        (
            "{ \"a\": 1, \"hooks\":{\"Stop\":[OURS]} }",
            None,
            "{ \"a\": 1 }",
            false,
        ),
    ] {
        let bare = remove(&text.replace("OURS", ours), before);
        assert_eq!(
            (bare.text.as_str(), bare.is_empty),
            (expected, is_empty),
            "{text}"
        );
    }
}

#[test]
fn toml_tables_of_others_stay() {
    let codex = agent("codex");
    let theirs = "model = \"x\"\r\n\r\n[[hooks.PreToolUse]]\r\nmatcher = \"Bash\"\r\n";
    let connected = added("codex", theirs);
    // Codex writes below what it finds, such as which hooks are trusted.
    let state = "\r\n# state\r\n[hooks.state.\"x\"]\r\ntrusted_hash = \"1\"\r\n";
    let bare = remove_hooks(codex, &format!("{connected}{state}"), Some(theirs)).unwrap();
    assert_eq!(bare.text, format!("{theirs}{state}"));
    let inline = "[hooks]\nStop = [{ command = \"/x/countersign hook codex\" }]\n";
    assert!(
        remove_hooks(codex, inline, None).is_err(),
        "it is not edited"
    );
}

/// What may stand between two words of JSON.
fn trivia() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\n\n    ",
        " // c, {\n",
        "/* [ */",
        "\n  // }\n  ",
    ])
}

/// A value of JSON with comments, spread out at random.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["1", "true", "null", "\"a, b\"", "\"//\"", "-0.5e3"]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(3, 16, 4, |inner| {
        let items = prop::collection::vec((trivia(), inner.clone(), trivia()), 0..4);
        let members = prop::collection::vec((trivia(), inner, trivia()), 0..4);
        prop_oneof![
            (items, trivia(), any::<bool>())
                .prop_map(|(items, end, comma)| list("[", items, end, comma, "]")),
            (members, trivia(), any::<bool>())
                .prop_map(|(members, end, comma)| object(members, end, comma)),
        ]
    })
}

type Item = (&'static str, String, &'static str);

fn list(open: &str, items: Vec<Item>, end: &str, comma: bool, close: &str) -> String {
    let comma = if comma && !items.is_empty() { "," } else { "" };
    let items: Vec<String> = items
        .into_iter()
        .map(|(a, item, b)| format!("{a}{item}{b}"))
        .collect();
    format!("{open}{}{comma}{end}{close}", items.join(","))
}

fn object(members: Vec<Item>, end: &str, comma: bool) -> String {
    let named = members
        .into_iter()
        .enumerate()
        .map(|(at, (a, value, b))| (a, format!("\"m{at}\":{b}{value}"), b));
    list("{", named.collect(), end, comma, "}")
}

/// An object that may have hooks of its own.
fn config_text() -> impl Strategy<Value = String> {
    let hooks = prop_oneof![
        Just(None),
        Just(Some("{}")),
        Just(Some("{ \"PreToolUse\": [ ], }")),
        Just(Some(
            "{\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"command\": \"x\"}]} // x\n ]}"
        )),
        Just(Some("{\"Stop\":[{\"hooks\":[]}]}")),
    ];
    let members = prop::collection::vec((trivia(), json_text(), trivia()), 0..4);
    (trivia(), members, hooks, trivia(), any::<bool>(), trivia()).prop_map(
        |(start, members, hooks, end, comma, last)| {
            let mut named: Vec<Item> = members
                .into_iter()
                .enumerate()
                .map(|(at, (a, value, b))| (a, format!("\"m{at}\":{value}"), b))
                .collect();
            let at = named.len() / 2;
            named.splice(
                at..at,
                hooks.map(|hooks| ("\n", format!("\"hooks\": {hooks}"), "")),
            );
            format!("{start}{}{last}", list("{", named, end, comma, "}"))
        },
    )
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut whole = whole.bytes();
    part.bytes().all(|byte| whole.any(|other| other == byte))
}

proptest! {
    #[test]
    fn every_byte_stays_when_ours_come_and_go(text in config_text()) {
        for id in ["claude-code", "gemini-cli", "cursor"] {
            let connected = added(id, &text);
            prop_assert!(is_subsequence(&text, &connected), "{text}\nbecame\n{connected}");
            let bare = remove_hooks(agent(id), &connected, Some(&text)).unwrap();
            prop_assert_eq!(
                parse_config(agent(id), &bare.text).unwrap(),
                parse_config(agent(id), &text).unwrap()
            );
            prop_assert!(is_subsequence(&bare.text, &connected));
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&bare.text), words(&text));
        }
    }
}
