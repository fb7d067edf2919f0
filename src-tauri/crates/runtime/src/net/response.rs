//! A response as data: its status, its headers, and its body.

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
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

impl HttpResponse {
    /// Returns the first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }
}
