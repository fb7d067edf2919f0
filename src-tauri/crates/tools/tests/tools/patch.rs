//! `apply_patch`: several files shown at once, then changed together or not at all.

use protocol::view::preview::FileDiff;
use protocol::{Access, Capability, Plan, Preview, ToolError, ToolOutput};
use serde_json::{Value, json};
use tools::diff::{describe_left_out, select_plan};
use tools::{ExecutionContext, LOCKED_TOOL_IDS};

use crate::support::{Bench, approve, object};

pub fn patch(body: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") })
}

/// Four files: one that changes at two places, one that moves, one that goes and one that comes.
fn field() -> (Bench, Value) {
    let filler = "=\n".repeat(10);
    let bench = Bench::with(&[
        ("src/a.rs", format!("one\n{filler}two\n").as_bytes()),
        ("src/b.sh", b"#!/bin/sh\necho\n"),
        ("old.txt", b"1\n2\n"),
        ("other.txt", b"stays\n"),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o750);
        std::fs::set_permissions(bench.at("src/b.sh"), mode).unwrap();
    }
    let call = patch(
        "*** Update File: src/a.rs\n@@\n-one\n+ONE\n@@\n-two\n+TWO\n*** Update File: src/b.sh\n*** Move to: bin/b.sh\n@@\n-echo\n+echo hi\n\
         *** Delete File: old.txt\n*** Add File: deep/new.txt\n+new\n*** Update File: other.txt\n*** Move to: moved.txt",
    );
    (bench, call)
}

/// A path and what stands there afterwards.
type Left = (&'static str, Option<Vec<u8>>);

fn files(preview: &Preview) -> &[FileDiff] {
    match preview {
        Preview::Diff { files } => files,
        other => panic!("{other:?} is not a difference"),
    }
}

async fn run(bench: &Bench, call: &Value, plan: Plan) -> Result<ToolOutput, ToolError> {
    let found = bench.registry.find("apply_patch")?;
    let approved = approve("apply_patch", object(call).clone(), plan, None);
    let cx = ExecutionContext::new("c_1".into(), "apply_patch", bench.cancel.clone());
    found.tool.execute(&approved, &bench.hands, &cx).await
}

/// `S002-32`, `S002-33`.
#[tokio::test]
async fn a_patch_changes_all_its_files_at_once_s002_32() {
    assert!(
        !LOCKED_TOOL_IDS.contains(&"apply_patch"),
        "it stands beside the lock"
    );
    let (bench, call) = field();
    let prepared = bench.prepare("apply_patch", &call).await.unwrap();
    let shown: Vec<_> = files(&prepared.preview)
        .iter()
        .map(|file| {
            let hunks: Vec<_> = file
                .hunks
                .iter()
                .map(|hunk| (hunk.id, hunk.section.as_str()))
                .collect();
            let from = file.from.as_deref().unwrap_or_default();
            (file.path.as_str(), from, file.exists, file.gone, hunks)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("src/a.rs", "", true, false, vec![(0, ""), (1, "")]),
            ("bin/b.sh", "src/b.sh", true, false, vec![(2, "")]),
            ("old.txt", "", true, true, vec![(3, "")]),
            ("deep/new.txt", "", false, false, vec![(4, "")]),
            (
                "moved.txt",
                "other.txt",
                true,
                false,
                vec![(5, "moves as it is")]
            ),
        ]
    );
    let output = run(&bench, &call, prepared.plan).await.unwrap();
    assert_eq!(
        output.text,
        "Changed `src/a.rs`: +2 -2 lines, the first at line 1; it has 28 bytes now.\n\
         Moved `src/b.sh` to `bin/b.sh`: +1 -1 lines; it has 18 bytes now.\n\
         Deleted `old.txt` (4 bytes).\n\
         Created `deep/new.txt` (1 line, 4 bytes).\n\
         Moved `other.txt` to `moved.txt`, its content unchanged."
    );
    assert_eq!(output.message, "+4 −5");
    assert_eq!(
        bench.text("src/a.rs"),
        format!("ONE\n{}TWO\n", "=\n".repeat(10))
    );
    assert_eq!(bench.text("bin/b.sh"), "#!/bin/sh\necho hi\n");
    assert_eq!(bench.text("deep/new.txt"), "new\n");
    assert_eq!(bench.text("moved.txt"), "stays\n");
    for gone in ["src/b.sh", "old.txt", "other.txt"] {
        assert_eq!(bench.get(gone), None);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(bench.at("bin/b.sh"))
            .unwrap()
            .permissions();
        assert_eq!(
            mode.mode() & 0o7777,
            0o750,
            "a file that moves keeps its mode"
        );
    }
    let unified = json!({ "patch": "--- a/moved.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-stays\n--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+y\n" });
    assert_eq!(
        bench.said("apply_patch", &unified).await,
        "Deleted `moved.txt` (6 bytes).\nCreated `x/y` (1 line, 2 bytes)."
    );
    assert_eq!(
        (bench.get("moved.txt"), bench.text("x/y")),
        (None, "y\n".to_owned())
    );
}

#[tokio::test]
async fn a_patch_is_applied_to_all_files_or_to_none_s002_33() {
    // One hunk of one file does not fit.
    let (bench, call) = field();
    bench.put("src/b.sh", b"#!/bin/sh\nprintf\n");
    assert_eq!(
        bench.error("apply_patch", &call).await,
        "Nothing was changed.\n`src/b.sh`: Hunk 1: its lines are not in the file. Nothing there looks like it. Read the file again."
    );
    // One file changed after all of it was shown.
    for path in ["src/a.rs", "src/b.sh", "old.txt", "other.txt"] {
        let (bench, call) = field();
        let prepared = bench.prepare("apply_patch", &call).await.unwrap();
        bench.put(path, b"changed\n");
        let before = bench.everything();
        let error = run(&bench, &call, prepared.plan).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("`{path}` changed since")),
            "{error}"
        );
        assert_eq!(bench.everything(), before);
    }
    // Something came to stand in the way.
    for (path, error) in [
        ("moved.txt", "`moved.txt` changed since"),
        ("deep/new.txt", "`deep/new.txt` changed since"),
        ("bin", "bin"),
    ] {
        let (bench, call) = field();
        let prepared = bench.prepare("apply_patch", &call).await.unwrap();
        bench.put(path, b"in the way\n");
        let before = bench.everything();
        let said = run(&bench, &call, prepared.plan)
            .await
            .unwrap_err()
            .to_string();
        assert!(said.contains(error), "{said}");
        assert_eq!(bench.everything(), before);
    }
}

