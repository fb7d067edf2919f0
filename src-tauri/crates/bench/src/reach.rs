//! What it takes to find one tool among a thousand: the index of `tool_search` beside reading through every description.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::ToolInterface;
use serde_json::json;
use tools::search::Index;

use crate::Outcome;
use crate::table::{Line, print, time, times};

/// Tools of all servers together.
const TOOLS: usize = 1_000;
/// Searches of one measurement.
const SEARCHES: usize = 1_000;
/// How many tools one search finds at most.
const LIMIT: usize = 10;

const VERBS: [&str; 10] = [
    "create", "list", "update", "delete", "search", "export", "merge", "assign", "close", "convert",
];
const THINGS: [&str; 20] = [
    "issue",
    "invoice",
    "calendar event",
    "pull request",
    "customer",
    "branch",
    "ticket",
    "message",
    "folder",
    "image",
    "payment",
    "database row",
    "time zone",
    "contact",
    "deployment",
    "comment",
    "file",
    "user",
    "report",
    "webhook",
];

/// Measures both rows and prints them.
pub fn run() -> Outcome<()> {
    let tools: Vec<Arc<ToolInterface>> = (0..TOOLS).map(tool).collect();
    let began = Instant::now();
    let index = Index::new(tools.clone());
    let built = began.elapsed();
    let ours = p95(|query| index.search(query, LIMIT).matches.len());
    let theirs = p95(|query| read_through(&tools, query));
    print(
        "Reach",
        &[
            Line {
                what: format!("index {TOOLS} tools, once for a session's list"),
                ours: time(built),
                theirs: String::new(),
                ratio: String::new(),
                aim: "",
            },
            Line {
                what: format!(
                    "find a tool among {TOOLS}, p95 of {SEARCHES} (beside reading through all)"
                ),
                ours: time(ours),
                theirs: time(theirs),
                ratio: times(ours, theirs),
                aim: "under 5 ms",
            },
        ],
    );
    Ok(())
}

fn tool(n: usize) -> Arc<ToolInterface> {
    let (verb, thing) = (
        VERBS[n % VERBS.len()],
        THINGS[n / VERBS.len() % THINGS.len()],
    );
    let server = n / (VERBS.len() * THINGS.len());
    let built = ToolInterface::tool(format!("{verb}_{}", thing.replace(' ', "_")))
        .namespace(format!("server{server}"))
        .description(format!(
            "Use this to {verb} a {thing} of the service that server {server} stands for. It takes the id of the {thing}, and \
             gives what became of it. Errors name what is wrong and what to do next."
        ))
        .model_input_schema(json!({ "type": "object" }))
        .build();
    Arc::new(built)
}

/// The time that all but the slowest twentieth of searches stay within. A search that finds nothing is a mistake of ours.
fn p95(search: impl Fn(&str) -> usize) -> Duration {
    let mut taken: Vec<Duration> = (0..SEARCHES)
        .map(|n| {
            let (verb, thing) = (VERBS[n % VERBS.len()], THINGS[n % THINGS.len()]);
            let query = format!("{verb} the {thing}");
            let began = Instant::now();
            let found = std::hint::black_box(search(std::hint::black_box(&query)));
            let took = began.elapsed();
            assert!(found > 0, "nothing found for {query}");
            took
        })
        .collect();
    taken.sort();
    taken[SEARCHES * 95 / 100]
}

/// Every word of the query in every name and description.
fn read_through(tools: &[Arc<ToolInterface>], query: &str) -> usize {
    let words: Vec<String> = query.split(' ').map(str::to_lowercase).collect();
    let fits = |tool: &&Arc<ToolInterface>| {
        let text = format!("{} {}", tool.id(), tool.description()).to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    tools.iter().filter(fits).count()
}
