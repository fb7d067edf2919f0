//! JSON with comments and lines, as people write their settings in.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use protocol::UserError;

use super::parse_error;

/// The member of a file's object that holds its permissions, with its line; none if there is none.
pub(super) fn find_section<'a>(
    text: &'a str,
    product: &str,
    name: &str,
) -> Result<Option<(u32, Value<'a>)>, UserError> {
    let options = ParseOptions {
        allow_missing_commas: false,
        ..ParseOptions::default()
    };
    let read = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| parse_error(product, error.line_display(), &error.kind().to_string()))?;
    match read.value {
        None => Ok(None),
        Some(Value::Object(mut all)) => {
            let prop = all.take(name);
            Ok(prop.map(|prop| (line_at(text, prop.range.start), prop.value)))
        }
        Some(_) => Err(parse_error(product, 1, "it is not an object")),
    }
}

/// The line of a value, from 1.
pub(super) fn line_at(text: &str, at: usize) -> u32 {
    let before = text.get(..at).unwrap_or(text);
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}

/// A member with its name, its line and its value.
pub(super) fn read_member<'v, 'a>(
    text: &str,
    prop: &'v ObjectProp<'a>,
) -> (String, u32, &'v Value<'a>) {
    let name = prop.name.as_str().to_owned();
    (name, line_at(text, prop.range.start), &prop.value)
}

/// Where a value begins.
pub(super) fn value_start(value: &Value<'_>) -> usize {
    value.range().start
}
