//! Calls of a service: judged like a fetch, and redirected only where nothing is done twice.

use reqwest::Url;
use reqwest::header::ACCEPT;
use tokio_util::sync::CancellationToken;

use super::{
    FetchLimits, HttpRequest, NetError, NetworkClient, RequestMethod, body, parse_url,
    redirect_target, with_timeout,
};
use crate::limits::REDIRECTS_MAX;

/// The response of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceResponse {
    /// Final address, after redirects.
    pub url: String,
    /// Status of the response, such as 200 or 404.
    pub status: u16,
    /// Headers of the response that are text, with their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Content type of the response; empty if it names none.
    pub content_type: String,
    /// Body of the response, decompressed.
    pub body: Vec<u8>,
    /// Whether the body was longer than the limit.
    pub is_truncated: bool,
}

impl ServiceResponse {
    /// Returns the first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl NetworkClient {
    /// Sends a request and reads the whole response. A `GET` or a `HEAD` follows redirects, each judged like a request
    /// of its own; to another site than the first only the `Accept` header is sent along, since headers may be secrets.
    /// Any other request is sent once: a redirect is returned as the response.
    ///
    /// # Errors
    /// [`NetError::Refused`] when some address on the way is not admitted, or a header cannot be sent: nothing was sent
    /// there.
    pub async fn call_following_redirects(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<ServiceResponse, NetError> {
        with_timeout(
            &outgoing.url,
            limits,
            cancel,
            self.follow_redirects(outgoing, limits),
        )
        .await
    }

    /// Sends a request once and reads the whole response: a redirect is returned as the response.
    ///
    /// # Errors
    /// [`NetError::Refused`] when the address is not admitted, or a header cannot be sent: nothing was sent.
    pub async fn call_once(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<ServiceResponse, NetError> {
        let called = async {
            let at = parse_url(&outgoing.url)?;
            read_response(&at, self.send_request(&at, outgoing).await?, limits).await
        };
        with_timeout(&outgoing.url, limits, cancel, called).await
    }

    async fn follow_redirects(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
    ) -> Result<ServiceResponse, NetError> {
        let mut at = parse_url(&outgoing.url)?;
        let site = at.origin();
        let follows = match outgoing.method {
            RequestMethod::Get | RequestMethod::Head => true,
            RequestMethod::Post
            | RequestMethod::Put
            | RequestMethod::Patch
            | RequestMethod::Delete
            | RequestMethod::Options
            | RequestMethod::Trace => false,
        };
        let accepts = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(ACCEPT.as_str());
        let stranger = HttpRequest {
            headers: outgoing.headers.iter().filter(accepts).cloned().collect(),
            body: None,
            ..outgoing.clone()
        };
        for _ in 0..=REDIRECTS_MAX {
            let asked = if at.origin() == site {
                outgoing
            } else {
                &stranger
            };
            let response = self.send_request(&at, asked).await?;
            let next = match follows {
                true => redirect_target(&at, &response)?,
                false => None,
            };
            let Some(next) = next else {
                return read_response(&at, response, limits).await;
            };
            check_redirect_security(&at, &next)?;
            at = next;
        }
        Err(NetError::failed(
            &at,
            format!("it is redirected more than {REDIRECTS_MAX} times"),
        ))
    }
}

/// Refuses a redirect from `https` back to `http`.
pub(super) fn check_redirect_security(at: &Url, next: &Url) -> Result<(), NetError> {
    match at.scheme() == "https" && next.scheme() != "https" {
        true => Err(NetError::refused(next, "it leads from https back to http.")),
        false => Ok(()),
    }
}

async fn read_response(
    at: &Url,
    response: reqwest::Response,
    limits: FetchLimits,
) -> Result<ServiceResponse, NetError> {
    let headers = response.headers().iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let headers = headers.collect();
    let fetched = body::read_body(at, response, limits.body_bytes_max).await?;
    Ok(ServiceResponse {
        url: fetched.url,
        status: fetched.status,
        headers,
        content_type: fetched.content_type,
        body: fetched.body,
        is_truncated: fetched.is_truncated,
    })
}
