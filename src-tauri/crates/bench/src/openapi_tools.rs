//! Measures loading a large document of a service: from its text to tools that a model can call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openapi::{
    ApiContext, ApiDocument, ApiService, BaseUrlOptions, DocumentSource, OperationFilter,
    OperationPins,
};
use protocol::server::apis::{ApiSettings, ApiSetup};
use protocol::server::mcp_servers::ServerId;
use serde_json::{Map, Value, json};
use tools::config_references::ReferenceResolver;
use tools::{Registry, Tool};

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};

const ROUNDS: usize = 9;
/// Number of paths in the document, each with three operations.
const PATH_COUNT: usize = 1_000;

/// Measures both rows and prints them.
pub fn run() -> BenchResult<()> {
    let text = create_document().to_string();
    let known = build_tools(&text)?;
    let schemas: Vec<Value> = known
        .iter()
        .map(|tool| tool.interface().parameters().clone())
        .collect();
    let mut sides = [
        Contender::new("from text to tools", || measure_time(|| build_tools(&text))),
        Contender::new("serde_json", || {
            measure_time(|| Ok(serde_json::from_str::<Value>(&text)?))
        }),
        Contender::new("joined", || {
            let tools = build_tools(&text)?;
            measure_time(|| {
                let (registry, faults) = Registry::builtin().with_tools(tools);
                match faults.first() {
                    None => Ok(registry),
                    Some(fault) => Err(fault.to_string().into()),
                }
            })
        }),
        Contender::new("jsonschema", || {
            measure_time(|| {
                let compiled = schemas.iter().map(jsonschema::validator_for);
                Ok(compiled.collect::<Result<Vec<_>, _>>()?)
            })
        }),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [made, read, joined, compiled] = taken.as_slice() else {
        return Err("four sides give four medians".into());
    };
    let line = |what: String, ours: &Duration, theirs: &Duration, aim| TableRow {
        what,
        ours: format_time(*ours),
        theirs: format_time(*theirs),
        ratio: format_ratio(*ours, *theirs),
        aim,
    };
    let count = known.len();
    print_table(
        "Services",
        &[
            line(
                format!(
                    "{count} tools from a document of {} MB (beside `serde_json` reading it)",
                    text.len() / 1_000_000
                ),
                made,
                read,
                "under 300 ms",
            ),
            line(
                "and let them join the others (beside `jsonschema` compiling their schemas)"
                    .to_owned(),
                joined,
                compiled,
                "",
            ),
        ],
    );
    Ok(())
}

fn measure_time<T>(work: impl FnOnce() -> BenchResult<T>) -> BenchResult<Duration> {
    let began = Instant::now();
    let done = std::hint::black_box(work()?);
    let took = began.elapsed();
    drop(done);
    Ok(took)
}

/// Builds the tools of a service that approved the whole document, from the document's text.
fn build_tools(text: &str) -> BenchResult<Vec<Arc<dyn Tool>>> {
    let source = DocumentSource::from_text(text)?;
    let id = ServerId::try_from("shop".to_owned())?;
    let settings = ApiSettings {
        id,
        setup: ApiSetup {
            document: "https://shop.example/openapi.json".to_owned(),
            ..ApiSetup::default()
        },
        enabled: true,
    };
    let document = ApiDocument::parse(
        &source,
        &BaseUrlOptions::default(),
        &OperationFilter::default(),
    )?;
    let ground = ApiContext {
        lookup: Arc::new(NoSecrets),
        clock: Arc::new(runtime::SystemClock),
    };
    let api = Arc::new(ApiService::new(
        settings,
        OperationPins::approve_initial(&document),
        ground,
    ));
    api.load_document(&source)?;
    let tools = api.tools();
    match tools.len() == 3 * PATH_COUNT {
        true => Ok(tools),
        false => Err(format!("{} tools were made", tools.len()).into()),
    }
}

/// Resolver without secrets.
struct NoSecrets;

impl ReferenceResolver for NoSecrets {
    fn resolve_variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn resolve_secret(&self, _name: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

fn create_document() -> Value {
    let paths: Map<String, Value> = (0..PATH_COUNT)
        .map(|n| (format!("/shops/{{shop}}/things{n}"), create_path(n)))
        .collect();
    let schemas: Map<String, Value> = (0..PATH_COUNT)
        .map(|n| (format!("Thing{n}"), create_schema()))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Shop", "version": "1" },
        "servers": [{ "url": "https://api.shop.example/v1" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": {
                "shop": { "name": "shop", "in": "path", "required": true, "schema": { "type": "string" } },
                "page": { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1 } }
            }
        }
    })
}

fn create_path(n: usize) -> Value {
    let body = json!({ "content": { "application/json": {
        "schema": { "$ref": format!("#/components/schemas/Thing{n}") } } } });
    let answer = json!({ "200": { "description": "It worked." } });
    json!({
        "parameters": [{ "$ref": "#/components/parameters/shop" }],
        "get": {
            "operationId": format!("listThings{n}"), "summary": format!("List the things of kind {n}"),
            "description": "Gives one page of them, the newest first. What was deleted is left out.",
            "parameters": [
                { "$ref": "#/components/parameters/page" },
                { "name": "sort", "in": "query", "schema": { "type": "string", "enum": ["name", "age", "price"] } },
                { "name": "labels", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } }
            ],
            "responses": answer
        },
        "post": {
            "operationId": format!("createThing{n}"), "summary": format!("Create a thing of kind {n}"),
            "requestBody": body, "responses": answer
        },
        "delete": {
            "operationId": format!("deleteThing{n}"), "summary": format!("Delete a thing of kind {n}"),
            "parameters": [{ "name": "force", "in": "query", "schema": { "type": "boolean" } }],
            "responses": answer
        }
    })
}

fn create_schema() -> Value {
    json!({
        "type": "object",
        "required": ["name", "price"],
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 200, "description": "As customers read it." },
            "price": { "type": "number", "minimum": 0 },
            "currency": { "type": "string", "pattern": "^[A-Z]{3}$" },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 20 },
            "size": { "type": "object", "properties": {
                "width": { "type": "number" }, "height": { "type": "number" }, "depth": { "type": "number" } } },
            "state": { "type": "string", "enum": ["draft", "listed", "sold"] }
        }
    })
}
