//! Validates the values that a person filled in against the form before they are sent to a server.

use protocol::UserError;
use protocol::server::elicitation::{FieldKind, FormField, TextFormat};
use protocol::text::display_text::{join_spans, to_single_line};
use serde_json::{Map, Value};
use tools::text::format_count;

use crate::limits::{FORM_ANSWER_CHARS_MAX, NAME_CHARS_MAX};

/// Returns the answer for the server: only the fields of the form, in its order.
///
/// # Errors
/// The value that does not fit its field, and which values would.
pub fn validate_answers(
    fields: &[FormField],
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, UserError> {
    if let Some(unknown) = values
        .keys()
        .find(|name| fields.iter().all(|field| field.name != **name))
    {
        let unknown = to_single_line(unknown, NAME_CHARS_MAX);
        return Err(UserError::new(
            format!("`{unknown}` is not a field of this form."),
            "Fill in what is asked for.",
        ));
    }
    let mut answer = Map::new();
    for field in fields {
        let value = values.get(&field.name).filter(|value| !value.is_null());
        match value {
            None if field.required => {
                return Err(field_error(field, "it has to be filled in".to_owned()));
            }
            None => {}
            Some(value) => match describe_value_problem(&field.kind, value) {
                Some(why) => return Err(field_error(field, why)),
                None => {
                    answer.insert(field.name.clone(), value.clone());
                }
            },
        }
    }
    Ok(answer)
}

fn field_error(field: &FormField, why: String) -> UserError {
    let title = to_single_line(&join_spans(&field.title), NAME_CHARS_MAX);
    UserError::new(
        format!("“{title}” does not fit: {why}."),
        "Change it, or decline.",
    )
}

/// Describes why a value does not fit a field, as a clause; none if it fits.
fn describe_value_problem(kind: &FieldKind, value: &Value) -> Option<String> {
    match (kind, value) {
        (
            FieldKind::Text {
                format,
                chars_min,
                chars_max,
                ..
            },
            Value::String(text),
        ) => describe_text_problem(text, *format, *chars_min, *chars_max),
        (
            FieldKind::Number {
                integer, min, max, ..
            },
            Value::Number(number),
        ) => describe_number_problem(number.as_f64()?, *integer, *min, *max),
        (FieldKind::Boolean { .. }, Value::Bool(_)) => None,
        (FieldKind::Choice { options, .. }, Value::String(value)) => {
            let is_option = options.iter().any(|option| option.value == *value);
            (!is_option).then(|| "it is not one of those to choose from".to_owned())
        }
        (
            FieldKind::Choices {
                options,
                items_min,
                items_max,
                ..
            },
            Value::Array(chosen),
        ) => {
            let is_option = |value: &Value| options.iter().any(|option| *value == option.value);
            let twice = (1..chosen.len()).any(|at| chosen[..at].contains(&chosen[at]));
            let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
            if !chosen.iter().all(is_option) || twice {
                return Some("something is chosen that is not there, or twice".to_owned());
            }
            if let Some(min) = items_min.filter(|min| count < *min) {
                return Some(format!("at least {min} have to be chosen"));
            }
            let max = items_max.filter(|max| count > *max)?;
            Some(format!("at most {max} may be chosen"))
        }
        (FieldKind::Text { .. }, _) => Some("it has to be a text".to_owned()),
        (FieldKind::Number { .. }, _) => Some("it has to be a number".to_owned()),
        (FieldKind::Boolean { .. }, _) => Some("it has to be yes or no".to_owned()),
        (FieldKind::Choice { .. }, _) => Some("one has to be chosen".to_owned()),
        (FieldKind::Choices { .. }, _) => Some("it has to be a list of what is chosen".to_owned()),
    }
}

/// Describes why a number does not fit a field, as a clause; none if it fits.
pub(super) fn describe_number_problem(
    number: f64,
    integer: bool,
    min: Option<f64>,
    max: Option<f64>,
) -> Option<String> {
    if integer && number.fract() != 0.0 {
        return Some("it has to be a whole number".to_owned());
    }
    if let Some(min) = min.filter(|min| number < *min) {
        return Some(format!("it has to be at least {min}"));
    }
    let max = max.filter(|max| number > *max)?;
    Some(format!("it has to be at most {max}"))
}

fn describe_text_problem(
    text: &str,
    format: Option<TextFormat>,
    chars_min: Option<u32>,
    chars_max: Option<u32>,
) -> Option<String> {
    let chars = text.chars().count() as u64;
    if chars > FORM_ANSWER_CHARS_MAX {
        let most = format_count(FORM_ANSWER_CHARS_MAX, "character", "characters");
        return Some(format!("it may have at most {most}"));
    }
    if let Some(min) = chars_min.filter(|min| chars < u64::from(*min)) {
        let least = format_count(min.into(), "character", "characters");
        return Some(format!("it has to have at least {least}"));
    }
    if let Some(max) = chars_max.filter(|max| chars > u64::from(*max)) {
        let most = format_count(max.into(), "character", "characters");
        return Some(format!("it may have at most {most}"));
    }
    let (fits, what) = match format? {
        TextFormat::Email => (is_email(text), "an email address, name@example.org"),
        TextFormat::Uri => (
            url::Url::parse(text).is_ok(),
            "an address, https://example.org",
        ),
        TextFormat::Date => (is_date(text), "a date, 2026-11-22"),
        TextFormat::DateTime => (
            is_date_time(text),
            "a date with a time, 2026-11-22T14:45:00Z",
        ),
    };
    (!fits).then(|| format!("it has to be {what}"))
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else {
        return false;
    };
    let plain = |part: &str| {
        let bad = |c: char| c.is_whitespace() || c.is_control();
        !part.is_empty() && !part.contains(bad) && !part.starts_with('.') && !part.ends_with('.')
    };
    plain(name) && plain(host) && !name.contains('@') && !host.contains("..")
}

fn is_date(text: &str) -> bool {
    text.len() == "2026-11-22".len() && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let has_time = text.contains(['T', 't']);
    has_time && text.parse::<jiff::Timestamp>().is_ok()
}
