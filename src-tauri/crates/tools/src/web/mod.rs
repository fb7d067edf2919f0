//! Converts fetched bodies to text for a model: pages as Markdown, documents as their words, data as it is; anything
//! else is only named.
//!
//! Nothing in this module has network access, and all of its input may be hostile: each step has its limit, and all
//! work runs isolated, where a panic or a stack overflow is the error of one call.

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
use runtime::HttpResponse;
use tokio_util::sync::CancellationToken;

use self::content_kind::ContentKind;
use crate::limits::TITLE_CHARS_MAX;

pub(crate) use self::fetch_error::fetch_error;
pub(crate) use self::frame::frame_text;
pub(crate) use self::sanitize::sanitize_line;

/// The text of a fetched page for a model. All of it is third-party content, including the title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WebPage {
    /// Title in one line; empty for none.
    pub title: String,
    /// Text of the page.
    pub text: String,
    /// Notes on omitted or unreadable parts, a sentence each, in our own words.
    pub notes: Vec<String>,
}

/// Converts the body of a response, isolated from everything else and within the time limit.
///
/// # Errors
/// A sentence with the next step, which names the kind of a body that has no readable text.
pub(crate) async fn read_page(
    fetched: HttpResponse,
    cancel: &CancellationToken,
) -> Result<WebPage, ToolError> {
    let parse = move |deadline| parse_page(&fetched, deadline).map_err(ToolError::Failed);
    let mut page = isolation::run_isolated(parse, cancel).await??;
    page.text = sanitize::sanitize_text(&page.text);
    page.title = sanitize_line(&page.title, TITLE_CHARS_MAX);
    Ok(page)
}

fn parse_page(fetched: &HttpResponse, deadline: Instant) -> Result<WebPage, String> {
    match content_kind::detect_kind(&fetched.content_type, &fetched.body) {
        ContentKind::Html => {
            let (text, note) = charset::decode_body(&fetched.body, &fetched.content_type, true);
            let mut page = html::html_to_page(&text, &fetched.url, deadline);
            page.notes.extend(note);
            Ok(page)
        }
        ContentKind::Text => {
            let (text, note) = charset::decode_body(&fetched.body, &fetched.content_type, false);
            Ok(WebPage {
                text,
                notes: note.into_iter().collect(),
                ..WebPage::default()
            })
        }
        ContentKind::Pdf => pdf::pdf_to_page(&fetched.body, deadline),
        ContentKind::Other(what) => Err(format!(
            "What stands there is {what}, which cannot be given as text. Look for a page that says the same in words."
        )),
    }
}

#[cfg(test)]
mod tests;
