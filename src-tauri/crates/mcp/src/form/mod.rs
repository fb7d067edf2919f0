//! Parses a server's form, field by field, from the restricted schema that the protocol allows.

mod secret_warning;
mod validation;

use protocol::server::elicitation::{FieldKind, FormField, FormOption, TextFormat};
use protocol::text::display_text::{to_single_line, to_spans};
use serde_json::{Map, Value};

use crate::limits::{
    FORM_FIELDS_MAX, FORM_OPTIONS_MAX, FORM_TEXT_CHARS_MAX, FORM_VALUE_CHARS_MAX, NAME_CHARS_MAX,
};

pub use validation::validate_answers;

/// Returns the fields of a form, in the server's order.
///
/// # Errors
/// The reason why the schema is no form, as a sentence.
pub fn parse_form(schema: &Value) -> Result<Vec<FormField>, String> {
    let Some(schema) = schema.as_object() else {
        return Err("The schema of the form is not an object.".to_owned());
    };
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Err("The schema of the form is not that of an object.".to_owned());
    }
    let none = Map::new();
    let properties = match schema.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err("The fields of the form are not an object.".to_owned()),
    };
    if properties.len() > FORM_FIELDS_MAX {
        return Err(format!(
            "The form has {} fields; at most {FORM_FIELDS_MAX} are asked at once.",
            properties.len()
        ));
    }
    let required = parse_names(schema.get("required"))
        .ok_or("What the form requires is not a list of its fields' names.".to_owned())?;
    if let Some(unknown) = required.iter().find(|name| !properties.contains_key(*name)) {
        let unknown = to_single_line(unknown, NAME_CHARS_MAX);
        return Err(format!(
            "The form requires `{unknown}`, which is not a field of it."
        ));
    }
    let fields = properties.iter().map(|(name, schema)| {
        let field = parse_field(name, schema, required.contains(name));
        field.map_err(|why| {
            let name = to_single_line(name, NAME_CHARS_MAX);
            format!("The field `{name}` of the form cannot be asked for: {why}.")
        })
    });
    fields.collect()
}

/// Returns the names in a list; an empty list if there is none.
fn parse_names(list: Option<&Value>) -> Option<Vec<String>> {
    match list {
        None => Some(Vec::new()),
        Some(list) => parse_texts(list),
    }
}

fn parse_texts(list: &Value) -> Option<Vec<String>> {
    let items = list.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}

fn parse_field(name: &str, schema: &Value, required: bool) -> Result<FormField, String> {
    let Some(schema) = schema.as_object() else {
        return Err("its schema is not an object".to_owned());
    };
    if name.is_empty() || name.chars().count() > FORM_VALUE_CHARS_MAX {
        return Err(format!(
            "its name has to have 1 to {FORM_VALUE_CHARS_MAX} characters"
        ));
    }
    let member_text = |member: &str| match schema.get(member) {
        None => Ok(""),
        Some(Value::String(text)) if text.chars().count() <= FORM_TEXT_CHARS_MAX => {
            Ok(text.as_str())
        }
        Some(Value::String(_)) => Err(format!("its {member} is too long")),
        Some(_) => Err(format!("its {member} is not text")),
    };
    let (title, description) = (member_text("title")?, member_text("description")?);
    let kind = parse_kind(schema)?;
    let warning = match &kind {
        FieldKind::Text { .. } => secret_warning::secret_warning(name, title, description),
        FieldKind::Number { .. }
        | FieldKind::Boolean { .. }
        | FieldKind::Choice { .. }
        | FieldKind::Choices { .. } => None,
    };
    Ok(FormField {
        name: name.to_owned(),
        title: to_spans(match title {
            "" => name,
            title => title,
        }),
        description: to_spans(description),
        required,
        kind,
        warning,
    })
}

fn parse_kind(schema: &Map<String, Value>) -> Result<FieldKind, String> {
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "string" if schema.contains_key("enum") || schema.contains_key("oneOf") => {
            parse_choice(schema)
        }
        "string" => parse_text_field(schema),
        "number" | "integer" => parse_number_field(schema, kind == "integer"),
        "boolean" => Ok(FieldKind::Boolean {
            default: match schema.get("default") {
                None => None,
                Some(Value::Bool(default)) => Some(*default),
                Some(_) => return Err(INVALID_DEFAULT.to_owned()),
            },
        }),
        "array" => parse_multiple_choice(schema),
        "" => Err("it does not say of which type it is".to_owned()),
        other => Err(format!(
            "fields of the type `{}` are not known",
            to_single_line(other, NAME_CHARS_MAX)
        )),
    }
}

/// Problem with a default that its own field does not accept.
const INVALID_DEFAULT: &str = "its default does not fit it";

fn parse_text_field(schema: &Map<String, Value>) -> Result<FieldKind, String> {
    let format = match schema.get("format").map(Value::as_str) {
        None => None,
        Some(Some("email")) => Some(TextFormat::Email),
        Some(Some("uri")) => Some(TextFormat::Uri),
        Some(Some("date")) => Some(TextFormat::Date),
        Some(Some("date-time")) => Some(TextFormat::DateTime),
        Some(_) => return Err("its format is not known".to_owned()),
    };
    let (chars_min, chars_max) = (
        parse_count(schema, "minLength", "minimum length")?,
        parse_count(schema, "maxLength", "maximum length")?,
    );
    check_limits_ordered(chars_min, chars_max)?;
    let default = match schema.get("default") {
        None => None,
        Some(Value::String(default)) if default.chars().count() <= FORM_TEXT_CHARS_MAX => {
            Some(default.clone())
        }
        Some(_) => return Err(INVALID_DEFAULT.to_owned()),
    };
    let kind = FieldKind::Text {
        format,
        chars_min,
        chars_max,
        default,
    };
    Ok(kind)
}

