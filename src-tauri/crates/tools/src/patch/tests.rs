//! Tests of parsing patches, valid and invalid.

mod placed;
mod properties;

use super::{FilePatch, PatchAction, PatchHunk, PatchLine, parse_patch};

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn update(path: &str, hunks: Vec<PatchHunk>) -> FilePatch {
    FilePatch {
        path: path.into(),
        act: PatchAction::Update { to: None, hunks },
    }
}

fn hunk(lines: &[&str]) -> PatchHunk {
    let line = |line: &&str| match line.split_at(1) {
        ("-", text) => PatchLine::Removed(text.into()),
        ("+", text) => PatchLine::Added(text.into()),
        (_, text) => PatchLine::Context(text.into()),
    };
    PatchHunk {
        lines: lines.iter().map(line).collect(),
        ..PatchHunk::default()
    }
}

#[test]
fn an_envelope_is_read_whole() {
    let text = envelope(
        "*** Add File: new/a.txt\n+one\n+\n+*** Add File: no\n\n*** Delete File: old.txt\n*** Update File: b.rs\n*** Move to: c.rs\n\
         @@ mod m\n@@   fn f() {\n a\n\n-b\n+B\n@@\n+end\n*** End of File\n\n*** Update File: d e.txt\n-x\n+y\n",
    );
    let files = vec![
        FilePatch {
            path: "new/a.txt".into(),
            act: PatchAction::Add("one\n\n*** Add File: no\n".into()),
        },
        FilePatch {
            path: "old.txt".into(),
            act: PatchAction::Delete(Vec::new()),
        },
        FilePatch {
            path: "b.rs".into(),
            act: PatchAction::Update {
                to: Some("c.rs".into()),
                hunks: vec![
                    PatchHunk {
                        anchors: vec!["mod m".into(), "fn f() {".into()],
                        ..hunk(&[" a", " ", "-b", "+B"])
                    },
                    PatchHunk {
                        at_end: true,
                        ..hunk(&["+end"])
                    },
                ],
            },
        },
        update("d e.txt", vec![hunk(&["-x", "+y"])]),
    ];
    assert_eq!(parse_patch(&text), Ok(files.clone()));
    assert_eq!(parse_patch(&text.replace('\n', "\r\n")), Ok(files));
}

#[test]
fn a_unified_diff_is_read_whole() {
    let text = "diff --git a/b.rs b/b.rs\nindex 1..2 100644\n--- a/b.rs\n+++ b/b.rs\n@@ -3,2 +3,2 @@ fn f()\n keep\n--- gone\n+++ come\n@@ -9 +9 @@\n-x\n\
         \\ No newline at end of file\n+y\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n\
         \\ No newline at end of file\ndiff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n\
         diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n";
    let at = |line, hunk: PatchHunk| PatchHunk {
        line: Some(line),
        ..hunk
    };
    assert_eq!(
        parse_patch(text),
        Ok(vec![
            update(
                "b.rs",
                vec![
                    at(3, hunk(&[" keep", "--- gone", "+++ come"])),
                    PatchHunk {
                        open_before: true,
                        ..at(9, hunk(&["-x", "+y"]))
                    },
                ]
            ),
            FilePatch {
                path: "n".into(),
                act: PatchAction::Add("1\n2".into()),
            },
            FilePatch {
                path: "o".into(),
                act: PatchAction::Delete(vec![at(1, hunk(&["-o"]))]),
            },
            FilePatch {
                path: "p".into(),
                act: PatchAction::Update {
                    to: Some("q".into()),
                    hunks: Vec::new(),
                },
            },
        ])
    );
    let plain = "--- x.txt\t2026-01-01 00:00:00\n+++ x.txt\t2026-01-02\n@@ -1,9 +1,9 @@\n-a\n+b\n--- y.txt\n+++ y.txt\n@@ -1 +1 @@\n-c\n+d\n\n";
    let counts_are_wrong = parse_patch(plain).unwrap();
    assert_eq!(
        counts_are_wrong.len(),
        1,
        "the head of `y.txt` may be lines of the hunk"
    );
    let plain = plain.replace("-1,9 +1,9", "-1 +1");
    assert_eq!(
        parse_patch(&plain),
        Ok(vec![
            update("x.txt", vec![at(1, hunk(&["-a", "+b"]))]),
            update("y.txt", vec![at(1, hunk(&["-c", "+d"]))]),
        ])
    );
}

