//! The text of `policy explain`, word for word: `explained.txt` has it, and `UPDATE_GOLDEN=1` writes it anew.

use std::path::PathBuf;

use crate::support::CliFixture;

const USER: &str = r#"[[rule]]
permission = "bash"
pattern = "git *"
action = "allow"
reason = "git is under version control"

[[rule]]
permission = "fs.read"
pattern = "keys/**"
action = "deny"
reason = "keys stay here"

[[rule]]
permission = "bash"
pattern = "make*"
action = "allow"
expires = 2020-01-01T00:00:00Z
"#;

const PROJECT: &str = r#"[[rule]]
permission = "bash"
pattern = "git push*"
action = "ask"

[[rule]]
permission = "bash"
pattern = "cargo *"
action = "allow"
"#;

const MANIFEST: &str = r#"[[rule]]
permission = "bash"
pattern = "git push --force*"
action = "deny"
reason = "history is shared"
"#;

/// Winners and losers with file and line, every gate that has something to say, and what would have been otherwise.
#[test]
fn every_kind_of_reason() {
    let place = CliFixture::new();
    for (name, text) in [
        ("user.toml", USER),
        ("project.toml", PROJECT),
        ("manifest.toml", MANIFEST),
    ] {
        place.write_file(name, text);
    }
    for (path, content) in [
        ("a.rs", "fn a() {}\n"),
        ("keys/one", "x"),
        (".env", "A=1\n"),
    ] {
        place.write_file(path, content);
    }
    let files = [
        "--rules",
        "manifest:manifest.toml",
        "--rules",
        "user:user.toml",
        "--rules",
        "project.toml",
    ];
    let mut told = String::new();
    for (tool, arguments, more) in [
        ("read", r#"{"path":"a.rs"}"#, &[][..]),
        ("read", r#"{"path":"keys/one"}"#, &[]),
        ("read", r#"{"path":".env"}"#, &[]),
        ("read", r#"{"path":"/etc/passwd"}"#, &[]),
        (
            "write",
            r#"{"path":".git/hooks/pre-commit","content":""}"#,
            &[],
        ),
        ("delete_path", r#"{"path":"a.rs"}"#, &[]),
        ("bash", r#"{"command":"git log"}"#, &[]),
        ("bash", r#"{"command":"git push"}"#, &[]),
        ("bash", r#"{"command":"git push --force"}"#, &[]),
        ("bash", r#"{"command":"git log; ls"}"#, &[]),
        ("bash", r#"{"command":"git log $X"}"#, &[]),
        ("bash", r#"{"command":"git show > .env"}"#, &[]),
        ("bash", r#"{"command":"make all"}"#, &[]),
        ("bash", r#"{"command":"rm -rf /"}"#, &[]),
        ("bash", r#"{"command":"cargo test"}"#, &["--headless"]),
        ("bash", r#"{"command":"ls"}"#, &["--headless"]),
        ("bash", r#"{"command":"ls"}"#, &["--only-rules"]),
        ("web_fetch", r#"{"url":"http://localhost:3000/"}"#, &[]),
        (
            "edit",
            r#"{"path":"none.rs","old_string":"a","new_string":"b"}"#,
            &[],
        ),
        (
            "elsewhere__send",
            r#"{"text":"x","file":"/etc/hosts"}"#,
            &["--only-rules"],
        ),
    ] {
        let args = [&["policy", "explain", tool, arguments], &files[..], more].concat();
        told.push_str(&format!(
            "$ {}\n{}\n",
            [&[tool, arguments], more].concat().join(" "),
            place.run_ok(&args)
        ));
    }
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/explained.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &told).unwrap();
    }
    let then = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(told, then, "run with UPDATE_GOLDEN=1 if this is wanted");
}
