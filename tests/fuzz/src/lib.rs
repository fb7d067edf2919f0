//! Entry points of a fuzzer: bytes go in, and what must hold whatever they are is asserted.
//!
//! The ordinary tests run the same functions over the seeds and over bytes made from them (`tests/fuzz.rs`), so that they
//! hold on the stable compiler too.

mod judging;

use std::sync::LazyLock;

use policy::{limits, shell};
use protocol::model::ToolDefinition;
use protocol::{ToolCall, UserError};
use serde_json::Value;
use tools::Registry;
use tools::custom::{ComposedSchema, CustomToolDefinition, ExecutionKind, parse_definitions};

pub use judging::{fuzz_paths, fuzz_rules};

/// The longest sentence that a model is told of a bad call, in bytes.
const DESCRIPTION_BYTES_MAX: usize = 32 * 1024;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::builtin);

/// A call as a model writes it, found and checked: the same call comes out of its own JSON, no meta-property reaches a tool,
/// and an error is bounded.
pub fn fuzz_call_parsing(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let call = match ToolCall::from_json(&text) {
        Ok(call) => call,
        Err(fault) => return assert!(!fault.hint.is_empty(), "{fault}"),
    };
    let written = serde_json::to_string(&call).expect("a call can be written");
    assert_eq!(ToolCall::from_json(&written).as_ref(), Ok(&call));
    let checked = REGISTRY
        .find(&call.name)
        .and_then(|found| found.validate_arguments(&call.arguments));
    match checked {
        Ok(checked) => {
            let meta = |name: &String| name.starts_with('_');
            assert!(!checked.arguments.keys().any(meta));
            assert!(checked.meta.keys().all(meta));
        }
        Err(error) => {
            let room = DESCRIPTION_BYTES_MAX + call.name.len();
            assert!(
                error.to_string().len() <= room,
                "{} bytes",
                error.to_string().len()
            );
        }
    }
}

/// A file of tools, an output schema and an answer, one after the other with a zero byte between: what composes is one
/// schema with both members, and an answer that is taken names tools that there are.
pub fn fuzz_schema_composition(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (file, output, answer) = (part(), part(), part());
    let tools: Vec<ToolDefinition> = parse_definitions("tools.json", "tool", file)
        .tools
        .iter()
        .map(|(_, definition)| tool_definition(definition))
        .collect();
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let output = serde_json::from_str::<Value>(output).ok();
    let Ok(composed) = ComposedSchema::new(tools, output.as_ref()) else {
        return;
    };
    let schema = composed.schema();
    assert_eq!(schema["required"], serde_json::json!(["calls", "output"]));
    assert!(schema["properties"]["calls"].is_object());
    match composed.parse_answer(answer) {
        Ok(read) => assert!(read.calls.iter().all(|call| names.contains(&call.tool))),
        Err(problem) => assert!(
            problem.len() <= DESCRIPTION_BYTES_MAX,
            "{} bytes",
            problem.len()
        ),
    }
}

/// A file of tools: each that is read has a name, offers a schema of an object, and says its line; each fault names the
/// file.
pub fn fuzz_tool_files(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = parse_definitions("tools.json", "tool", &text);
    let lines = text.lines().count().max(1);
    for (line, definition) in &read.tools {
        assert!((1..=lines).contains(line), "line {line} of {lines}");
        assert_eq!(tool_definition(definition).parameters["type"], "object");
        assert!(!definition.name.is_empty());
        assert!(
            definition
                .parameter_names()
                .all(|name| !name.starts_with('_'))
        );
    }
    for fault in &read.faults {
        let UserError { message, .. } = fault;
        assert!(message.contains("tools.json"), "{message}");
    }
}

/// Any text as a command: it is read within the limits, an allow looks at nothing that a deny does not see, whatever stands
/// before a command does not hide it, and a hidden character never loosens.
pub fn fuzz_shell_facts(bytes: &[u8]) {
    const LAST: [&str; 2] = ["zq9", "x"];
    let text = String::from_utf8_lossy(bytes);
    let facts = shell::parse_command(&text);
    assert!(facts.commands.len() <= limits::SHELL_COMMANDS_MAX);
    assert!(facts.unsure_reasons.len() <= limits::SHELL_REASONS_MAX);
    // The answer grows with the text and not with its square.
    let told = facts.may_run().len();
    assert!(told <= 1_000 + 100 * bytes.len(), "{told} word lists");
    assert!(facts.may_run().iter().all(|words| !words.is_empty()));
    for words in facts.plain().unwrap_or_default() {
        assert!(facts.may_run().contains(words), "{words:?}");
    }
    // Hidden characters never loosen: with a hidden character anywhere in it no rule may allow it any more.
    let middle = (0..=text.len() / 2)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let (before, after) = text.split_at(middle.unwrap_or_default());
    let hidden = shell::parse_command(&format!("{before}\u{200b}{after}"));
    assert_eq!(hidden.plain(), None);
    // The next line goes on where a backslash ends the text, and may be the body of a here-document.
    if text.ends_with('\\') || text.contains("<<") {
        return;
    }
    let facts = shell::parse_command(&format!("{text}\n{}", LAST.join(" ")));
    assert!(facts.may_run().iter().any(|words| words == &LAST));
    assert!(
        facts
            .plain()
            .is_none_or(|all| all.iter().any(|words| words == &LAST))
    );
}

fn tool_definition(definition: &CustomToolDefinition) -> ToolDefinition {
    ToolDefinition {
        name: definition.name.clone(),
        description: definition.description.clone(),
        parameters: definition.parameters(ExecutionKind::Latent),
        strict: true,
    }
}
