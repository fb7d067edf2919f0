//! Parses a file of definitions: a single schema, or names with a schema each. Errors name the line, and the rest of
//! the file is still used.

use protocol::UserError;
use serde_json::Value;

use super::definition::{CustomToolDefinition, DefinitionError};
use super::strict_json::{self, JsonError};
use crate::limits::TOOLS_PER_FILE_MAX;

/// The contents of a file of definitions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DefinitionFile {
    /// The tools, each with the line that it begins on.
    pub tools: Vec<(usize, CustomToolDefinition)>,
    /// Errors in the other definitions: file, line, reason.
    pub faults: Vec<UserError>,
}

/// Parses a file (`S004-14`). `file` names it in errors; `stem` is the name of a single tool whose schema has no name
/// of its own.
///
/// A file holds a single tool if its `type` is a string; otherwise each member is a tool under its name.
pub fn parse_definitions(file: &str, stem: &str, text: &str) -> DefinitionFile {
    let mut definitions = DefinitionFile::default();
    let root = match strict_json::parse_strict(text) {
        Ok(root) => root,
        Err(JsonError { line, reason }) => {
            definitions
                .faults
                .push(definition_fault(file, line, &reason));
            return definitions;
        }
    };
    let Value::Object(members) = &root else {
        let reason = "a file of tools is an object: one schema, or names with a schema each";
        definitions.faults.push(definition_fault(file, 1, reason));
        return definitions;
    };
    let is_one = members.get("type").is_some_and(|kind| !kind.is_object());
    if is_one {
        let says_its_name = root.pointer("/properties/_tool").is_some();
        let name = (!says_its_name).then_some(stem);
        add_definition(
            &mut definitions,
            file,
            text,
            &[],
            CustomToolDefinition::parse(name, &root),
        );
        return definitions;
    }
    if members.len() > TOOLS_PER_FILE_MAX {
        let reason = format!(
            "there are {} tools in it; at most {TOOLS_PER_FILE_MAX} are read",
            members.len()
        );
        definitions.faults.push(definition_fault(file, 1, &reason));
        return definitions;
    }
    for (name, schema) in members {
        let definition = CustomToolDefinition::parse(Some(name), schema);
        add_definition(&mut definitions, file, text, &[name], definition);
    }
    definitions
}

fn add_definition(
    definitions: &mut DefinitionFile,
    file: &str,
    text: &str,
    place: &[&str],
    definition: Result<CustomToolDefinition, DefinitionError>,
) {
    match definition {
        Ok(definition) => {
            let line = strict_json::find_line(text, place);
            definitions.tools.push((line, definition));
        }
        Err(DefinitionError { path, reason }) => {
            let path: Vec<&str> = place
                .iter()
                .copied()
                .chain(path.iter().map(String::as_str))
                .collect();
            let line = strict_json::find_line(text, &path);
            let what = place
                .first()
                .map_or(reason.clone(), |name| format!("`{name}`: {reason}"));
            definitions.faults.push(definition_fault(file, line, &what));
        }
    }
}

