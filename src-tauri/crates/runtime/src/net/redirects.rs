//! Redirects: each is judged like a request of its own, and followed only where nothing is done twice.

use reqwest::header::{ACCEPT, LOCATION};
use reqwest::{Response, StatusCode, Url};
use tokio_util::sync::CancellationToken;

use super::{
    FetchLimits, HttpRequest, HttpResponse, NetError, NetworkClient, RequestMethod, body,
    parse_url, with_timeout,
};
use crate::limits::REDIRECTS_MAX;

impl NetworkClient {
    /// Sends a request and reads the whole response. A `GET` or a `HEAD` follows redirects, each judged like a request
    /// of its own; to another site than the first only the `Accept` header is sent along, since headers may be secrets.
    /// Any other request is sent once: a redirect is returned as the response.
    ///
    /// # Errors
    /// [`NetError::Refused`] when some address on the way is not admitted, or a header cannot be sent: nothing was sent
    /// there.
    pub async fn send_following_redirects(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<HttpResponse, NetError> {
        let sent = self.follow_redirects(outgoing, limits);
        with_timeout(&outgoing.url, limits, cancel, sent).await
    }

    async fn follow_redirects(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
    ) -> Result<HttpResponse, NetError> {
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
            let request = if at.origin() == site {
                outgoing
            } else {
                &stranger
            };
            let response = self.send_request(&at, request).await?;
            let next = match follows {
                true => redirect_target(&at, &response)?,
                false => None,
            };
            let Some(next) = next else {
                return body::read_response(&at, response, limits.body_bytes_max).await;
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
fn check_redirect_security(at: &Url, next: &Url) -> Result<(), NetError> {
    match at.scheme() == "https" && next.scheme() != "https" {
        true => Err(NetError::refused(next, "it leads from https back to http.")),
        false => Ok(()),
    }
}

/// Returns the redirect target of a response, if it is a redirect.
fn redirect_target(at: &Url, response: &Response) -> Result<Option<Url>, NetError> {
    let leads_on = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| leads_on) else {
        return Ok(None);
    };
    let location = location.to_str().unwrap_or_default();
    let next = at.join(location);
    let next = next.map_err(|error| {
        NetError::failed(at, format!("it is redirected to no address: {error}"))
    })?;
    parse_url(next.as_str()).map(Some)
}
