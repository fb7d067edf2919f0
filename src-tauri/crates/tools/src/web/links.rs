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
    let declared_base = document.tree.base_uri();
    let base = declared_base
        .and_then(|declared_base| page.join(&declared_base).ok())
        .unwrap_or(page);
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
    let Some(address) = node.attr(name) else {
        return;
    };
    let absolute = to_absolute_url(&address, base)
        .filter(|absolute| absolute.len() <= (*room).min(LINK_BYTES_MAX));
    match absolute {
        Some(absolute) => {
            *room -= absolute.len();
            node.set_attr(name, &absolute);
        }
        None => node.remove_attr(name),
    }
}

fn to_absolute_url(address: &str, base: &Url) -> Option<String> {
    // A place on this very page.
    if address.len() > LINK_BYTES_MAX || address.starts_with('#') {
        return None;
    }
    let absolute = base.join(address.trim()).ok()?;
    let leads = matches!(absolute.scheme(), "http" | "https" | "mailto");
    // Within Markdown a bracket would end it.
    leads.then(|| absolute.as_str().replace('(', "%28").replace(')', "%29"))
}
