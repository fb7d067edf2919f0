//! Search by an operation of a service: its arguments, and the place of the results in its answer.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::settings::SearchOperation;
use protocol::{Access, ToolError, ToolInterface, ToolMode, ToolOutput};
use runtime::{NetworkClient, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::WebSearchHit;
use crate::limits::{ANSWER_DEPTH_MAX, ANSWER_NODES_MAX};
use crate::schema::{Schema, invalid_arguments_error};
use crate::tool::PreviewedPlan;

/// Common names of a query argument, in order of preference.
const QUERY_NAMES: [&str; 8] = [
    "query", "q", "search", "term", "keywords", "keyword", "text", "s",
];
/// Common names of the address in a result, in order of preference.
const URL_NAMES: [&str; 7] = [
    "url", "link", "href", "html_url", "web_url", "uri", "address",
];
const TITLE_NAMES: [&str; 6] = ["title", "name", "headline", "full_name", "label", "heading"];
const SNIPPET_NAMES: [&str; 8] = [
    "snippet",
    "description",
    "summary",
    "content",
    "excerpt",
    "abstract",
    "text",
    "body",
];
/// Common names of the list of results, for a list that is empty.
const LIST_NAMES: [&str; 7] = [
    "results",
    "items",
    "hits",
    "docs",
    "documents",
    "entries",
    "data",
];

/// Calls an operation as a search that was judged on what the operation touches.
#[async_trait]
pub trait OperationCaller: Send + Sync {
    /// Returns the interface that the operation publishes as a tool.
    fn interface(&self) -> &ToolInterface;

    /// Returns the accesses of a call.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access>;

    /// Returns the preview and the plan of a call.
    ///
    /// # Errors
    /// If the operation differs from the approved one, is not set up, or cannot be called with these arguments.
    fn prepare_call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<PreviewedPlan, ToolError>;

    /// Calls the operation.
    ///
    /// # Errors
    /// If the service cannot be reached, or reports an error.
    async fn call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
        net: &NetworkClient,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError>;
}

/// A search operation as a person set it up.
pub struct OperationSearch {
    pub(super) operation: Arc<dyn OperationCaller>,
    pub(super) settings: SearchOperation,
    /// Mode of the operation, as the person set it if they did; `None` if it is unspecified.
    pub(super) mode: Option<ToolMode>,
    /// Path to the query in the arguments.
    query: Vec<String>,
    schema: Schema,
}

impl OperationSearch {
    /// Creates a search over the operation that these settings name, with the mode that it has as a tool.
    ///
    /// # Errors
    /// If it is not known which argument takes the query: a sentence.
    pub fn new(
        operation: Arc<dyn OperationCaller>,
        mode: Option<ToolMode>,
        settings: SearchOperation,
    ) -> Result<Self, String> {
        let schema = &operation.interface().schemas.model_input_schema;
        let query = match &settings.query {
            Some(named) => split_pointer(named),
            None => find_query_path(schema, &settings.arguments).ok_or_else(|| {
                format!(
                    "The operation `{}` has no argument by whose name a query is known. The person can name it with `query` under \
                     [[web_search.operations]] in settings.toml.",
                    settings.operation
                )
            })?,
        };
        let compiled =
            Schema::from_interface(operation.interface()).map_err(|fault| fault.to_string())?;
        Ok(Self {
            operation,
            settings,
            mode,
            query,
            schema: compiled,
        })
    }

    /// Builds the arguments of a search.
    pub(super) fn build_arguments(&self, query: &str) -> Map<String, Value> {
        let mut arguments = self.settings.arguments.clone();
        insert_query(&mut arguments, &self.query, query);
        arguments
    }

    /// Returns the preview and the plan of a search.
    ///
    /// # Errors
    /// If the operation cannot be called with these arguments.
    pub(super) fn prepare(
        &self,
        query: &str,
        workspace: &Workspace,
    ) -> Result<PreviewedPlan, ToolError> {
        let arguments = self.build_arguments(query);
        let fitting = self
            .schema
            .find_problems(arguments.clone(), &|member| member);
        let shown = match fitting {
            Ok(_) => self.operation.prepare_call(&arguments, workspace),
            Err(problems) => Err(invalid_arguments_error(&problems)),
        };
        shown.map_err(|error| match error {
            // The model gave a query and nothing else: what is missing is not for it to mend.
            ToolError::InvalidArgs(why) => ToolError::Failed(format!(
                "`{}` cannot be asked so, and nothing was searched: {why}. The person can give it what it needs with `arguments` under \
                 [[web_search.operations]] in settings.toml.",
                self.settings.operation
            )),
            error => error,
        })
    }

    /// Parses the results in an answer; `None` if it has no list of results.
    pub(super) fn parse_hits(&self, answer: &Value) -> Option<Vec<WebSearchHit>> {
        let list = match &self.settings.results {
            Some(place) => answer.pointer(&to_json_pointer(place))?.as_array()?,
            None => self.find_hit_list(answer)?,
        };
        let hit = |result: &Value| {
            let text = |place: &Option<String>, usual: &[&str]| {
                find_text(result, place.as_deref(), usual).unwrap_or_default()
            };
            WebSearchHit {
                title: text(&self.settings.title, &TITLE_NAMES),
                url: text(&self.settings.url, &URL_NAMES),
                snippet: text(&self.settings.snippet, &SNIPPET_NAMES),
            }
        };
        Some(list.iter().map(hit).collect())
    }

    /// Finds the first list in an answer, from the outside in, whose first item has an address; or an empty list under
    /// a common name.
    fn find_hit_list<'a>(&self, answer: &'a Value) -> Option<&'a Vec<Value>> {
        let is_result = |item: &Value| {
            let url = find_text(item, self.settings.url.as_deref(), &URL_NAMES);
            url.is_some_and(|url| url.starts_with("http://") || url.starts_with("https://"))
        };
        let mut empty = None;
        let mut open = VecDeque::from([("results", answer, 0)]);
        let mut looked = 0;
        while let Some((name, value, deep)) = open.pop_front() {
            looked += 1;
            if looked > ANSWER_NODES_MAX {
                break;
            }
            match value {
                Value::Array(items) if items.iter().any(is_result) => return Some(items),
                Value::Array(items) if items.is_empty() && LIST_NAMES.contains(&name) => {
                    empty = empty.or(Some(items));
                }
                Value::Object(members) if deep < ANSWER_DEPTH_MAX => {
                    let below = members.iter();
                    open.extend(below.map(|(name, value)| (name.as_str(), value, deep + 1)));
                }
                Value::Array(_)
                | Value::Object(_)
                | Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_) => {}
            }
        }
        empty
    }
}

