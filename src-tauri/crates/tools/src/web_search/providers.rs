//! The requests and answers of Brave, Tavily, Exa and SearXNG, as each provider documents them.

use protocol::UserError;
use protocol::settings::{SearchApi, SearchProviderSettings};
use runtime::{HttpRequest, RequestMethod};
use serde_json::{Value, json};
use url::Url;

use super::WebSearchHit;

/// A search provider that the person set up. It builds its requests and interprets the answers; it has no network
/// access itself.
pub struct SearchProvider {
    wire: SearchApi,
    /// Display name of the provider.
    pub(super) title: &'static str,
    /// Address that queries are sent to, which a search declares as its access.
    pub(super) address: String,
}

/// Builds the provider that these settings describe.
///
/// # Errors
/// If the address is missing or not valid.
pub fn build_provider(settings: &SearchProviderSettings) -> Result<SearchProvider, UserError> {
    let (title, base, path) = match settings.wire {
        SearchApi::Brave => (
            "Brave",
            Some("https://api.search.brave.com/res/v1/"),
            "web/search",
        ),
        SearchApi::Tavily => ("Tavily", Some("https://api.tavily.com/"), "search"),
        SearchApi::Exa => ("Exa", Some("https://api.exa.ai/"), "search"),
        SearchApi::Searxng => ("SearXNG", None, "search"),
    };
    let wrong = |why: String| {
        let id = protocol::text::display_text::to_single_line(&settings.id, 64);
        UserError::new(
            format!("The search provider `{id}` cannot be used: {why}."),
            "Correct its address in the settings under Web search.",
        )
    };
    let Some(base) = settings.base_url.as_deref().or(base) else {
        return Err(wrong("it has no address".to_owned()));
    };
    let base = format!("{}/", base.trim().trim_end_matches('/'));
    let url = Url::parse(&base).and_then(|base| base.join(path));
    let url = url.map_err(|error| wrong(format!("its address is none: {error}")))?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        return Err(wrong(
            "its address needs http or https and a host, and neither name nor password".to_owned(),
        ));
    }
    Ok(SearchProvider {
        wire: settings.wire,
        title,
        address: url.to_string(),
    })
}

impl SearchProvider {
    /// Whether the provider needs a key.
    pub(super) fn requires_key(&self) -> bool {
        match self.wire {
            SearchApi::Brave | SearchApi::Tavily | SearchApi::Exa => true,
            SearchApi::Searxng => false,
        }
    }

    /// Builds the request for a query.
    pub(super) fn build_request(&self, query: &str, results_max: usize, key: &str) -> HttpRequest {
        let header = |name: &str, value: String| (name.to_owned(), value);
        let count = results_max.to_string();
        let json = |body: Value, key: (String, String)| HttpRequest {
            method: RequestMethod::Post,
            url: self.address.clone(),
            headers: vec![
                header("accept", "application/json".to_owned()),
                header("content-type", "application/json".to_owned()),
                key,
            ],
            body: Some(body.to_string().into_bytes()),
        };
        match self.wire {
            SearchApi::Brave => HttpRequest {
                headers: vec![
                    header("accept", "application/json".to_owned()),
                    header("x-subscription-token", key.to_owned()),
                ],
                ..HttpRequest::get(self.url_with_query(&[
                    ("q", query),
                    ("count", &count),
                    ("text_decorations", "false"),
                    ("result_filter", "web"),
                ]))
            },
            SearchApi::Tavily => json(
                json!({ "query": query, "max_results": results_max }),
                header("authorization", format!("Bearer {key}")),
            ),
            SearchApi::Exa => json(
                json!({
                    "query": query,
                    "numResults": results_max,
                    "contents": { "highlights": true },
                }),
                header("x-api-key", key.to_owned()),
            ),
            SearchApi::Searxng => HttpRequest {
                headers: vec![header("accept", "application/json".to_owned())],
                ..HttpRequest::get(self.url_with_query(&[("q", query), ("format", "json")]))
            },
        }
    }

    /// Parses the results in an answer of the provider; `None` if the answer has a different structure.
    pub(super) fn parse_hits(&self, answer: &Value) -> Option<Vec<WebSearchHit>> {
        let results = match self.wire {
            // Where nothing was found there is no list.
            SearchApi::Brave => match answer.get("web") {
                Some(web) => web.get("results"),
                None if answer.get("type")?.as_str() == Some("search") => return Some(Vec::new()),
                None => None,
            },
            SearchApi::Tavily | SearchApi::Exa | SearchApi::Searxng => answer.get("results"),
        };
        let hit = |result: &Value| {
            let text = |member: &str| {
                let text = result.get(member).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            WebSearchHit {
                title: text("title"),
                url: text("url"),
                snippet: match self.wire {
                    SearchApi::Brave => text("description"),
                    SearchApi::Tavily | SearchApi::Searxng => text("content"),
                    SearchApi::Exa => join_highlights(result).unwrap_or_else(|| text("text")),
                },
            }
        };
        Some(results?.as_array()?.iter().map(hit).collect())
    }

    /// Returns the address with a query string.
    fn url_with_query(&self, pairs: &[(&str, &str)]) -> String {
        match Url::parse_with_params(&self.address, pairs) {
            Ok(url) => url.into(),
            Err(_) => self.address.clone(),
        }
    }
}

/// Joins the highlights that Exa takes from a page into one text.
fn join_highlights(result: &Value) -> Option<String> {
    let texts = result.get("highlights")?.as_array()?.iter();
    let texts: Vec<&str> = texts.filter_map(Value::as_str).collect();
    (!texts.is_empty()).then(|| texts.join(" … "))
}
