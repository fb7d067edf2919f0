//! Reads the tools that a server lists, one by one. An item that cannot be a tool is left out with a reason; the rest
//! stays usable.

use std::borrow::Cow;
use std::collections::HashSet;

use protocol::server::mcp_servers::ToolHints;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use protocol::text::display_text::to_single_line;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tools::sources::{Catalogue, SourceTool, record_left_out};

use crate::limits::{CATALOGUE_BYTES_MAX, DEFINITION_BYTES_MAX, NAME_CHARS_MAX, TOOLS_MAX};

/// One tool as its server defines it. Approvals pin this definition, and changes are detected by comparing it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct ServerToolDefinition {
    /// Name that the server gives the tool.
    pub name: String,
    /// The server's description of the tool; empty if the server gives none.
    pub description: String,
    /// JSON Schema of the arguments; always the schema of an object.
    pub input_schema: Value,
    /// JSON Schema of the structured part of a result.
    pub output_schema: Option<Value>,
    /// The server's hints about the tool's safety.
    pub hints: ToolHints,
    /// The hashed members of the definition, with the keys of every object sorted.
    canonical: Value,
    bytes: usize,
}

/// The members of a definition that are hashed: a tool that differs in any of these is another tool.
const HASHED_MEMBERS: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

impl ServerToolDefinition {
    /// Reads one item of a list of tools.
    ///
    /// # Errors
    /// The reason why the item cannot be a tool, as a clause.
    pub fn from_list_item(item: &Value) -> Result<Self, String> {
        let Some(item) = item.as_object() else {
            return Err("it is not an object".to_owned());
        };
        if item.values().any(|member| exceeds_depth(member, DEPTH_MAX)) {
            return Err(format!("it is nested more than {DEPTH_MAX} levels deep"));
        }
        let mut whole = Map::new();
        for member in HASHED_MEMBERS {
            if let Some(value) = item.get(member).filter(|value| !value.is_null()) {
                whole.insert(member.to_owned(), sort_members(value));
            }
        }
        let text = |member: &str| match whole.get(member) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("its {member} is not text")),
        };
        let (name, description) = (text("name")?, text("description")?);
        text("title")?;
        if name.is_empty() {
            return Err("it has no name".to_owned());
        }
        let input_schema = match whole.get("inputSchema") {
            None => json!({ "type": "object" }),
            Some(Value::Object(schema)) if !schema.contains_key("type") => {
                let mut schema = schema.clone();
                schema.insert("type".to_owned(), "object".into());
                Value::Object(schema)
            }
            Some(schema @ Value::Object(_)) => schema.clone(),
            Some(_) => return Err("its inputSchema is not a schema".to_owned()),
        };
        let output_schema = match whole.get("outputSchema") {
            None => None,
            Some(schema @ Value::Object(_)) => Some(schema.clone()),
            Some(_) => return Err("its outputSchema is not a schema".to_owned()),
        };
        // A hint of another shape is none.
        let hints = whole.get("annotations").cloned();
        let hints = hints.and_then(|hints| serde_json::from_value(hints).ok());
        let whole = Value::Object(whole);
        let bytes = serde_json::to_vec(&whole).map_or(usize::MAX, |bytes| bytes.len());
        if bytes > DEFINITION_BYTES_MAX {
            return Err(format!(
                "its definition is larger than {DEFINITION_BYTES_MAX} bytes"
            ));
        }
        Ok(Self {
            name,
            description,
            input_schema,
            output_schema,
            hints: hints.unwrap_or_default(),
            canonical: whole,
            bytes,
        })
    }
}

impl SourceTool for ServerToolDefinition {
    const MEMBER: &'static str = "tool";

    fn key(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn callable_name(&self) -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let nearest = self.name.chars().map(|c| if allowed(c) { c } else { '_' });
        let nearest: String = nearest.take(NAME_CHARS_MAX).collect();
        match nearest.trim_matches('_') {
            "" => "tool".to_owned(),
            _ => nearest,
        }
    }
}

impl TryFrom<Value> for ServerToolDefinition {
    type Error = String;

    fn try_from(item: Value) -> Result<Self, Self::Error> {
        Self::from_list_item(&item)
    }
}

impl From<ServerToolDefinition> for Value {
    fn from(definition: ServerToolDefinition) -> Self {
        definition.canonical
    }
}

