//! Searches tools that a model does not see at first: by words, ranked (BM25 over names, descriptions and hints), or by
//! name.

use std::collections::BTreeMap;
use std::sync::Arc;

use bm25::{Document, Language, SearchEngine, SearchEngineBuilder};
use protocol::ToolInterface;
use protocol::text::cut;

use crate::limits::{INDEXED_BYTES_MAX, MATCH_CHARS_MAX};
use crate::skills::to_one_line;
use crate::text::truncate_chars;

/// Prefix of a query that selects tools by name.
const SELECT_PREFIX: &str = "select:";

/// An index of tools.
pub struct ToolIndex {
    tools: Vec<Arc<ToolInterface>>,
    engine: SearchEngine<usize>,
}

/// A tool found by a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolMatch {
    /// Id of the tool.
    pub id: String,
    /// The beginning of the tool's description, in one line.
    pub description: String,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolMatches {
    /// Matching tools, the best first.
    pub matches: Vec<ToolMatch>,
    /// Requested names that match no tool here.
    pub missing: Vec<String>,
}

impl Default for ToolIndex {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl ToolIndex {
    /// Creates an index of these tools.
    pub fn new(tools: Vec<Arc<ToolInterface>>) -> Self {
        let documents = tools.iter().enumerate();
        let documents = documents.map(|(at, tool)| Document::new(at, search_terms(tool)));
        let documents: Vec<_> = documents.collect();
        let engine = SearchEngineBuilder::with_documents(Language::English, documents).build();
        Self { tools, engine }
    }

    /// Returns the number of tools.
    pub fn count(&self) -> usize {
        self.tools.len()
    }

    /// Returns the number of tools of each server or document, by its name.
    pub fn count_by_namespace(&self) -> BTreeMap<&str, usize> {
        let mut all = BTreeMap::new();
        for tool in &self.tools {
            *all.entry(tool.identity.namespace.as_str()).or_insert(0) += 1;
        }
        all
    }

    /// Returns the best matches for a query, at most `limit`. `select:a,b` selects tools by exact name.
    pub fn search(&self, query: &str, limit: usize) -> ToolMatches {
        if let Some(names) = query.trim().strip_prefix(SELECT_PREFIX) {
            return self.select_by_name(names, limit);
        }
        let best = self.engine.search(&split_identifier(query), limit);
        let matches = best
            .iter()
            .filter_map(|hit| self.tools.get(hit.document.id));
        ToolMatches {
            matches: matches.map(|tool| match_from_interface(tool)).collect(),
            missing: Vec::new(),
        }
    }

    fn select_by_name(&self, names: &str, limit: usize) -> ToolMatches {
        let mut result = ToolMatches::default();
        let names = names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        for name in names.take(limit) {
            match self.tools.iter().find(|tool| tool.id() == name) {
                Some(tool) => result.matches.push(match_from_interface(tool)),
                None => result
                    .missing
                    .push(to_one_line(cut::take_head(name, MATCH_CHARS_MAX))),
            }
        }
        result
    }
}

fn match_from_interface(tool: &ToolInterface) -> ToolMatch {
    ToolMatch {
        id: tool.id().to_owned(),
        description: truncate_chars(&to_one_line(tool.description()), MATCH_CHARS_MAX),
    }
}

/// Returns the text by which a tool is found: its name counts as much as its hint.
fn search_terms(tool: &ToolInterface) -> String {
    let description = cut::take_head(tool.description(), INDEXED_BYTES_MAX);
    let hint = cut::take_head(&tool.discovery.search_hint, INDEXED_BYTES_MAX);
    split_identifier(&format!("{} {hint} {description}", tool.id()))
}

/// Splits names into words: `listOpen_issues` is three.
fn split_identifier(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 16);
    let mut small = false;
    for c in text.chars() {
        if small && c.is_uppercase() {
            words.push(' ');
        }
        small = c.is_lowercase();
        words.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn index() -> ToolIndex {
        let tool = |namespace: &str, name: &str, description: &str| {
            let built = ToolInterface::builder(name)
                .namespace(namespace)
                .description(description)
                .model_input_schema(json!({ "type": "object" }))
                .build();
            Arc::new(built)
        };
        ToolIndex::new(vec![
            tool(
                "hub",
                "listOpenIssues",
                "Gives the issues of a repository that are open.",
            ),
            tool("hub", "create_pull_request", "Opens a pull request."),
            tool("mail", "send", "Sends a message\u{202e}to somebody."),
            tool("clock", "convert_time", "Converts a time between zones."),
        ])
    }

    #[test]
    fn the_best_comes_first() {
        let index = index();
        for (query, first) in [
            ("issues", "hub__listOpenIssues"),
            ("list issue", "hub__listOpenIssues"),
            ("pull-request", "hub__create_pull_request"),
            ("sending messages", "mail__send"),
            ("time zone conversion", "clock__convert_time"),
            ("hub create", "hub__create_pull_request"),
        ] {
            let found = index.search(query, 3);
            assert_eq!(found.matches[0].id, first, "{query}: {found:?}");
        }
        let mail = &index.search("mail", 1).matches[0];
        assert_eq!(mail.description, "Sends a messageU+202Eto somebody.");
        assert_eq!(index.search("quantum", 3), ToolMatches::default());
        assert_eq!(index.search("", 3), ToolMatches::default());
        let counts: Vec<_> = index.count_by_namespace().into_iter().collect();
        assert_eq!(counts, [("clock", 1), ("hub", 2), ("mail", 1)]);
    }

    #[test]
    fn names_are_selected_and_missing_ones_told() {
        let found = index().search("select: mail__send, hub__gone,", 9);
        assert_eq!(found.matches[0].id, "mail__send");
        assert_eq!(found.missing, ["hub__gone"]);
    }
}
