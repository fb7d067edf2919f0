//! What the contract costs: tools by the hundred, and calls side by side.

use std::path::Path;
use std::time::{Duration, Instant};

use protocol::model::ToolDefinition;
use runtime::Workspace;
use serde_json::{Map, Value, json};
use tools::{Registry, schema_first};

use crate::ours::{self, Journal};
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};
use crate::{Outcome, phi};

/// How often each side plays.
const ROUNDS: usize = 11;

/// Tools of a large catalogue, and of a small one beside it.
const MANY: usize = 500;
const FEW: usize = 10;

/// Checks in a row of one measurement.
const CHECKS: u32 = 10_000;

/// Calls of one turn.
const CALLS: usize = 100;

/// Measures all rows and prints them.
pub fn run() -> Outcome<()> {
    let lines = vec![load()?, check()?, compose()?, together()?];
    print("Contract", &lines);
    Ok(())
}

/// From files to tools that can be called, beside the bare JSON and schema libraries on the same file.
fn load() -> Outcome<Line> {
    let folder = folder(MANY)?;
    let text = std::fs::read_to_string(folder.path().join(TOOLS_FILE))?;
    let mut sides = [
        Side::new("ours", || {
            timed(|| registry(folder.path()).map(|registry| registry.definitions().len()))
        }),
        Side::new("libraries", || {
            timed(|| {
                let read: Map<String, Value> = serde_json::from_str(&text)?;
                let compiled: Result<Vec<_>, _> =
                    read.values().map(jsonschema::validator_for).collect();
                Ok(compiled?.len())
            })
        }),
    ];
    line(
        format!("read and compile {MANY} tools (beside serde_json and jsonschema alone)"),
        &medians(&mut sides, ROUNDS)?,
        1,
        "",
    )
}

/// Finding a tool and checking arguments, beside the schema library that is handed the right schema.
fn check() -> Outcome<Line> {
    let (few, many) = (folder(FEW)?, folder(MANY)?);
    let (few, many) = (registry(few.path())?, registry(many.path())?);
    let name = tool_name(FEW - 1);
    let arguments = arguments();
    let checked = |registry: &Registry| {
        for _ in 0..CHECKS {
            let found = registry.find(&name).map_err(|error| error.to_string())?;
            let checked = found
                .arguments(std::hint::black_box(&arguments))
                .map_err(|error| error.to_string())?;
            std::hint::black_box(checked);
        }
        Ok(())
    };
    let validator = jsonschema::validator_for(&parameters())?;
    let instance = Value::Object(arguments.clone());
    let mut sides = [
        Side::new("among 500", || timed(|| checked(&many))),
        Side::new("among 10", || timed(|| checked(&few))),
        Side::new("library", || {
            timed(|| {
                for _ in 0..CHECKS {
                    // A call keeps its arguments, so the library's side has a copy of its own to check as well.
                    let given = std::hint::black_box(&instance).clone();
                    validator
                        .validate(&given)
                        .map_err(|error| error.to_string())?;
                }
                Ok(())
            })
        }),
    ];
    let taken = medians(&mut sides, ROUNDS)?;
    let [many, few, library] = taken.as_slice() else {
        return Err("three sides give three medians".into());
    };
    line(
        format!(
            "find and check a call among {MANY} tools (beside jsonschema alone; among {FEW}: {})",
            time(*few / CHECKS)
        ),
        &[*many, *library],
        CHECKS,
        "",
    )
}

/// Composing one schema of all tools and an output, beside copying and writing the same definitions.
fn compose() -> Outcome<Line> {
    let folder = folder(MANY)?;
    let definitions = registry(folder.path())?.definitions();
    let output = json!({ "type": "object", "properties": { "summary": { "type": "string" } } });
    let mut sides = [
        Side::new("ours", || {
            timed(|| {
                let composed = schema_first::compose(&definitions, Some(&output))
                    .map_err(|fault| fault.to_string())?;
                Ok(serde_json::to_string(&composed)?.len())
            })
        }),
        Side::new("plain", || {
            timed(|| {
                let copied: Vec<ToolDefinition> = definitions.to_vec();
                Ok(serde_json::to_string(&copied)?.len())
            })
        }),
    ];
    line(
        format!("compose {MANY} tools and an output (beside copying and writing them)"),
        &medians(&mut sides, ROUNDS)?,
        1,
        "",
    )
}

/// A turn of many calls that each read a file, beside a peer that runs them together and checks nothing.
fn together() -> Outcome<Line> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut sides = [
        Side::new("ours", || {
            runtime.block_on(ours::read(Journal::Memory, CALLS))
        }),
        Side::new("phi-core", || runtime.block_on(phi::read(CALLS))),
    ];
    let calls = u32::try_from(CALLS)?;
    line(
        format!("a turn of {CALLS} parallel reads, journal in memory, per call (beside phi-core)"),
        &medians(&mut sides, ROUNDS)?,
        calls,
        "",
    )
}

fn line(what: String, taken: &[Duration], of: u32, aim: &'static str) -> Outcome<Line> {
    let [ours, theirs] = taken else {
        return Err("two sides give two medians".into());
    };
    Ok(Line {
        what,
        ours: time(*ours / of),
        theirs: time(*theirs / of),
        ratio: times(*ours, *theirs),
        aim,
    })
}

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<Duration> {
    let began = Instant::now();
    std::hint::black_box(work()?);
    Ok(began.elapsed())
}

const TOOLS_FILE: &str = ".countersign/tools/many.json";

/// A workspace with a file of so many tools.
fn folder(tools: usize) -> Outcome<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let members: Map<String, Value> = (0..tools).map(|n| (tool_name(n), parameters())).collect();
    let file = folder.path().join(TOOLS_FILE);
    std::fs::create_dir_all(file.parent().ok_or("the file has no folder")?)?;
    std::fs::write(file, serde_json::to_string(&members)?)?;
    Ok(folder)
}

/// The built-in tools and those of the folder.
fn registry(folder: &Path) -> Outcome<Registry> {
    let nobody = tempfile::tempdir()?;
    let (workspace, person) = (Workspace::open(folder), Workspace::open(nobody.path()));
    let (workspace, person) = (
        workspace.map_err(|fault| fault.to_string())?,
        person.map_err(|fault| fault.to_string())?,
    );
    let mut registry = Registry::builtin();
    match schema_first::load(&mut registry, &workspace, &person).first() {
        None => Ok(registry),
        Some(fault) => Err(fault.to_string().into()),
    }
}

fn tool_name(n: usize) -> String {
    format!("ticket_{n}")
}

/// The schema of each: what a tool of a service looks like.
fn parameters() -> Value {
    json!({
        "type": "object",
        "description": "Opens a ticket and gives its number.",
        "properties": {
            "title": { "type": "string", "minLength": 1, "maxLength": 200 },
            "body": { "type": "string" },
            "priority": { "enum": ["low", "normal", "high"] },
            "labels": { "type": "array", "items": { "type": "string" }, "maxItems": 20 },
            "due": { "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$" },
            "estimate": { "type": "number", "minimum": 0 },
        },
        "required": ["title", "priority"],
    })
}

fn arguments() -> Map<String, Value> {
    let arguments = json!({
        "title": "The list scrolls back to its top", "priority": "high", "labels": ["desk", "list"],
        "due": "2026-12-01", "estimate": 2.5,
    });
    arguments.as_object().cloned().unwrap_or_default()
}
