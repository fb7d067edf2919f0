//! How values are written into addresses, headers and forms: the styles of OpenAPI, with what could be mistaken encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::operation::Style;

/// Everything but what never means anything.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'~')
    .remove(b'.');
/// In a label a dot means something.
const LABEL: &AsciiSet = &STRICT.add(b'.');
/// What may stay where a document says that reserved characters do: none of those that end a value.
const RESERVED: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b';');

/// A value that is written somewhere.
pub(crate) enum Written<'a> {
    /// One thing.
    One(String),
    /// Several, in order.
    List(Vec<String>),
    /// Several by their names.
    Members(Vec<(&'a str, String)>),
}

/// How one thing is written; none for nothing.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(value.to_string()),
        Value::String(value) => Some(value.clone()),
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

/// A value by its shape; none for nothing. What lies deeper is written as JSON.
pub(crate) fn shape(value: &Value) -> Option<Written<'_>> {
    Some(match value {
        Value::Array(items) => Written::List(items.iter().filter_map(scalar).collect()),
        Value::Object(members) => Written::Members(
            members
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), scalar(value)?)))
                .collect(),
        ),
        one => Written::One(scalar(one)?),
    })
}

/// Encoded so that nothing of it means anything.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, STRICT).to_string()
}

fn by(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

/// A value in a path.
///
/// # Errors
/// Why it cannot stand there, as a clause.
pub(crate) fn path(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
) -> Result<String, String> {
    let empty = || "is empty, and a path has a place for it".to_owned();
    let written = shape(value).ok_or_else(empty)?;
    let set = match style {
        Style::Label => LABEL,
        Style::Matrix
        | Style::Simple
        | Style::Form
        | Style::SpaceDelimited
        | Style::PipeDelimited
        | Style::DeepObject => STRICT,
    };
    let name = by(name, set);
    let pairs = |members: &[(&str, String)], between: &str| -> Vec<String> {
        let pair = |(name, value): &(&str, String)| {
            format!("{}{between}{}", by(name, set), by(value, set))
        };
        members.iter().map(pair).collect()
    };
    let list =
        |items: &[String]| -> Vec<String> { items.iter().map(|item| by(item, set)).collect() };
    let text = match (style, written) {
        (Style::Label, Written::One(one)) => format!(".{}", by(&one, set)),
        (Style::Label, Written::List(items)) => {
            format!(".{}", list(&items).join(if explode { "." } else { "," }))
        }
        (Style::Label, Written::Members(members)) if explode => {
            format!(".{}", pairs(&members, "=").join("."))
        }
        (Style::Label, Written::Members(members)) => format!(".{}", pairs(&members, ",").join(",")),
        (Style::Matrix, Written::One(one)) => format!(";{name}={}", by(&one, set)),
        (Style::Matrix, Written::List(items)) if explode => {
            let items = items
                .iter()
                .map(|item| format!(";{name}={}", by(item, set)));
            items.collect()
        }
        (Style::Matrix, Written::List(items)) => format!(";{name}={}", list(&items).join(",")),
        (Style::Matrix, Written::Members(members)) if explode => {
            format!(";{}", pairs(&members, "=").join(";"))
        }
        (Style::Matrix, Written::Members(members)) => {
            format!(";{name}={}", pairs(&members, ",").join(","))
        }
        (_, Written::One(one)) => by(&one, set),
        (_, Written::List(items)) => list(&items).join(","),
        (_, Written::Members(members)) => {
            pairs(&members, if explode { "=" } else { "," }).join(",")
        }
    };
    match text.trim_matches(['.', ';', ',', '=']).is_empty() && text.len() < 2 {
        true => Err(empty()),
        false => Ok(text),
    }
}

/// A value in a query or a form: pairs, encoded. Nothing gives none.
///
/// # Errors
/// Why it cannot be written so, as a clause.
pub(crate) fn pairs(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
    reserved: bool,
) -> Result<Vec<(String, String)>, String> {
    if style == Style::DeepObject && (value.is_object() || value.is_array()) {
        let mut all = Vec::new();
        deep(&encoded(name), value, &mut all);
        return Ok(all);
    }
    let Some(written) = shape(value) else {
        return Ok(Vec::new());
    };
    let set = if reserved { RESERVED } else { STRICT };
    let (mark, between) = match style {
        Style::SpaceDelimited => (Some(' '), "%20"),
        Style::PipeDelimited => (Some('|'), "%7C"),
        Style::Form | Style::Simple | Style::Label | Style::Matrix | Style::DeepObject => {
            (None, ",")
        }
    };
    let check = |item: &String| match mark.is_some_and(|mark| item.contains(mark)) {
        true => Err("has an item that holds the very sign that stands between items".to_owned()),
        false => Ok(()),
    };
    let name = encoded(name);
    Ok(match written {
        Written::One(one) => vec![(name, by(&one, set))],
        Written::List(items) if explode => {
            let items = items.iter().map(|item| (name.clone(), by(item, set)));
            items.collect()
        }
        Written::List(items) if items.is_empty() => Vec::new(),
        Written::List(items) => {
            items.iter().try_for_each(check)?;
            // A comma that belongs to an item is encoded, even where others like it stay.
            let items: Vec<String> = items.iter().map(|item| by(item, set)).collect();
            vec![(name, items.join(between))]
        }
        Written::Members(members) if explode => {
            let members = members.iter();
            members
                .map(|(name, value)| (encoded(name), by(value, set)))
                .collect()
        }
        Written::Members(members) if members.is_empty() => Vec::new(),
        Written::Members(members) => {
            let mut flat = Vec::new();
            for (name, value) in members {
                let name = name.to_owned();
                check(&name)?;
                check(&value)?;
                flat.push(by(&name, set));
                flat.push(by(&value, set));
            }
            vec![(name, flat.join(between))]
        }
    })
}

/// Members of members, each by the whole way to it: `a[b][c]=1`.
fn deep(name: &str, value: &Value, all: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                deep(&format!("{name}%5B{}%5D", encoded(member)), value, all);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                deep(&format!("{name}%5B{at}%5D"), value, all);
            }
        }
        one => all.extend(scalar(one).map(|one| (name.to_owned(), encoded(&one)))),
    }
}

