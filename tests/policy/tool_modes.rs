//! The classifier's table: from name, given mode and hints to mode and kind.

use policy::classify::{mode_from_name, mode_strictness, stricter_modes};
use policy::{ToolDeclaration, classify_tool};
use protocol::{ToolKind, ToolMode};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassifierCase {
    id: String,
    name: String,
    given: Option<ToolMode>,
    given_kind: Option<ToolKind>,
    #[serde(default)]
    is_destructive: bool,
    #[serde(default)]
    is_open_world: bool,
    mode: Option<ToolMode>,
    kind: ToolKind,
}

fn cases() -> Vec<ClassifierCase> {
    serde_json::from_str(include_str!("../cases/classify.json")).unwrap()
}

/// `S000-20`, `S000-27`, `S000-28`, `S000-29`, `S000-30`, `S000-31`, `S000-32`, `S000-33`: each row of the table names its own.
#[test]
fn the_shared_table_s000_20_s000_21_s000_27_to_s000_33_s000_42_s000_47() {
    for case in cases() {
        let declared = ToolDeclaration {
            mode: case.given,
            kind: case.given_kind,
            is_destructive: case.is_destructive,
            is_open_world: case.is_open_world,
            is_changing: false,
        };
        let found = classify_tool(&case.name, declared);
        assert_eq!((found.mode, found.kind), (case.mode, case.kind), "{case:?}");
        assert!(!found.from.is_empty());
        // S000-21: the name alone, without any tool.
        if declared == ToolDeclaration::default() {
            assert_eq!(
                mode_from_name(&case.name).map(|(mode, _)| mode),
                case.mode,
                "{}",
                case.id
            );
        }
        // M16: a hint never loosens.
        let without = classify_tool(
            &case.name,
            ToolDeclaration {
                is_destructive: false,
                is_open_world: false,
                ..declared
            },
        );
        assert!(
            mode_strictness(found.mode) >= mode_strictness(without.mode),
            "{case:?}"
        );
    }
}

/// M16: what a person sets can only be stricter than the tool by itself.
#[test]
fn what_is_stricter() {
    use ToolMode::{Destructive, External, Local, Read, SafeWrite};
    for (own, modes) in [
        (
            Some(Read),
            &[External, SafeWrite, Destructive, Local] as &[_],
        ),
        (Some(External), &[SafeWrite, Destructive, Local]),
        (Some(SafeWrite), &[Destructive, Local]),
        (Some(Destructive), &[Local]),
        (Some(Local), &[]),
        (None, &[]),
    ] {
        assert_eq!(stricter_modes(own), modes, "{own:?}");
    }
}

/// A server that is called `read_x` says nothing of what its tools do: without a word of their own they ask.
#[test]
fn the_name_of_a_server_is_no_word_of_its_tools() {
    for name in ["read_x__delete_all", "create_x__run", "exec_x__get_it"] {
        assert_eq!(
            classify_tool(name, ToolDeclaration::default()).mode,
            None,
            "{name}"
        );
    }
}