/// Returns the text at a place in a result, or under the first common name that has one.
fn find_text(result: &Value, place: Option<&str>, usual: &[&str]) -> Option<String> {
    let text = match place {
        Some(place) => result
            .pointer(&to_json_pointer(place))
            .and_then(Value::as_str),
        None => usual.iter().find_map(|name| result.get(name)?.as_str()),
    };
    text.map(str::to_owned)
}

/// Converts a place to a JSON pointer; a plain name is accepted too.
fn to_json_pointer(place: &str) -> String {
    match place.is_empty() || place.starts_with('/') {
        true => place.to_owned(),
        false => format!("/{place}"),
    }
}

/// Splits a pointer into its names.
fn split_pointer(place: &str) -> Vec<String> {
    let pointer = to_json_pointer(place);
    let names = pointer.split('/').skip(1);
    names
        .map(|name| name.replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// Inserts a query at the path of these names, and creates missing objects on the way.
fn insert_query(arguments: &mut Map<String, Value>, names: &[String], query: &str) {
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    if rest.is_empty() {
        arguments.insert(first.clone(), query.into());
        return;
    }
    let below = arguments.entry(first).or_insert(Value::Null);
    if !below.is_object() {
        *below = Value::Object(Map::new());
    }
    if let Value::Object(below) = below {
        insert_query(below, rest, query);
    }
}

/// Finds the place of the query by its common names: among the arguments, or one level below, in a body. An argument
/// that a person set is skipped. If no argument has such a name, the only required text is the query.
fn find_query_path(schema: &Value, arguments: &Map<String, Value>) -> Option<Vec<String>> {
    let members = schema.get("properties")?.as_object()?;
    let is_text = |schema: &Value| match schema.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    };
    let named = |members: &Map<String, Value>| {
        let fits = |name: &&&str| members.get(**name).is_some_and(is_text);
        QUERY_NAMES.iter().find(fits).map(|name| (*name).to_owned())
    };
    if let Some(name) = named(members).filter(|name| !arguments.contains_key(name)) {
        return Some(vec![name]);
    }
    for (outer, below) in members {
        let below = below.get("properties").and_then(Value::as_object);
        if let Some(name) = below.and_then(named) {
            return Some(vec![outer.clone(), name]);
        }
    }
    let must = schema.get("required").and_then(Value::as_array)?;
    let must = must.iter().filter_map(Value::as_str);
    let mut texts = must
        .filter(|name| members.get(*name).is_some_and(is_text) && !arguments.contains_key(*name));
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(vec![only.to_owned()]),
        _ => None,
    }
}