/// Builds the error for a definition, in the form of errors in settings.
pub fn definition_fault(file: &str, line: usize, reason: &str) -> UserError {
    UserError::new(
        format!("{file}, line {line}: {reason}."),
        "Correct it; until then this tool is not there.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::ExecutionKind;
    use serde_json::json;

    const SENTIMENT: &str = r#"{
  "sentimentAnalysis": {
    "type": "object",
    "description": "Analyzes text sentiment",
    "properties": {
      "_tool": { "type": "string", "const": "sentimentAnalysis" },
      "text": { "type": "string", "description": "Text to analyze" },
      "_output": {
        "type": "object",
        "properties": {
          "sentiment": { "type": "string" },
          "confidence": { "type": "number" }
        }
      }
    }
  }
}"#;

    fn faults(text: &str) -> Vec<String> {
        let read = parse_definitions("tools/a.json", "a", text);
        read.faults.into_iter().map(|fault| fault.message).collect()
    }

    /// The specification's tool (`S004-01` to `S004-07`, `S004-14`, `S004-15`).
    #[test]
    fn sentiment_analysis_registers_s004_15() {
        let read = parse_definitions("tools/a.json", "a", SENTIMENT);
        assert_eq!(read.faults, []);
        let [(line, tool)] = read.tools.as_slice() else {
            panic!("{:?}", read.tools)
        };
        assert_eq!(
            (*line, tool.name.as_str()),
            (2, "sentimentAnalysis"),
            "S004-04"
        );
        assert_eq!(
            tool.parameter_names().collect::<Vec<_>>(),
            ["text"],
            "S004-02, S004-03"
        );
        assert_eq!(tool.description, "Analyzes text sentiment", "S004-06");
        assert_eq!(tool.title, None, "S004-05");
        let output = tool.output().unwrap();
        assert_eq!(
            output["properties"]
                .as_object()
                .unwrap()
                .keys()
                .collect::<Vec<_>>(),
            ["sentiment", "confidence"],
            "S004-07"
        );
        assert_eq!(
            tool.parameters(ExecutionKind::Latent),
            json!({
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "Text to analyze" },
                    "_output": output,
                },
                "required": ["_output"],
            }),
            "S004-26"
        );
        assert_eq!(
            tool.parameters(ExecutionKind::Explicit),
            json!({
                "type": "object",
                "properties": { "text": { "type": "string", "description": "Text to analyze" } },
            }),
            "S004-28"
        );
    }

    #[test]
    fn one_schema_is_named_by_itself_or_its_file() {
        for (text, name) in [
            (r#"{"type":"object"}"#, "a"),
            (
                r#"{"type":"object","properties":{"_tool":{"const":"b"}}}"#,
                "b",
            ),
            (r#"{"type":{"type":"object"}}"#, "type"),
            (r#"{"properties":{"type":"object"}}"#, "properties"),
        ] {
            let read = parse_definitions("tools/a.json", "a", text);
            assert_eq!(
                (read.tools[0].1.name.as_str(), &*read.faults),
                (name, &[][..]),
                "{text}"
            );
        }
    }

    /// Meta-fields say how a call is carried out, and the model sees only those that it fills (`S004-10` to `S004-13`,
    /// `S004-20`, `S004-49`).
    #[test]
    fn meta_fields_are_apart_from_the_parameters() {
        let text = r#"{"type":"object","title":"Web search","properties":{
            "_activity":{"type":"string","const":"search.sh"},"_outputPath":{"const":"found.pages"},"_instance":{"type":"string"},
            "query":{"type":"string"},"_output":{"type":"array"}},"required":["query","_activity"]}"#;
        let tool = parse_definitions("tools/a.json", "search", text)
            .tools
            .remove(0)
            .1;
        assert_eq!(tool.title.as_deref(), Some("Web search"));
        assert_eq!(tool.activity.as_deref(), Some("search.sh"));
        assert_eq!(tool.output_path.as_ref().unwrap().as_str(), "found.pages");
        let seen = tool.parameters(ExecutionKind::Explicit);
        assert_eq!(
            seen,
            json!({ "type": "object", "properties": { "_instance": { "type": "string" }, "query": { "type": "string" } },
                    "required": ["query"] })
        );
        let other = text.replace("search.sh", "other.py");
        let other = parse_definitions("tools/a.json", "search", &other)
            .tools
            .remove(0)
            .1;
        assert_eq!(other.parameters(ExecutionKind::Explicit), seen, "S004-49");
    }

    /// Errors name the file, line and reason, and the other definitions still load.
    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let two = "{\n\"good\": {\"type\": \"object\"},\n\"bad\": {\"type\": \"object\",\n \"properties\": {\n  \"_oops\": {}}}}";
        let read = parse_definitions("tools/a.json", "a", two);
        assert_eq!(read.tools.len(), 1);
        assert_eq!(
            read.faults[0].message,
            "tools/a.json, line 5: `bad`: `_oops` is not a meta-field (there are _tool, _output, _activity, _delegate, \
             _outputPath, _instance); a parameter has no leading underscore."
        );
        let property = |name: &str, schema: &str| {
            format!("{{\"type\":\"object\",\"properties\":{{\n\"{name}\":{schema}}}}}")
        };
        for (text, problem) in [
            ("{\n\"type\": \"object\",\n}".to_owned(), "line 3: trailing comma"),
            (String::new(), "line 1: EOF"),
            ("{\"\":{\"type\":\"object\"}}".to_owned(), "`` cannot be the name of a tool"),
            ("{\n\"a b\":{\"type\":\"object\"}}".to_owned(), "line 2: `a b`: `a b` cannot be the name of a tool"),
            ("[]".to_owned(), "line 1: a file of tools is an object"),
            ("{\"a\":{\"type\":\"object\"},\n\"a\":{}}".to_owned(), "line 2: the member `a` is there twice"),
            ("[".repeat(10_000), "line 1: recursion limit"),
            ("{\"a\":\n7}".to_owned(), "line 1: `a`: a tool is a JSON Schema"),
            ("{\"type\":\"array\"}".to_owned(), "`type` must be \"object\""),
            ("{\"type\":\"object\",\n\"_tool\":\"x\"}".to_owned(), "line 2: `_tool` belongs into `properties`"),
            (property("_tool", "{\"type\":\"string\"}"), "line 2: `_tool` needs a text as its `const`"),
            (property("_reasoningForCall", "{}"), "line 2: `_reasoningForCall` is added by the system"),
            (property("_outputPath", "{\"const\":\"a b\"}"), "line 2: `a b` is not a place in the state"),
            (property("_activity", "{\"const\":\"../evil\"}"), "line 2: `../evil` is not a name"),
            (property("_output", "true"), "line 2: `_output` must be a JSON Schema, which is an object"),
            (property("x", "\"string\""), "line 2: `x` must be a JSON Schema"),
            (property("x", "{\"type\":\"strnig\"}"), "not a valid JSON Schema"),
            (property("x", "{\"pattern\":\"(\"}"), "not a valid JSON Schema"),
            (property("x", "{\"$ref\":\"https://example.com/x\"}"), "line 2: `$ref` leads to `https://example.com/x`, and nothing is fetched"),
            (property("x", "{\"$ref\":\"#/$defs/none\"}"), "not a valid JSON Schema"),
            ("{\"type\":\"object\",\n\"required\":[\"x\"]}".to_owned(), "line 2: `required` names `x`"),
            (
                "{\"type\":\"object\",\"properties\":{\"_activity\":{\"const\":\"a\"},\n\"_delegate\":{\"const\":\"b\"}}}".to_owned(),
                "line 2: a tool goes to an activity or to a delegate, not to both",
            ),
            (
                "{\"a\":{\"type\":\"object\",\"properties\":{\n\"_tool\":{\"const\":\"b\"}}}}".to_owned(),
                "line 2: `a`: `_tool` is `b`, but the tool is registered as `a`",
            ),
        ] {
            let faults = faults(&text);
            assert_eq!(faults.len(), 1, "{text}: {faults:?}");
            assert!(
                faults[0].starts_with("tools/a.json, ") && faults[0].contains(problem),
                "{text} gave: {}",
                faults[0]
            );
        }
    }

    /// A schema that refers to itself, and a pattern that would backtrack exponentially elsewhere, are accepted and do
    /// not hang.
    #[test]
    fn cycles_and_slow_patterns_do_no_harm() {
        let text = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"},"b":{"pattern":"^(a+)+$"}},
            "$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}}}"##;
        let read = parse_definitions("tools/a.json", "a", text);
        assert_eq!(read.faults, []);
        let schema = read.tools[0].1.parameters(ExecutionKind::Latent);
        let schema = crate::Schema::from_parameters("a", &schema).unwrap();
        let arguments = json!({ "a": "x", "b": format!("{}!", "a".repeat(10_000)) });
        let problems =
            schema.find_problems(arguments.as_object().unwrap().clone(), &|member| member);
        assert!(problems.unwrap_err()[0].starts_with("`b` must fit the pattern"));
    }
}
