//! Tests of the difference as a person sees it, and of choosing hunks.

use protocol::call::plan::FileChange;
use protocol::view::preview::{DiffLineKind, FileDiff};
use protocol::{Plan, Preview, ToolError};

use super::*;

/// Renders the difference as text: a head for each hunk, `[…]` around marks, `<…>` around hidden characters.
fn drawn(file: &FileDiff) -> String {
    let mut text = String::new();
    for hunk in &file.hunks {
        text += &format!(
            "@@ {} -{} +{} (-{} +{}) {}\n",
            hunk.id, hunk.old_start, hunk.new_start, hunk.removed, hunk.added, hunk.section
        );
        for line in &hunk.lines {
            text.push(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            for part in &line.parts {
                match (part.changed, part.control) {
                    (false, false) => text += &part.text,
                    (true, false) => text += &format!("[{}]", part.text),
                    (_, true) => text += &format!("<{}>", part.text),
                }
            }
            text += if line.no_newline { "\\\n" } else { "\n" };
        }
    }
    text
}

pub(super) fn diff(path: &str, before: &str, after: &str) -> FileDiff {
    diff_file(
        path,
        Some(before.as_bytes()),
        after.as_bytes(),
        0,
        CONTEXT_LINES,
    )
}

fn change(before: Option<&[u8]>, after: &[u8]) -> FileChange {
    FileChange {
        path: "a.txt".to_owned(),
        before: before.map(<[u8]>::to_vec),
        after: Some(after.to_vec()),
        from: None,
    }
}

#[test]
fn what_a_difference_looks_like() {
    let numbers = |skip: &str| -> String {
        (1..=20)
            .filter(|n| n.to_string() != skip)
            .map(|n| format!("{n}\n"))
            .collect()
    };
    for (name, path, before, after, expected) in [
        ("equal", "a.txt", "a\n", "a\n", ""),
        (
            "words",
            "a.rs",
            "fn one() {\n    let x = 1;\n    call(x);\n}\n",
            "fn one() {\n    let x = 2;\n    call(x);\n}\n",
            "@@ 0 -1 +1 (-1 +1) fn one\n fn one() {\n-    let x = [1];\n+    let x = [2];\n     call(x);\n }\n",
        ),
        (
            "gone",
            "a.txt",
            &numbers(""),
            &numbers("10"),
            "@@ 0 -7 +7 (-1 +0) \n 7\n 8\n 9\n-10\n 11\n 12\n 13\n",
        ),
        (
            "the last line end goes",
            "a.txt",
            "a\nb\n",
            "a\nb",
            "@@ 0 -1 +1 (-1 +1) \n a\n-b\n+b\\\n",
        ),
        (
            "a name is turned around",
            "a.txt",
            "x\n",
            "x\u{202e}gpj.exe\n",
            "@@ 0 -1 +1 (-1 +1) \n-x\n+x<U+202E>gpj.exe\n",
        ),
        (
            "line ends of Windows on both sides are no news",
            "a.txt",
            "a\r\nb\r\n",
            "a\r\nc\r\n",
            "@@ 0 -1 +1 (-1 +1) \n a\n-b\n+c\n",
        ),
        (
            "line ends that change are",
            "a.txt",
            "a\r\n",
            "a\n",
            "@@ 0 -1 +1 (-1 +1) \n-a<U+000D>\n+a\n",
        ),
        (
            "a bare carriage return hides nothing",
            "a.txt",
            "",
            "rm -rf /\rls      \n",
            "@@ 0 -1 +1 (-0 +1) \n+rm -rf /<U+000D>ls      \n",
        ),
    ] {
        assert_eq!(drawn(&diff(path, before, after)), expected, "{name}");
    }
}

#[test]
fn a_new_file_an_old_binary_and_a_new_one_are_told_apart() {
    let new = diff_file("src/a.py", None, b"x = 1\n", 7, 3);
    assert_eq!(
        (
            new.exists,
            new.language.as_str(),
            new.added,
            new.removed,
            new.hunks[0].id
        ),
        (false, "python", 1, 0, 7)
    );
    let replaced = diff_file("a.txt", Some(b"\xff\xfe\x00"), b"text\n", 0, 3);
    assert_eq!(
        replaced.cut.as_deref(),
        Some("The old content is not text (3 bytes); it is replaced whole and not shown.")
    );
    assert_eq!(drawn(&replaced), "@@ 0 -1 +1 (-0 +1) \n+text\n");
    let binary = diff_file("a.bin", Some(b"text\n"), b"\xff\x00", 0, 3);
    assert_eq!(
        (binary.hunks.len(), binary.cut.as_deref()),
        (
            0,
            Some("The new content is not text (2 bytes); it is not shown.")
        )
    );
}

#[test]
fn what_is_too_large_is_cut_and_says_so() {
    let before: String = (0..6_000).map(|n| format!("old {n}\n")).collect();
    let after: String = (0..6_000).map(|n| format!("new {n}\n")).collect();
    let file = diff("a.txt", &before, &after);
    let shown: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    assert_eq!((file.added, file.removed, shown), (6_000, 6_000, 4_000));
    assert_eq!(
        file.cut.as_deref(),
        Some(
            "The difference is too large to be shown whole: 8000 of 12,000 changed lines are not shown, all after what \
             is shown here."
        )
    );
    let long = diff("a.json", "", &format!("{}\n", "é".repeat(5_000)));
    assert_eq!(
        long.cut.as_deref(),
        Some("1 line is longer than 4.0 kB and shown only to there.")
    );
    let parts = &long.hunks[0].lines[0].parts;
    assert_eq!(
        (parts[0].text.len(), parts[1].text.as_str()),
        (4_096, "… 5904 more bytes")
    );

    // Nobody chooses from what was not shown, but may take all of it or none.
    let filler = "=\n".repeat(9);
    let before = format!("x\n{filler}{before}");
    let after = format!("y\n{filler}{after}");
    let file = diff("a.txt", &before, &after);
    let change = change(Some(before.as_bytes()), after.as_bytes());
    assert_eq!((file.hunks.len(), file.cut.is_some()), (2, true));
    assert_eq!(
        select_hunks(&change, &file, &[0, 1]).unwrap(),
        after.as_bytes()
    );
    assert_eq!(
        select_hunks(&change, &file, &[]).unwrap(),
        before.as_bytes()
    );
    assert_eq!(
        select_hunks(&change, &file, &[0]),
        Err(ToolError::InvalidArgs(
            "the difference of a.txt is too large to be shown whole, so it can only be accepted whole or rejected"
                .to_owned()
        ))
    );
}

#[test]
fn a_huge_rewrite_ends_in_bounded_work() {
    let before: String = (0..150_000).map(|n| format!("a{n}\n")).collect();
    let after: String = (0..150_000).map(|n| format!("b{n}\n")).collect();
    let file = diff(
        "a.txt",
        &format!("same\n{before}same\n"),
        &format!("same\n{after}same\n"),
    );
    assert_eq!(
        (file.added, file.removed, file.hunks.len()),
        (150_000, 150_000, 1)
    );
    assert_eq!(file.hunks[0].old_start, 1);
}

#[test]
fn a_choice_narrows_the_plan_and_the_agent_is_told() {
    let filler = "=\n".repeat(10);
    let before = format!("# One\na\n{filler}# Two\nb\n{filler}# Three\n{filler}c");
    let after = format!("# One\nA\n{filler}# Two\nb\nb2\n{filler}# Three\n{filler}C");
    let whole = change(Some(before.as_bytes()), after.as_bytes());
    let mut file = diff("README.md", &before, &after);
    file.path = "a.txt".to_owned();
    let plan = Plan::Write(vec![whole.clone()]);
    let preview = Preview::Diff { files: vec![file] };

    let narrowed = select_plan(&plan, &preview, &[0, 2]).unwrap();
    let expected = format!("# One\nA\n{filler}# Two\nb\n{filler}# Three\n{filler}C");
    assert_eq!(
        narrowed,
        Plan::Write(vec![change(Some(before.as_bytes()), expected.as_bytes())])
    );
    assert_eq!(select_plan(&plan, &preview, &[0, 1, 2]).unwrap(), plan);
    assert_eq!(
        describe_left_out(&preview, &[0]).unwrap(),
        "The person accepted this in part and left out 2 of 3 changes: a.txt after line 14 (Two); a.txt line 36 \
         (Three). There the content is as it was before; read the file before you change it again, and do not repeat \
         what was left out without asking."
    );
    assert_eq!(describe_left_out(&preview, &[0, 1, 2]), None);
    for (hunks, named) in [(&[9][..], "no hunk 9"), (&[], "no hunk was accepted")] {
        let error = select_plan(&plan, &preview, hunks).unwrap_err();
        assert!(
            matches!(&error, ToolError::InvalidArgs(text) if text.contains(named)),
            "{error}"
        );
    }
    let error = select_plan(&Plan::None, &Preview::Nothing, &[0]).unwrap_err();
    assert!(
        error.to_string().contains("no hunks to choose from"),
        "{error}"
    );
}

#[test]
fn a_file_of_which_nothing_is_accepted_is_left_alone() {
    let (one, two) = (
        change(None, b"1\n"),
        FileChange {
            path: "b.txt".into(),
            ..change(None, b"2\n")
        },
    );
    let files = vec![
        diff_file("a.txt", None, b"1\n", 0, 3),
        diff_file("b.txt", None, b"2\n", 1, 3),
    ];
    let narrowed = select_plan(
        &Plan::Write(vec![one, two.clone()]),
        &Preview::Diff { files },
        &[1],
    );
    assert_eq!(narrowed.unwrap(), Plan::Write(vec![two]));
}