fn sort_members(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let sorted = sorted.into_iter();
            Value::Object(
                sorted
                    .map(|(name, value)| (name.clone(), sort_members(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sort_members).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The tools of a server at one moment, in the server's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCatalogue {
    /// The tools; no name occurs twice.
    pub tools: Vec<ServerToolDefinition>,
    /// Descriptions of the items that were left out, one sentence each.
    pub left_out: Vec<String>,
    /// Whether the server announces resources besides its tools.
    pub has_resources: bool,
    names: HashSet<String>,
    /// Names of the tools that a server of 2025 runs as tasks alone. That says how a call is sent and not what it does, so it
    /// stands beside the definitions that are approved.
    task_tools: HashSet<String>,
    bytes: usize,
    left_out_beyond_limit: usize,
}

impl ToolCatalogue {
    /// Adds an item of the list, or records why it is left out.
    pub fn add(&mut self, item: &Value) {
        let named = item.get("name").and_then(Value::as_str).unwrap_or_default();
        let named = to_single_line(named, NAME_CHARS_MAX);
        if self.tools.len() >= TOOLS_MAX {
            return self.record_left_out(format!(
                "`{named}` is left out: the server has more than {TOOLS_MAX} tools."
            ));
        }
        match ServerToolDefinition::from_list_item(item) {
            Err(why) => self.record_left_out(format!("`{named}` is left out: {why}.")),
            Ok(tool) if self.bytes + tool.bytes > CATALOGUE_BYTES_MAX => self.record_left_out(format!(
                "`{named}` is left out: the definitions of the server are larger than {CATALOGUE_BYTES_MAX} bytes."
            )),
            Ok(tool) if !self.names.insert(tool.name.clone()) => {
                self.record_left_out(format!("`{named}` is left out: the server lists it twice."));
            }
            Ok(tool) => {
                if item.pointer("/execution/taskSupport") == Some(&json!("required")) {
                    self.task_tools.insert(tool.name.clone());
                }
                self.bytes += tool.bytes;
                self.tools.push(tool);
            }
        }
    }

    /// Whether the server runs a tool as a task alone, by the words of 2025.
    pub fn requires_task(&self, name: &str) -> bool {
        self.task_tools.contains(name)
    }

    /// Records that an item was left out.
    pub(crate) fn record_left_out(&mut self, why: String) {
        record_left_out(&mut self.left_out, &mut self.left_out_beyond_limit, why);
    }
}

impl Catalogue for ToolCatalogue {
    type Tool = ServerToolDefinition;
    const FOLDER: &'static str = "servers";

    fn tools(&self) -> &[ServerToolDefinition] {
        &self.tools
    }

    fn has_resources(&self) -> Option<bool> {
        Some(self.has_resources)
    }
}

#[cfg(test)]
mod tests {
    use tools::limits::LEFT_OUT_MAX;

    use super::*;

    #[test]
    fn the_order_of_members_is_no_change_and_every_word_is() {
        let read = |item: Value| {
            ServerToolDefinition::from_list_item(&item)
                .unwrap()
                .digest()
        };
        let base = json!({ "name": "a", "description": "d",
            "inputSchema": { "type": "object", "properties": { "x": {}, "y": {} } } });
        let turned = json!({ "inputSchema": { "properties": { "y": {}, "x": {} }, "type": "object" },
            "description": "d", "name": "a", "_meta": { "later": 1 }, "title": null });
        assert_eq!(read(base.clone()), read(turned));
        for (member, value) in [
            ("description", json!("d ")),
            ("title", json!("A")),
            (
                "inputSchema",
                json!({ "type": "object", "properties": { "x": {} } }),
            ),
            ("outputSchema", json!({ "type": "object" })),
            ("annotations", json!({ "readOnlyHint": true })),
        ] {
            let mut other = base.clone();
            other[member] = value;
            assert_ne!(read(base.clone()), read(other), "{member}");
        }
    }

    #[test]
    fn a_tool_stays_the_same_whatever_it_says_of_tasks() {
        let tool = json!({ "name": "a", "description": "d" });
        let digest = |item: &Value| {
            let tool = ServerToolDefinition::from_list_item(item);
            tool.unwrap().digest()
        };
        for (execution, is_required) in [
            (json!(null), false),
            (json!("required"), false),
            (json!({ "taskSupport": "forbidden" }), false),
            (json!({ "taskSupport": "optional" }), false),
            (json!({ "taskSupport": "required" }), true),
        ] {
            let mut listed = tool.clone();
            listed["execution"] = execution.clone();
            assert_eq!(digest(&listed), digest(&tool), "{execution}");
            let mut catalogue = ToolCatalogue::default();
            catalogue.add(&listed);
            assert_eq!(catalogue.requires_task("a"), is_required, "{execution}");
        }
    }

    #[test]
    fn what_is_no_tool_is_left_out_and_the_rest_stays() {
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({ "items": deep });
        }
        let mut catalogue = ToolCatalogue::default();
        for item in [
            json!("x"),
            json!({ "name": "" }),
            json!({ "name": 1 }),
            json!({ "name": "s", "inputSchema": "none" }),
            json!({ "name": "deep", "inputSchema": deep }),
            json!({ "name": "huge", "description": "x".repeat(DEFINITION_BYTES_MAX) }),
            json!({ "name": "good", "annotations": { "readOnlyHint": "yes" } }),
            json!({ "name": "good", "description": "again" }),
            json!({ "name": "bare" }),
        ] {
            catalogue.add(&item);
        }
        let names: Vec<&str> = catalogue
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(names, ["good", "bare"]);
        assert_eq!(catalogue.tools[0].hints, ToolHints::default());
        assert_eq!(catalogue.tools[1].input_schema, json!({ "type": "object" }));
        assert_eq!(catalogue.left_out.len(), 7);
        assert!(catalogue.left_out[6].contains("lists it twice"));
    }

    #[test]
    fn three_thousand_tools_are_cut_and_told() {
        let mut catalogue = ToolCatalogue::default();
        for n in 0..3_000 {
            catalogue.add(&json!({ "name": format!("tool{n}") }));
        }
        assert_eq!(catalogue.tools.len(), TOOLS_MAX);
        assert_eq!(catalogue.left_out.len(), LEFT_OUT_MAX + 1);
        let last = catalogue.left_out.last().unwrap();
        assert_eq!(
            last,
            &format!(
                "And {} more are left out.",
                3_000 - TOOLS_MAX - LEFT_OUT_MAX
            )
        );
    }
}
