//! A request to an address: its method, its headers, and what it carries.

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::NetError;

/// How something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMethod {
    /// It is read.
    Get,
    /// Something is handed over.
    Post,
    /// Something is put in its place.
    Put,
    /// Something becomes another.
    Patch,
    /// Something is removed.
    Delete,
    /// It is read, without what stands there.
    Head,
    /// What can be done there.
    Options,
    /// What arrives there.
    Trace,
}

impl From<RequestMethod> for reqwest::Method {
    fn from(method: RequestMethod) -> Self {
        match method {
            RequestMethod::Get => Self::GET,
            RequestMethod::Post => Self::POST,
            RequestMethod::Put => Self::PUT,
            RequestMethod::Patch => Self::PATCH,
            RequestMethod::Delete => Self::DELETE,
            RequestMethod::Head => Self::HEAD,
            RequestMethod::Options => Self::OPTIONS,
            RequestMethod::Trace => Self::TRACE,
        }
    }
}

/// One request. Headers may hold keys, so none of them is ever printed.
#[derive(Clone)]
pub struct HttpRequest {
    /// How it is asked.
    pub method: RequestMethod,
    /// The whole address.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What it carries; none for nothing.
    pub body: Option<Vec<u8>>,
}

impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl HttpRequest {
    /// A request that reads what stands there.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: RequestMethod::Get,
            url: url.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Its headers as they are sent, kept out of whatever is logged.
    pub(super) fn header_map(&self, url: &Url) -> Result<HeaderMap, NetError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let wrong = || {
                let named = protocol::text::display_text::to_single_line(name, 64);
                NetError::refused(url, format!("the header `{named}` cannot be sent."))
            };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        Ok(headers)
    }
}