#[tokio::test]
async fn any_part_of_a_patch_can_be_left_out() {
    let eq = "=\n".repeat(10);
    let a = |one: &str, two: &str| Some(format!("{one}\n{eq}{two}\n").into_bytes());
    let table: [(&[u32], [Left; 4], &str); 5] = [
        (
            &[1],
            [
                ("src/a.rs", a("one", "TWO")),
                ("src/b.sh", Some(b"#!/bin/sh\necho\n".to_vec())),
                ("bin/b.sh", None),
                ("moved.txt", None),
            ],
            "left out 5 of 6 changes: src/a.rs line 1; bin/b.sh line 2; old.txt lines 1 to 2; deep/new.txt at its start; moved.txt (moves as it is).",
        ),
        (
            &[0, 2, 3],
            [
                ("src/a.rs", a("ONE", "two")),
                ("src/b.sh", None),
                ("old.txt", None),
                ("deep/new.txt", None),
            ],
            "left out 3 of 6 changes: src/a.rs line 12;",
        ),
        (
            &[5],
            [
                ("src/a.rs", a("one", "two")),
                ("old.txt", Some(b"1\n2\n".to_vec())),
                ("other.txt", None),
                ("moved.txt", Some(b"stays\n".to_vec())),
            ],
            "left out 5 of 6 changes",
        ),
        (
            &[4],
            [
                ("deep/new.txt", Some(b"new\n".to_vec())),
                ("old.txt", Some(b"1\n2\n".to_vec())),
                ("other.txt", Some(b"stays\n".to_vec())),
                ("bin/b.sh", None),
            ],
            "left out 5 of 6 changes",
        ),
        (
            &[2],
            [
                ("src/b.sh", None),
                ("bin/b.sh", Some(b"#!/bin/sh\necho hi\n".to_vec())),
                ("old.txt", Some(b"1\n2\n".to_vec())),
                ("moved.txt", None),
            ],
            "left out 5 of 6 changes",
        ),
    ];
    for (hunks, after, said) in table {
        let (bench, call) = field();
        let prepared = bench.prepare("apply_patch", &call).await.unwrap();
        let plan = select_plan(&prepared.plan, &prepared.preview, hunks).unwrap();
        run(&bench, &call, plan).await.unwrap();
        for (path, content) in after {
            assert_eq!(bench.get(path), content, "{hunks:?}: {path}");
        }
        let told = describe_left_out(&prepared.preview, hunks).unwrap();
        assert!(told.contains(said), "{told}");
    }

    // Part of the content of a file that moves: it moves with that.
    let filler = "=\n".repeat(10);
    let bench = Bench::with(&[("a", format!("1\n{filler}2\n").as_bytes())]);
    let call = patch("*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n@@\n-2\n+two");
    let prepared = bench.prepare("apply_patch", &call).await.unwrap();
    let plan = select_plan(&prepared.plan, &prepared.preview, &[1]).unwrap();
    run(&bench, &call, plan).await.unwrap();
    assert_eq!(
        (bench.get("a"), bench.text("b")),
        (None, format!("1\n{filler}two\n"))
    );
}

