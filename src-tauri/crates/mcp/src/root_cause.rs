//! Finds the root cause of an error.

use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Returns the innermost cause of an error, which alone is informative.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    // The library does not call what its client says a cause.
    if let Some(StreamableHttpError::Client(inner)) =
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        return root_cause(inner);
    }
    match (error.source(), error.downcast_ref::<reqwest::Error>()) {
        (Some(inner), _) => root_cause(inner),
        // It would name the address, which may hold a secret.
        (None, Some(error)) if error.is_timeout() => "it took too long".to_owned(),
        (None, Some(_)) => "the request failed".to_owned(),
        (None, None) => error.to_string(),
    }
}
