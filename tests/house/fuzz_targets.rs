//! The fuzz targets' entry functions over their seeds, over bytes made from them, and over any bytes, on every run.

#[path = "../fuzz/src/lib.rs"]
mod entries;

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Inputs made for each target, unless `FUZZ_CASES` says how many.
const CASES: u32 = 1_000;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect()
}

/// Tokens of JSON.
const JSON: [&str; 12] = [
    "{", "}", "[", "]", "\"", ",", "null", "\\u0000", "$ref", "#", "_output", "1e999",
];

/// Tokens of rules files.
const RULES: [&str; 12] = [
    "\"allow\"",
    "\"deny\"",
    "\"*\"",
    "\"bash\"",
    "\"fs.read\"",
    "\0",
    "\n[[rule]]\n",
    "{a,b}",
    "**",
    "?",
    "\\",
    "'",
];

/// Tokens of paths.
const PATHS: [&str; 12] = [
    "/", "\\", "..", "./", "~", "C:", ":", ".", " ", "NUL", "~1", "\0",
];

/// Tokens of commands.
const SHELL: [&str; 22] = [
    "$(",
    ")",
    "(",
    "`",
    "'",
    "\"",
    "\\",
    "${",
    "}",
    "{",
    "$((",
    "<<E\n",
    "<(",
    ">",
    ";",
    "|",
    "&",
    "\n",
    " # ",
    " case x in a) ",
    " rm x ",
    "$v",
];

/// A seed with some of its bytes changed, taken out, or said again.
fn near(seeds: Vec<Vec<u8>>, words: &'static [&str]) -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<prop::sample::Index>(),
        0..6_usize,
        0..words.len(),
        any::<u8>(),
    );
    (
        prop::sample::select(seeds),
        prop::collection::vec(change, 0..8),
    )
        .prop_map(|(mut bytes, changes)| {
            for (place, how, word, byte) in changes {
                let at = place.index(bytes.len() + 1);
                let end = (at + usize::from(byte % 16)).min(bytes.len());
                match how {
                    0 if at < bytes.len() => bytes[at] = byte,
                    1 => drop(bytes.drain(at..end)),
                    2 => {
                        let again = bytes[at..end].to_vec();
                        bytes.splice(at..at, again);
                    }
                    3 => bytes.truncate(at),
                    _ => drop(bytes.splice(at..at, words[word].bytes())),
                }
            }
            bytes
        })
}

fn holds(target: &str, entry: fn(&[u8]), words: &'static [&str]) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 2, "{target} has no seeds");
    seeds.iter().for_each(|seed| entry(seed));
    let any_bytes = prop::collection::vec(any::<u8>(), 0..256);
    let inputs = prop_oneof![9 => near(seeds, words), 1 => any_bytes];
    let cases = std::env::var("FUZZ_CASES").map_or(CASES, |many| many.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let tried = TestRunner::new(config).run(&inputs, |bytes| {
        entry(&bytes);
        Ok(())
    });
    tried.unwrap_or_else(|failed| panic!("{target}: {failed}"));
}

#[test]
fn calls() {
    holds("call_parsing", entries::fuzz_call_parsing, &JSON);
}

#[test]
fn composed_schemas() {
    holds(
        "schema_composition",
        entries::fuzz_schema_composition,
        &JSON,
    );
}

#[test]
fn rules_and_what_they_say() {
    holds("rules", entries::fuzz_rules, &RULES);
}

#[test]
fn ways_through_folders() {
    holds("paths", entries::fuzz_paths, &PATHS);
}

#[test]
fn files_of_tools() {
    holds("tool_files", entries::fuzz_tool_files, &JSON);
}

#[test]
fn facts_of_commands() {
    holds("shell_facts", entries::fuzz_shell_facts, &SHELL);
}

/// The targets are built by a nightly compiler alone, so this is what notices that one calls no entry of this library any more.
#[test]
fn each_target_calls_its_entry() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let entries = ["lib.rs", "judging.rs"]
        .map(|file| std::fs::read_to_string(folder.join("src").join(file)).unwrap())
        .concat();
    let mut targets = 0;
    for file in std::fs::read_dir(folder.join("fuzz_targets")).unwrap() {
        let file = file.unwrap().path();
        let target = file.file_stem().unwrap().to_str().unwrap();
        let source = std::fs::read_to_string(&file).unwrap();
        let call = format!("entries::fuzz_{target}(bytes)");
        assert!(source.contains(&call), "{target} does not call `{call}`");
        let entry = format!("pub fn fuzz_{target}(bytes: &[u8])");
        assert!(entries.contains(&entry), "there is no `{entry}`");
        targets += 1;
    }
    assert_eq!(targets, 6, "targets in {}", folder.display());
}
