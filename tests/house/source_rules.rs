//! The house itself: layers, fresh bindings, nothing left over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

use super::isolation::relative;

#[path = "../../src-tauri/crates/protocol/examples/bindings.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod bindings;

/// Which crates of ours each crate may depend on: the layers of the house. What is not listed is not allowed.
const LAYERS: [(&str, &[&str]); 16] = [
    ("protocol", &[]),
    ("policy", &["protocol"]),
    ("sandbox", &[]),
    ("runtime", &["protocol", "sandbox"]),
    ("provider", &["protocol"]),
    ("tools", &["policy", "protocol", "runtime"]),
    ("mcp", &["policy", "protocol", "runtime", "tools"]),
    ("openapi", &["policy", "protocol", "runtime", "tools"]),
    ("lsp", &["protocol", "runtime", "tools"]),
    ("record", &["protocol"]),
    (
        "agent",
        &[
            "lsp", "mcp", "openapi", "policy", "protocol", "provider", "record", "runtime", "tools",
        ],
    ),
    ("gateway", &["agent", "protocol", "runtime", "tools"]),
    (
        "cli",
        &["agent", "gateway", "policy", "protocol", "provider"],
    ),
    ("countersign-desktop", &["protocol"]),
    ("xtask", &[]),
    (
        "bench",
        &[
            "agent", "openapi", "policy", "protocol", "provider", "record", "runtime", "sandbox",
            "tools",
        ],
    ),
];

/// Dependencies that `policy` may have: none can read a clock, a file, the network or random numbers.
const POLICY_BUILT_ON: [&str; 15] = [
    "brush-parser",
    "data-encoding",
    "globset",
    "jsonc-parser",
    "protocol",
    "regex",
    "serde",
    "serde_json",
    "similar",
    "toml",
    "toml_edit",
    "tree-sitter",
    "tree-sitter-bash",
    "unicode-normalization",
    "url",
];

pub fn repo_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

#[test]
fn layers_hold() {
    let metadata = MetadataCommand::new()
        .current_dir(repo_root())
        .no_deps()
        .exec()
        .unwrap();
    let ours: BTreeSet<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let layers: BTreeMap<&str, &[&str]> = LAYERS.into_iter().collect();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal);
        let built_on: BTreeSet<&str> = normal.map(|dependency| dependency.name.as_str()).collect();
        if name == "tests" {
            continue;
        }
        let allowed = layers
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no layer; give it one in LAYERS"));
        for inner in built_on.intersection(&ours) {
            assert!(allowed.contains(inner), "{name} may not depend on {inner}");
        }
        if name != "countersign-desktop" {
            let shell: Vec<_> = built_on
                .iter()
                .filter(|dependency| dependency.starts_with("tauri"))
                .collect();
            assert!(
                shell.is_empty(),
                "{name} is engine and may not know a window: {shell:?}"
            );
        }
        if name != "record" && name != "bench" {
            assert!(
                !built_on.contains("rusqlite"),
                "only record opens the database, not {name}"
            );
        }
        if name == "policy" {
            let more: Vec<_> = built_on
                .iter()
                .filter(|name| !POLICY_BUILT_ON.contains(name))
                .collect();
            assert!(
                more.is_empty(),
                "policy is pure and may not be built on {more:?}"
            );
        }
    }
}

/// Files of ours that git knows or would take, with one of these endings.
pub fn list_source_files(endings: &[&str]) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(repo_root())
        .output()
        .unwrap();
    assert!(listed.status.success(), "git cannot list the files");
    String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .filter(|file| endings.iter().any(|ending| file.ends_with(ending)))
        .filter(|file| !file.contains("/bindings/") && !file.contains("/demo/sample/"))
        .map(|file| repo_root().join(file))
        .filter(|file| file.exists())
        .collect()
}

#[test]
fn a_rust_file_begins_by_saying_its_job() {
    let silent: Vec<_> = list_source_files(&[".rs"])
        .into_iter()
        .filter(|file| !std::fs::read_to_string(file).unwrap().starts_with("//! "))
        .collect();
    assert!(
        silent.is_empty(),
        "these files do not begin with `//! …`: {silent:#?}"
    );
}

#[test]
fn nothing_is_left_over() {
    // Written apart so that this file does not find itself.
    let marks = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["dbg", "!("].concat(),
        ["#[ig", "nore]"].concat(),
    ];
    let mut found = Vec::new();
    for file in list_source_files(&[".rs", ".ts", ".svelte"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            // `TODO_ITEMS_MAX` is a name, not a mark.
            let marked = |mark: &String| {
                line.match_indices(mark.as_str())
                    .any(|(at, _)| !line[at + mark.len()..].starts_with('_'))
            };
            if marks.iter().any(marked) {
                found.push(format!(
                    "{}:{}: {}",
                    file.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert!(found.is_empty(), "left over:\n{}", found.join("\n"));
}

#[test]
fn the_pipeline_knows_no_tool() {
    let page =
        std::fs::read_to_string(repo_root().join("src-tauri/crates/agent/src/pipeline/mod.rs"))
            .unwrap();
    for tool in [
        "\"bash\"",
        "\"edit\"",
        "\"write\"",
        "\"question\"",
        "\"read\"",
    ] {
        assert!(!page.contains(tool), "the page knows the tool {tool}");
    }
}

#[test]
fn bindings_are_fresh() {
    let folder = tempfile::tempdir().unwrap();
    bindings::write_bindings(folder.path()).unwrap();
    let read = |folder: &Path| -> BTreeMap<String, String> {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap())
            .filter(|file| file.file_name().to_string_lossy().ends_with(".ts"))
            .map(|file| {
                let text = std::fs::read_to_string(file.path()).unwrap();
                (file.file_name().to_string_lossy().into_owned(), text)
            })
            .collect()
    };
    let (fresh, kept) = (
        read(folder.path()),
        read(&repo_root().join("ui/src/ipc/bindings")),
    );
    let stale: Vec<_> = fresh
        .keys()
        .chain(kept.keys())
        .filter(|name| fresh.get(*name) != kept.get(*name))
        .collect();
    assert!(
        stale.is_empty(),
        "run `cargo xtask bindings`: {stale:?} are not fresh"
    );
}

/// Files of the shell that reach through a wall, and through which: the app starts itself again and its engine, and looks
/// for a graphics processor.
const SHELL_EXCEPTIONS: [(&str, &str); 3] = [
    ("restart.rs", "std::process::Command"),
    ("engine_process.rs", "tokio::process"),
    ("graphics.rs", "std::fs"),
];

#[test]
fn the_shell_only_hands_over() {
    for file in list_source_files(&[".rs"])
        .iter()
        .filter(|file| file.starts_with(repo_root().join("src-tauri/src")))
        .filter(|file| !relative(file).contains("/tests/"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        let walls = [
            "std::fs",
            "tokio::fs",
            "rusqlite",
            "std::process::Command",
            "tokio::process",
            "reqwest",
        ];
        for wall in walls {
            let is_its_own = SHELL_EXCEPTIONS
                .iter()
                .any(|(name, own)| file.ends_with(name) && *own == wall);
            assert!(
                is_its_own || !text.contains(wall),
                "{} reaches through the wall: {wall}",
                file.display()
            );
        }
    }
}
