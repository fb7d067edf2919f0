//! Holding a model to a tool's schema while it writes (`S003-17`, `S003-58`): which schemas a wire format can hold, and
//! the form in which it gets them.
//!
//! A provider refuses the whole request for one schema that it cannot hold, so a schema that is not known to hold goes
//! out unchanged. The model's output is checked like anything else.

use protocol::model::{REASONING_MEMBER, ToolDefinition};
use protocol::settings::WireFormat;
use serde_json::{Map, Value};

use crate::limits::{STRICT_DEPTH_MAX, STRICT_OPTIONAL_MAX, STRICT_TOOLS_MAX};

/// The strict tools and optional members that one request may still hold.
pub(crate) struct StrictToolBudget {
    dialect: Option<SchemaDialect>,
    tools_left: usize,
    optional_left: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaDialect {
    /// All members of all objects are required; numbers and lists may have bounds.
    Openai,
    /// Members may be left out, so many in one request; there are no bounds but "at least one".
    Anthropic,
}

impl StrictToolBudget {
    /// Nothing held yet.
    pub(crate) fn new(wire: WireFormat, model: &str) -> Self {
        let dialect = match wire {
            WireFormat::Openai => Some(SchemaDialect::Openai),
            WireFormat::Anthropic => {
                supports_strict_tools(model).then_some(SchemaDialect::Anthropic)
            }
            // Neither has a word for it.
            WireFormat::Gemini | WireFormat::Ollama => None,
        };
        Self {
            dialect,
            tools_left: STRICT_TOOLS_MAX,
            optional_left: STRICT_OPTIONAL_MAX,
        }
    }

    /// Returns the tool's schema in the form in which the model can be held to it; none if the model cannot or should
    /// not be.
    pub(crate) fn strict_schema(&mut self, tool: &ToolDefinition) -> Option<Value> {
        let dialect = self.dialect.filter(|_| tool.strict)?;
        let mut form = StrictSchema {
            dialect,
            optional: 0,
        };
        let schema = form.convert(&tool.parameters, 0)?;
        if schema.get("type")? != "object" {
            return None;
        }
        if dialect == SchemaDialect::Anthropic {
            let tools_left = self.tools_left.checked_sub(1)?;
            self.optional_left = self.optional_left.checked_sub(form.optional)?;
            self.tools_left = tools_left;
        }
        Some(schema)
    }
}

/// Whether a Claude model knows strict tools: 4.5 and later.
fn supports_strict_tools(model: &str) -> bool {
    let mut parts = model.strip_prefix("claude-").unwrap_or_default().split('-');
    let known = matches!(parts.next(), Some("opus" | "sonnet" | "haiku"));
    // Behind the version there may be a date.
    let mut number = || {
        parts
            .next()?
            .parse()
            .ok()
            .filter(|number: &u32| *number < 100)
    };
    let (major, minor) = (number().unwrap_or(0), number().unwrap_or(0));
    known && (major, minor) >= (4, 5)
}

/// A schema of the whole answer without the bounds on texts that OpenAI refuses; the model reads them instead.
pub(crate) fn without_text_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let mut form = Map::new();
            let mut bounds = Vec::new();
            for (keyword, value) in keywords {
                match keyword.as_str() {
                    "minLength" | "maxLength" if value.is_number() => {
                        bounds.push(format!("{keyword} {value}"));
                    }
                    "const" | "enum" | "default" | "examples" => {
                        form.insert(keyword.clone(), value.clone());
                    }
                    _ => drop(form.insert(keyword.clone(), without_text_bounds(value))),
                }
            }
            append_to_description(&mut form, &bounds);
            Value::Object(form)
        }
        Value::Array(items) => items.iter().map(without_text_bounds).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            plain.clone()
        }
    }
}

