//! Measures the tool contract: hundreds of tools, and parallel calls.

use std::path::Path;
use std::time::{Duration, Instant};

use protocol::model::ToolDefinition;
use runtime::Workspace;
use serde_json::{Map, Value, json};
use tools::{Registry, custom};

use crate::engine_loop::{self, EventSink};
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};
use crate::{BenchResult, phi_loop};

/// Number of measured rounds per side.
const ROUNDS: usize = 11;

/// Number of tools in a large catalogue, and in a small one beside it.
const CATALOG_TOOLS_MANY: usize = 500;
const CATALOG_TOOLS_FEW: usize = 10;

/// Number of consecutive checks per measurement.
const CHECKS_PER_ROUND: u32 = 10_000;

/// Number of calls in one turn.
const CALLS_PER_TURN: usize = 100;

/// Measures all rows and prints them.
pub fn run() -> BenchResult<()> {
    let lines = vec![
        measure_loading()?,
        measure_checks()?,
        measure_composition()?,
        measure_parallel_calls()?,
    ];
    print_table("Contract", &lines);
    Ok(())
}

/// Measures loading tools from files, beside the bare JSON and schema libraries on the same file.
fn measure_loading() -> BenchResult<TableRow> {
    let folder = create_workspace(CATALOG_TOOLS_MANY)?;
    let text = std::fs::read_to_string(folder.path().join(TOOLS_FILE))?;
    let mut sides = [
        Contender::new("ours", || {
            measure_time(|| {
                open_registry(folder.path()).map(|registry| registry.definitions().len())
            })
        }),
        Contender::new("libraries", || {
            measure_time(|| {
                let read: Map<String, Value> = serde_json::from_str(&text)?;
                let compiled: Result<Vec<_>, _> =
                    read.values().map(jsonschema::validator_for).collect();
                Ok(compiled?.len())
            })
        }),
    ];
    table_row(
        format!(
            "read and compile {CATALOG_TOOLS_MANY} tools (beside serde_json and jsonschema alone)"
        ),
        &measure_medians(&mut sides, ROUNDS)?,
        1,
        "",
    )
}