#[test]
fn what_cannot_be_read_says_where() {
    let end = "does not end with `*** End Patch`, so a part of it may be missing; send it whole";
    let hunk = |why: &str| format!("has a hunk that {why}: hunk 1 of `a`");
    let table = [
        (
            String::new(),
            "must begin with `*** Begin Patch`, or be a unified diff that begins with `--- ` or `diff --git `",
        ),
        (
            "apply this".into(),
            "must begin with `*** Begin Patch`, or be a unified diff that begins with `--- ` or `diff --git `",
        ),
        ("*** Begin Patch".into(), end),
        ("*** Begin Patch\n*** Add File: a\n+x".into(), end),
        (envelope(""), "names no file: it is empty"),
        (
            envelope("hello"),
            "has a line that belongs to no file, line 2: only `*** Add File: `, `*** Delete File: ` and `*** Update File: ` begin one",
        ),
        (envelope("*** Delete File:  "), "has a file without a path"),
        (
            envelope("*** Add File: a\nx"),
            "has a line without `+` in the new file `a`, line 3: every line of it begins with `+`",
        ),
        (
            envelope("*** Update File: a"),
            "says nothing of what is to change in `a`",
        ),
        (
            envelope("*** Update File: a\n@@\nx"),
            &hunk("has a line that begins with none of ` `, `+` and `-`, line 4"),
        ),
        (envelope("*** Update File: a\n@@ f"), &hunk("has no lines")),
        (
            envelope("*** Update File: a\n@@\n x"),
            &hunk("changes nothing: it has no line with `+` or `-`, or both are equal"),
        ),
        (
            envelope("*** Update File: a\n@@\n-x\n+x"),
            &hunk("changes nothing: it has no line with `+` or `-`, or both are equal"),
        ),
        (
            "--- a\n@@ -1 +1 @@\n-x\n+y".into(),
            "lacks `+++ ` after `--- `, line 2",
        ),
        (
            "--- a\n+++ a\n@@ one\n-x\n+y".into(),
            &hunk("does not begin as `@@ -1,2 +1,2 @@` does, line 3"),
        ),
        (
            "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\nand so on".into(),
            "has a line that is not part of a unified diff, line 6",
        ),
        (
            "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y".into(),
            "has a file that is `/dev/null` on both sides",
        ),
        (
            "--- /dev/null\n+++ a\n@@ -1 +1 @@\n x\n+y".into(),
            "has lines without `+` in the new file `a`: every line of it begins with `+`",
        ),
        (
            "--- \"a\\303\"\n+++ a\n@@ -1 +1 @@\n-x\n+y".into(),
            "has a path in quotes, line 1: write it as it is, letter for letter",
        ),
        (
            "diff --git a/a b/a\nold mode 100644\nnew mode 100755".into(),
            "changes permissions, line 2: that is for bash with chmod",
        ),
        (
            "diff --git a/a b/a\nnew file mode 120000\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x"
                .into(),
            "changes permissions, line 2: that is for bash with chmod",
        ),
        (
            "diff --git a/a b/a\ncopy from a\ncopy to b".into(),
            "copies a file, line 2: write the new file whole",
        ),
        (
            "diff --git a/a b/a\nGIT binary patch".into(),
            "changes a file that is not text, line 2: only text can be patched",
        ),
        (
            "diff --git a/a b/a\nindex 1..2\n".into(),
            "has a file without `--- ` and `+++ ` above line 3: content that is empty or not text cannot be told by a unified diff",
        ),
    ];
    for (text, why) in table {
        assert_eq!(parse_patch(&text), Err(why.to_owned()), "{text:?}");
    }
    let many = (0..101)
        .map(|n| format!("*** Delete File: {n}\n"))
        .collect::<String>();
    assert_eq!(
        parse_patch(&envelope(&many)),
        Err("names 101 files, and at most 100 can be changed at once; send it in parts".to_owned())
    );
    let many = format!("*** Update File: a\n{}", "@@\n-x\n+y\n".repeat(1_001));
    assert_eq!(
        parse_patch(&envelope(&many)),
        Err("has 1001 hunks, and at most 1000 can be placed at once; send it in parts".to_owned())
    );
}
