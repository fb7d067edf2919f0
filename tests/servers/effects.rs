//! Changes of other people's tools in the workspace: found, shown, recorded, judged and taken back.

use agent::Host;
use protocol::server::server_tools::ServerToolsSettings;
use protocol::text::display_text::join_spans;
use protocol::{CallState, Gate, Preview, Settings, UndoState};
use serde::Serialize;
use serde_json::json;
use support::servers::changed_paths;
use support::{Fixture, HEADLESS, call_tool, expect_variant, rule_text, say_text};

const ALLOW: &str = "[[rule]]\npermission = \"one__*\"\naction = \"allow\"\n";

async fn open_desk(turns: impl Serialize, host: Host, rules: &str) -> Fixture {
    let mut desk = Fixture::with_host(turns, host).await;
    desk.write_file("old.txt", "first\n")
        .write_file("src/main.rs", "fn main() {}\n");
    desk.write_rules(rules);
    desk.add_file_server(env!("CARGO_BIN_EXE_mcp_server")).await;
    desk
}

/// Written, moved: found, shown with the difference, in the history under the tool's name, and taken back.
#[tokio::test]
async fn what_a_server_changes_is_shown_recorded_and_undone() {
    let turns = [
        call_tool(
            "one__write_file",
            json!({ "path": "old.txt", "content": "second\n" }),
        ),
        call_tool(
            "one__move_file",
            json!({ "source": "src/main.rs", "destination": "moved.rs" }),
        ),
        call_tool("one__read_text_file", json!({ "path": "old.txt" })),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, HEADLESS, ALLOW).await;
    desk.play().await;
    let calls = desk.calls().await;
    let states: Vec<_> = calls.iter().map(|view| view.state).collect();
    assert_eq!(states, [CallState::Done; 3]);
    assert_eq!(changed_paths(&calls[0]), ["changed old.txt"]);
    let shown = expect_variant!(&calls[0].preview, Preview::Effects(shown) => shown);
    assert_eq!(
        join_spans(&shown.command.command),
        "write_file (one) old.txt"
    );
    let entry = calls[0].undo.as_ref().unwrap();
    assert_eq!(entry.title, "write_file (one) old.txt");
    assert_eq!(
        changed_paths(&calls[1]).len(),
        1,
        "{:?}",
        changed_paths(&calls[1])
    );
    assert_eq!(desk.read_file("moved.rs").unwrap(), "fn main() {}\n");
    assert_eq!(calls[2].preview, Preview::Nothing);
    assert_eq!(calls[2].undo, None, "what only reads leaves no entry");

    desk.undo_call(&calls[1]).await;
    assert_eq!(desk.read_file("src/main.rs").unwrap(), "fn main() {}\n");
    assert_eq!(desk.read_file("moved.rs"), None);
    desk.undo_call(&calls[0]).await;
    assert_eq!(desk.read_file("old.txt").unwrap(), "first\n");
    let pictures = desk.data_dir().join("history/pictures");
    let left = std::fs::read_dir(pictures).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no snapshot is left");
}

/// Changes of a tool meet the rules for making them, also where its arguments said nothing of them.
#[tokio::test]
async fn what_it_may_not_change_is_taken_back() {
    let denies = rule_text("fs.write", ".env", "deny");
    let turns = [
        call_tool("one__touch_other", json!({ "note": "x" })),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, HEADLESS, &format!("{ALLOW}{denies}")).await;
    desk.write_file(".env", "SECRET=1\n");
    desk.play().await;
    let view = &desk.calls().await[0];
    assert_eq!(view.state, CallState::Denied);
    assert_eq!(view.undo.as_ref().unwrap().state, UndoState::Undone);
    assert_eq!(desk.read_file(".env").unwrap(), "SECRET=1\n");
    let steps = &view.trail.as_ref().unwrap().steps;
    assert!(
        steps.iter().any(|step| step.gate == Gate::Effects),
        "{steps:?}"
    );
}

/// On its card stands what can be undone, and what runs as the person is said to.
#[tokio::test]
async fn a_card_says_what_can_be_undone() {
    let turns = [
        call_tool(
            "one__write_file",
            json!({ "path": "new.txt", "content": "x" }),
        ),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, Host::Person, "").await;
    desk.start("Go.").await;
    let waiting = desk.wait_for_call().await;
    assert_eq!(
        (waiting.title.as_str(), waiting.target.as_str()),
        ("write_file (one)", "new.txt")
    );
    let grants = &waiting.pending.as_ref().unwrap().grants;
    let said = grants.iter().map(|grant| grant.text.as_str());
    let said: Vec<&str> = said.collect();
    let says = "It runs as you, outside any sandbox; what it changes in this folder can be undone.";
    assert!(said.join("\n").contains(says), "{said:?}");
    desk.allow_call(&waiting).await;
    desk.wait_until_ended().await;
    let view = &desk.calls().await[0];
    assert_eq!(
        (view.state, changed_paths(view)),
        (CallState::Done, vec!["added new.txt".to_owned()])
    );
}

/// The person may do without: for all tools, or for those that they know to change nothing.
#[tokio::test]
async fn no_copy_is_taken_where_the_person_wants_none() {
    for (settings, undoable) in [
        (ServerToolsSettings::default(), true),
        (
            ServerToolsSettings {
                snapshot: false,
                ..ServerToolsSettings::default()
            },
            false,
        ),
        (
            ServerToolsSettings {
                read_only: vec!["one__write_*".to_owned()],
                ..ServerToolsSettings::default()
            },
            false,
        ),
    ] {
        let turns = [
            call_tool(
                "one__write_file",
                json!({ "path": "new.txt", "content": "x" }),
            ),
            say_text("Done."),
        ];
        let mut desk = open_desk(turns, HEADLESS, ALLOW).await;
        desk.set_settings(Settings {
            server_tools: settings,
            ..Settings::default()
        })
        .await;
        desk.play().await;
        let view = &desk.calls().await[0];
        assert_eq!(
            (view.state, view.undo.is_some()),
            (CallState::Done, undoable)
        );
    }
}
