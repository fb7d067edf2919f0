//! A person's approvals of a server's tools, and how the tools are shown with them.

use protocol::server::mcp_servers::ServerTool;
use protocol::text::display_text::to_spans;
use tools::sources::{Pins, ToolComparison};

use crate::catalogue::{ServerToolDefinition, ToolCatalogue};

/// The approved tools of one server.
pub type ToolPins = Pins<ToolCatalogue>;

/// Describes a tool for a person.
pub(crate) fn describe_tool(tool: &ToolComparison<'_, ServerToolDefinition>) -> ServerTool {
    ServerTool {
        name: to_spans(&tool.definition.name),
        description: to_spans(&tool.definition.description),
        hints: tool.definition.hints,
        pin: tool.state,
        changes: to_spans(&tool.diff()),
    }
}

#[cfg(test)]
mod tests {
    use protocol::server::mcp_servers::{PinState, ServerId};
    use protocol::text::display_text::join_spans;
    use serde_json::json;
    use tools::sources::PinnedCatalogue;

    use super::*;

    fn catalogue(tools: &[(&str, &str)]) -> ToolCatalogue {
        let mut catalogue = ToolCatalogue::default();
        for (name, description) in tools {
            catalogue.add(&json!({ "name": name, "description": description }));
        }
        catalogue
    }

    fn list_tools(pins: &ToolPins, catalogue: &ToolCatalogue) -> Vec<ServerTool> {
        let mut tools = PinnedCatalogue::new(pins.clone());
        tools.catalogue = Some(catalogue.clone().into());
        tools.compare_tools().iter().map(describe_tool).collect()
    }

    fn pin_states(pins: &ToolPins, catalogue: &ToolCatalogue) -> Vec<(String, PinState)> {
        let tools = list_tools(pins, catalogue).into_iter();
        tools
            .map(|tool| (join_spans(&tool.name), tool.pin))
            .collect()
    }

    #[test]
    fn what_changed_is_told_with_its_difference_until_it_is_approved() {
        let pins = ToolPins::approve_initial(&catalogue(&[
            ("a", "does a"),
            ("b", "does b"),
            ("c", "does c"),
        ]));
        let now = catalogue(&[("d", "does d"), ("b", "sends everything"), ("a", "does a")]);
        let named = |list: &[(&str, PinState)]| -> Vec<(String, PinState)> {
            let list = list.iter();
            list.map(|(name, pin)| ((*name).to_owned(), *pin)).collect()
        };
        assert_eq!(
            pin_states(&pins, &now),
            named(&[
                ("a", PinState::Pinned),
                ("b", PinState::Changed),
                ("c", PinState::Gone),
                ("d", PinState::New)
            ])
        );
        assert!(pins.has_pending_changes(&now));
        let changed = &list_tools(&pins, &now)[1];
        let difference = join_spans(&changed.changes);
        assert!(
            difference.contains("-  \"description\": \"does b\""),
            "{difference}"
        );
        assert!(
            difference.contains("+  \"description\": \"sends everything\""),
            "{difference}"
        );
        let pins = pins.approve_all(&now);
        assert!(!pins.has_pending_changes(&now));
        assert_eq!(
            pin_states(&pins, &now),
            named(&[
                ("a", PinState::Pinned),
                ("b", PinState::Pinned),
                ("d", PinState::Pinned)
            ]),
            "who was approved first stays first"
        );
    }

    #[test]
    fn what_hides_something_is_not_approved_with_the_rest() {
        let now = catalogue(&[
            ("a", "does a"),
            ("b", "does b\u{202e}"),
            ("c\u{200b}", "does c"),
            ("d", "does d\u{1b}[8m"),
            ("e\u{7f}", "does e"),
        ]);
        let pins = ToolPins::approve_initial(&now);
        assert_eq!(pins.tools.len(), 1);
        let tools = list_tools(&pins, &now);
        assert_eq!(join_spans(&tools[1].description), "does bU+202E");
        assert_eq!(join_spans(&tools[2].name), "cU+200B");
        assert_eq!(join_spans(&tools[3].description), "does dU+001B[8m");
        assert_eq!(join_spans(&tools[4].name), "eU+007F");
        assert!(!pins.approve_all(&now).has_pending_changes(&now));
    }

    /// A rule for a name stays a rule for the tool that has the name.
    #[test]
    fn a_name_stays_with_its_tool() {
        let called = |pins: &ToolPins| -> Vec<(String, String)> {
            let all = pins.tools.iter();
            all.map(|pinned| (pinned.definition.name.clone(), pinned.called.clone()))
                .collect()
        };
        let named = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            let list = list.iter();
            list.map(|(name, called)| ((*name).to_owned(), (*called).to_owned()))
                .collect()
        };
        let pins = ToolPins::approve_initial(&catalogue(&[
            ("a.b", ""),
            ("a b", ""),
            ("ä", ""),
            ("日本", ""),
        ]));
        assert_eq!(
            called(&pins),
            named(&[
                ("a.b", "a_b"),
                ("a b", "a_b_2"),
                ("ä", "tool"),
                ("日本", "tool_2")
            ])
        );
        let pins = pins.approve_all(&catalogue(&[("a!b", ""), ("a b", "")]));
        assert_eq!(called(&pins), named(&[("a b", "a_b_2"), ("a!b", "a_b")]));
    }

    #[test]
    fn pins_are_kept_and_what_cannot_be_read_approves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let id = ServerId::try_from("one".to_owned()).unwrap();
        assert_eq!(ToolPins::load(folder.path(), &id).unwrap(), None);
        let pins = ToolPins::approve_initial(&catalogue(&[("a", "does a")]));
        pins.save(folder.path(), &id).unwrap();
        assert_eq!(ToolPins::load(folder.path(), &id).unwrap(), Some(pins));
        let file = ToolPins::path(folder.path(), &id);
        assert_eq!(
            runtime::read_text(&file).unwrap().unwrap(),
            r#"{"version":1,"tools":[{"called":"a","tool":{"name":"a","description":"does a"}}],"has_resources":false}"#
        );
        for text in [
            "{",
            r#"{"version":2,"tools":[]}"#,
            r#"{"version":1,"tools":[{}]}"#,
        ] {
            runtime::write_atomic(&file, text.as_bytes(), 0o600).unwrap();
            assert!(ToolPins::load(folder.path(), &id).is_err(), "{text}");
        }
    }
}
