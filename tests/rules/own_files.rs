//! The files of the data folder: a person's rules, approvals, settings, and record, which no tool and no command changes.

use std::path::Path;
use std::sync::Arc;

use protocol::CallState;
use serde_json::{Value, json};
use support::{
    Fixture, HEADLESS_APPROVED, call_bash, call_tool, call_write, join_calls, script_provider,
};

/// Every kind of file that the engine keeps in its data folder.
const OWN_FILES: [&str; 18] = [
    "rules.toml",
    "settings.toml",
    "trusted.json",
    "servers.toml",
    "apis.toml",
    "servers/one.json",
    "apis/one.json",
    "grants/grt_1.json",
    "uses/0/1",
    "sign-ins/one.lock",
    "record.db",
    "record.db-wal",
    "history/entries/1.json",
    "sessions/ses_1/state.json",
    "rooms/1/upper/a",
    "rules.lock",
    "trusted.lock",
    "new",
];

/// An agent that makes these calls where everybody agreed to everything beforehand, with the data folder at this path from
/// the folder of the fixture on.
async fn play_with_data_in(data: &str, calls: Vec<Value>) -> Fixture {
    let provider = Arc::new(script_provider([join_calls(calls)]));
    let mut desk = Fixture::with_config(provider, HEADLESS_APPROVED, |config| {
        config.data_dir = config.data_dir.parent().unwrap().join(data);
    })
    .await;
    desk.play().await;
    desk
}

/// Calls that write a file, each in another way.
fn writing_calls(path: &str) -> [Value; 3] {
    [
        call_write(path, "taken over"),
        call_tool("delete_path", json!({ "path": path })),
        call_bash(format!("echo taken over > '{path}'")),
    ]
}

async fn expect_untouched(desk: &Fixture, calls: usize) {
    assert_eq!(desk.call_states().await, vec![CallState::Denied; calls]);
    for view in desk.calls().await {
        let trail = view.trail.expect("it was judged");
        assert!(trail.lead.contains("changed by people only"), "{trail:?}");
    }
}

/// However the folder is called that the workspace holds.
#[tokio::test]
async fn a_data_folder_in_the_workspace_is_not_changed_by_agents() {
    for folder in ["data", "my [data] {1,2}"] {
        let in_workspace = |file: &&str| writing_calls(&format!("{folder}/{file}"));
        let calls: Vec<Value> = OWN_FILES.iter().flat_map(in_workspace).collect();
        let count = calls.len();
        let desk = play_with_data_in(&format!("workspace/{folder}"), calls).await;
        expect_untouched(&desk, count).await;
        assert!(!Path::new(desk.data_dir()).join("new").exists());
    }
}

/// A workspace within the data folder is the person's mistake, and no way to their rules.
#[tokio::test]
async fn a_workspace_in_the_data_folder_is_not_changed_by_agents() {
    let calls = writing_calls("grt_1.json").to_vec();
    let desk = play_with_data_in("", calls).await;
    expect_untouched(&desk, 3).await;
}
