//! Resolves the base URL of an operation: selects a server of the document and fills in its variables.

use std::collections::BTreeMap;

use protocol::text::display_text::to_single_line;
use runtime::net::parse_server_url;
use serde_json::Value;

use crate::document::reader::DocumentNode;
use crate::limits::QUOTED_CHARS_MAX;

/// A person's settings for the base URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseUrlOptions {
    /// Overrides every server in the document.
    pub base_url: Option<String>,
    /// Values of variables in server URLs.
    pub variables: BTreeMap<String, String>,
    /// URL of the document, for servers that are written relative to it.
    pub document: Option<String>,
}

impl BaseUrlOptions {
    /// Returns the base URL of an operation: from its own servers, those of its path, or those of the document, in this
    /// order.
    ///
    /// # Errors
    /// The reason why there is none, as a clause.
    pub(crate) fn resolve_base_url(&self, places: [DocumentNode<'_>; 3]) -> Result<String, String> {
        if let Some(base) = &self.base_url {
            return validate_base_url(base, "the address that you gave");
        }
        let mut named = places
            .iter()
            .map(|place| place.items_of("servers").collect::<Vec<_>>());
        let servers = named
            .find(|servers| !servers.is_empty())
            .unwrap_or_default();
        let mut why = None;
        for server in servers {
            match self.resolve_server_url(server) {
                Ok(base) => return Ok(base),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        match why {
            Some(why) => Err(why),
            // Without any, the document stands at its server's root.
            None => self.resolve_relative_url("/"),
        }
    }

    fn resolve_server_url(&self, server: DocumentNode<'_>) -> Result<String, String> {
        let url = server.text("url").unwrap_or("/");
        let mut filled = String::with_capacity(url.len());
        let mut rest = url;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, left)) = after.split_once('}') else {
                return Err(format!(
                    "its server `{}` has a brace that is not closed",
                    to_single_line(url, QUOTED_CHARS_MAX)
                ));
            };
            filled.push_str(before);
            filled.push_str(&self.resolve_variable(server, name)?);
            rest = left;
        }
        filled.push_str(rest);
        match filled.contains("://") {
            true => validate_base_url(&filled, "its server"),
            false => self.resolve_relative_url(&filled),
        }
    }

    fn resolve_variable(&self, server: DocumentNode<'_>, name: &str) -> Result<String, String> {
        let named = to_single_line(name, QUOTED_CHARS_MAX);
        let declared = server.member("variables").and_then(|all| all.member(name));
        if let Some(value) = self.variables.get(name) {
            let mut allowed = declared
                .into_iter()
                .flat_map(|declared| declared.items_of("enum"))
                .peekable();
            let is_free = allowed.peek().is_none();
            return match is_free || allowed.any(|one| one.value.as_str() == Some(value)) {
                true => Ok(value.clone()),
                false => Err(format!(
                    "the variable `{named}` of its server cannot be `{}`",
                    to_single_line(value, QUOTED_CHARS_MAX)
                )),
            };
        }
        match declared.and_then(|declared| declared.value.get("default")) {
            Some(Value::String(value)) => Ok(value.clone()),
            Some(Value::Number(value)) => Ok(value.to_string()),
            Some(_) | None => Err(format!("the variable `{named}` of its server has no value")),
        }
    }

    fn resolve_relative_url(&self, url: &str) -> Result<String, String> {
        let Some(document) = &self.document else {
            return Err("the document does not say at which address it is served".to_owned());
        };
        let joined = url::Url::parse(document).and_then(|document| document.join(url));
        let joined = joined.map_err(|error| format!("its server is not an address: {error}"))?;
        validate_base_url(joined.as_str(), "its server")
    }
}

/// Validates a URL as a base URL, and returns it without a slash at its end: it must have no query and no fragment.
fn validate_base_url(url: &str, subject: &str) -> Result<String, String> {
    let parsed = parse_server_url(url).map_err(|why| format!("{subject} cannot be used: {why}"))?;
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(format!("{subject} has more than a path"));
    }
    Ok(parsed.as_str().trim_end_matches('/').to_owned())
}

/// Returns the host of a URL as policy judges it: with its port unless that is the default one.
pub(crate) fn url_host(address: &str) -> String {
    let Ok(url) = url::Url::parse(address) else {
        return String::new();
    };
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
