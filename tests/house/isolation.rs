//! The walls between tools and the machine: there is no way from a tool to a file, a host or a command but `runtime`.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::house::source_rules::{list_source_files, repo_root};

/// Dependencies that tools may have: none opens a file, a connection or a process by itself. `tokio`, `lopdf`, `csv` and
/// `quick-xml` could, and are kept from it by the words below.
const TOOLS_BUILT_ON: [&str; 24] = [
    "async-trait",
    "bm25",
    "csv",
    "dom_query",
    "dom_smoothie",
    "encoding_rs",
    "granit-parser",
    "html5ever",
    "jsonc-parser",
    "jsonschema",
    "lopdf",
    "percent-encoding",
    "policy",
    "protocol",
    "quick-xml",
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
const FORBIDDEN_CALLS: [&str; 27] = [
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
    "ConfigFile",
    "Document::load(",
    "::from_file(",
    ".from_path(",
];

/// Files that may lift a lint of `clippy.toml`: the crates that own what it guards, and those outside the engine.
const WALLS: [&str; 15] = [
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
    "src-tauri/src/engine_process.rs",
    "src-tauri/src/graphics.rs",
    "src-tauri/src/restart.rs",
    // It names the mark to look for it.
    "tests/house/isolation.rs",
];

pub(crate) fn relative(file: &Path) -> String {
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
    check_forbidden_calls(
        "tools",
        &[
            Exemption::new("sources/pins.rs", "read_text_within("),
            Exemption::new("sources/pins.rs", "write_atomic"),
        ],
    );
}

/// Servers are reached through `runtime` too. What they last offered, and how they last asked for a sign-in, is kept in
/// files of the engine's own.
#[test]
fn servers_are_reached_through_runtime_alone() {
    check_forbidden_calls(
        "mcp",
        &[
            Exemption::new("oauth/challenge.rs", "read_text_within("),
            Exemption::new("oauth/challenge.rs", "write_atomic"),
            Exemption::new("pending_catalogue.rs", "read_text_within("),
            Exemption::new("pending_catalogue.rs", "write_atomic"),
        ],
    );
}

/// Services are reached through `runtime` too. Their documents are files that it reads.
#[test]
fn services_are_reached_through_runtime_alone() {
    check_forbidden_calls(
        "openapi",
        &[Exemption::new("document/source.rs", "read_text_within(")],
    );
}

/// Language servers are reached through `runtime` too, and nothing of them is kept.
#[test]
fn language_servers_are_reached_through_runtime_alone() {
    check_forbidden_calls("lsp", &[]);
}

/// Clients outside are served through the engine alone: the streams are given, and nothing else is reached. Configurations
/// of agents are edited through `runtime`, and what was written into them is kept in files of the engine's own. Transcripts
/// of agents are read below the folders in which these keep them. A file that an agent asks its client for is read once the
/// call was approved; the endpoint of an agent's hooks, the plugin that calls them, and the tokens of clients are in the data
/// folder.
#[test]
fn clients_are_served_through_the_desk_alone() {
    check_forbidden_calls(
        "gateway",
        &[
            // Where an agent keeps its login is said by its variables.
            Exemption::new("acp_client/agent_process.rs", "std::env"),
            Exemption::new("acp_client/files.rs", "read_text_within("),
            Exemption::new("agent_hooks/client.rs", "SessionFolder::open"),
            Exemption::new("connections/change.rs", "ConfigFile"),
            Exemption::new("connections/check.rs", "ConfigFile"),
            Exemption::new("connections/dependents.rs", "ConfigFile"),
            Exemption::new("connections/records.rs", "read_text("),
            Exemption::new("connections/records.rs", "write_atomic"),
            Exemption::new("connections/servers/config.rs", "ConfigFile"),
            Exemption::new("connections/servers/records.rs", "read_text("),
            Exemption::new("connections/servers/records.rs", "write_atomic"),
            Exemption::new("connections/session_hooks.rs", "write_atomic"),
            Exemption::new("connections/survey.rs", "ConfigFile"),
            Exemption::new("connections/tests/mod.rs", "read_text("),
            Exemption::new("connections/tests/mod.rs", "write_atomic"),
            Exemption::new("mcp_http/tokens.rs", "read_text_within("),
            Exemption::new("mcp_http/tokens.rs", "write_atomic"),
            Exemption::new("transcripts/image_files.rs", "Workspace::open"),
            Exemption::new("transcripts/places.rs", "Workspace::open"),
        ],
    );
}

/// A file that may make a call that is forbidden to the rest of its crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Exemption {
    /// The file, from the `src` of its crate on.
    file: String,
    call: &'static str,
}

impl Exemption {
    fn new(file: &str, call: &'static str) -> Self {
        Self {
            file: file.to_owned(),
            call,
        }
    }
}

/// Checks that the code of a crate that ships makes the forbidden calls of `exemptions`, each of them, and no others.
fn check_forbidden_calls(name: &str, exemptions: &[Exemption]) {
    let exempted = exemptions.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(
        find_forbidden_calls(name),
        exempted,
        "ways out of `{name}`, and those that are let through"
    );
}

/// The forbidden calls in the code of a crate that ships, by file.
fn find_forbidden_calls(name: &str) -> BTreeSet<Exemption> {
    let ours = repo_root().join("src-tauri/crates").join(name).join("src");
    let mut found = BTreeSet::new();
    let mut looked = 0;
    for file in list_source_files(&[".rs"]) {
        let Ok(below) = file.strip_prefix(&ours) else {
            continue;
        };
        let below = below.display().to_string().replace('\\', "/");
        let text = std::fs::read_to_string(&file).unwrap();
        looked += 1;
        let (shipped, _) = text.split_once("#[cfg(test)]\nmod ").unwrap_or((&text, ""));
        for line in shipped.lines() {
            let code = line.split("//").next().unwrap();
            let calls = FORBIDDEN_CALLS.iter().filter(|call| code.contains(**call));
            found.extend(calls.map(|call| Exemption::new(&below, call)));
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
