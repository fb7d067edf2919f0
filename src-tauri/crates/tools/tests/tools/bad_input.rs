//! Every tool on input that cannot work: the error names the offending thing and the next step, and nothing is touched.

use serde_json::{Value, json};

use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::with(&[
        ("src/parser.rs", b"fn parse() {}\nfn parse_all() {}\n"),
        ("src/deep/other.rs", b""),
        ("pic.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("latin1.txt", b"gr\xfcn\n"),
        ("utf16.txt", b"\xff\xfea\0"),
        ("empty.txt", b""),
    ]);
    #[cfg(unix)]
    {
        std::fs::write(bench.outside("secret.txt"), b"secret").unwrap();
        std::os::unix::fs::symlink(bench.outside("secret.txt"), bench.at("out.txt")).unwrap();
        std::os::unix::fs::symlink(bench.outside(""), bench.at("out")).unwrap();
        std::os::unix::fs::symlink("nowhere", bench.at("dangling")).unwrap();
    }
    bench
}

/// Arguments of a tool for one path; the rest would work.
fn arguments(tool: &str, path: &str) -> Value {
    match tool {
        "write" => json!({"path": path, "content": "new"}),
        "edit" => json!({"path": path, "old_string": "a", "new_string": "b"}),
        "glob" => json!({"path": path, "pattern": "*"}),
        "grep" => json!({"path": path, "pattern": "x"}),
        _ => json!({ "path": path }),
    }
}

#[tokio::test]
async fn missing_files_are_told_with_what_is_close() {
    let bench = bench();
    for tool in ["read", "edit", "delete_path"] {
        for (path, error) in [
            (
                "src/parsr.rs",
                "There is no file or folder at `src/parsr.rs`. Did you mean `src/parser.rs`?",
            ),
            (
                "parser.rs",
                "There is no file or folder at `parser.rs`. Did you mean `src/parser.rs`?",
            ),
            (
                "lib/other.rs",
                "There is no file or folder at `lib/other.rs`, and no folder `lib`. Did you mean `src/deep/other.rs`?",
            ),
            (
                "src/dep",
                "There is no file or folder at `src/dep`. Did you mean `src/deep`?",
            ),
            (
                "nothing-like-it",
                "There is no file or folder at `nothing-like-it`. List what is there with glob.",
            ),
        ] {
            assert_eq!(
                bench.error(tool, &arguments(tool, path)).await,
                error,
                "{tool}"
            );
        }
    }
}

#[tokio::test]
async fn folders_are_no_files() {
    let bench = bench();
    for tool in ["read", "write", "edit"] {
        let error = bench.error(tool, &arguments(tool, "src")).await;
        assert_eq!(
            error, "`src` is a folder, not a file. Name a file in it, or list it with glob.",
            "{tool}"
        );
        let below = bench.error(tool, &arguments(tool, "src/parser.rs/x")).await;
        assert!(below.contains("`src/parser.rs/x`"), "{tool}: {below}");
    }
    let write = bench.error("write", &arguments("write", "new/")).await;
    assert_eq!(
        write,
        "Invalid arguments: `path` ends with `/`, so it names a folder; name the file to be written"
    );
}