#[tokio::test]
async fn what_a_patch_touches_is_declared_path_by_path() {
    let (bench, call) = field();
    let found = bench.registry.find("apply_patch").unwrap();
    assert_eq!(
        found.tool.accesses(object(&call)),
        [
            (Capability::FsRead, "src/a.rs"),
            (Capability::FsWrite, "src/a.rs"),
            (Capability::FsRead, "src/b.sh"),
            (Capability::FsDelete, "src/b.sh"),
            (Capability::FsWrite, "bin/b.sh"),
            (Capability::FsDelete, "old.txt"),
            (Capability::FsWrite, "deep/new.txt"),
            (Capability::FsRead, "other.txt"),
            (Capability::FsDelete, "other.txt"),
            (Capability::FsWrite, "moved.txt"),
        ]
        .map(|(capability, path)| Access::new(capability, path))
    );
    assert_eq!(
        found.tool.target(object(&call)),
        "5 files: src/a.rs, src/b.sh, old.txt, deep/new.txt, other.txt"
    );
    assert_eq!(
        found.tool.accesses(object(&json!({ "patch": "nonsense" }))),
        [Access::new(Capability::FsDelete, ".")]
    );
}

#[tokio::test]
async fn a_large_patch_is_shown_up_to_a_limit_and_can_be_left_out_file_by_file() {
    let line = "x".repeat(99) + "\n";
    let big = line.repeat(30_000);
    let bench = Bench::with(&[("a", big.as_bytes()), ("b", big.as_bytes()), ("c", b"c\n")]);
    let call = patch("*** Delete File: a\n*** Delete File: b\n*** Delete File: c");
    let prepared = bench.prepare("apply_patch", &call).await.unwrap();
    let shown: Vec<_> = files(&prepared.preview)
        .iter()
        .map(|file| {
            (
                file.removed,
                file.hunks[0].section.as_str(),
                file.cut.is_some(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (30_000, "", true),
            (30_000, "the whole file goes", true),
            (1, "the whole file goes", true),
        ]
    );
    let plan = select_plan(&prepared.plan, &prepared.preview, &[1]).unwrap();
    run(&bench, &call, plan).await.unwrap();
    assert!(bench.get("a").is_some() && bench.get("b").is_none() && bench.get("c").is_some());

    let huge = vec![b'a'; 17 * 1024 * 1024];
    bench.put("huge", &huge);
    let error = bench
        .error("apply_patch", &patch("*** Delete File: huge"))
        .await;
    assert!(error.contains("too large to be changed here"), "{error}");
}
