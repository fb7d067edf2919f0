//! `write`, `edit` and `delete_path`: shown first, then done exactly as shown.

use protocol::call::plan::Removal;
use protocol::view::preview::{LossItem, LossPreview};
use protocol::{Plan, Preview};
use serde_json::json;
use tools::diff::{describe_left_out, select_plan};
use tools::{ExecutionContext, ToolContext};

use crate::support::{Bench, approve, drawn, object};

#[tokio::test]
async fn write_creates_and_replaces_s002_13_s001_49() {
    let bench = Bench::with(&[("old.txt", b"one\ntwo\n")]);
    let new = json!({"path": "deep/er/new.rs", "content": "fn main() {}\n"});
    let prepared = bench.prepare("write", &new).await.unwrap();
    assert_eq!(drawn(&prepared.preview), ["+fn main() {}"]);
    assert_eq!(bench.get("deep/er/new.rs"), None, "a preview has no effect");
    assert_eq!(
        bench.said("write", &new).await,
        "Created `deep/er/new.rs` (1 line, 13 bytes)."
    );
    assert_eq!(bench.text("deep/er/new.rs"), "fn main() {}\n");

    let old = json!({"path": "./old.txt", "content": "one\n2\n"});
    let prepared = bench.prepare("write", &old).await.unwrap();
    assert_eq!(drawn(&prepared.preview), [" one", "-two", "+2"]);
    let output = bench.call("write", &old).await.unwrap();
    assert_eq!(
        output.text,
        "Changed `old.txt`: +1 -1 lines, the first at line 2; it has 6 bytes now."
    );
    assert_eq!(output.message, "+1 −1");

    let prepared = bench.prepare("write", &old).await.unwrap();
    assert_eq!(
        (drawn(&prepared.preview), prepared.plan),
        (Vec::<String>::new(), Plan::None)
    );
    assert_eq!(
        bench.said("write", &old).await,
        "`./old.txt` already has exactly this content; nothing was written."
    );
    assert_eq!(
        bench
            .said("write", &json!({"path": "none", "content": ""}))
            .await,
        "Created `none` (0 lines, 0 bytes)."
    );
    assert_eq!(bench.get("none"), Some(Vec::new()), "empty is not missing");
}

#[tokio::test]
async fn edit_replaces_one_text_s002_14_s001_50() {
    let bench = Bench::with(&[("a.py", b"x = 1\r\ny = 1\r\nz = 1"), ("b.txt", b"a a\n")]);
    let edit = json!({"path": "a.py", "old_string": "x = 1\ny", "new_string": "x = 2\ny"});
    let prepared = bench.prepare("edit", &edit).await.unwrap();
    assert_eq!(
        drawn(&prepared.preview),
        ["-x = 1", "+x = 2", " y = 1", " z = 1"]
    );
    assert_eq!(
        bench.said("edit", &edit).await,
        "Changed `a.py`: +1 -1 lines, the first at line 1; it has 19 bytes now."
    );
    assert_eq!(
        bench.text("a.py"),
        "x = 2\r\ny = 1\r\nz = 1",
        "line ends and the missing last one are kept"
    );

    let all = json!({"path": "b.txt", "old_string": "a", "new_string": "b", "replace_all": true});
    bench.said("edit", &all).await;
    assert_eq!(bench.text("b.txt"), "b b\n");

    // M05: the same under the other names.
    let other = json!({"path": "b.txt", "old_text": "b b", "new_text": "c"});
    bench.said("edit_file", &other).await;
    assert_eq!(bench.text("b.txt"), "c\n");
}

#[tokio::test]
async fn what_is_done_is_what_was_shown() {
    let bench = Bench::with(&[("a.txt", b"one\n")]);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let prepared = bench.prepare("edit", &edit).await.unwrap();
    bench.put("a.txt", b"one more\n");
    let error = run(&bench, "edit", &edit, prepared.plan).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`a.txt` changed since it was looked at, so nothing was done. Read it again, then repeat."
    );
    assert_eq!(bench.text("a.txt"), "one more\n");
}

#[tokio::test]
async fn a_part_of_a_change_is_written_and_the_rest_is_told() {
    let filler = "=\n".repeat(10);
    let before = format!("a\n{filler}b\n");
    let bench = Bench::with(&[("a.txt", before.as_bytes())]);
    let write = json!({"path": "a.txt", "content": format!("A\n{filler}B\n")});
    let prepared = bench.prepare("write", &write).await.unwrap();
    let plan = select_plan(&prepared.plan, &prepared.preview, &[1]).unwrap();
    let output = run(&bench, "write", &write, plan).await.unwrap();
    assert_eq!(
        output.text,
        "Changed `a.txt`: +1 -1 lines, the first at line 12; it has 24 bytes now."
    );
    assert_eq!(bench.text("a.txt"), format!("a\n{filler}B\n"));
    assert!(
        describe_left_out(&prepared.preview, &[1]).unwrap().starts_with(
            "The person accepted this in part and left out 1 of 2 changes: a.txt line 1. There the content is as it was"
        ),
        "{:?}",
        describe_left_out(&prepared.preview, &[1])
    );
}

