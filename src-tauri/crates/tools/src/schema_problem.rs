//! Formats a problem found by a schema check as a clause: the member, the expected and the given value.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use crate::limits::PROBLEMS_MAX;
use crate::name_suggestions::{find_close_names, format_suggestion};
use crate::text::{quote_truncated, truncate_chars};

/// Longest excerpt of a given value, in characters.
const GIVEN_CHARS_MAX: usize = 60;

/// Longest clause, in characters: names and values that the caller chooses can be of any length.
const CLAUSE_CHARS_MAX: usize = 1_000;

/// Formats the clause for one problem. `members` are the members that the arguments may have, `name` maps each of them
/// to the name that the caller uses.
pub fn describe_problem<'a>(
    error: &ValidationError<'_>,
    members: &'a [String],
    name: &dyn Fn(&'a str) -> &'a str,
) -> String {
    truncate_chars(&describe_by_kind(error, members, name), CLAUSE_CHARS_MAX)
}

fn describe_by_kind<'a>(
    error: &ValidationError<'_>,
    members: &'a [String],
    name: &dyn Fn(&'a str) -> &'a str,
) -> String {
    let path = format_member_path(error.instance_path().as_str(), members, name);
    let at = if path.is_empty() {
        "the arguments".to_owned()
    } else {
        format!("`{path}`")
    };
    let actual = format_given_value(error.instance());
    match error.kind() {
        Kind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            let called = members
                .iter()
                .find(|member| path.is_empty() && *member == property);
            let called = called.map_or(property, |member| name(member));
            match path.as_str() {
                "" => format!("`{called}` is missing"),
                _ => format!("`{path}.{called}` is missing"),
            }
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            describe_unknown_members(unexpected, &path, members, name)
        }
        Kind::Type { kind } => format!(
            "{at} must be {}, but {actual} was given",
            format_expected_type(kind)
        ),
        Kind::Enum { options } => {
            let options = options.as_array().map_or_else(Vec::new, |options| {
                options.iter().map(ToString::to_string).collect::<Vec<_>>()
            });
            format!(
                "{at} must be one of {}, but {actual} was given",
                options.join(", ")
            )
        }
        Kind::Constant { expected_value } => {
            format!("{at} must be {expected_value}, but {actual} was given")
        }
        Kind::Minimum { limit } => format!("{at} must be at least {limit}, but {actual} was given"),
        Kind::Maximum { limit } => format!("{at} must be at most {limit}, but {actual} was given"),
        Kind::ExclusiveMinimum { limit } => {
            format!("{at} must be more than {limit}, but {actual} was given")
        }
        Kind::ExclusiveMaximum { limit } => {
            format!("{at} must be less than {limit}, but {actual} was given")
        }
        Kind::MinLength { limit: 1 } => format!("{at} must not be empty"),
        Kind::MinLength { limit } => format!("{at} must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!(
            "{at} must have at most {limit} characters, but {} were given",
            error
                .instance()
                .as_str()
                .map_or(0, |text| text.chars().count())
        ),
        Kind::MinItems { limit } => format!(
            "{at} must have at least {limit} items, but {} were given",
            item_count(error)
        ),
        Kind::MaxItems { limit } => format!(
            "{at} must have at most {limit} items, but {} were given",
            item_count(error)
        ),
        Kind::UniqueItems => format!("{at} must not have the same item twice"),
        Kind::Pattern { pattern } => {
            format!("{at} must fit the pattern {pattern}, but {actual} was given")
        }
        // Foreign schemas may use any keyword; what the checker says of it names the value and the keyword.
        _ if path.is_empty() => error.to_string(),
        _ => format!("{at}: {error}"),
    }
}

fn describe_unknown_members<'a>(
    unexpected: &[String],
    path: &str,
    members: &'a [String],
    name: &dyn Fn(&'a str) -> &'a str,
) -> String {
    let names: Vec<&str> = members.iter().map(|member| name(member)).collect();
    let mut clauses: Vec<String> = unexpected
        .iter()
        .take(PROBLEMS_MAX)
        .map(|member| match path {
            "" => {
                let close = format_suggestion(&find_close_names(member, names.iter().copied()));
                format!(
                    "`{member}` is not a member of the arguments (there are {}).{close}",
                    names.join(", ")
                )
            }
            _ => format!("`{member}` is not a member of `{path}`"),
        })
        .collect();
    if unexpected.len() > PROBLEMS_MAX {
        clauses.push(format!("and {} more", unexpected.len() - PROBLEMS_MAX));
    }
    clauses.join("; ")
}

/// Formats `/items/0/status` as `items[0].status`, with its first member under the name that the caller uses.
fn format_member_path<'a>(
    pointer: &str,
    members: &'a [String],
    name: &dyn Fn(&'a str) -> &'a str,
) -> String {
    let mut path = String::new();
    for (depth, segment) in pointer.split('/').skip(1).enumerate() {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        if depth == 0 {
            let member = members.iter().find(|member| **member == segment);
            path.push_str(member.map_or(&segment, |member| name(member)));
        } else if segment.bytes().all(|byte| byte.is_ascii_digit()) {
            path += &format!("[{segment}]");
        } else {
            path += &format!(".{segment}");
        }
    }
    path
}

fn format_expected_type(kind: &TypeKind) -> String {
    let with_article = |name: String| match name.as_str() {
        "null" => name,
        "array" | "integer" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(one) => with_article(one.to_string()),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several
                .iter()
                .map(|one| with_article(one.to_string()))
                .collect();
            names.join(" or ")
        }
    }
}

fn format_given_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => format!("the number {value}"),
        Value::String(value) => format!("the string {}", quote_truncated(value, GIVEN_CHARS_MAX)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn item_count(error: &ValidationError<'_>) -> usize {
    error.instance().as_array().map_or(0, Vec::len)
}