/// A value in a header; none for nothing.
///
/// # Errors
/// Why it cannot be sent, as a clause.
pub(crate) fn header(value: &Value, explode: bool) -> Result<Option<String>, String> {
    let Some(written) = shape(value) else {
        return Ok(None);
    };
    let plain = |text: &str| match text.contains(',') {
        true => Err("has an item that holds the very sign that stands between items".to_owned()),
        false => Ok(text.to_owned()),
    };
    let text = match written {
        Written::One(one) => one,
        Written::List(items) => {
            let items: Result<Vec<String>, String> = items.iter().map(|item| plain(item)).collect();
            items?.join(",")
        }
        Written::Members(members) => {
            let between = if explode { "=" } else { "," };
            let one = |(name, value): &(&str, String)| {
                Ok::<_, String>(format!("{}{between}{}", plain(name)?, plain(value)?))
            };
            let members: Result<Vec<String>, String> = members.iter().map(one).collect();
            members?.join(",")
        }
    };
    let is_sendable = |c: char| c == '\t' || !c.is_control();
    match text.chars().all(is_sendable) && text.trim() == text {
        true if text.is_ascii() => Ok((!text.is_empty()).then_some(text)),
        true => Err("holds characters that no header can hold".to_owned()),
        false => Err(
            "holds a line end, a control character, or a space at an end, which no header can hold"
                .to_owned(),
        ),
    }
}

/// What stands in a query, or in a form.
pub(crate) fn joined(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// The fields of a form without a way of their own: lists one by one, what lies deeper as JSON.
pub(crate) fn fields(members: &Map<String, Value>, name: &str) -> Vec<(String, String)> {
    let Some(value) = members.get(name) else {
        return Vec::new();
    };
    let pair = |value: &Value| Some((encoded(name), encoded(&scalar(value)?)));
    match value {
        Value::Array(items) => items.iter().filter_map(pair).collect(),
        one => pair(one).into_iter().collect(),
    }
}