#[tokio::test]
async fn delete_path_shows_the_loss_and_takes_it() {
    let bench = Bench::with(&[
        ("keep.txt", b"k\n"),
        ("old/a.txt", b"1\n2\n"),
        ("old/deep/b.txt", b"3\n"),
    ]);
    let call = json!({"path": "old/"});
    let prepared = bench.prepare("delete_path", &call).await.unwrap();
    let item = |path: &str, kind: &str, bytes| LossItem {
        path: path.to_owned(),
        kind: kind.to_owned(),
        bytes,
    };
    assert_eq!(
        prepared.preview,
        Preview::Loss(LossPreview {
            files: 2,
            folders: 2,
            lines: Some(3),
            bytes: 6,
            shown: vec![
                item("old", "folder", 0),
                item("old/a.txt", "file", 4),
                item("old/deep", "folder", 0),
                item("old/deep/b.txt", "file", 2),
            ],
        })
    );
    assert!(
        matches!(&prepared.plan, Plan::Remove(Removal { path, files: 2, bytes: 6, .. }) if path == "old"),
        "{:?}",
        prepared.plan
    );
    assert_eq!(bench.text("old/a.txt"), "1\n2\n", "a preview has no effect");

    // Something came into the folder after it was shown: nothing goes.
    bench.put("old/late.txt", b"late");
    let error = run(&bench, "delete_path", &call, prepared.plan)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("changed since it was looked at"),
        "{error}"
    );
    assert_eq!(bench.text("old/late.txt"), "late");

    let output = bench.call("delete_path", &call).await.unwrap();
    assert_eq!(output.text, "Deleted `old` (3 files, 10 bytes).");
    assert_eq!(
        (bench.at("old").exists(), bench.text("keep.txt")),
        (false, "k\n".to_owned())
    );
}

#[tokio::test]
async fn a_folder_of_many_lists_the_first_fifty() {
    let bench = Bench::new();
    for n in 0..80 {
        bench.put(&format!("many/{n:03}"), b"x");
    }
    let prepared = bench
        .prepare("delete_path", &json!({"path": "many"}))
        .await
        .unwrap();
    let Preview::Loss(loss) = prepared.preview else {
        panic!("no loss");
    };
    assert_eq!((loss.files, loss.shown.len()), (80, LossPreview::ITEMS_MAX));
}

#[cfg(unix)]
#[tokio::test]
async fn of_a_link_the_link_goes_and_writing_goes_through_it() {
    let bench = Bench::with(&[("real.txt", b"one\n"), ("folder/in.txt", b"in\n")]);
    std::os::unix::fs::symlink("real.txt", bench.at("link.txt")).unwrap();
    std::os::unix::fs::symlink("folder", bench.at("link")).unwrap();
    bench
        .said(
            "edit",
            &json!({"path": "link.txt", "old_string": "one", "new_string": "two"}),
        )
        .await;
    assert_eq!(bench.text("real.txt"), "two\n");
    assert!(bench.at("link.txt").is_symlink());
    bench
        .said("delete_path", &json!({"path": "link.txt"}))
        .await;
    bench.said("delete_path", &json!({"path": "link"})).await;
    assert_eq!(
        (
            bench.at("link.txt").is_symlink(),
            bench.at("link").is_symlink(),
            bench.text("folder/in.txt")
        ),
        (false, false, "in\n".to_owned())
    );
}

/// A file that holds a secret, of which the agent only saw the mask: the error says so, and the mask never reaches the file.
#[tokio::test]
async fn a_mask_is_never_written_over_a_secret() {
    let secret = concat!("AKIA", "IOSFODNN7EXAMPLE");
    let before = format!("id = {secret}\nport = 1\n");
    let bench = Bench::with(&[("a.ini", before.as_bytes())]);
    for (tool, arguments, named) in [
        (
            "edit",
            json!({"path": "a.ini", "old_string": "id = ***\nport = 1", "new_string": "id = ***\nport = 2"}),
            "It holds ***, which stands for a secret that was masked",
        ),
        (
            "write",
            json!({"path": "a.ini", "content": "id = ***\nport = 2\n"}),
            "the secret would be lost, so nothing was changed",
        ),
        (
            "edit",
            json!({"path": "a.ini", "old_string": secret, "new_string": "***"}),
            "the secret would be lost, so nothing was changed",
        ),
    ] {
        let error = bench.call(tool, &arguments).await.unwrap_err().to_string();
        assert!(error.contains(named), "{tool}: {error}");
        assert_eq!(bench.text("a.ini"), before);
    }
    // An edit that leaves the secret alone, or removes it altogether, is done.
    bench
        .said(
            "edit",
            &json!({"path": "a.ini", "old_string": "port = 1", "new_string": "port = 2 # ***"}),
        )
        .await;
    assert_eq!(
        bench.text("a.ini"),
        format!("id = {secret}\nport = 2 # ***\n")
    );
    bench
        .said(
            "write",
            &json!({"path": "a.ini", "content": "id = env:ID\n"}),
        )
        .await;
    assert_eq!(bench.text("a.ini"), "id = env:ID\n");
}

/// Executes a plan that was made earlier.
async fn run(
    bench: &Bench,
    tool: &str,
    arguments: &serde_json::Value,
    plan: Plan,
) -> Result<protocol::ToolOutput, protocol::ToolError> {
    let approved = approve(tool, object(arguments).clone(), plan, None);
    let hands: &ToolContext = &bench.hands;
    let cx = ExecutionContext::new("c_1".into(), tool, bench.cancel.clone());
    bench
        .registry
        .find(tool)
        .unwrap()
        .tool
        .execute(&approved, hands, &cx)
        .await
}
