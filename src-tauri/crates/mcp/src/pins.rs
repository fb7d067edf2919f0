//! A person's approvals of a server's tools, compared with the server's current tools: a tool that differs is not used.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::server::mcp_servers::{PinState, ServerId, ServerTool};
use protocol::text::display_text::to_spans;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::catalogue::{ServerToolDefinition, ToolCatalogue};
use crate::limits::{DIFF_BYTES_MAX, NAME_CHARS_MAX};

const VERSION: u32 = 1;

/// The approved tools of one server, in the order of their approval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolPins {
    /// The tools.
    pub tools: Vec<PinnedTool>,
    /// Whether the server had resources at the approval; used as long as nothing newer is known.
    pub has_resources: bool,
}

/// An approved tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedTool {
    /// The second half of the tool's name in Countersign. The tool keeps this name for as long as it is approved,
    /// whatever tools come and go beside it, so that a rule never comes to mean another tool.
    pub called: String,
    /// The definition that was approved.
    pub tool: ServerToolDefinition,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredToolPins {
    version: u32,
    tools: Vec<PinnedTool>,
    #[serde(default)]
    has_resources: bool,
}

/// Returns the path of a server's pins.
pub fn pins_path(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("servers").join(format!("{id}.json"))
}

impl ToolPins {
    /// Loads the stored pins; none if nothing was ever approved.
    ///
    /// # Errors
    /// The pins cannot be read: then none of the tools is approved.
    pub fn load(data_dir: &Path, id: &ServerId) -> Result<Option<Self>, UserError> {
        let file = pins_path(data_dir, id);
        let Some(text) = runtime::read_text(&file)? else {
            return Ok(None);
        };
        let kept: Result<StoredToolPins, _> = serde_json::from_str(&text);
        let wrong = |what: String| {
            UserError::new(
                format!("{} cannot be read: {what}.", file.display()),
                format!(
                    "Look at the tools of `{id}` and approve them again. Until then none of them is used."
                ),
            )
        };
        match kept {
            Ok(kept) if kept.version == VERSION => Ok(Some(Self {
                tools: kept.tools,
                has_resources: kept.has_resources,
            })),
            Ok(kept) => Err(wrong(format!("its version is {}", kept.version))),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Stores the pins atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
        let kept = StoredToolPins {
            version: VERSION,
            tools: self.tools.clone(),
            has_resources: self.has_resources,
        };
        let text = serde_json::to_vec(&kept).map_err(|error| {
            UserError::new("What you approve cannot be written.", "Report this.")
                .with_source(&error)
        })?;
        Ok(runtime::write_atomic(
            &pins_path(data_dir, id),
            &text,
            0o600,
        )?)
    }

    /// Returns the pins of a first approval: every tool without hidden text. A tool that hides text waits for a second
    /// look.
    pub fn approve_initial(catalogue: &ToolCatalogue) -> Self {
        let mut pins = Self {
            has_resources: catalogue.has_resources,
            ..Self::default()
        };
        let seen = catalogue
            .tools
            .iter()
            .filter(|tool| !tool.has_hidden_text());
        seen.for_each(|tool| pins.add_tool(tool));
        pins
    }

    /// Returns the pins after an approval of every current tool of the server.
    #[must_use]
    pub fn approve_all(&self, catalogue: &ToolCatalogue) -> Self {
        let still = self.tools.iter().filter_map(|pinned| {
            let tool = catalogue.find(&pinned.tool.name)?.clone();
            let called = pinned.called.clone();
            Some(PinnedTool { called, tool })
        });
        let mut pins = Self {
            tools: still.collect(),
            has_resources: catalogue.has_resources,
        };
        let new = catalogue.tools.iter();
        new.filter(|tool| self.find(&tool.name).is_none())
            .for_each(|tool| pins.add_tool(tool));
        pins
    }

    /// Adds a tool under a name that no other tool has.
    fn add_tool(&mut self, tool: &ServerToolDefinition) {
        let near = to_callable_name(&tool.name);
        let taken = |name: &String| self.tools.iter().any(|pinned| pinned.called == *name);
        let mut called = near.clone();
        let mut tail = 2_u32;
        while taken(&called) {
            called = format!("{near}_{tail}");
            tail = tail.saturating_add(1);
        }
        self.tools.push(PinnedTool {
            called,
            tool: tool.clone(),
        });
    }

    /// Returns the tool with this name.
    pub fn find(&self, name: &str) -> Option<&ServerToolDefinition> {
        let mut tools = self.tools.iter().map(|pinned| &pinned.tool);
        tools.find(|tool| tool.name == name)
    }

    /// Compares a pinned tool with the server's current tools; pinned if those are not known.
    pub fn pin_state(pinned: &ServerToolDefinition, catalogue: Option<&ToolCatalogue>) -> PinState {
        match catalogue.map(|all| all.find(&pinned.name)) {
            None => PinState::Pinned,
            Some(Some(now)) if now.digest() == pinned.digest() => PinState::Pinned,
            Some(Some(_)) => PinState::Changed,
            Some(None) => PinState::Gone,
        }
    }

    /// Returns every tool for a person: the pinned ones, then the other tools of the server.
    pub fn list_tools(&self, catalogue: Option<&ToolCatalogue>) -> Vec<ServerTool> {
        let known = self.tools.iter().map(|pinned| {
            let pinned = &pinned.tool;
            let pin = Self::pin_state(pinned, catalogue);
            let now = catalogue.and_then(|all| all.find(&pinned.name));
            describe_tool(now.unwrap_or(pinned), pin, Some(pinned))
        });
        let new = catalogue.into_iter().flat_map(|all| &all.tools);
        let new = new.filter(|tool| self.find(&tool.name).is_none());
        known
            .chain(new.map(|tool| describe_tool(tool, PinState::New, None)))
            .collect()
    }

    /// Whether any tool of the server waits for an approval.
    pub fn has_pending_changes(&self, catalogue: &ToolCatalogue) -> bool {
        let pinned =
            |tool: &ServerToolDefinition| self.find(&tool.name).map(ServerToolDefinition::digest);
        let mut tools = catalogue.tools.iter();
        tools.any(|tool| pinned(tool) != Some(tool.digest()))
    }
}

/// Converts a name to the nearest one that a model can call.
fn to_callable_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let near = name.chars().map(|c| if allowed(c) { c } else { '_' });
    let near: String = near.take(NAME_CHARS_MAX).collect();
    match near.trim_matches('_') {
        "" => "tool".to_owned(),
        _ => near,
    }
}

