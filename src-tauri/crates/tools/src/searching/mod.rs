//! Whoever searches the web: one way for all of them, from a query to results, with what a session may use of it.
//!
//! A [`SearchProvider`] says what it is asked by and what its answer means; it reaches nothing itself. What a document of
//! operations can be asked, or a server's tool, can be one as well.

mod wires;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use protocol::ToolError;
use runtime::{FetchLimits, Fetched, Net, Outgoing};
use serde_json::Value;

use crate::builtin::not_fetched;
use crate::limits::{
    PAGE_TOLD_BYTES_MAX, RESULTS_BYTES_MAX, SEARCH_CALLS_MAX, SEARCH_MS_MAX, SNIPPET_CHARS_MAX,
    TITLE_CHARS_MAX,
};
use crate::tool::ToolContext;
use crate::web::{framed, line};

pub use self::wires::provider;

/// One result, in the provider's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hit {
    /// The page's title, in one line.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A few words of it, in one line.
    pub snippet: String,
}

/// What somebody who searches the web speaks.
pub trait SearchProvider: Send + Sync {
    /// What a person calls it.
    fn title(&self) -> &str;

    /// Where it is reached, whole: what a search declares that it touches.
    fn address(&self) -> &str;

    /// Whether it wants a key.
    fn wants_key(&self) -> bool;

    /// What is sent for a query.
    fn asks(&self, query: &str, results_max: usize, key: &str) -> Outgoing;

    /// What its answer says was found; none where it is no answer of its kind.
    fn found(&self, answer: &Value) -> Option<Vec<Hit>>;
}

/// Looks a key up; may block. None where there is none.
pub type KeyFn = Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>;

/// Who searches for one session, and how much it may.
pub struct Searching {
    provider: Box<dyn SearchProvider>,
    key: KeyFn,
    /// What to do where there is no key, as a sentence.
    key_hint: String,
    calls_max: u32,
    timeout_ms: u64,
    /// How often the session searched.
    calls: Arc<AtomicU32>,
}

impl Searching {
    /// A provider with its key and its limits, for a session that searched so often already.
    pub fn new(
        provider: Box<dyn SearchProvider>,
        (key, key_hint): (KeyFn, String),
        (calls_max, timeout_ms): (u32, u32),
        calls: Arc<AtomicU32>,
    ) -> Self {
        Self {
            provider,
            key,
            key_hint,
            calls_max: calls_max.min(SEARCH_CALLS_MAX),
            timeout_ms: u64::from(timeout_ms).clamp(1, SEARCH_MS_MAX),
            calls,
        }
    }

    /// Where its provider is reached.
    pub fn address(&self) -> &str {
        self.provider.address()
    }

    /// What one search may take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// Searches once (`S002-44`, `S002-45`).
    pub(crate) async fn search(
        &self,
        query: &str,
        results_max: usize,
        net: &Net,
        cx: &ToolContext,
    ) -> Result<Vec<Hit>, ToolError> {
        let title = self.provider.title();
        let key = self.key().await?;
        let took = self
            .calls
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |calls| {
                (calls < self.calls_max).then_some(calls + 1)
            });
        if took.is_err() {
            return Err(ToolError::Failed(format!(
                "This session searched {} times, which is as often as it may. Go on with what was found, or let the person raise the limit \
                 in the settings under Web search.",
                self.calls_max
            )));
        }
        let outgoing = self.provider.asks(query, results_max, &key);
        let limits = FetchLimits {
            timeout_ms: self.timeout_ms,
            body_bytes_max: RESULTS_BYTES_MAX,
        };
        let answer = net
            .send(&outgoing, limits, &cx.cancel)
            .await
            .map_err(not_fetched)?;
        if answer.status != 200 {
            return Err(self.refused(&answer, &key));
        }
        let found = serde_json::from_slice(&answer.body)
            .ok()
            .filter(|_| !answer.more);
        let found = found.and_then(|answer: Value| self.provider.found(&answer));
        let Some(mut hits) = found else {
            return Err(ToolError::Failed(format!(
                "{title} answered with something that is no list of results. Try again later, or let the person look at the settings under \
                 Web search."
            )));
        };
        hits.retain(|hit| hit.url.starts_with("http://") || hit.url.starts_with("https://"));
        hits.truncate(results_max);
        hits.iter_mut().for_each(|hit| {
            hit.title = line(&hit.title, TITLE_CHARS_MAX);
            hit.url = line(&hit.url, TITLE_CHARS_MAX);
            hit.snippet = line(&hit.snippet, SNIPPET_CHARS_MAX);
        });
        Ok(hits)
    }

    async fn key(&self) -> Result<String, ToolError> {
        if !self.provider.wants_key() {
            return Ok(String::new());
        }
        let (title, key) = (self.provider.title(), self.key.clone());
        let found = tokio::task::spawn_blocking(move || key()).await;
        let found = found.unwrap_or_else(|_| Err("Looking for it broke off.".to_owned()));
        match found {
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

    /// The provider answered, but with no results. It may say the key again; nobody else is told it.
    fn refused(&self, answer: &Fetched, key: &str) -> ToolError {
        let meaning = match answer.status {
            401 | 403 => ": it does not take the key, or does not give JSON",
            402 | 429 | 432 | 433 => ": it was asked too often for what was paid",
            500..600 => ": it has a fault of its own",
            _ => "",
        };
        let said = String::from_utf8_lossy(&answer.body);
        let said = match key.is_empty() {
            true => said.into_owned(),
            false => said.replace(key, "…"),
        };
        let said = line(
            protocol::cut::head(&said, PAGE_TOLD_BYTES_MAX),
            PAGE_TOLD_BYTES_MAX,
        );
        let told = match said.is_empty() {
            true => String::new(),
            false => format!(
                "\n{}",
                framed("the answer of", self.provider.address(), &said)
            ),
        };
        ToolError::Failed(format!(
            "{} answered {}{meaning}. Go on without it, or let the person look at the settings under Web search.{told}",
            self.provider.title(),
            answer.status
        ))
    }
}
