//! Converts a page to Markdown: its main content if it has one, otherwise the whole page; without hidden elements.

use std::time::Instant;

use dom_query::Document;
use dom_smoothie::{Config, Readability};

use super::{WebPage, hidden, links, markdown, parse};
use crate::limits::{READABLE_DEPTH_MAX, READABLE_ELEMENTS_MAX};
use crate::text::format_count;

/// Fewest letters of a main content.
const MAIN_CHARS_MIN: usize = 400;
/// Smallest share of the page that a main content has: one in this many letters.
const MAIN_SHARE: usize = 5;
/// Number of letters below which a page with scripts probably needs them to show its content.
const SPARSE_CHARS: usize = 200;

/// Converts the page at this address.
pub(super) fn html_to_page(html: &str, url: &str, deadline: Instant) -> WebPage {
    let document = match parse::parse_tree(html, deadline) {
        Ok(document) => document,
        Err(why) => {
            return WebPage {
                text: strip_tags(html),
                notes: vec![format!(
                    "It was not read as a page, because {why}: this is its text without the tags, hidden text included."
                )],
                ..WebPage::default()
            };
        }
    };
    let title = find_title(&document);
    let has_scripts = document
        .root()
        .descendants_it()
        .any(|node| node.has_name("script"));
    links::make_links_absolute(&document, url);
    let hidden = hidden::remove_hidden(&document);
    let mut notes = Vec::new();
    if hidden > 0 {
        let parts = format_count(hidden as u64, "part that is", "parts that are");
        notes.push(format!("Left out: {parts} hidden on the page."));
    }
    let whole = markdown::write_markdown(&document.root());
    let main =
        extract_main_content(document).filter(|main| is_main_content(&main.text, &whole.text));
    if main.is_some() {
        notes.push("Left out: menus and what else is not the page's main part.".to_owned());
    }
    let written = main.unwrap_or(whole);
    if written.is_full {
        notes.push("The rest was left out: it is longer than a page may be.".to_owned());
    }
    if has_scripts && written.text.len() < SPARSE_CHARS {
        notes.push("The page may say more with its scripts, which are not run.".to_owned());
    }
    WebPage {
        title,
        text: written.text,
        notes,
    }
}

fn find_title(document: &Document) -> String {
    let head = document.tree.head();
    let title = head.and_then(|head| head.descendants_it().find(|node| node.has_name("title")));
    title
        .map(|title| title.text().to_string())
        .unwrap_or_default()
}

/// Extracts the article of a page, by readability. Returns `None` for a page of very many or deeply nested elements:
/// the search would take too long.
fn extract_main_content(document: Document) -> Option<markdown::MarkdownText> {
    let mut elements = 0_usize;
    let mut depth = 0_usize;
    let root = document.root();
    let mut at = root.first_child();
    let mut open = Vec::new();
    loop {
        match at {
            Some(node) => {
                elements += 1;
                open.push(node);
                depth = depth.max(open.len());
                at = node.first_child();
            }
            None => match open.pop() {
                Some(node) => at = node.next_sibling(),
                None => break,
            },
        }
    }
    if elements > READABLE_ELEMENTS_MAX || depth > READABLE_DEPTH_MAX {
        return None;
    }
    let config = Config {
        disable_json_ld: true,
        max_elements_to_parse: READABLE_ELEMENTS_MAX,
        ..Config::default()
    };
    let mut reader = Readability::with_document(document, None, Some(config)).ok()?;
    let article = reader.parse().ok()?;
    let article = Document::from(article.content);
    Some(markdown::write_markdown(&article.root()))
}

/// Whether the text is long enough to be the main content, and leaves out enough of the page to be worth it.
fn is_main_content(main: &str, whole: &str) -> bool {
    let (main, whole) = (main.len(), whole.len());
    main >= MAIN_CHARS_MIN && main.saturating_mul(MAIN_SHARE) >= whole && main < whole / 20 * 19
}

/// Returns the text between the tags as it is, without scripts and styles.
fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let silent = ["script", "style", "!--"].into_iter().find(|name| {
            rest.get(1..1 + name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let end = match silent {
            Some("!--") => "-->",
            Some("script") => "</script",
            Some(_) => "</style",
            None => ">",
        };
        let Some(found) = find_ignoring_case(rest, end) else {
            return text;
        };
        rest = &rest[found + end.len()..];
        if matches!(silent, Some("script" | "style")) {
            rest = rest.find('>').map_or("", |at| &rest[at + 1..]);
        }
        text.push(' ');
    }
    text.push_str(rest);
    text
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(what.len());
    let mut windows = windows.enumerate();
    let found = windows.find(|(_, window)| window.eq_ignore_ascii_case(what.as_bytes()));
    found.map(|(at, _)| at)
}
