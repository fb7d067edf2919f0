//! Tests of placing hunks, and of the errors for hunks that match nowhere.

use super::{PatchAction, envelope, parse_patch};
use crate::patch::apply_hunks;

fn run(content: &str, hunks: &str) -> Result<String, String> {
    let text = match hunks.starts_with("--- ") {
        true => hunks.to_owned(),
        false => envelope(&format!("*** Update File: f\n{hunks}")),
    };
    let mut files = parse_patch(&text).unwrap();
    let Some(PatchAction::Update { hunks, .. }) = files.pop().map(|file| file.act) else {
        panic!("{text}");
    };
    apply_hunks(content, &hunks).map_err(|wrong| wrong.join("\n"))
}

const CLASSES: &str = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";

#[test]
fn hunks_are_placed_where_they_fit() {
    let unified = |range: &str, body: &str| format!("--- f\n+++ f\n@@ {range} @@\n{body}");
    let table = [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c".to_owned(), "a\nB\nc\n"),
        // In any order, each looked for in the file as it is.
        ("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A".into(), "A\nb\nC\n"),
        // Line ends stay as they are.
        (
            "a\r\nb\r\n",
            "@@\n-a\n+A\n+more".into(),
            "A\r\nmore\r\nb\r\n",
        ),
        ("a\r\nb\n", "@@\n-b\n+B".into(), "a\r\nB\n"),
        (
            "a\r\nb\r\n",
            unified("-1,2 +1,2", "-a\r\n+A\r\n b\r"),
            "A\r\nb\r\n",
        ),
        ("a\nb", "@@\n-b\n+B".into(), "a\nB"),
        // An empty line that stays, without its space: by the count, not by where the text ends.
        ("\n", unified("-1 +1,2", "+a\n\n"), "a\n\n"),
        ("\n", unified("-1 +1,2", "+a\n\n\n\n"), "a\n\n"),
        ("b\n\n", unified("-1,2 +1,2", "-b\n+a\n\n"), "a\n\n"),
        ("a\nb", "@@\n-b".into(), "a"),
        ("a\nb", "@@\n-a".into(), "b"),
        (
            "a\nb",
            unified("-2 +2", "-b\n\\ No newline at end of file\n+B"),
            "a\nB\n",
        ),
        (
            "a\nb\n",
            unified("-2 +2", "-b\n+B\n\\ No newline at end of file"),
            "a\nB",
        ),
        (
            "a\nb",
            unified("-1,2 +1,2", "-a\n+A\n b\n\\ No newline at end of file"),
            "A\nb",
        ),
        // The end, the start, an empty file.
        (
            "a\nx\na\n",
            "@@\n-a\n+A\n*** End of File".into(),
            "a\nx\nA\n",
        ),
        ("a\n", "@@\n+b\n*** End of File".into(), "a\nb\n"),
        ("a\nb\n", unified("-0,0 +1", "+x"), "x\na\nb\n"),
        ("a\nb\n", unified("-1,0 +2", "+x"), "a\nx\nb\n"),
        ("", "@@\n+x".into(), "x\n"),
        ("a\n", "@@\n-a".into(), ""),
        // The lines above make the place unambiguous.
        (
            CLASSES,
            "@@ class B:\n-        return 1\n+        return 2".into(),
            &CLASSES.replace(
                "B:\n    def f(self):\n        return 1",
                "B:\n    def f(self):\n        return 2",
            ),
        ),
        (
            CLASSES,
            "@@ class A:\n@@ def f(self):\n-        return 1\n+        return 2".into(),
            &CLASSES.replacen("return 1", "return 2", 1),
        ),
        (
            CLASSES,
            "@@ class A:\n@@ def g(self):\n-        return 1\n+        return 2".into(),
            &CLASSES.replacen(
                "g(self):\n        return 1",
                "g(self):\n        return 2",
                1,
            ),
        ),
        (
            CLASSES,
            "@@ def g(self):\n+        # here".into(),
            &CLASSES.replacen("g(self):\n", "g(self):\n        # here\n", 1),
        ),
        // So does the line that a unified diff names.
        ("a\nb\na\nb\n", unified("-3 +3", "-a\n+A"), "a\nb\nA\nb\n"),
        // A line that is named wrongly does no harm where the lines fit one place only.
        ("a\nb\n", unified("-70,2 +70,2", "-a\n+A\n b"), "A\nb\n"),
    ];
    for (content, hunks, after) in table {
        assert_eq!(run(content, &hunks).as_deref(), Ok(after), "{hunks}");
    }
}