fn describe_tool(
    tool: &ServerToolDefinition,
    pin: PinState,
    pinned: Option<&ServerToolDefinition>,
) -> ServerTool {
    let changes = match (pin, pinned) {
        (PinState::Changed, Some(pinned)) => definition_diff(&pinned.text(), &tool.text()),
        (PinState::New, _) => definition_diff("", &tool.text()),
        (PinState::Pinned | PinState::Gone | PinState::Changed, _) => String::new(),
    };
    ServerTool {
        name: to_spans(&tool.name),
        description: to_spans(&tool.description),
        hints: tool.hints,
        pin,
        changes: to_spans(&changes),
    }
}

/// Returns the diff of two definitions, cut: an approval of more than can be read is no approval.
fn definition_diff(before: &str, after: &str) -> String {
    let text = TextDiff::from_lines(before, after)
        .unified_diff()
        .header("approved", "now")
        .to_string();
    match text.char_indices().find(|(at, _)| *at >= DIFF_BYTES_MAX) {
        None => text,
        Some((at, _)) => format!("{}\n[cut here]\n", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use protocol::text::display_text::join_spans;
    use serde_json::json;

    use super::*;

    fn catalogue(tools: &[(&str, &str)]) -> ToolCatalogue {
        let mut catalogue = ToolCatalogue::default();
        for (name, description) in tools {
            catalogue.add(&json!({ "name": name, "description": description }));
        }
        catalogue
    }

    fn stands(pins: &ToolPins, catalogue: &ToolCatalogue) -> Vec<(String, PinState)> {
        let told = pins.list_tools(Some(catalogue)).into_iter();
        told.map(|tool| (join_spans(&tool.name), tool.pin))
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
            stands(&pins, &now),
            named(&[
                ("a", PinState::Pinned),
                ("b", PinState::Changed),
                ("c", PinState::Gone),
                ("d", PinState::New)
            ])
        );
        assert!(pins.has_pending_changes(&now));
        let changed = &pins.list_tools(Some(&now))[1];
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
            stands(&pins, &now),
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
        ]);
        let pins = ToolPins::approve_initial(&now);
        assert_eq!(pins.tools.len(), 1);
        let told = pins.list_tools(Some(&now));
        assert_eq!(join_spans(&told[1].description), "does bU+202E");
        assert_eq!(join_spans(&told[2].name), "cU+200B");
        assert!(!pins.approve_all(&now).has_pending_changes(&now));
    }

    /// A rule for a name stays a rule for the tool that has the name.
    #[test]
    fn a_name_stays_with_its_tool() {
        let called = |pins: &ToolPins| -> Vec<(String, String)> {
            let all = pins.tools.iter();
            all.map(|pinned| (pinned.tool.name.clone(), pinned.called.clone()))
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
        let file = pins_path(folder.path(), &id);
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
