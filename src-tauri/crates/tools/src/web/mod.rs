//! What a site sent as text for a model: pages as Markdown, documents as their words, data as it is, everything else named.
//!
//! Nothing here reaches anywhere, and everything here may be made by an enemy: each step has its limit, and all of it is
//! done apart, where a panic or a stack that runs over the side is the error of one call.

mod charset;
mod content_kind;
mod fetch_error;
mod frame;
mod hidden;
mod html;
mod isolation;
mod links;
mod markdown;
mod markdown_writer;
mod parse;
mod pdf;
mod sanitize;

use std::time::Instant;

use protocol::ToolError;
use tokio_util::sync::CancellationToken;

use self::content_kind::ContentKind;
use crate::limits::TITLE_CHARS_MAX;

pub(crate) use self::fetch_error::fetch_error;
pub(crate) use self::frame::frame_text;
pub(crate) use self::sanitize::sanitize_line;

/// What came from an address.
#[derive(Debug, Clone)]
pub(crate) struct FetchedBody {
    /// Where it came from in the end.
    pub url: String,
    /// What it says it is; empty if it does not say.
    pub content_type: String,
    /// Its bytes, unpacked.
    pub body: Vec<u8>,
}

/// What a model reads of it. All of it is somebody else's words, the title as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WebPage {
    /// Its title in one line; empty for none.
    pub title: String,
    /// Its text.
    pub text: String,
    /// What was left out or could not be read, a sentence each, in our own words.
    pub notes: Vec<String>,
}

/// Reads what came, apart from everything else and in the time that it has.
///
/// # Errors
/// What it is instead of something to read, as a sentence with the next step.
pub(crate) async fn read_page(
    sent: FetchedBody,
    cancel: &CancellationToken,
) -> Result<WebPage, ToolError> {
    let read = move |deadline| parse_page(&sent, deadline).map_err(ToolError::Failed);
    let mut page = isolation::run_isolated(read, cancel).await??;
    page.text = sanitize::sanitize_text(&page.text);
    page.title = sanitize_line(&page.title, TITLE_CHARS_MAX);
    Ok(page)
}

fn parse_page(sent: &FetchedBody, deadline: Instant) -> Result<WebPage, String> {
    match content_kind::detect_kind(&sent.content_type, &sent.body) {
        ContentKind::Html => {
            let (text, note) = charset::decode_body(&sent.body, &sent.content_type, true);
            let mut page = html::html_to_page(&text, &sent.url, deadline);
            page.notes.extend(note);
            Ok(page)
        }
        ContentKind::Text => {
            let (text, note) = charset::decode_body(&sent.body, &sent.content_type, false);
            Ok(WebPage {
                text,
                notes: note.into_iter().collect(),
                ..WebPage::default()
            })
        }
        ContentKind::Pdf => pdf::pdf_to_page(&sent.body, deadline),
        ContentKind::Other(what) => Err(format!(
            "What stands there is {what}, which cannot be given as text. Look for a page that says the same in words."
        )),
    }
}

#[cfg(test)]
mod tests;