#[tokio::test]
async fn what_is_no_text_is_neither_read_nor_edited() {
    let bench = bench();
    for (tool, doing) in [("read", "can be read"), ("edit", "can be edited")] {
        for (path, error) in [
            (
                "pic.png",
                "`pic.png` is a PNG image (16 bytes); only text DOING. Use bash with a program that understands it, such \
                 as `file` or `xxd`.",
            ),
            (
                "latin1.txt",
                "`latin1.txt` is not UTF-8 from byte 2 on; only UTF-8 text DOING. Convert it with bash first: `iconv -f \
                 FROM -t UTF-8`.",
            ),
            (
                "utf16.txt",
                "`utf16.txt` is not UTF-8 from byte 0 on (it looks like UTF-16); only UTF-8 text DOING. Convert it with \
                 bash first: `iconv -f FROM -t UTF-8`.",
            ),
        ] {
            let mut arguments = arguments(tool, path);
            if (tool, path) == ("read", "pic.png") {
                // As a whole it would be looked at.
                arguments["byte_offset"] = json!(0);
            }
            let text = bench.error(tool, &arguments).await;
            assert_eq!(text, error.replace("DOING", doing), "{tool}");
        }
    }
    // Writing over it is possible, and the loss is said.
    let prepared = bench
        .prepare("write", &arguments("write", "latin1.txt"))
        .await
        .unwrap();
    let protocol::Preview::Diff { files } = prepared.preview else {
        panic!("no difference");
    };
    assert_eq!(
        files[0].cut.as_deref(),
        Some("The old content is not text (5 bytes); it is replaced whole and not shown.")
    );
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_says_why() {
    let bench = bench();
    let edit = |old: &str, new: &str| json!({"path": "src/parser.rs", "old_string": old, "new_string": new});
    for (arguments, error) in [
        (
            edit("fn prase() {}", "x"),
            "`old_string` was not found in `src/parser.rs`, so nothing was changed. Line 1 looks like it: \"fn parse() \
             {}\". Copy the text from there.",
        ),
        (
            edit("fn parse", "x"),
            "`old_string` stands at 2 places in `src/parser.rs`, at lines 1, 2, so nothing was changed. Take in \
             surrounding lines until it fits one place only, or set replace_all.",
        ),
        (
            edit("same", "same"),
            "Invalid arguments: `old_string` and `new_string` are equal, so nothing would change; give the text that is \
             to stand there afterwards",
        ),
        (
            edit("", "x"),
            "Invalid arguments: `old_string` must not be empty",
        ),
        (
            json!({"path": "empty.txt", "old_string": "a", "new_string": "b"}),
            "`old_string` was not found in `empty.txt`, so nothing was changed. The file is empty. Use write.",
        ),
    ] {
        assert_eq!(bench.error("edit", &arguments).await, error);
    }
}

#[tokio::test]
async fn what_is_huge_is_read_in_ranges_and_not_changed() {
    let bench = Bench::new();
    let file = std::fs::File::create(bench.at("huge.log")).unwrap();
    file.set_len(64 * 1024 * 1024).unwrap();
    drop(file);
    for tool in ["edit", "write"] {
        let prepared = bench.prepare(tool, &arguments(tool, "huge.log")).await;
        assert_eq!(
            prepared.unwrap_err().to_string(),
            "`huge.log` is too large to be changed here: 67.1 MB (at most 16.7 MB). Use bash with a stream editor such \
             as sed.",
            "{tool}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_leads_out_of_the_workspace_s002_97() {
    let bench = bench();
    for tool in ["read", "write", "edit", "glob", "grep"] {
        for path in [
            "out.txt",
            "out/secret.txt",
            "../secret.txt",
            "/etc/hostname",
        ] {
            let error = bench.error(tool, &arguments(tool, path)).await;
            assert!(
                error.contains("outside the workspace"),
                "{tool} {path}: {error}"
            );
        }
    }
    for path in ["out/secret.txt", "../secret.txt", "/etc/hostname"] {
        let error = bench
            .error("delete_path", &arguments("delete_path", path))
            .await;
        assert!(error.contains("outside the workspace"), "{path}: {error}");
    }
    assert_eq!(
        std::fs::read(bench.outside("secret.txt")).unwrap(),
        b"secret"
    );
    // A link that leads out may go: the link lies inside.
    bench
        .said("delete_path", &arguments("delete_path", "out.txt"))
        .await;
    assert_eq!(
        std::fs::read(bench.outside("secret.txt")).unwrap(),
        b"secret"
    );
}

#[tokio::test]
async fn the_workspace_itself_is_not_deleted() {
    let bench = bench();
    let root = bench.hands.workspace.root().display().to_string();
    for path in [".", "./", "src/..", root.as_str()] {
        let error = bench
            .error("delete_path", &arguments("delete_path", path))
            .await;
        assert_eq!(
            error,
            format!(
                "Invalid arguments: `{path}` is the workspace itself, which cannot be deleted; name a file or folder in it"
            )
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_permission_is_said() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::with(&[("locked.txt", b"x\n"), ("shut/in.txt", b"x\n")]);
    let set = |path: &str, mode| {
        std::fs::set_permissions(bench.at(path), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    set("locked.txt", 0o000);
    set("shut", 0o000);
    // The superuser may read everything: then there is nothing to be refused.
    if std::fs::read(bench.at("locked.txt")).is_err() {
        for (tool, path) in [
            ("read", "locked.txt"),
            ("edit", "locked.txt"),
            ("write", "locked.txt"),
            ("read", "shut/in.txt"),
            ("write", "shut/new.txt"),
            ("delete_path", "shut"),
        ] {
            let error = bench
                .call(tool, &arguments(tool, path))
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains("does not permit"), "{tool} {path}: {error}");
        }
    }
    set("shut", 0o755);
    set("locked.txt", 0o644);
}

#[tokio::test]
async fn patterns_with_errors_are_named() {
    let bench = bench();
    let glob = bench.error("glob", &json!({"pattern": "src/[a"})).await;
    assert!(
        glob.starts_with("Invalid arguments: The pattern `src/[a` cannot be used:"),
        "{glob}"
    );
    let grep = bench.error("grep", &json!({"pattern": "fn ("})).await;
    assert!(
        grep.starts_with("Invalid arguments: The pattern `fn (` cannot be used:"),
        "{grep}"
    );
    let include = bench
        .error("grep", &json!({"pattern": "fn", "include": "{a"}))
        .await;
    assert!(include.contains("`{a`"), "{include}");
    for tool in ["glob", "grep"] {
        let error = bench.error(tool, &arguments(tool, "nowhere")).await;
        assert!(error.contains("`nowhere`"), "{tool}: {error}");
    }
}
