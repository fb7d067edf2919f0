//! Web search: a single interface from a query to results, with the limits of a session.
//!
//! Either a [`SearchProvider`] searches, or an operation of a service that a person set up: it is called as its service
//! is, and judged on what the operation itself touches.

mod operation;
mod providers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use protocol::{Access, Capability, RequirementSet, ToolError, ToolMode};
use runtime::{FetchLimits, HttpResponse};
use serde_json::Value;

use crate::limits::{
    ERROR_PAGE_BYTES_MAX, RESULTS_BYTES_MAX, SEARCH_CALLS_MAX, SEARCH_MS_MAX, SNIPPET_CHARS_MAX,
    TITLE_CHARS_MAX,
};
use crate::tool::{ExecutionContext, PreviewedPlan, ToolContext};
use crate::web::fetch_error;
use crate::web::{frame_text, sanitize_line};

pub use self::operation::{OperationCaller, OperationSearch};
pub use self::providers::{SearchProvider, build_provider};

/// A search result, in the provider's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSearchHit {
    /// Title of the page, in one line.
    pub title: String,
    /// Address of the page.
    pub url: String,
    /// Excerpt of the page, in one line.
    pub snippet: String,
}

/// Looks up a key; may block. Gives `None` if there is no key.
pub type KeyFn = Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>;

/// Limits of the searches of one session, as the person set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Most searches of the session.
    pub calls_max: u32,
    /// Longest time of one search, in milliseconds.
    pub timeout_ms: u32,
}

/// The web search of one session, with its limits.
pub struct WebSearcher {
    backend: SearchBackend,
    calls_max: u32,
    timeout_ms: u64,
    /// Number of searches that the session has made.
    call_count: Arc<AtomicU32>,
}

/// The backend that searches.
enum SearchBackend {
    Provider(KeyedProvider),
    Operation(Box<OperationSearch>),
}

/// A provider together with its key.
struct KeyedProvider {
    provider: SearchProvider,
    key: KeyFn,
    /// Hint on what to do if there is no key, as a sentence.
    key_hint: String,
}

impl WebSearcher {
    /// Creates a searcher over a provider with its key and limits. `calls` counts the searches that the session has
    /// made. `key_hint` says what to do if there is no key.
    pub fn new(
        provider: SearchProvider,
        key: KeyFn,
        key_hint: String,
        limits: SearchLimits,
        calls: Arc<AtomicU32>,
    ) -> Self {
        let keyed = KeyedProvider {
            provider,
            key,
            key_hint,
        };
        Self::with_backend(SearchBackend::Provider(keyed), limits, calls)
    }

    /// Creates a searcher over an operation, with the same limits.
    pub fn from_operation(
        operation: OperationSearch,
        limits: SearchLimits,
        calls: Arc<AtomicU32>,
    ) -> Self {
        Self::with_backend(SearchBackend::Operation(Box::new(operation)), limits, calls)
    }

    fn with_backend(
        backend: SearchBackend,
        limits: SearchLimits,
        call_count: Arc<AtomicU32>,
    ) -> Self {
        Self {
            backend,
            calls_max: limits.calls_max.min(SEARCH_CALLS_MAX),
            timeout_ms: u64::from(limits.timeout_ms).clamp(1, SEARCH_MS_MAX),
            call_count,
        }
    }

    /// Returns the accesses of a search.
    pub(crate) fn accesses(&self, query: &str) -> Vec<Access> {
        match &self.backend {
            SearchBackend::Provider(keyed) => {
                let address = &keyed.provider.address;
                vec![Access::new(Capability::NetFetch, address.as_str())]
            }
            SearchBackend::Operation(one) => one.operation.accesses(&one.build_arguments(query)),
        }
    }

    /// Returns the requirements of a search.
    pub(crate) fn requirements(&self) -> RequirementSet {
        match &self.backend {
            SearchBackend::Provider(_) => RequirementSet::empty().with_host(&self.host()),
            SearchBackend::Operation(one) => one.operation.interface().requires.clone(),
        }
    }

    /// Returns the host that searches go to.
    pub(crate) fn host(&self) -> String {
        let first = self.accesses("").into_iter().next();
        first.map_or_else(String::new, |access| {
            policy::patterns::host::resolve_host(&access.target).real
        })
    }

    /// Returns the mode of a search; `None` if it is unspecified.
    pub(crate) fn mode(&self) -> Option<ToolMode> {
        match &self.backend {
            SearchBackend::Provider(_) => Some(ToolMode::External),
            SearchBackend::Operation(one) => one.mode,
        }
    }

