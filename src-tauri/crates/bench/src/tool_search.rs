//! Measures finding one tool among a thousand: the index of `tool_search` beside reading through every description.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::ToolInterface;
use serde_json::json;
use tools::tool_index::ToolIndex;

use crate::BenchResult;
use crate::results_table::{TableRow, format_ratio, format_time, print_table};

/// Number of tools of all servers together.
const TOOL_COUNT: usize = 1_000;
/// Number of searches per measurement.
const SEARCH_COUNT: usize = 1_000;
/// Maximum number of tools that one search finds.
const RESULTS_MAX: usize = 10;

const VERBS: [&str; 10] = [
    "create", "list", "update", "delete", "search", "export", "merge", "assign", "close", "convert",
];
const NOUNS: [&str; 20] = [
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
pub fn run() -> BenchResult<()> {
    let tools: Vec<Arc<ToolInterface>> = (0..TOOL_COUNT).map(create_tool).collect();
    let began = Instant::now();
    let index = ToolIndex::new(tools.clone());
    let built = began.elapsed();
    let ours = measure_p95(|query| index.search(query, RESULTS_MAX).matches.len());
    let theirs = measure_p95(|query| scan_descriptions(&tools, query));
    print_table(
        "Reach",
        &[
            TableRow {
                what: format!("index {TOOL_COUNT} tools, once for a session's list"),
                ours: format_time(built),
                theirs: String::new(),
                ratio: String::new(),
                aim: "",
            },
            TableRow {
                what: format!(
                    "find a tool among {TOOL_COUNT}, p95 of {SEARCH_COUNT} (beside reading through all)"
                ),
                ours: format_time(ours),
                theirs: format_time(theirs),
                ratio: format_ratio(ours, theirs),
                aim: "under 5 ms",
            },
        ],
    );
    Ok(())
}

fn create_tool(n: usize) -> Arc<ToolInterface> {
    let (verb, thing) = (VERBS[n % VERBS.len()], NOUNS[n / VERBS.len() % NOUNS.len()]);
    let server = n / (VERBS.len() * NOUNS.len());
    let built = ToolInterface::builder(format!("{verb}_{}", thing.replace(' ', "_")))
        .namespace(format!("server{server}"))
        .description(format!(
            "Use this to {verb} a {thing} of the service that server {server} stands for. It takes the id of the {thing}, and \
             gives what became of it. Errors name what is wrong and what to do next."
        ))
        .model_input_schema(json!({ "type": "object" }))
        .build();
    Arc::new(built)
}

/// Returns the 95th percentile of the search times. A search that finds nothing is an error in the benchmark.
fn measure_p95(search: impl Fn(&str) -> usize) -> Duration {
    let mut taken: Vec<Duration> = (0..SEARCH_COUNT)
        .map(|n| {
            let (verb, thing) = (VERBS[n % VERBS.len()], NOUNS[n % NOUNS.len()]);
            let query = format!("{verb} the {thing}");
            let began = Instant::now();
            let found = std::hint::black_box(search(std::hint::black_box(&query)));
            let took = began.elapsed();
            assert!(found > 0, "nothing found for {query}");
            took
        })
        .collect();
    taken.sort();
    taken[SEARCH_COUNT * 95 / 100]
}

/// Searches for every word of the query in every name and description.
fn scan_descriptions(tools: &[Arc<ToolInterface>], query: &str) -> usize {
    let words: Vec<String> = query.split(' ').map(str::to_lowercase).collect();
    let fits = |tool: &&Arc<ToolInterface>| {
        let text = format!("{} {}", tool.id(), tool.description()).to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    tools.iter().filter(fits).count()
}
