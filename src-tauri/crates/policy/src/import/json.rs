//! JSON with comments and lines, as people write their settings in.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use protocol::Fault;

use super::wrong;

/// Reads a text; the value borrows from it. None if it is empty.
pub(super) fn parse<'a>(text: &'a str, product: &str) -> Result<Option<Value<'a>>, Fault> {
    let options = ParseOptions {
        allow_missing_commas: false,
        ..ParseOptions::default()
    };
    parse_to_ast(text, &CollectOptions::default(), &options)
        .map(|read| read.value)
        .map_err(|error| wrong(product, error.line_display(), &error.kind().to_string()))
}

/// The line of a value, from 1.
pub(super) fn line_of(text: &str, at: usize) -> u32 {
    let before = text.get(..at).unwrap_or(text);
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}

/// A member with its name, its line and its value.
pub(super) fn member<'v, 'a>(text: &str, prop: &'v ObjectProp<'a>) -> (String, u32, &'v Value<'a>) {
    let name = prop.name.as_str().to_owned();
    (name, line_of(text, prop.range.start), &prop.value)
}

/// Where a value begins.
pub(super) fn start(value: &Value<'_>) -> usize {
    value.range().start
}