/// Measures finding a tool and checking arguments, beside the schema library with the right schema given.
fn measure_checks() -> BenchResult<TableRow> {
    let (few, many) = (
        create_workspace(CATALOG_TOOLS_FEW)?,
        create_workspace(CATALOG_TOOLS_MANY)?,
    );
    let (few, many) = (open_registry(few.path())?, open_registry(many.path())?);
    let name = tool_name(CATALOG_TOOLS_FEW - 1);
    let arguments = tool_arguments();
    let checked = |registry: &Registry| {
        for _ in 0..CHECKS_PER_ROUND {
            let found = registry.find(&name).map_err(|error| error.to_string())?;
            let checked = found
                .validate_arguments(std::hint::black_box(&arguments))
                .map_err(|error| error.to_string())?;
            std::hint::black_box(checked);
        }
        Ok(())
    };
    let validator = jsonschema::validator_for(&tool_parameters())?;
    let instance = Value::Object(arguments.clone());
    let mut sides = [
        Contender::new("among 500", || measure_time(|| checked(&many))),
        Contender::new("among 10", || measure_time(|| checked(&few))),
        Contender::new("library", || {
            measure_time(|| {
                for _ in 0..CHECKS_PER_ROUND {
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
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [many, few, library] = taken.as_slice() else {
        return Err("three sides give three medians".into());
    };
    table_row(
        format!(
            "find and check a call among {CATALOG_TOOLS_MANY} tools (beside jsonschema alone; among {CATALOG_TOOLS_FEW}: {})",
            format_time(*few / CHECKS_PER_ROUND)
        ),
        &[*many, *library],
        CHECKS_PER_ROUND,
        "",
    )
}

/// Measures composing one schema of all tools and an output, beside copying and writing the same definitions.
fn measure_composition() -> BenchResult<TableRow> {
    let folder = create_workspace(CATALOG_TOOLS_MANY)?;
    let definitions = open_registry(folder.path())?.definitions();
    let output = json!({ "type": "object", "properties": { "summary": { "type": "string" } } });
    let mut sides = [
        Contender::new("ours", || {
            measure_time(|| {
                let composed = custom::compose_schema(&definitions, Some(&output))
                    .map_err(|fault| fault.to_string())?;
                Ok(serde_json::to_string(&composed)?.len())
            })
        }),
        Contender::new("plain", || {
            measure_time(|| {
                let copied: Vec<ToolDefinition> = definitions.to_vec();
                Ok(serde_json::to_string(&copied)?.len())
            })
        }),
    ];
    table_row(
        format!(
            "compose {CATALOG_TOOLS_MANY} tools and an output (beside copying and writing them)"
        ),
        &measure_medians(&mut sides, ROUNDS)?,
        1,
        "",
    )
}

/// Measures a turn of many calls that each read a file, beside a peer that runs them in parallel and checks nothing.
fn measure_parallel_calls() -> BenchResult<TableRow> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut sides = [
        Contender::new("ours", || {
            runtime.block_on(engine_loop::time_reads(EventSink::Memory, CALLS_PER_TURN))
        }),
        Contender::new("phi-core", || {
            runtime.block_on(phi_loop::time_reads(CALLS_PER_TURN))
        }),
    ];
    let calls = u32::try_from(CALLS_PER_TURN)?;
    table_row(
        format!(
            "a turn of {CALLS_PER_TURN} parallel reads, journal in memory, per call (beside phi-core)"
        ),
        &measure_medians(&mut sides, ROUNDS)?,
        calls,
        "",
    )
}

fn table_row(
    what: String,
    taken: &[Duration],
    of: u32,
    aim: &'static str,
) -> BenchResult<TableRow> {
    let [ours, theirs] = taken else {
        return Err("two sides give two medians".into());
    };
    Ok(TableRow {
        what,
        ours: format_time(*ours / of),
        theirs: format_time(*theirs / of),
        ratio: format_ratio(*ours, *theirs),
        aim,
    })
}

fn measure_time<T>(work: impl FnOnce() -> BenchResult<T>) -> BenchResult<Duration> {
    let began = Instant::now();
    std::hint::black_box(work()?);
    Ok(began.elapsed())
}

const TOOLS_FILE: &str = ".countersign/tools/many.json";

/// Creates a workspace with a file of `tools` tools.
fn create_workspace(tools: usize) -> BenchResult<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let members: Map<String, Value> = (0..tools)
        .map(|n| (tool_name(n), tool_parameters()))
        .collect();
    let file = folder.path().join(TOOLS_FILE);
    std::fs::create_dir_all(file.parent().ok_or("the file has no folder")?)?;
    std::fs::write(file, serde_json::to_string(&members)?)?;
    Ok(folder)
}

/// Returns the registry of the built-in tools and of those in the folder.
fn open_registry(folder: &Path) -> BenchResult<Registry> {
    let nobody = tempfile::tempdir()?;
    let (workspace, person) = (Workspace::open(folder), Workspace::open(nobody.path()));
    let (workspace, person) = (
        workspace.map_err(|fault| fault.to_string())?,
        person.map_err(|fault| fault.to_string())?,
    );
    let mut registry = Registry::builtin();
    match custom::load_custom_tools(&mut registry, &workspace, &person).first() {
        None => Ok(registry),
        Some(fault) => Err(fault.to_string().into()),
    }
}

fn tool_name(n: usize) -> String {
    format!("ticket_{n}")
}

/// Returns the schema of each tool, similar to that of a service's tool.
fn tool_parameters() -> Value {
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

fn tool_arguments() -> Map<String, Value> {
    let arguments = json!({
        "title": "The list scrolls back to its top", "priority": "high", "labels": ["desk", "list"],
        "due": "2026-12-01", "estimate": 2.5,
    });
    arguments.as_object().cloned().unwrap_or_default()
}
