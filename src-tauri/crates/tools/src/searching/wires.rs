//! What Brave, Tavily, Exa and SearXNG are asked by, and what their answers mean: as each documents it.

use protocol::Fault;
use protocol::settings::{SearchSettings, SearchWire};
use runtime::{Method, Outgoing};
use serde_json::{Value, json};
use url::Url;

use super::{Hit, SearchProvider};

/// A provider that the person set up.
struct Wire {
    wire: SearchWire,
    title: &'static str,
    /// Where a query goes.
    address: String,
}

/// The provider that these settings speak of.
///
/// # Errors
/// An address that is none, or that is missing.
pub fn provider(settings: &SearchSettings) -> Result<Box<dyn SearchProvider>, Fault> {
    let (title, base, path) = match settings.wire {
        SearchWire::Brave => (
            "Brave",
            Some("https://api.search.brave.com/res/v1/"),
            "web/search",
        ),
        SearchWire::Tavily => ("Tavily", Some("https://api.tavily.com/"), "search"),
        SearchWire::Exa => ("Exa", Some("https://api.exa.ai/"), "search"),
        SearchWire::Searxng => ("SearXNG", None, "search"),
    };
    let wrong = |why: String| {
        let id = protocol::shown::in_a_sentence(&settings.id, 64);
        Fault::new(
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
    Ok(Box::new(Wire {
        wire: settings.wire,
        title,
        address: url.to_string(),
    }))
}

impl SearchProvider for Wire {
    fn title(&self) -> &str {
        self.title
    }

    fn address(&self) -> &str {
        &self.address
    }

    fn wants_key(&self) -> bool {
        match self.wire {
            SearchWire::Brave | SearchWire::Tavily | SearchWire::Exa => true,
            SearchWire::Searxng => false,
        }
    }

    fn asks(&self, query: &str, results_max: usize, key: &str) -> Outgoing {
        let header = |name: &str, value: String| (name.to_owned(), value);
        let count = results_max.to_string();
        let json = |body: Value, key: (String, String)| Outgoing {
            method: Method::Post,
            url: self.address.clone(),
            headers: vec![
                header("accept", "application/json".to_owned()),
                header("content-type", "application/json".to_owned()),
                key,
            ],
            body: Some(body.to_string().into_bytes()),
        };
        match self.wire {
            SearchWire::Brave => Outgoing {
                headers: vec![
                    header("accept", "application/json".to_owned()),
                    header("x-subscription-token", key.to_owned()),
                ],
                ..Outgoing::get(self.with(&[
                    ("q", query),
                    ("count", &count),
                    ("text_decorations", "false"),
                    ("result_filter", "web"),
                ]))
            },
            SearchWire::Tavily => json(
                json!({ "query": query, "max_results": results_max }),
                header("authorization", format!("Bearer {key}")),
            ),
            SearchWire::Exa => json(
                json!({
                    "query": query,
                    "numResults": results_max,
                    "contents": { "highlights": true },
                }),
                header("x-api-key", key.to_owned()),
            ),
            SearchWire::Searxng => Outgoing {
                headers: vec![header("accept", "application/json".to_owned())],
                ..Outgoing::get(self.with(&[("q", query), ("format", "json")]))
            },
        }
    }

    fn found(&self, answer: &Value) -> Option<Vec<Hit>> {
        let results = match self.wire {
            // Where nothing was found there is no list.
            SearchWire::Brave => match answer.get("web") {
                Some(web) => web.get("results"),
                None if answer.get("type")?.as_str() == Some("search") => return Some(Vec::new()),
                None => None,
            },
            SearchWire::Tavily | SearchWire::Exa | SearchWire::Searxng => answer.get("results"),
        };
        let hit = |result: &Value| {
            let text = |member: &str| {
                let text = result.get(member).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            Hit {
                title: text("title"),
                url: text("url"),
                snippet: match self.wire {
                    SearchWire::Brave => text("description"),
                    SearchWire::Tavily | SearchWire::Searxng => text("content"),
                    SearchWire::Exa => highlights(result).unwrap_or_else(|| text("text")),
                },
            }
        };
        Some(results?.as_array()?.iter().map(hit).collect())
    }
}

impl Wire {
    /// The address with a query.
    fn with(&self, pairs: &[(&str, &str)]) -> String {
        match Url::parse_with_params(&self.address, pairs) {
            Ok(url) => url.into(),
            Err(_) => self.address.clone(),
        }
    }
}

/// What Exa takes out of a page, as one text.
fn highlights(result: &Value) -> Option<String> {
    let texts = result.get("highlights")?.as_array()?.iter();
    let texts: Vec<&str> = texts.filter_map(Value::as_str).collect();
    (!texts.is_empty()).then(|| texts.join(" … "))
}
