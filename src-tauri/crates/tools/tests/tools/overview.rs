//! `repo_overview`: what it tells of a repository, and what it leaves out.

use runtime::ClosedFiles;
use serde_json::{Value, json};

use crate::support::Bench;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn repository() -> Bench {
    let bench = Bench::with(&[
        ("Cargo.toml", b"[package]\nname = \"a\"\n"),
        ("README.md", b"# a\n"),
        (".gitignore", b"target/\n"),
        ("src/lib.rs", b"pub mod deep;\n\npub fn a() {}\n"),
        ("src/deep/er/still/b.rs", b"fn b() {}"),
        ("src/deep/data.bin", b"\0\0"),
        ("ui/package.json", b"{}\n"),
        ("target/debug/c.rs", b"fn c() {}\n"),
        (".git/HEAD", b"ref: refs/heads/main\n"),
    ]);
    bench.put(".git/refs/heads/main", format!("{COMMIT}\n").as_bytes());
    bench
}

async fn told(bench: &Bench, arguments: Value) -> (String, String) {
    let output = bench.call("repo_overview", &arguments).await.unwrap();
    (output.text, output.message)
}

/// `S002-32`: what is there by folder and by language; what git ignores is not, and nothing of git's own but the branch.
#[tokio::test]
async fn s002_32_it_tells_the_shape() {
    let bench = repository();
    let (text, message) = told(&bench, json!({})).await;
    assert_eq!(message, "7 files in 5 folders, 76 bytes");
    assert_eq!(
        text,
        "7 files in 5 folders, 76 bytes\n\
         git: branch main, at 0123456789ab\n\
         \n\
         Languages\n\
         \x20 rust: 2 files, 38 bytes, 4 lines\n\
         \x20 toml: 1 file, 21 bytes, 2 lines\n\
         \x20 markdown: 1 file, 4 bytes, 1 line\n\
         \x20 json: 1 file, 3 bytes, 1 line\n\
         \x20 other: 2 files, 10 bytes\n\
         \n\
         Manifests\n\
         \x20 Cargo.toml\n\
         \x20 ui/package.json\n\
         \n\
         Folders, 3 deep\n\
         \x20 src/ 3\n\
         \x20   deep/ 2\n\
         \x20     er/ 1\n\
         \x20 ui/ 1\n\
         \x20 .gitignore\n\
         \x20 Cargo.toml\n\
         \x20 README.md"
    );
}

#[tokio::test]
async fn it_goes_as_deep_as_it_is_asked() {
    let bench = repository();
    let folders = async |arguments: Value| {
        let (text, _) = told(&bench, arguments).await;
        let (_, folders) = text.split_once("Folders, ").unwrap();
        folders.to_owned()
    };
    assert_eq!(
        folders(json!({"path": "src", "depth": 1})).await,
        "1 deep\n  deep/ 2\n  lib.rs"
    );
    assert_eq!(
        folders(json!({"path": "src/deep/", "depth": 6})).await,
        "6 deep\n  er/ 1\n    still/ 1\n  data.bin"
    );
    for (arguments, error) in [
        (json!({"depth": 0}), "`depth`"),
        (json!({"depth": 7}), "`depth`"),
        (json!({"path": "none"}), "none"),
        (json!({"path": "README.md"}), "not a folder"),
        (json!({"path": "../"}), "outside"),
    ] {
        let said = bench.error("repo_overview", &arguments).await;
        assert!(said.contains(error), "{arguments}: {said}");
    }
}

/// A repository is told as far as git's files say it plainly.
#[tokio::test]
async fn the_branch_is_read_from_gits_own_files() {
    for (head, packed, git) in [
        (
            "ref: refs/heads/a/b\n",
            true,
            Some("branch a/b, at 0123456789ab"),
        ),
        (
            "ref: refs/heads/new\n",
            false,
            Some("branch new, without a commit"),
        ),
        (COMMIT, false, Some("no branch, at 0123456789ab")),
        (
            "ref: refs/../../HEAD\n",
            false,
            Some("branch refs/../../HEAD, without a commit"),
        ),
        ("nonsense", false, None),
    ] {
        let bench = Bench::with(&[("a.txt", b"a"), (".git/HEAD", head.as_bytes())]);
        if packed {
            let refs = format!("# pack-refs\n{COMMIT} refs/heads/a/b\n");
            bench.put(".git/packed-refs", refs.as_bytes());
        }
        let (text, _) = told(&bench, json!({})).await;
        let said = text.lines().find_map(|line| line.strip_prefix("git: "));
        assert_eq!(said, git, "{head}");
    }
}

/// A file that the rules deny is counted, as `glob` names it, and never read.
#[tokio::test]
async fn a_closed_file_is_not_read() {
    let mut bench = Bench::with(&[("a.rs", b"1\n2\n"), ("b.rs", b"1\n2\n3\n")]);
    let closed = ClosedFiles::new(|path: &str| path == "b.rs");
    bench.hands.workspace = bench.hands.workspace.with_closed_files(closed);
    let facts = [bench
        .hands
        .workspace
        .resolve(&protocol::Access::new(protocol::Capability::FsRead, "."))];
    bench.hands = bench.hands.restrict_to(&facts);
    let (text, _) = told(&bench, json!({})).await;
    assert!(
        text.contains("rust: 2 files, 10 bytes, at least 2 lines"),
        "{text}"
    );
}

#[tokio::test]
async fn an_empty_folder_has_nothing_to_tell() {
    let bench = Bench::new();
    let output = bench.call("repo_overview", &json!({})).await.unwrap();
    assert_eq!(
        output.empty.as_deref(),
        Some("There is no file here that git would keep.")
    );
}

/// `S002-74`: past its limit it is cut by its own count, and the whole stands in the session's folder.
#[tokio::test]
async fn a_wide_repository_is_cut() {
    let bench = Bench::new();
    for n in 0..450 {
        bench.put(&format!("f{n:03}/a.py"), b"");
    }
    let output = bench.call("repo_overview", &json!({})).await.unwrap();
    let truncated = output.truncated.unwrap();
    let last = output.text.lines().last().unwrap();
    assert!(last.starts_with("[The first 400 of 456 lines."), "{last}");
    assert!(
        last.contains(truncated.output_path.as_ref().unwrap()),
        "{last}"
    );
    assert_eq!(output.message, "450 files in 450 folders, 0 bytes");
}
