//! Patches over several files: judged path by path, accepted in part, taken back as one.

use protocol::query::{Answer, Query};
use protocol::{CallState, Decision, Op, ToolMode, UndoState, Verdict};
use serde_json::json;
use support::{Fixture, call_tool, expect_variant, rule_text};

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Delete File: old.txt\n*** Update File: b.txt\n*** Move to: moved/b.txt\n*** Add File: new.txt\n+new\n*** End Patch";

/// A desk whose agent sends the patch once, with these rules.
async fn open_desk(rules: &str) -> Fixture {
    let mut desk = Fixture::new([call_tool("apply_patch", json!({ "patch": PATCH }))]).await;
    desk.write_file("a.txt", "one\n")
        .write_file("b.txt", "b\n")
        .write_file("old.txt", "old\n");
    desk.write_rules(rules);
    desk
}

fn files(desk: &Fixture) -> [Option<String>; 5] {
    ["a.txt", "b.txt", "old.txt", "moved/b.txt", "new.txt"].map(|path| desk.read_file(path))
}

fn texts(texts: [&str; 5]) -> [Option<String>; 5] {
    texts.map(|text| (!text.is_empty()).then(|| text.to_owned()))
}

/// A patch that takes something away is a destructive call: it goes on unasked because a copy was taken, and is undone as one.
#[tokio::test]
async fn a_patch_is_one_entry_of_the_history() {
    let mut desk = open_desk("").await;
    desk.play().await;
    let done = desk.only_call().await;
    assert_eq!(done.state, CallState::Done);
    assert_eq!(done.mode, Some(ToolMode::Destructive));
    assert_eq!(done.target, "4 files: a.txt, old.txt, b.txt, new.txt");
    assert_eq!(files(&desk), texts(["ONE\n", "", "", "b\n", "new\n"]));

    let history = Query::History {
        offset: 0,
        limit: 9,
    };
    let entries =
        expect_variant!(desk.query(history).await, Answer::History { entries, .. } => entries);
    let [entry] = entries.as_slice() else {
        panic!("{entries:?}")
    };
    assert_eq!(
        (entry.title.as_str(), entry.state),
        ("Changed 4 files", UndoState::Applied)
    );
    let entry = entry.id.clone();
    desk.undo_call(&done).await;
    assert_eq!(files(&desk), texts(["one\n", "b\n", "old\n", "", ""]));
    assert!(!desk.workspace_root().join("moved").exists());
    desk.submit(Op::Redo { entry }).await;
    assert_eq!(files(&desk), texts(["ONE\n", "", "", "b\n", "new\n"]));
}

#[tokio::test]
async fn a_part_of_a_patch_is_carried_out_and_undone() {
    let mut desk = open_desk("[[rule]]\npermission = \"apply_patch\"\naction = \"ask\"\n").await;
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let some = |hunks: Vec<u32>| Decision::Allow {
        hunks: Some(hunks),
        note: String::new(),
        always: None,
    };
    assert!(desk.decide_call(&asked, some(vec![4])).await.is_err());
    // The file that changes and the one that moves; not the one that goes, nor the one that comes.
    desk.decide_call(&asked, some(vec![0, 2])).await.unwrap();
    desk.wait_until_ended().await;
    assert_eq!(files(&desk), texts(["ONE\n", "", "old\n", "b\n", ""]));
    let text = &desk.call_outcomes().await[0].1;
    assert!(
        text.contains("left out 2 of 4 changes: old.txt line 1; new.txt at its start."),
        "{text}"
    );
    desk.undo_call(&desk.only_call().await).await;
    assert_eq!(files(&desk), texts(["one\n", "b\n", "old\n", "", ""]));
}

/// The verdict on a patch is the strictest on any of its paths; a move is both: what goes, and what is written.
#[tokio::test]
async fn every_path_of_a_patch_is_judged() {
    for (permission, pattern, action, verdict) in [
        ("fs.write", "new.txt", "deny", Verdict::Deny),
        ("fs.write", "moved/**", "deny", Verdict::Deny),
        ("fs.delete", "b.txt", "deny", Verdict::Deny),
        ("fs.delete", "old.txt", "ask", Verdict::Ask),
        ("fs.read", "a.txt", "deny", Verdict::Deny),
        ("mode:destructive", "**", "ask", Verdict::Ask),
        // It is not about this patch.
        ("mode:safe_write", "**", "deny", Verdict::Allow),
        ("fs.write", "elsewhere", "deny", Verdict::Allow),
    ] {
        let rules = rule_text(permission, pattern, action);
        let why = match verdict {
            Verdict::Allow => "a copy".to_owned(),
            Verdict::Ask | Verdict::Deny => format!("`{permission} {pattern}`"),
        };
        let mut desk = open_desk(&rules).await;
        desk.start("Go.").await;
        match verdict {
            Verdict::Ask => drop(desk.wait_for_call().await),
            Verdict::Allow | Verdict::Deny => drop(desk.wait_until_ended().await),
        }
        let trail = desk.only_call().await.trail.unwrap();
        assert_eq!(trail.verdict, verdict, "{rules}\n{trail:?}");
        assert!(trail.lead.contains(&why), "{rules}\n{}", trail.lead);
        if verdict != Verdict::Allow {
            assert_eq!(
                files(&desk),
                texts(["one\n", "b\n", "old\n", "", ""]),
                "{rules}"
            );
        }
    }
}
