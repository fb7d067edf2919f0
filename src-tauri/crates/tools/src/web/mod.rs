//! What a site sent as text for a model: pages as Markdown, documents as their words, data as it is, everything else named.
//!
//! Nothing here reaches anywhere, and everything here may be made by an enemy: each step has its limit, and all of it is
//! done apart, where a panic or a stack that runs over the side is the error of one call.

mod apart;
mod charset;
mod clean;
mod frame;
mod hidden;
mod html;
mod kind;
mod links;
mod markdown;
mod parse;
mod pdf;
mod written;

use std::time::Instant;

use protocol::ToolError;
use tokio_util::sync::CancellationToken;

use self::kind::Kind;
use crate::limits::TITLE_CHARS_MAX;

pub(crate) use self::clean::line;
pub(crate) use self::frame::framed;

/// What came from an address.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// Where it came from in the end.
    pub url: String,
    /// What it says it is; empty if it does not say.
    pub content_type: String,
    /// Its bytes, unpacked.
    pub body: Vec<u8>,
}

/// What a model reads of it. All of it is somebody else's words, the title as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page {
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
pub(crate) async fn read(sent: Sent, cancel: &CancellationToken) -> Result<Page, ToolError> {
    let read = move |deadline| page(&sent, deadline).map_err(ToolError::Failed);
    let mut page = apart::done(read, cancel).await??;
    page.text = clean::cleaned(&page.text);
    page.title = line(&page.title, TITLE_CHARS_MAX);
    Ok(page)
}

fn page(sent: &Sent, deadline: Instant) -> Result<Page, String> {
    match kind::of(&sent.content_type, &sent.body) {
        Kind::Html => {
            let (text, note) = charset::decoded(&sent.body, &sent.content_type, true);
            let mut page = html::read(&text, &sent.url, deadline);
            page.notes.extend(note);
            Ok(page)
        }
        Kind::Text => {
            let (text, note) = charset::decoded(&sent.body, &sent.content_type, false);
            Ok(Page {
                text,
                notes: note.into_iter().collect(),
                ..Page::default()
            })
        }
        Kind::Pdf => pdf::read(&sent.body, deadline),
        Kind::Other(what) => Err(format!(
            "What stands there is {what}, which cannot be given as text. Look for a page that says the same in words."
        )),
    }
}

#[cfg(test)]
mod tests;
