//! Encodes values into URLs, headers and forms: the styles of OpenAPI, with every ambiguous character escaped.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::document::operation::ParameterStyle;

/// Every character except those that never have a special meaning.
const STRICT_SET: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'~')
    .remove(b'.');
/// Characters to escape in a label, in which a dot is a separator.
const LABEL_SET: &AsciiSet = &STRICT_SET.add(b'.');
/// Characters to escape where a document allows reserved characters: still those that would end a value.
const RESERVED_SET: &AsciiSet = &STRICT_SET
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

/// A value to encode in a style.
pub(crate) enum StyledValue<'a> {
    /// A single value.
    Scalar(String),
    /// Several values, in order.
    List(Vec<String>),
    /// Several values with their names.
    Members(Vec<(&'a str, String)>),
}

/// Returns the text of a scalar; none for null.
pub(crate) fn scalar_to_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(value.to_string()),
        Value::String(value) => Some(value.clone()),
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

/// Converts a value according to its shape; none for null. Deeper levels are written as JSON.
pub(crate) fn to_styled_value(value: &Value) -> Option<StyledValue<'_>> {
    Some(match value {
        Value::Array(items) => StyledValue::List(items.iter().filter_map(scalar_to_text).collect()),
        Value::Object(members) => StyledValue::Members(
            members
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), scalar_to_text(value)?)))
                .collect(),
        ),
        scalar => StyledValue::Scalar(scalar_to_text(scalar)?),
    })
}

/// Percent-encodes a text so that none of its characters has a special meaning.
pub(crate) fn encode_strict(text: &str) -> String {
    utf8_percent_encode(text, STRICT_SET).to_string()
}

fn encode_with(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

/// Encodes a value in a path.
///
/// # Errors
/// The reason why it cannot stand there, as a clause.
pub(crate) fn encode_path_value(
    name: &str,
    value: &Value,
    style: ParameterStyle,
    explode: bool,
) -> Result<String, String> {
    let empty = || "is empty, and a path has a place for it".to_owned();
    let styled = to_styled_value(value).ok_or_else(empty)?;
    let set = match style {
        ParameterStyle::Label => LABEL_SET,
        ParameterStyle::Matrix
        | ParameterStyle::Simple
        | ParameterStyle::Form
        | ParameterStyle::SpaceDelimited
        | ParameterStyle::PipeDelimited
        | ParameterStyle::DeepObject => STRICT_SET,
    };
    let name = encode_with(name, set);
    let pairs = |members: &[(&str, String)], between: &str| -> Vec<String> {
        let pair = |(name, value): &(&str, String)| {
            format!(
                "{}{between}{}",
                encode_with(name, set),
                encode_with(value, set)
            )
        };
        members.iter().map(pair).collect()
    };
    let list = |items: &[String]| -> Vec<String> {
        items.iter().map(|item| encode_with(item, set)).collect()
    };
    let text = match (style, styled) {
        (ParameterStyle::Label, StyledValue::Scalar(scalar)) => {
            format!(".{}", encode_with(&scalar, set))
        }
        (ParameterStyle::Label, StyledValue::List(items)) => {
            format!(".{}", list(&items).join(if explode { "." } else { "," }))
        }
        (ParameterStyle::Label, StyledValue::Members(members)) if explode => {
            format!(".{}", pairs(&members, "=").join("."))
        }
        (ParameterStyle::Label, StyledValue::Members(members)) => {
            format!(".{}", pairs(&members, ",").join(","))
        }
        (ParameterStyle::Matrix, StyledValue::Scalar(scalar)) => {
            format!(";{name}={}", encode_with(&scalar, set))
        }
        (ParameterStyle::Matrix, StyledValue::List(items)) if explode => {
            let items = items
                .iter()
                .map(|item| format!(";{name}={}", encode_with(item, set)));
            items.collect()
        }
        (ParameterStyle::Matrix, StyledValue::List(items)) => {
            format!(";{name}={}", list(&items).join(","))
        }
        (ParameterStyle::Matrix, StyledValue::Members(members)) if explode => {
            format!(";{}", pairs(&members, "=").join(";"))
        }
        (ParameterStyle::Matrix, StyledValue::Members(members)) => {
            format!(";{name}={}", pairs(&members, ",").join(","))
        }
        (_, StyledValue::Scalar(scalar)) => encode_with(&scalar, set),
        (_, StyledValue::List(items)) => list(&items).join(","),
        (_, StyledValue::Members(members)) => {
            pairs(&members, if explode { "=" } else { "," }).join(",")
        }
    };
    match text.trim_matches(['.', ';', ',', '=']).is_empty() && text.len() < 2 {
        true => Err(empty()),
        false => Ok(text),
    }
}

/// Encodes a value in a query or a form as pairs. Null gives no pair.
///
/// # Errors
/// The reason why it cannot be written so, as a clause.
pub(crate) fn encode_pairs(
    name: &str,
    value: &Value,
    style: ParameterStyle,
    explode: bool,
    reserved: bool,
) -> Result<Vec<(String, String)>, String> {
    if style == ParameterStyle::DeepObject && (value.is_object() || value.is_array()) {
        let mut all = Vec::new();
        flatten_deep_object(&encode_strict(name), value, &mut all);
        return Ok(all);
    }
    let Some(styled) = to_styled_value(value) else {
        return Ok(Vec::new());
    };
    let set = if reserved { RESERVED_SET } else { STRICT_SET };
    let (separator, between) = match style {
        ParameterStyle::SpaceDelimited => (Some(' '), "%20"),
        ParameterStyle::PipeDelimited => (Some('|'), "%7C"),
        ParameterStyle::Form
        | ParameterStyle::Simple
        | ParameterStyle::Label
        | ParameterStyle::Matrix
        | ParameterStyle::DeepObject => (None, ","),
    };
    let check = |item: &String| match separator.is_some_and(|separator| item.contains(separator)) {
        true => Err("has an item that holds the very sign that stands between items".to_owned()),
        false => Ok(()),
    };
    let name = encode_strict(name);
    Ok(match styled {
        StyledValue::Scalar(scalar) => vec![(name, encode_with(&scalar, set))],
        StyledValue::List(items) if explode => {
            let items = items
                .iter()
                .map(|item| (name.clone(), encode_with(item, set)));
            items.collect()
        }
        StyledValue::List(items) if items.is_empty() => Vec::new(),
        StyledValue::List(items) => {
            items.iter().try_for_each(check)?;
            // A comma that belongs to an item is encoded, even where others like it stay.
            let items: Vec<String> = items.iter().map(|item| encode_with(item, set)).collect();
            vec![(name, items.join(between))]
        }
        StyledValue::Members(members) if explode => {
            let members = members.iter();
            members
                .map(|(name, value)| (encode_strict(name), encode_with(value, set)))
                .collect()
        }
        StyledValue::Members(members) if members.is_empty() => Vec::new(),
        StyledValue::Members(members) => {
            let mut flat = Vec::new();
            for (name, value) in members {
                let name = name.to_owned();
                check(&name)?;
                check(&value)?;
                flat.push(encode_with(&name, set));
                flat.push(encode_with(&value, set));
            }
            vec![(name, flat.join(between))]
        }
    })
}

/// Flattens nested members, each named by its full path: `a[b][c]=1`.
fn flatten_deep_object(name: &str, value: &Value, all: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                flatten_deep_object(
                    &format!("{name}%5B{}%5D", encode_strict(member)),
                    value,
                    all,
                );
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                flatten_deep_object(&format!("{name}%5B{at}%5D"), value, all);
            }
        }
        scalar => all
            .extend(scalar_to_text(scalar).map(|scalar| (name.to_owned(), encode_strict(&scalar)))),
    }
}