#[test]
fn what_fits_nowhere_or_twice_says_what_stands_there() {
    let unified = |range: &str, body: &str| format!("--- f\n+++ f\n@@ {range} @@\n{body}");
    let table = [
        (
            "fn main() {\n    let a = 1;\n    let b = 2;\n}\n",
            "@@\n fn main() {\n-    let a = 2;\n+    let a = 3;\n     let b = 2;".to_owned(),
            "Hunk 1: its lines are not in the file. Line 2 of the file is \"    let a = 1;\", where the patch has \"    let a = 2;\". Copy the lines from the file.",
        ),
        (
            "a\nb\n",
            "@@\n a\n b\n-c".into(),
            "Hunk 1: its lines are not in the file. The file ends at line 2, where the patch goes on with \"c\". Copy the lines from the file.",
        ),
        (
            "\tif x {\n",
            "@@\n-    if x {\n+    if y {".into(),
            "Hunk 1: its lines are not in the file. Line 1 differs from it in white space only. Copy the text from there, with its blanks and tabs.",
        ),
        (
            "a\n",
            "@@\n-zzz qqq\n+x\n@@\n-a\n+b".into(),
            "Hunk 1: its lines are not in the file. Nothing there looks like it. Read the file again.",
        ),
        (
            "",
            "@@\n-a\n+b".into(),
            "Hunk 1: its lines are not in the file. The file is empty.",
        ),
        (
            "",
            "@@\n-\n+b".into(),
            "Hunk 1: its lines are not in the file. The file is empty.",
        ),
        (
            "x = 1\ny\nx = 1\n",
            "@@\n-x = 1\n+x = 2".into(),
            "Hunk 1: its lines stand at 2 places, at lines 1, 3. Take in surrounding lines until they fit one place only, or name the line above it after `@@`.",
        ),
        (
            "x\nx\nx\n",
            unified("-9 +9", "-x\n+y"),
            "Hunk 1: its lines stand at 3 places, at lines 1, 2, 3. Take in surrounding lines until they fit one place only, or name the line above it after `@@`.",
        ),
        (
            CLASSES,
            "@@ class A:\n-        return 1\n+        return 2".into(),
            "Hunk 1: its lines stand at 3 places, at lines 3, 6, 10. Take in surrounding lines until they fit one place only, or name the line above it after `@@`.",
        ),
        (
            CLASSES,
            "@@ def f(self):\n-        return 1\n+        return 2".into(),
            "Hunk 1: 2 lines read `def f(self):`, as its `@@` says. Name the one above it with an `@@` of its own first.",
        ),
        (
            CLASSES,
            "@@ def h\n-        return 1\n+        return 2".into(),
            "Hunk 1: no line reads `def h`, as its `@@` says. Copy the line whole.",
        ),
        (
            "a\nb\n",
            "@@\n-a\n+A\n*** End of File".into(),
            "Hunk 1: its lines stand at line 1, which is not the end of the file.",
        ),
        (
            "a\nb\n",
            "@@ b\n-a\n+A".into(),
            "Hunk 1: its lines stand at line 1, which is not below what its `@@` names.",
        ),
        (
            "a\nb\nc\n",
            "@@\n-a\n-b\n+x\n@@\n-b\n-c\n+y".into(),
            "Hunk 1 and hunk 2 touch the same lines; make one of them.",
        ),
        (
            "a\n",
            "@@\n+x".into(),
            "Hunk 1: it names no line of the file to stand beside. Take in the line above or below, or `*** End of File`.",
        ),
        // Lines are counted and none is there: whether it comes above or below line 1 is lost.
        (
            "a\n",
            unified("-1 +1,2", "+x"),
            "Hunk 1: it names no line of the file to stand beside. Take in the line above or below, or `*** End of File`.",
        ),
        (
            "a\n",
            "@@ -1,1 +1,2 @@\n+x".into(),
            "Hunk 1: it names no line of the file to stand beside. Take in the line above or below, or `*** End of File`.",
        ),
        (
            "a\n",
            unified("-7,0 +8", "+x"),
            "Hunk 1: there is no line 7; the file has 1.",
        ),
        (
            "a\nb\n",
            unified("-2 +2", "-b\n\\ No newline at end of file\n+B"),
            "Hunk 1: it says that the file ends there without a line end, which is not so.",
        ),
        (
            "a\nb\n",
            unified("-1 +1", "-a\n+A\n\\ No newline at end of file"),
            "Hunk 1: it would leave out a line end in the middle of the file.",
        ),
    ];
    for (content, hunks, why) in table {
        assert_eq!(run(content, &hunks), Err(why.to_owned()), "{hunks}");
    }
}
