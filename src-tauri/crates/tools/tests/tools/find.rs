//! `glob` and `grep`: what is found, and what happens when it is too much.

use serde_json::json;

use crate::support::{Bench, told};

#[tokio::test]
async fn glob_lists_files_s002_15_s001_51() {
    let bench = Bench::with(&[
        ("README.md", b""),
        ("src/a.rs", b""),
        ("src/deep/b.rs", b""),
        ("target/c.rs", b""),
        (".gitignore", b"target/\n"),
        (".git/HEAD", b"ref: refs/heads/main\n"),
    ]);
    for (tool, arguments, text) in [
        (
            "glob",
            json!({"pattern": "**/*.rs"}),
            "src/a.rs\nsrc/deep/b.rs",
        ),
        (
            "glob",
            json!({"pattern": "*.rs", "path": "src"}),
            "src/a.rs",
        ),
        ("glob", json!({"pattern": "*.{md,txt}"}), "README.md"),
        ("list_files", json!({"path": "src"}), "src/a.rs\nsrc/deep/"),
        (
            "glob",
            json!({"pattern": "*.py", "path": "src"}),
            "No file fits `*.py` in `src`. Use `**/` to look in all folders.",
        ),
    ] {
        assert_eq!(
            bench.said(tool, &arguments).await,
            text,
            "{tool} {arguments}"
        );
    }
}

#[tokio::test]
async fn the_entry_after_the_thousandth_is_cut_s002_73() {
    let bench = Bench::new();
    for n in 1..=1_000 {
        bench.put(&format!("f/{n:04}"), b"");
    }
    let whole = bench
        .call("glob", &json!({"pattern": "f/*"}))
        .await
        .unwrap();
    assert_eq!(
        (whole.text.lines().count(), whole.message.as_str()),
        (1_000, "1,000 files")
    );
    assert_eq!(whole.truncated, None);

    bench.put("f/1001", b"");
    let cut = bench
        .call("glob", &json!({"pattern": "f/*"}))
        .await
        .unwrap();
    let truncated = cut.truncated.unwrap();
    assert_eq!(cut.text.lines().count(), 1_001);
    assert_eq!(
        cut.text.lines().last().unwrap(),
        format!(
            "[The first 1000 of 1,001 files. Narrow the search, or read the whole list at {}.]",
            truncated.output_path.as_ref().unwrap()
        )
    );
    // The model reads the rest where it was told to (S002-69).
    let rest = json!({"path": truncated.output_path, "offset": 1_001});
    assert!(
        bench
            .said("read", &rest)
            .await
            .starts_with("  1001\tf/1001\n")
    );
}

#[tokio::test]
async fn grep_finds_lines_s002_16_s001_52() {
    let bench = Bench::with(&[
        ("src/a.rs", b"fn one() {}\nfn two() {}\n"),
        ("b.md", b"FN three\n-v option\n"),
        ("pic.png", b"\x89PNG\0fn four\n"),
    ]);
    for (tool, arguments, text, message) in [
        (
            "grep",
            json!({"pattern": "fn \\w+"}),
            "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}",
            "2 matches in 1 file",
        ),
        (
            "grep",
            json!({"pattern": "fn t", "case_insensitive": true}),
            "b.md:1:FN three\nsrc/a.rs:2:fn two() {}",
            "2 matches in 2 files",
        ),
        (
            "search",
            json!({"query": "fn", "glob": "*.rs", "path": "src"}),
            "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}",
            "2 matches in 1 file",
        ),
        // A pattern that begins with a dash is no option.
        (
            "grep",
            json!({"pattern": "-v"}),
            "b.md:2:-v option",
            "1 match in 1 file",
        ),
        (
            "grep",
            json!({"pattern": "nowhere", "include": "*.rs"}),
            "No line matches `nowhere` in files that fit `*.rs`. Case matters unless case_insensitive is set.",
            "no matches",
        ),
    ] {
        let output = bench.call(tool, &arguments).await.unwrap();
        assert_eq!(
            (told(&output), output.message.as_str()),
            (text, message),
            "{tool} {arguments}"
        );
    }
}

#[tokio::test]
async fn the_match_after_the_two_hundredth_is_cut_s002_74() {
    let bench = Bench::with(&[("a.txt", "hit\n".repeat(200).as_bytes())]);
    let whole = bench
        .call("grep", &json!({"pattern": "hit"}))
        .await
        .unwrap();
    assert_eq!((whole.text.lines().count(), whole.truncated), (200, None));

    bench.put("a.txt", "hit\n".repeat(201).as_bytes());
    let cut = bench
        .call("grep", &json!({"pattern": "hit"}))
        .await
        .unwrap();
    assert_eq!(cut.text.lines().count(), 201);
    assert_eq!(
        cut.message,
        "201 matches in 1 file, the first 200 matches shown"
    );
    let path = cut.truncated.unwrap().output_path.unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 201);
}