/// Encodes a value in a header; none for null.
///
/// # Errors
/// The reason why it cannot be sent, as a clause.
pub(crate) fn encode_header_value(value: &Value, explode: bool) -> Result<Option<String>, String> {
    let Some(styled) = to_styled_value(value) else {
        return Ok(None);
    };
    let plain = |text: &str| match text.contains(',') {
        true => Err("has an item that holds the very sign that stands between items".to_owned()),
        false => Ok(text.to_owned()),
    };
    let text = match styled {
        StyledValue::Scalar(scalar) => scalar,
        StyledValue::List(items) => {
            let items: Result<Vec<String>, String> = items.iter().map(|item| plain(item)).collect();
            items?.join(",")
        }
        StyledValue::Members(members) => {
            let between = if explode { "=" } else { "," };
            let pair = |(name, value): &(&str, String)| {
                Ok::<_, String>(format!("{}{between}{}", plain(name)?, plain(value)?))
            };
            let members: Result<Vec<String>, String> = members.iter().map(pair).collect();
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

/// Joins pairs into the text of a query or a form.
pub(crate) fn join_pairs(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// Encodes the fields of a form that have no encoding of their own: lists item by item, deeper levels as JSON.
pub(crate) fn encode_form_fields(
    members: &Map<String, Value>,
    name: &str,
) -> Vec<(String, String)> {
    let Some(value) = members.get(name) else {
        return Vec::new();
    };
    let pair = |value: &Value| Some((encode_strict(name), encode_strict(&scalar_to_text(value)?)));
    match value {
        Value::Array(items) => items.iter().filter_map(pair).collect(),
        scalar => pair(scalar).into_iter().collect(),
    }
}