/// Adds the bounds that the model is not held to to the description.
fn append_to_description(schema: &mut Map<String, Value>, bounds: &[String]) {
    if !bounds.is_empty() {
        let description = schema.get("description").and_then(Value::as_str);
        let text = format!(
            "{} ({})",
            description.unwrap_or_default(),
            bounds.join(", ")
        );
        schema.insert("description".to_owned(), text.trim().into());
    }
}

/// A schema on its way into a dialect.
struct StrictSchema {
    dialect: SchemaDialect,
    /// Members that may be left out.
    optional: usize,
}

impl StrictSchema {
    fn convert(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let schema = schema.as_object().filter(|_| depth <= STRICT_DEPTH_MAX)?;
        let mut form = Map::new();
        let mut bounds: Vec<String> = Vec::new();
        for (keyword, value) in schema {
            let converted = match keyword.as_str() {
                "type" if value.is_string() => value.clone(),
                "title" | "description" | "enum" | "const" => value.clone(),
                "items" => self.convert(value, depth + 1)?,
                "properties" => self.convert_members(value.as_object()?, depth)?,
                "required" => continue,
                "additionalProperties" if *value == Value::Bool(false) => value.clone(),
                bound if self.supports_bound(bound, value)? => value.clone(),
                // The model reads what it is not held to, and the tool's own check holds it to that.
                bound => {
                    bounds.push(format!("{bound} {value}"));
                    continue;
                }
            };
            form.insert(keyword.clone(), converted);
        }
        if form.get("type")? == "object" {
            form.get("additionalProperties")?;
            let required = self.required_members(schema, depth)?;
            form.insert("required".to_owned(), required);
        }
        append_to_description(&mut form, &bounds);
        Some(Value::Object(form))
    }

