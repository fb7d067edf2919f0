//! The walls between tools and the machine: there is no way from a tool to a file, a host or a command but `runtime`.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::house::source_rules::{list_source_files, repo_root};

/// Dependencies that tools may have: none opens a file, a connection or a process by itself. `tokio` and `lopdf` could, and
/// are kept from it by the words below.
const TOOLS_BUILT_ON: [&str; 19] = [
    "async-trait",
    "bm25",
    "dom_query",
    "dom_smoothie",
    "encoding_rs",
    "html5ever",
    "jsonschema",
    "lopdf",
    "policy",
    "protocol",
    "runtime",
    "serde",
    "serde-saphyr",
    "serde_json",
    "similar",
    "tokio",
    "tokio-util",
    "toml_edit",
    "url",
];

/// The ways out of a crate that the standard library and `tokio` have, those round the compiler, and those of `runtime`
/// that are the engine's own: there a folder or a file is taken as it is named.
const FORBIDDEN_CALLS: [&str; 24] = [
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::env",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
    "canonicalize(",
    "extern crate",
    "std::{",
    "unsafe {",
    "unsafe_code",
    "disallowed_",
    "Workspace::open",
    "with_readable",
    "grant_read",
    "SessionFolder::open",
    "History",
    "read_text(",
    "read_text_within(",
    "write_atomic",
    "create_private_folder",
    "Document::load(",
];

/// Files that may lift a lint of `clippy.toml`: the crates that own what it guards, and those outside the engine.
const WALLS: [&str; 13] = [
    "src-tauri/crates/runtime/src/lib.rs",
    "src-tauri/crates/sandbox/src/lib.rs",
    "src-tauri/crates/provider/src/http.rs",
    "src-tauri/crates/record/src/lib.rs",
    // Files that the caller names, and the caller's own editor and pager.
    "src-tauri/crates/cli/src/terminal/external_programs.rs",
    "src-tauri/crates/cli/src/commands/man_and_completions.rs",
    "src-tauri/crates/cli/src/commands/prompt.rs",
    "src-tauri/crates/cli/src/commands/run.rs",
    "src-tauri/crates/bench/src/main.rs",
    "src-tauri/crates/protocol/examples/bindings.rs",
    "src-tauri/crates/xtask/src/main.rs",
    "src-tauri/src/restart.rs",
    // It names the mark to look for it.
    "tests/house/isolation.rs",
];

fn relative(file: &Path) -> String {
    let below = file.strip_prefix(repo_root()).unwrap();
    below.display().to_string().replace('\\', "/")
}

/// `S002-100`: a tool has the hands that it is given and no others.
#[test]
fn s002_100_tools_have_no_way_out_but_runtime() {
    let metadata = MetadataCommand::new()
        .current_dir(repo_root())
        .no_deps()
        .exec()
        .unwrap();
    let tools = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "tools");
    let normal = tools
        .unwrap()
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == DependencyKind::Normal);
    let built_on: BTreeSet<&str> = normal.map(|dependency| dependency.name.as_str()).collect();
    assert_eq!(built_on, BTreeSet::from(TOOLS_BUILT_ON));

    // No tool: the file in which the engine keeps what a person approved of a server or service.
    let pins = ["read_text_within(", "write_atomic"];
    let mut found = find_forbidden_calls("tools", &FORBIDDEN_CALLS);
    found.retain(|call| {
        !(call.contains("/tools/src/sources/pins.rs:")
            && pins.iter().any(|own| call.ends_with(own)))
    });
    assert!(found.is_empty(), "ways out:\n{}", found.join("\n"));
}

/// Servers are reached through `runtime` too. What a person approved of them is kept in a file of the engine's own.
#[test]
fn servers_are_reached_through_runtime_alone() {
    let own = ["read_text(", "read_text_within(", "write_atomic"];
    let closed: Vec<&str> = FORBIDDEN_CALLS
        .into_iter()
        .filter(|way| !own.contains(way))
        .collect();
    let found = find_forbidden_calls("mcp", &closed);
    assert!(found.is_empty(), "ways out:\n{}", found.join("\n"));
}

/// Services are reached through `runtime` too. Their documents, and what a person approved of them, are files that it reads.
#[test]
fn services_are_reached_through_runtime_alone() {
    let own = ["read_text_within(", "write_atomic"];
    let closed: Vec<&str> = FORBIDDEN_CALLS
        .into_iter()
        .filter(|way| !own.contains(way))
        .collect();
    let found = find_forbidden_calls("openapi", &closed);
    assert!(found.is_empty(), "ways out:\n{}", found.join("\n"));
}

/// Language servers are reached through `runtime` too, and nothing of them is kept.
#[test]
fn language_servers_are_reached_through_runtime_alone() {
    let found = find_forbidden_calls("lsp", &FORBIDDEN_CALLS);
    assert!(found.is_empty(), "ways out:\n{}", found.join("\n"));
}

/// Clients outside are served through the engine alone: the streams are given, and nothing else is reached.
#[test]
fn clients_are_served_through_the_desk_alone() {
    let found = find_forbidden_calls("gateway", &FORBIDDEN_CALLS);
    assert!(found.is_empty(), "ways out:\n{}", found.join("\n"));
}

/// Where the code of a crate that ships names one of these.
fn find_forbidden_calls(name: &str, ways: &[&str]) -> Vec<String> {
    let ours = repo_root().join("src-tauri/crates").join(name).join("src");
    let mut found = Vec::new();
    let mut looked = 0;
    for file in list_source_files(&[".rs"])
        .iter()
        .filter(|file| file.starts_with(&ours))
    {
        let text = std::fs::read_to_string(file).unwrap();
        looked += 1;
        let (shipped, _) = text.split_once("#[cfg(test)]\nmod ").unwrap_or((&text, ""));
        for (number, line) in shipped.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let way = ways.iter().find(|way| code.contains(**way));
            found.extend(way.map(|way| format!("{}:{}: {way}", relative(file), number + 1)));
        }
    }
    assert!(looked > 5, "the files of `{name}` were not found");
    found
}

/// The walls that `clippy` keeps are lifted by those who are one, and by tests.
#[test]
fn a_wall_is_lifted_only_by_its_owner() {
    let lifted: BTreeSet<String> = list_source_files(&[".rs"])
        .iter()
        .filter(|file| {
            std::fs::read_to_string(file)
                .unwrap()
                .contains("disallowed_")
        })
        .map(|file| relative(file))
        .filter(|file| {
            !file.contains("/tests/") && !file.starts_with("tests/")
                || WALLS.contains(&file.as_str())
        })
        .collect();
    assert_eq!(lifted, WALLS.map(str::to_owned).into());
    let walls = std::fs::read_to_string(repo_root().join("clippy.toml")).unwrap();
    for wall in [
        "std::fs::read\"",
        "std::fs::write\"",
        "std::fs::File::open\"",
        "std::fs::OpenOptions::open\"",
        "std::process::Command::new\"",
        "std::net::TcpStream::connect\"",
        "tokio::fs::read\"",
        "tokio::process::Command::new\"",
        "tokio::net::TcpStream::connect\"",
        "reqwest::Client::builder\"",
    ] {
        assert!(walls.contains(wall), "{wall} is no wall any more");
    }
}