    /// Whether a search changes nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        match &self.backend {
            SearchBackend::Provider(_) => true,
            SearchBackend::Operation(one) => one.operation.interface().safety.is_read_only,
        }
    }

    /// Returns the tool that a search calls, if it calls one.
    pub(crate) fn called_tool(&self) -> Option<&str> {
        match &self.backend {
            SearchBackend::Provider(_) => None,
            SearchBackend::Operation(one) => Some(one.operation.interface().id()),
        }
    }

    /// Returns the preview and the plan of a search, if the backend can show them.
    pub(crate) fn prepare(
        &self,
        query: &str,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        match &self.backend {
            SearchBackend::Provider(_) => Ok(PreviewedPlan::default()),
            SearchBackend::Operation(one) => one.prepare(query, &context.workspace),
        }
    }

    /// Returns the longest time of one search, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// Runs one search (`S002-44`, `S002-45`).
    pub(crate) async fn search(
        &self,
        query: &str,
        results_max: usize,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<Vec<WebSearchHit>, ToolError> {
        let (title, hits) = match &self.backend {
            SearchBackend::Provider(keyed) => {
                let key = keyed.lookup_key().await?;
                self.count_call()?;
                let request = keyed.provider.build_request(query, results_max, &key);
                let limits = FetchLimits {
                    timeout_ms: self.timeout_ms,
                    body_bytes_max: RESULTS_BYTES_MAX,
                };
                let answer = context.net.send(&request, limits, &execution.cancel).await;
                let answer = answer.map_err(fetch_error)?;
                (keyed.provider.title, keyed.parse_response(&answer, &key)?)
            }
            SearchBackend::Operation(one) => {
                self.count_call()?;
                let arguments = one.build_arguments(query);
                let call = one.operation.call(
                    &arguments,
                    &context.workspace,
                    &context.net,
                    &execution.cancel,
                );
                let limit = Duration::from_millis(self.timeout_ms);
                let output = tokio::time::timeout(limit, call).await.map_err(|_| {
                    let (name, limit) = (&one.settings.operation, self.timeout_ms);
                    ToolError::TimedOut(format!("`{name}` did not answer within {limit} ms."))
                })??;
                let hits = output.data.and_then(|answer| one.parse_hits(&answer));
                (one.settings.operation.as_str(), hits)
            }
        };
        let Some(mut hits) = hits else {
            return Err(ToolError::Failed(format!(
                "{title} answered with something that is not a list of results. Try again later, or let the person look at the settings \
                 under Web search."
            )));
        };
        hits.retain(|hit| hit.url.starts_with("http://") || hit.url.starts_with("https://"));
        hits.truncate(results_max);
        hits.iter_mut().for_each(|hit| {
            hit.title = sanitize_line(&hit.title, TITLE_CHARS_MAX);
            hit.url = sanitize_line(&hit.url, TITLE_CHARS_MAX);
            hit.snippet = sanitize_line(&hit.snippet, SNIPPET_CHARS_MAX);
        });
        Ok(hits)
    }

    /// Counts a search, and fails if the session may not search again.
    fn count_call(&self) -> Result<(), ToolError> {
        let took = self
            .call_count
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |calls| {
                (calls < self.calls_max).then_some(calls + 1)
            });
        match took {
            Ok(_) => Ok(()),
            Err(_) => Err(ToolError::Failed(format!(
                "This session searched {} times, which is as often as it may. Go on with what was found, or let the person raise the limit \
                 in the settings under Web search.",
                self.calls_max
            ))),
        }
    }
}

impl KeyedProvider {
    /// Parses the results in an answer; `None` if it has no list of results.
    fn parse_response(
        &self,
        answer: &HttpResponse,
        key: &str,
    ) -> Result<Option<Vec<WebSearchHit>>, ToolError> {
        if answer.status != 200 {
            return Err(self.response_error(answer, key));
        }
        let results = serde_json::from_slice(&answer.body)
            .ok()
            .filter(|_| !answer.is_truncated);
        Ok(results.and_then(|answer: Value| self.provider.parse_hits(&answer)))
    }

    async fn lookup_key(&self) -> Result<String, ToolError> {
        if !self.provider.requires_key() {
            return Ok(String::new());
        }
        let (title, key) = (self.provider.title, self.key.clone());
        let result = tokio::task::spawn_blocking(move || key()).await;
        let result = result.unwrap_or_else(|_| Err("Looking for it broke off.".to_owned()));
        match result {
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(ToolError::Failed(format!(
                "There is no key for {title}, so nothing was searched. {}",
                self.key_hint
            ))),
            Err(why) => Err(ToolError::Failed(format!(
                "The key for {title} could not be read, so nothing was searched: {why}"
            ))),
        }
    }

    /// Builds the error for an answer without results. The key is removed from the quoted answer, which may repeat it.
    fn response_error(&self, answer: &HttpResponse, key: &str) -> ToolError {
        let meaning = match answer.status {
            401 | 403 => ": it does not take the key, or does not give JSON",
            402 | 429 | 432 | 433 => ": it was asked too often for what was paid",
            500..600 => ": it has a fault of its own",
            _ => "",
        };
        let answer_text = String::from_utf8_lossy(&answer.body);
        let answer_text = match key.is_empty() {
            true => answer_text.into_owned(),
            false => answer_text.replace(key, "…"),
        };
        let answer_text = sanitize_line(
            protocol::text::cut::take_head(&answer_text, ERROR_PAGE_BYTES_MAX),
            ERROR_PAGE_BYTES_MAX,
        );
        let quote = match answer_text.is_empty() {
            true => String::new(),
            false => format!(
                "\n{}",
                frame_text("the answer of", &self.provider.address, &answer_text)
            ),
        };
        ToolError::Failed(format!(
            "{} answered {}{meaning}. Go on without it, or let the person look at the settings under Web search.{quote}",
            self.provider.title, answer.status
        ))
    }
}
