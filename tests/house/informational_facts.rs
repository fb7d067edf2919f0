//! Which facts of a tool's interface Countersign acts on: the window says of every other one that it is for information.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use protocol::interface::FACTS;

use crate::house::source_rules::repo_root;

/// Where facts are made and filled in; what only stands there steers nothing.
const MADE_IN: [&str; 2] = ["interface/builder.rs", "interface/defaults.rs"];

/// Parts of the window that show facts, or stand for the engine.
const SHOWN_IN: [&str; 3] = ["features/tools", "ipc", "gallery"];

/// The code in the files below a folder, without comments and tests, and with each chain of members in one piece.
fn code_below(folder: &Path, skipped: &[&str], out: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy();
        let is_code = [".rs", ".ts", ".svelte"]
            .iter()
            .any(|end| name.ends_with(end));
        if skipped.iter().any(|skip| path.ends_with(skip)) {
            continue;
        } else if path.is_dir() {
            code_below(&path, skipped, out);
        } else if is_code && !name.ends_with(".test.ts") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().map(str::trim);
            let lines = lines.filter(|line| !line.starts_with("//") && !line.starts_with('*'));
            let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
            out.push_str(&words.join(" ").replace(" .", "."));
            out.push('\n');
        }
    }
}

/// Whether some code reads the fact: `safety.is_read_only`, and nothing longer.
fn reads(code: &str, fact: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(fact).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + fact.len()..]);
        let quoted = before.ends_with(['"', '`', '\'']);
        !quoted && !before.ends_with(is_name) && !after.starts_with(is_name)
    })
}

/// The facts that the window says are for information.
fn informational_facts() -> BTreeSet<String> {
    let page = repo_root().join("ui/src/features/tools/facts.ts");
    let page = fs::read_to_string(page).unwrap();
    let list = page.split("const information").nth(1).unwrap();
    let list = list.split("};").next().unwrap();
    let ids = list
        .lines()
        .filter_map(|line| line.trim().strip_prefix('\''));
    ids.map(|line| line.split('\'').next().unwrap().to_owned())
        .collect()
}

/// `S003-10`, `S003-20` to `S003-26`, `S003-31`, `S003-33` to `S003-36`, `S003-39`, `S003-41`, `S003-42`, `S003-45`, `S003-47` to
/// `S003-52`: a fact steers something, or the page that lists it says that it is for information. Every fact is one or the other.
#[test]
fn what_steers_nothing_is_said_to_be_for_information() {
    let mut code = String::new();
    for part in fs::read_dir(repo_root().join("src-tauri/crates")).unwrap() {
        let part = part.unwrap().path();
        if !part.ends_with("bench") && part.join("src").is_dir() {
            code_below(&part.join("src"), &MADE_IN, &mut code);
        }
    }
    code_below(&repo_root().join("ui/src"), &SHOWN_IN, &mut code);
    // The requirements and the origin of a tool are always looked at.
    let facts = FACTS.iter().filter(|fact| fact.contains('.'));
    let unread: BTreeSet<String> = facts
        .filter(|fact| !reads(&code, fact))
        .map(|fact| (*fact).to_owned())
        .collect();
    assert_eq!(informational_facts(), unread);
}

#[test]
fn a_fact_is_read_where_it_is_named_whole_and_in_no_text() {
    for (code, is_read) in [
        ("if interface.safety.mode.is_some() {", true),
        ("self.safety.mode", true),
        ("safety.mode_given", false),
        ("unsafety.mode", false),
        ("\"safety.mode\"", false),
    ] {
        assert_eq!(reads(code, "safety.mode"), is_read, "{code}");
    }
}
