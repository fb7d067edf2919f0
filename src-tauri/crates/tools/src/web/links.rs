//! Makes links absolute, so that a model reads addresses that it could follow.

use dom_query::{Document, NodeRef};
use url::Url;

use crate::limits::{LINK_BYTES_MAX, LINKS_BYTES_MAX};

/// Makes the addresses of links and images absolute, relative to the page's address or to the base that it declares. An
/// address that does not lead to the web, or that exceeds the limits, is removed; its text stays.
pub(super) fn make_links_absolute(document: &Document, url: &str) {
    let Ok(page) = Url::parse(url) else {
        return;
    };
    let said = document.tree.base_uri();
    let base = said.and_then(|said| page.join(&said).ok()).unwrap_or(page);
    let mut room = LINKS_BYTES_MAX;
    let all: Vec<NodeRef<'_>> = document.root().descendants_it().collect();
    for node in all {
        if node.has_name("a") {
            set_absolute(&node, "href", &base, &mut room);
        } else if node.has_name("img") {
            set_absolute(&node, "src", &base, &mut room);
        }
    }
}

fn set_absolute(node: &NodeRef<'_>, name: &str, base: &Url, room: &mut usize) {
    let Some(said) = node.attr(name) else {
        return;
    };
    let whole =
        to_absolute_url(&said, base).filter(|whole| whole.len() <= (*room).min(LINK_BYTES_MAX));
    match whole {
        Some(whole) => {
            *room -= whole.len();
            node.set_attr(name, &whole);
        }
        None => node.remove_attr(name),
    }
}

fn to_absolute_url(said: &str, base: &Url) -> Option<String> {
    // A place on this very page.
    if said.len() > LINK_BYTES_MAX || said.starts_with('#') {
        return None;
    }
    let whole = base.join(said.trim()).ok()?;
    let leads = matches!(whole.scheme(), "http" | "https" | "mailto");
    // Within Markdown a bracket would end it.
    leads.then(|| whole.as_str().replace('(', "%28").replace(')', "%29"))
}
