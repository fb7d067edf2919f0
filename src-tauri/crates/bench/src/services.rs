//! What a large document of a service costs: from its text to tools that a model can call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openapi::{Api, Bases, Document, Filters, Ground, Pins, Source};
use protocol::apis::{ApiSettings, ApiSetup};
use protocol::servers::ServerId;
use serde_json::{Map, Value, json};
use tools::refs::Lookup;
use tools::{Registry, Tool};

use crate::Outcome;
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};

const ROUNDS: usize = 9;
/// Paths of the document, each with three operations.
const PATHS: usize = 1_000;

/// Measures both rows and prints them.
pub fn run() -> Outcome<()> {
    let text = document().to_string();
    let known = tools_of(&text)?;
    let schemas: Vec<Value> = known
        .iter()
        .map(|tool| tool.interface().parameters().clone())
        .collect();
    let mut sides = [
        Side::new("from text to tools", || timed(|| tools_of(&text))),
        Side::new("serde_json", || {
            timed(|| Ok(serde_json::from_str::<Value>(&text)?))
        }),
        Side::new("joined", || {
            let tools = tools_of(&text)?;
            timed(|| {
                let (registry, faults) = Registry::builtin().with(tools);
                match faults.first() {
                    None => Ok(registry),
                    Some(fault) => Err(fault.to_string().into()),
                }
            })
        }),
        Side::new("jsonschema", || {
            timed(|| {
                let compiled = schemas.iter().map(jsonschema::validator_for);
                Ok(compiled.collect::<Result<Vec<_>, _>>()?)
            })
        }),
    ];
    let taken = medians(&mut sides, ROUNDS)?;
    let [made, read, joined, compiled] = taken.as_slice() else {
        return Err("four sides give four medians".into());
    };
    let line = |what: String, ours: &Duration, theirs: &Duration, aim| Line {
        what,
        ours: time(*ours),
        theirs: time(*theirs),
        ratio: times(*ours, *theirs),
        aim,
    };
    let count = known.len();
    print(
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

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<Duration> {
    let began = Instant::now();
    let done = std::hint::black_box(work()?);
    let took = began.elapsed();
    drop(done);
    Ok(took)
}

/// From the text of a document to the tools of a service that approved all of it.
fn tools_of(text: &str) -> Outcome<Vec<Arc<dyn Tool>>> {
    let source = Source::text(text)?;
    let id = ServerId::try_from("shop".to_owned())?;
    let settings = ApiSettings {
        id,
        setup: ApiSetup {
            document: "https://shop.example/openapi.json".to_owned(),
            ..ApiSetup::default()
        },
        enabled: true,
    };
    let document = Document::read(&source, &Bases::default(), &Filters::default())?;
    let ground = Ground {
        lookup: Arc::new(Nothing),
        clock: Arc::new(runtime::SystemClock),
    };
    let api = Arc::new(Api::new(settings, Pins::first(&document), ground));
    api.look(&source)?;
    let tools = api.tools();
    match tools.len() == 3 * PATHS {
        true => Ok(tools),
        false => Err(format!("{} tools were made", tools.len()).into()),
    }
}

/// There are no secrets.
struct Nothing;

impl Lookup for Nothing {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn secret(&self, _name: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

fn document() -> Value {
    let paths: Map<String, Value> = (0..PATHS)
        .map(|n| (format!("/shops/{{shop}}/things{n}"), path(n)))
        .collect();
    let schemas: Map<String, Value> = (0..PATHS).map(|n| (format!("Thing{n}"), thing())).collect();
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

fn path(n: usize) -> Value {
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

fn thing() -> Value {
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
