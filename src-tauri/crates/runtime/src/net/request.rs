//! A request to an address: its method, its headers, and its body.

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::NetError;

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMethod {
    /// Reads the resource.
    Get,
    /// Submits data to the resource.
    Post,
    /// Replaces the resource.
    Put,
    /// Modifies the resource.
    Patch,
    /// Removes the resource.
    Delete,
    /// Reads the headers of the resource without its body.
    Head,
    /// Asks which methods the resource supports.
    Options,
    /// Echoes the request as it arrives.
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
    /// Method of the request.
    pub method: RequestMethod,
    /// The whole address.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// Body of the request; `None` for none.
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
    /// Returns a request that reads the resource at `url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: RequestMethod::Get,
            url: url.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Returns the headers as they are sent, kept out of all logs.
    pub(super) fn header_map(&self, url: &Url) -> Result<HeaderMap, NetError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let (name, value) = parse_header(name, value)
                .map_err(|why| NetError::refused(url, format!("{why}.")))?;
            headers.append(name, value);
        }
        Ok(headers)
    }
}

/// Parses a header that is kept out of all logs. The error says which one cannot be sent, as a clause without its value.
pub(super) fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let refused = || {
        let name = protocol::text::display_text::to_single_line(name, 64);
        format!("the header `{name}` cannot be sent")
    };
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok((name, value))
}
