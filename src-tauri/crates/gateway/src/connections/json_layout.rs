//! Puts an item into the text of a JSON list or object, or takes one out, laid out as what is there.

use std::ops::Range;

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// Indentation of a file that has none.
pub(super) const INDENT: &str = "  ";
/// What may stand between two words of a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// Where a list or an object stands, and what stands in it, names included.
pub(super) struct Container {
    pub(super) range: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
}

/// Puts an item behind the others of a container: on a line of its own, or on the one line that the container has.
pub(super) fn append_item(
    text: &str,
    container: &Container,
    name: Option<&str>,
    value: &Value,
) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = indent_unit(text);
    let outer = format!("{newline}{}", line_indent(text, container.range.start));
    let last = container.items.last();
    let gap = match last {
        None => format!("{outer}{unit}"),
        Some(_) if !text[container.range.clone()].contains('\n') => " ".to_owned(),
        Some(last) => format!("{newline}{}", line_indent(text, last.start)),
    };
    let value = match gap.as_str() {
        " " => value.to_string(),
        gap => format_json(value, unit).replace('\n', gap),
    };
    let item = match name {
        Some(name) => format!("{gap}{}: {value}", Value::from(name)),
        None => format!("{gap}{value}"),
    };
    let mut edited = text.to_owned();
    let Some(last) = last else {
        let close = container.range.end - 1;
        let end = text[..close].trim_end().len();
        let is_closed = text[end..close].contains('\n');
        let tail = if is_closed { "" } else { &outer };
        edited.insert_str(end, &format!("{item}{tail}"));
        return edited;
    };
    match find_comma(text, last.end) {
        Some(comma) => {
            edited.insert_str(skip_line_comments(text, comma + 1), &format!("{item},"));
        }
        None => {
            edited.insert_str(skip_line_comments(text, last.end), &item);
            edited.insert(last.end, ',');
        }
    }
    edited
}

/// Takes an item out: with the line that it has for itself, or else with the blanks behind it.
pub(super) fn cut_item(text: &str, container: &Container, index: usize) -> String {
    let Container { range, items } = container;
    let item = &items[index];
    let comma = find_comma(text, item.end);
    let end = comma.map_or(item.end, |comma| comma + 1);
    let (inner_start, inner_end) = (range.start + 1, range.end - 1);
    let around = [&text[inner_start..item.start], &text[end..inner_end]];
    if around.iter().all(|around| around.trim().is_empty()) {
        return format!("{}{}", &text[..inner_start], &text[inner_end..]);
    }
    let after = text[end..].trim_start_matches(BLANKS);
    let (before, after) = match after.starts_with(['\r', '\n', ']', '}']) {
        true => (trim_line_start(&text[..item.start]), &text[end..]),
        false => (&text[..item.start], after),
    };
    // The item that becomes the last one needs no comma, where the one that goes had none.
    let previous = index.checked_sub(1).filter(|_| comma.is_none());
    let mut edited = format!("{before}{after}");
    if let Some(spare) = previous.and_then(|index| find_comma(text, items[index].end)) {
        edited.remove(spare);
    }
    edited
}

/// Formats a value over several lines.
pub(super) fn format_json(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    let text = written.ok().and_then(|()| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_string())
}

/// Returns the indentation of the first line that has one.
fn indent_unit(text: &str) -> &str {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut indents = lines
        .map(leading_blanks)
        .filter(|indent| !indent.is_empty());
    indents.next().unwrap_or(INDENT)
}

/// Returns the indentation of the line with a place.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    leading_blanks(&text[start..at])
}

fn leading_blanks(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(BLANKS).len()]
}

/// Returns the place of the comma behind an item, past blanks and comments.
fn find_comma(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        match comment_length(&rest[blank..]) {
            0 => return rest[blank..].starts_with(',').then_some(at + blank),
            length => at += blank + length,
        }
    }
}

/// Returns the place behind the comments that follow on the same line.
fn skip_line_comments(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blank = leading_blanks(rest).len();
        match comment_length(&rest[blank..]) {
            0 => return at,
            length => at += blank + length,
        }
    }
}

/// Returns the length of the comment that a text begins with; 0 if it begins with none.
fn comment_length(text: &str) -> usize {
    match text.get(..2) {
        Some("//") => text.find(['\r', '\n']).unwrap_or(text.len()),
        Some("/*") => text[2..].find("*/").map_or(text.len(), |end| end + 4),
        _ => 0,
    }
}

/// Trims the indentation that a text ends with, and the line end before it.
fn trim_line_start(text: &str) -> &str {
    let text = text.trim_end_matches(BLANKS);
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
