//! Removes elements that a person who looks at the page does not see: they may hide instructions for a model.
//!
//! Elements are recognized if they say so themselves: `hidden`, `aria-hidden`, an inline style that shows nothing, and
//! class names that are widely used for hiding. Elements hidden by a style sheet or a script, or covered by another
//! element, are not recognized; so the remaining text is no more trustworthy for it.

use dom_query::{Document, NodeRef};

/// Class names of hidden elements.
const HIDDEN_CLASSES: [&str; 6] = [
    "d-none",
    "hide-text",
    "screen-reader-text",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
];

/// Elements that never contain readable text.
const NON_CONTENT_ELEMENTS: [&str; 18] = [
    "audio", "base", "canvas", "embed", "head", "iframe", "input", "link", "meta", "noscript",
    "object", "script", "select", "style", "svg", "template", "textarea", "video",
];

/// Removes hidden elements, and returns the number of those that contained words. Elements inside a hidden one are
/// removed with it and not inspected.
pub(super) fn remove_hidden(document: &Document) -> usize {
    let mut hidden = 0;
    let mut open: Vec<NodeRef<'_>> = Vec::new();
    let mut at = document.root().first_child();
    loop {
        let Some(node) = at else {
            match open.pop() {
                Some(node) => at = node.next_sibling(),
                None => return hidden,
            }
            continue;
        };
        let next = node.next_sibling();
        let is_hidden = is_hidden(&node);
        if is_hidden || is_non_content(&node) {
            hidden += usize::from(is_hidden && has_text(&node));
            node.remove_from_parent();
            at = next;
        } else {
            at = node.first_child();
            open.push(node);
        }
    }
}

fn is_non_content(node: &NodeRef<'_>) -> bool {
    node.is_comment() || NON_CONTENT_ELEMENTS.iter().any(|name| node.has_name(name))
}

fn has_text(node: &NodeRef<'_>) -> bool {
    node.descendants_it().any(|below| below.is_nonempty_text())
}

fn is_hidden(node: &NodeRef<'_>) -> bool {
    if !node.is_element() || node.has_name("html") || node.has_name("body") {
        return false;
    }
    let is = |name: &str, value: &str| {
        node.attr(name)
            .is_some_and(|attribute| attribute.trim().eq_ignore_ascii_case(value))
    };
    let by_class = || {
        node.attr("class").is_some_and(|classes| {
            classes
                .split_ascii_whitespace()
                .any(|one| HIDDEN_CLASSES.contains(&one))
        })
    };
    let by_style = || {
        node.attr("style")
            .is_some_and(|style| is_hidden_by_style(&style))
    };
    node.has_attr("hidden") || is("aria-hidden", "true") || by_class() || by_style()
}

/// Whether a style hides the element that has it.
fn is_hidden_by_style(style: &str) -> bool {
    let mut colours = (None, None);
    for one in style.split(';') {
        let Some((name, value)) = one.split_once(':') else {
            continue;
        };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.to_ascii_lowercase());
        let value = value.replace("!important", "");
        let value = value.trim();
        let hides = match name.as_str() {
            "display" => value == "none",
            "visibility" => value == "hidden" || value == "collapse",
            "opacity" | "font-size" | "zoom" => {
                parse_number(value).is_some_and(|size| size.abs() < 0.05)
            }
            "width" | "height" | "max-width" | "max-height" => {
                parse_number(value).is_some_and(|size| {
                    size <= 1.0 && !value.ends_with("em") && !value.ends_with('%') || size == 0.0
                })
            }
            "left" | "top" | "right" | "bottom" | "text-indent" | "margin-left" | "margin-top" => {
                parse_number(value).is_some_and(|at| at <= -900.0)
            }
            "clip" => {
                value.replace([' ', ','], "").contains("rect(00") || value.contains("rect(1px")
            }
            "clip-path" => {
                value.contains("inset(50%")
                    || value.contains("inset(100%")
                    || value.contains("circle(0")
            }
            "transform" => value.replace(' ', "").contains("scale(0)"),
            "color" => {
                colours.0 = Some(normalize_color(value));
                value == "transparent"
            }
            "background" | "background-color" => {
                colours.1 = Some(normalize_color(value));
                false
            }
            _ => false,
        };
        if hides {
            return true;
        }
    }
    matches!(colours, (Some(ink), Some(paper)) if ink == paper)
}

/// Normalizes a colour, so that two spellings of the same colour become equal.
fn normalize_color(value: &str) -> String {
    let plain = match value.trim() {
        "white" => "#ffffff",
        "black" => "#000000",
        other => other,
    };
    match plain.strip_prefix('#') {
        Some(short) if short.len() == 3 => short.chars().fold("#".to_owned(), |mut long, digit| {
            long.extend([digit, digit]);
            long
        }),
        Some(_) | None => plain.replace(' ', ""),
    }
}

/// Parses the number at the beginning of a value.
fn parse_number(value: &str) -> Option<f64> {
    let end = value
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'))
        .unwrap_or(value.len());
    value[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_show_nothing_are_known() {
        for (style, hides) in [
            ("display:none", true),
            ("DISPLAY : None !important", true),
            ("visibility: hidden", true),
            ("opacity:0", true),
            ("opacity:.0", true),
            ("font-size:0px", true),
            ("position:absolute;left:-9999px", true),
            ("text-indent:-999em", true),
            ("width:1px;height:1px;overflow:hidden", true),
            ("clip: rect(0, 0, 0, 0)", true),
            ("color:#fff;background:white", true),
            ("color: transparent", true),
            ("transform: scale( 0 )", true),
            ("", false),
            ("display:block;opacity:0.8;font-size:0.9em", false),
            ("width:1.5em;height:100%", false),
            ("color:#fff;background:#000", false),
            ("margin-left:-15px", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_hidden_by_style(style), hides, "{style}");
        }
    }
}
