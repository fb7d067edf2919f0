//! A session as one HTML file: its story in Markdown, rendered. **The file runs nothing and loads nothing:** HTML in the
//! story is text, addresses are written out and not linked, images are named.

use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use pulldown_cmark_escape::escape_html_body_text;

/// Style of the page, light and dark as the reader's system is.
const STYLE: &str = include_str!("html.css");

/// Renders a story in Markdown as a page.
pub(crate) fn render_page(title: &str, story: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut body = String::with_capacity(story.len() * 2);
    html::push_html(&mut body, InertEvents::new(Parser::new_ext(story, options)));
    let title = escape_text(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn escape_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // A String takes everything that is written to it.
    let _ = escape_html_body_text(&mut escaped, text);
    escaped
}

/// The events of a story, without what a reader's browser would run, load or follow.
struct InertEvents<'a, I> {
    events: I,
    /// Addresses of the links that are open, each written out where its link ends.
    addresses: Vec<CowStr<'a>>,
    /// Whether the text is that of a difference.
    is_diff: bool,
}

impl<'a, I: Iterator<Item = Event<'a>>> InertEvents<'a, I> {
    fn new(events: I) -> Self {
        Self {
            events,
            addresses: Vec::new(),
            is_diff: false,
        }
    }

    fn convert(&mut self, event: Event<'a>) -> Event<'a> {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.addresses.push(dest_url);
                Event::Text("".into())
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.addresses.push(dest_url);
                Event::Text("Image: ".into())
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                let address = self.addresses.pop().unwrap_or(CowStr::Borrowed(""));
                Event::Text(format!(" ({address})").into())
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                self.is_diff =
                    matches!(&kind, CodeBlockKind::Fenced(name) if name.as_ref() == "diff");
                Event::Start(Tag::CodeBlock(kind))
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_diff = false;
                Event::End(TagEnd::CodeBlock)
            }
            Event::Text(text) if self.is_diff => Event::Html(render_diff(&text).into()),
            other => other,
        }
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for InertEvents<'a, I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let event = self.events.next()?;
        Some(self.convert(event))
    }
}

/// Renders lines of a difference, with those that were added and removed marked.
fn render_diff(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
            [b'+', ..] => "added",
            [b'-', ..] => "removed",
            [b'@', ..] => "place",
            _ => "same",
        };
        let line = escape_text(line);
        let _ = write!(marked, "<span class=\"{class}\">{line}</span>");
    }
    marked
}
