//! Links to the app: `countersign://session/SESSION` shows a session, `countersign://session/SESSION/call/CALL` a call of it,
//! and `countersign://waiting` the call that waits longest.
//!
//! **A link only ever shows something.** Whoever made it, a page of the web or an agent, can allow and start nothing by it.

use tauri::{AppHandle, Url};

use crate::shown_in_page::{ShowTarget, show_in_page};
use crate::tray;

/// The scheme, for which the packages make the app the system's handler: see `plugins` in the configuration.
const SCHEME: &str = "countersign";
/// The longest id that is looked for, in bytes.
const ID_BYTES_MAX: usize = 200;

/// What a link shows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LinkTarget {
    /// The call that waits longest.
    Waiting,
    /// A session or a call.
    Named(ShowTarget),
}

/// Follows the link among the arguments of a start, if there is one: so Linux and Windows open links.
pub(crate) fn follow_argument(app: &AppHandle, arguments: impl IntoIterator<Item = String>) {
    let prefix = format!("{SCHEME}:");
    let is_link = |argument: &String| argument.starts_with(&prefix);
    if let Some(link) = arguments.into_iter().skip(1).find(is_link) {
        match link.parse() {
            Ok(url) => follow_link(app, &url),
            Err(error) => tracing::warn!(%error, link, "this is no link"),
        }
    }
}

/// Follows a link.
pub(crate) fn follow_link(app: &AppHandle, url: &Url) {
    match parse_link(url) {
        Some(LinkTarget::Waiting) => tray::show_oldest_call(app),
        Some(LinkTarget::Named(target)) => show_in_page(app, target),
        None => tracing::warn!(%url, "this link leads nowhere"),
    }
}

/// Returns what a link shows; none if it leads nowhere.
fn parse_link(url: &Url) -> Option<LinkTarget> {
    let has_more = url.query().is_some() || url.fragment().is_some() || url.port().is_some();
    if url.scheme() != SCHEME || has_more || !url.username().is_empty() {
        return None;
    }
    let segments: Vec<&str> = url
        .path()
        .split('/')
        .filter(|one| !one.is_empty())
        .collect();
    match (url.host_str()?, segments.as_slice()) {
        ("waiting", []) => Some(LinkTarget::Waiting),
        ("session", [session]) if is_id(session) => Some(LinkTarget::Named(ShowTarget {
            session: (*session).into(),
            call: None,
        })),
        ("session", [session, "call", call]) if is_id(session) && is_id(call) => {
            Some(LinkTarget::Named(ShowTarget {
                session: (*session).into(),
                call: Some((*call).into()),
            }))
        }
        _ => None,
    }
}

fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    text.len() <= ID_BYTES_MAX && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(link: &str) -> Option<LinkTarget> {
        parse_link(&link.parse().unwrap())
    }

    #[test]
    fn a_link_names_a_session_a_call_or_what_waits_longest() {
        let named = |session: &str, call: Option<&str>| {
            Some(LinkTarget::Named(ShowTarget {
                session: session.into(),
                call: call.map(Into::into),
            }))
        };
        assert_eq!(parse("countersign://waiting"), Some(LinkTarget::Waiting));
        assert_eq!(
            parse("countersign://session/ses_01a2"),
            named("ses_01a2", None)
        );
        assert_eq!(
            parse("countersign://session/ses_01a2/call/toolu_01-X.y:2"),
            named("ses_01a2", Some("toolu_01-X.y:2"))
        );
    }

    #[test]
    fn every_other_link_leads_nowhere() {
        for link in [
            "countersign://session",
            "countersign://session/",
            "countersign://session/a/call",
            "countersign://session/a/call/b/allow",
            "countersign://session/a/allow/b",
            "countersign://allow/a",
            "countersign://waiting/allow",
            "countersign://waiting?decision=allow",
            "countersign://session/a#allow",
            "countersign://me@waiting",
            "countersign://waiting:80",
            "countersign:waiting",
            "countersign://session/%61",
            "countersign://session/a%2Fcall%2Fb",
            "countersign://session/<script>",
            "https://session/a",
        ] {
            assert_eq!(parse(link), None, "{link}");
        }
        assert_eq!(
            parse(&format!("countersign://session/{}", "a".repeat(201))),
            None
        );
    }
}
