//! Every block has a language, and files in TOML and JSON are read by the parsers that read them in use.

use std::path::Path;

use agent::engine::settings::parse_settings;
use policy::manifest::parse_manifest;
use policy::rules_file::{RulesFileSource, parse_rules_file};
use protocol::RuleScope;

use super::fenced_blocks::{BlockPurpose, FencedBlock};
use super::{all_blocks, assert_page_is};

/// What is neither run nor parsed, and needs no reason: languages of other programs, and text that is no input.
const OTHER_LANGUAGES: [&str; 4] = ["text", "yaml", "lua", "mermaid"];

#[test]
fn every_block_is_run_or_read_or_says_why_not() {
    for block in all_blocks() {
        let known = ["console", "toml", "json"].contains(&block.language.as_str())
            || OTHER_LANGUAGES.contains(&block.language.as_str());
        assert!(known, "{}: language `{}`", block.place(), block.language);
    }
}

#[test]
fn every_toml_block_is_settings_rules_or_a_manifest() {
    let blocks = all_blocks();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block.language == "toml") {
        let place = block.place();
        let Some(kind) = toml_kind(block) else {
            continue;
        };
        let read = match kind {
            "settings" => parse_settings(Path::new(&place), &block.text).map(|_| ()),
            "rules" => {
                let source = RulesFileSource::new(&place, RuleScope::User);
                parse_rules_file(&block.text, &source).map(|_| ())
            }
            _ => parse_manifest(&block.text, &place).map(|_| ()),
        };
        assert!(read.is_ok(), "{place}: {read:?}");
        seen += 1;
    }
    assert!(seen > 0);
}

/// What a block in TOML is; none if it is not to be read.
fn toml_kind(block: &FencedBlock) -> Option<&str> {
    let named = match &block.purpose {
        BlockPurpose::NotRun(_) => return None,
        BlockPurpose::Kind(kind) => kind.as_str(),
        BlockPurpose::File(path) if path.ends_with("settings.toml") => "settings",
        BlockPurpose::File(path) if path.ends_with("rules.toml") => "rules",
        BlockPurpose::File(path) if path.contains("agents/") => "manifest",
        other => panic!(
            "{}: {other:?} does not say whether it is `settings`, `rules` or a `manifest`",
            block.place()
        ),
    };
    Some(named)
}

#[test]
fn every_json_block_is_json() {
    let blocks = all_blocks();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block.language == "json") {
        if matches!(block.purpose, BlockPurpose::NotRun(_)) {
            continue;
        }
        let read = serde_json::from_str::<serde_json::Value>(&block.text);
        assert!(read.is_ok(), "{}: {read:?}", block.place());
        seen += 1;
    }
    assert!(seen > 0);
}

/// What no test runs stands in one list, so that a reason is read when one is added.
#[test]
fn blocks_that_are_not_run_are_listed_with_their_reasons() {
    let mut list = String::new();
    for block in all_blocks() {
        if let BlockPurpose::NotRun(reason) = &block.purpose {
            let first = block.text.lines().next().unwrap_or_default();
            list.push_str(&format!("{}: {first}\n    {reason}\n", block.page));
        }
    }
    assert_page_is(
        "src-tauri/crates/cli/tests/it/documentation/not_run.txt",
        &list,
    );
}