    fn convert_members(&mut self, members: &Map<String, Value>, depth: usize) -> Option<Value> {
        let form = members.iter().map(|(name, schema)| {
            let schema = self.convert(schema, depth + 1)?;
            Some((name.clone(), schema))
        });
        form.collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    /// The members that must be given. The reason for the call is no parameter and may be left out anywhere else; a
    /// model may as well be made to say it.
    fn required_members(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let given = schema.get("required").and_then(Value::as_array);
        let given = |name: &String| given.is_some_and(|given| given.iter().any(|one| one == name));
        let members = schema.get("properties")?.as_object()?;
        let (required, optional): (Vec<&String>, Vec<_>) = members
            .keys()
            .partition(|name| given(name) || depth == 0 && *name == REASONING_MEMBER);
        self.optional += optional.len();
        let holds = optional.is_empty() || self.dialect == SchemaDialect::Anthropic;
        holds.then(|| required.into_iter().cloned().collect())
    }

    /// Whether the provider holds a bound; none if the keyword is no bound, or not known.
    fn supports_bound(&self, keyword: &str, value: &Value) -> Option<bool> {
        match (keyword, self.dialect) {
            ("minLength" | "maxLength", _) => Some(false),
            ("minimum" | "maximum" | "maxItems", dialect) => Some(dialect == SchemaDialect::Openai),
            ("minItems", dialect) => {
                Some(dialect == SchemaDialect::Openai || value.as_u64() <= Some(1))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(parameters: Value) -> ToolDefinition {
        ToolDefinition {
            name: "tool".to_owned(),
            description: String::new(),
            parameters,
            strict: true,
        }
    }

    fn object(members: Value, required: &[&str]) -> Value {
        json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false })
    }

    #[test]
    fn claude_holds_tools_since_4_5() {
        for (model, holds) in [
            ("claude-sonnet-4-5-20250929", true),
            ("claude-haiku-4-5", true),
            ("claude-opus-4-6", true),
            ("claude-opus-5", true),
            ("claude-opus-4-1-20250805", false),
            ("claude-sonnet-4-20250514", false),
            ("claude-3-7-sonnet-latest", false),
            ("some-model", false),
        ] {
            assert_eq!(supports_strict_tools(model), holds, "{model}");
        }
    }

    /// The form that each dialect gives a schema; none where the dialect cannot hold it.
    #[test]
    fn schemas_are_held_where_they_can_be() {
        let path = json!({ "type": "string", "minLength": 1, "description": "The file." });
        let told = json!({ "type": "string", "description": "The file. (minLength 1)" });
        let reason = json!({ "type": "string" });
        let whole = object(json!({ REASONING_MEMBER: reason, "path": path }), &["path"]);
        let whole_held = object(
            json!({ REASONING_MEMBER: reason, "path": told }),
            &[REASONING_MEMBER, "path"],
        );
        let partly = object(
            json!({ "path": told, "n": { "type": "integer", "minimum": 1 } }),
            &["path"],
        );
        let partly_held = object(
            json!({ "path": told, "n": { "type": "integer", "description": "(minimum 1)" } }),
            &["path"],
        );
        let open = json!({ "type": "object", "properties": {} });
        let pattern = object(
            json!({ "a": { "type": "string", "pattern": "^a" } }),
            &["a"],
        );
        let either = object(json!({ "a": { "anyOf": [{ "type": "string" }] } }), &["a"]);
        let deep = (0..9).fold(reason.clone(), |inner, _| {
            object(json!({ "a": inner }), &["a"])
        });
        let list = object(
            json!({ "a": { "type": "array", "items": object(json!({}), &[]), "maxItems": 3 } }),
            &["a"],
        );
        let list_held = object(
            json!({ "a": { "type": "array", "items": object(json!({}), &[]), "description": "(maxItems 3)" } }),
            &["a"],
        );
        for (schema, openai, anthropic) in [
            (&whole, Some(&whole_held), Some(&whole_held)),
            (&partly, None, Some(&partly_held)),
            (&list, Some(&list), Some(&list_held)),
            (&open, None, None),
            (&pattern, None, None),
            (&either, None, None),
            (&deep, None, None),
            (&json!({ "type": "string" }), None, None),
            (&json!(true), None, None),
        ] {
            let held = |wire, model| {
                StrictToolBudget::new(wire, model).strict_schema(&tool(schema.clone()))
            };
            assert_eq!(held(WireFormat::Openai, "any").as_ref(), openai, "{schema}");
            let claude = held(WireFormat::Anthropic, "claude-sonnet-4-5");
            assert_eq!(claude.as_ref(), anthropic, "{schema}");
            let others = [
                held(WireFormat::Anthropic, "claude-sonnet-4"),
                held(WireFormat::Gemini, "gemini-3-pro"),
                held(WireFormat::Ollama, "qwen3"),
            ];
            assert_eq!(others, [None, None, None]);
        }
        let loose = ToolDefinition {
            strict: false,
            ..tool(whole)
        };
        assert_eq!(
            StrictToolBudget::new(WireFormat::Openai, "any").strict_schema(&loose),
            None
        );
    }

    /// A request that asks for more than the provider holds would be refused as a whole.
    #[test]
    fn no_more_is_held_than_a_request_may() {
        let mut strict = StrictToolBudget::new(WireFormat::Anthropic, "claude-sonnet-4-5");
        let ten: Map<String, Value> = (0..10)
            .map(|n| (format!("m{n}"), json!({ "type": "string" })))
            .collect();
        let optional = tool(object(ten.into(), &[]));
        let held = |strict: &mut StrictToolBudget, tool| strict.strict_schema(tool).is_some();
        let three = [(); 3].map(|()| held(&mut strict, &optional));
        assert_eq!(three, [true, true, false]);
        let none = tool(object(json!({}), &[]));
        let many = (0..30).filter(|_| held(&mut strict, &none)).count();
        assert_eq!(many, STRICT_TOOLS_MAX - 2);
        let mut openai = StrictToolBudget::new(WireFormat::Openai, "any");
        assert_eq!((0..30).filter(|_| held(&mut openai, &none)).count(), 30);
    }
}