fn parse_number_field(schema: &Map<String, Value>, integer: bool) -> Result<FieldKind, String> {
    let bound = |member: &str| match schema.get(member) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(bound) => Ok(Some(bound)),
            None => Err(format!("its {member} is not a number")),
        },
    };
    let (min, max, default) = (bound("minimum")?, bound("maximum")?, bound("default")?);
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        return Err(EMPTY_LIMITS.to_owned());
    }
    let kind = FieldKind::Number {
        integer,
        min,
        max,
        default,
    };
    match default {
        Some(default)
            if validation::describe_number_problem(default, integer, min, max).is_some() =>
        {
            Err(INVALID_DEFAULT.to_owned())
        }
        Some(_) | None => Ok(kind),
    }
}

/// Problem with limits that no value can meet.
const EMPTY_LIMITS: &str = "nothing fits its limits";

fn check_limits_ordered(min: Option<u32>, max: Option<u32>) -> Result<(), String> {
    match (min, max) {
        (Some(min), Some(max)) if min > max => Err(EMPTY_LIMITS.to_owned()),
        _ => Ok(()),
    }
}

fn parse_count(
    schema: &Map<String, Value>,
    member: &str,
    called: &str,
) -> Result<Option<u32>, String> {
    let Some(value) = schema.get(member) else {
        return Ok(None);
    };
    let whole = value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|it| it.fract() == 0.0 && *it >= 0.0)
            .map(|it| it as u64)
    });
    match whole {
        Some(count) => Ok(Some(u32::try_from(count).unwrap_or(u32::MAX))),
        None => Err(format!("its {called} is not a count")),
    }
}

fn parse_choice(schema: &Map<String, Value>) -> Result<FieldKind, String> {
    let options = parse_options(schema, "oneOf")?;
    let default = match schema.get("default") {
        None => None,
        Some(Value::String(default)) if options.iter().any(|option| option.value == *default) => {
            Some(default.clone())
        }
        Some(_) => return Err(INVALID_DEFAULT.to_owned()),
    };
    Ok(FieldKind::Choice { options, default })
}

fn parse_multiple_choice(schema: &Map<String, Value>) -> Result<FieldKind, String> {
    let Some(items) = schema.get("items").and_then(Value::as_object) else {
        return Err("it does not say what there is to choose from".to_owned());
    };
    let titled_member = match items.contains_key("anyOf") {
        true => "anyOf",
        false => "oneOf",
    };
    let options = parse_options(items, titled_member)?;
    let (items_min, items_max) = (
        parse_count(schema, "minItems", "smallest number of items")?,
        parse_count(schema, "maxItems", "largest number of items")?,
    );
    check_limits_ordered(items_min, items_max)?;
    if items_min.is_some_and(|min| min as usize > options.len()) {
        return Err(EMPTY_LIMITS.to_owned());
    }
    let default = parse_names(schema.get("default")).ok_or(INVALID_DEFAULT.to_owned())?;
    let is_option = |value: &String| options.iter().any(|option| option.value == *value);
    if !default.iter().all(is_option) {
        return Err(INVALID_DEFAULT.to_owned());
    }
    Ok(FieldKind::Choices {
        options,
        items_min,
        items_max,
        default,
    })
}

/// Parses the options of a choice: bare values, values with names beside them, or values with titles.
fn parse_options(schema: &Map<String, Value>, titled: &str) -> Result<Vec<FormOption>, String> {
    let unreadable = || "what there is to choose from cannot be read".to_owned();
    let pairs: Vec<(String, String)> = match (schema.get("enum"), schema.get(titled)) {
        (_, Some(Value::Array(titled))) => {
            let pairs = titled.iter().map(|option| {
                let value = option.get("const").and_then(Value::as_str)?;
                let title = option.get("title").and_then(Value::as_str).unwrap_or(value);
                Some((value.to_owned(), title.to_owned()))
            });
            pairs.collect::<Option<_>>().ok_or_else(unreadable)?
        }
        (Some(values), None) => {
            let values = parse_texts(values).ok_or_else(unreadable)?;
            let titles = match schema.get("enumNames") {
                None => values.clone(),
                Some(titles) => parse_texts(titles).ok_or_else(unreadable)?,
            };
            if titles.len() != values.len() {
                return Err(unreadable());
            }
            values.into_iter().zip(titles).collect()
        }
        _ => return Err(unreadable()),
    };
    if pairs.is_empty() || pairs.len() > FORM_OPTIONS_MAX {
        return Err(format!(
            "it has {} things to choose from; 1 to {FORM_OPTIONS_MAX} can be shown",
            pairs.len()
        ));
    }
    let mut options: Vec<FormOption> = Vec::new();
    for (value, title) in pairs {
        if options.iter().any(|option| option.value == value) {
            return Err("it has the same thing to choose twice".to_owned());
        }
        if [&value, &title]
            .map(|text| text.chars().count())
            .iter()
            .max()
            > Some(&FORM_VALUE_CHARS_MAX)
        {
            return Err("something to choose from is too long".to_owned());
        }
        options.push(FormOption {
            title: to_spans(&title),
            value,
        });
    }
    Ok(options)
}

#[cfg(test)]
mod tests;
