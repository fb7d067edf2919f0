//! Parses the parameters of an operation: the location, the style and the argument name of each.

use protocol::text::display_text::to_single_line;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tools::sources::unique_name;

use crate::document::operation::{OperationParameter, ParameterLocation, ParameterStyle};
use crate::document::reader::{DocumentNode, DocumentReader};
use crate::document::schema::SchemaBuilder;
use crate::limits::{PARAMETERS_MAX, QUOTED_CHARS_MAX};
use crate::names::to_callable_name;

/// Headers that the document cannot set: those for the media types, for authentication, and for the connection itself.
const RESERVED_HEADERS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A parsed parameter of the document.
struct ParsedParameter<'a> {
    parameter: OperationParameter,
    node: DocumentNode<'a>,
    schema: Option<DocumentNode<'a>>,
}

/// The parameters of an operation, with the members of the tool's schema for them.
pub(crate) struct ParsedParameters {
    pub all: Vec<OperationParameter>,
    pub members: Map<String, Value>,
}

/// Parses the parameters of a path and of its operation; the operation's override those of the path.
///
/// # Errors
/// The reason why one of them cannot be sent, as a clause.
pub(crate) fn parse_parameters<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    item: DocumentNode<'a>,
    operation: DocumentNode<'a>,
    path: &str,
) -> Result<ParsedParameters, String> {
    let mut all: Vec<ParsedParameter<'a>> = Vec::new();
    for at in item
        .items_of("parameters")
        .chain(operation.items_of("parameters"))
    {
        let Some(parsed) = parse_parameter(schemas.reader, at)? else {
            continue;
        };
        let is_same = |existing: &ParsedParameter<'a>| {
            let (existing, parsed) = (&existing.parameter, &parsed.parameter);
            existing.name == parsed.name && existing.place == parsed.place
        };
        match all.iter_mut().find(|existing| is_same(existing)) {
            Some(existing) => *existing = parsed,
            None => all.push(parsed),
        }
    }
    // Those of the path are what stands in it, whether the document speaks of them or not.
    let placeholders = parse_placeholders(path)?;
    all.retain(|parsed| {
        let parameter = &parsed.parameter;
        parameter.place != ParameterLocation::Path
            || placeholders.contains(&parameter.name.as_str())
    });
    for name in placeholders {
        let is_it = |parsed: &ParsedParameter<'a>| {
            parsed.parameter.place == ParameterLocation::Path && parsed.parameter.name == name
        };
        if !all.iter().any(is_it) {
            all.push(undeclared_path_parameter(name, operation));
        }
    }
    if all.len() > PARAMETERS_MAX {
        return Err(format!("it has more than {PARAMETERS_MAX} parameters"));
    }
    assign_arguments(&mut all);
    let mut members = Map::new();
    for parsed in &all {
        let member = parameter_schema(schemas, parsed);
        members.insert(parsed.parameter.argument.clone(), member);
    }
    Ok(ParsedParameters {
        all: all.into_iter().map(|parsed| parsed.parameter).collect(),
        members,
    })
}

/// Parses one parameter; none if it is a header that the document cannot set.
fn parse_parameter<'a>(
    reader: &DocumentReader<'a>,
    at: DocumentNode<'a>,
) -> Result<Option<ParsedParameter<'a>>, String> {
    let at = reader.follow_references(at)?;
    let Some(name) = at.text("name").filter(|name| !name.is_empty()) else {
        return Err("one of its parameters has no name".to_owned());
    };
    let named = to_single_line(name, QUOTED_CHARS_MAX);
    let place = match at.text("in") {
        Some("path") => ParameterLocation::Path,
        Some("query") => ParameterLocation::Query,
        Some("header") if RESERVED_HEADERS.contains(&name.to_lowercase().as_str()) => {
            return Ok(None);
        }
        Some("header") => ParameterLocation::Header,
        Some("cookie") => ParameterLocation::Cookie,
        other => {
            let other = to_single_line(other.unwrap_or("nowhere"), QUOTED_CHARS_MAX);
            return Err(format!(
                "its parameter `{named}` goes to a place that is not known ({other})"
            ));
        }
    };
    if matches!(place, ParameterLocation::Header | ParameterLocation::Cookie)
        && !is_header_token(name)
    {
        return Err(format!(
            "its parameter `{named}` cannot be the name of a {}",
            place.as_str()
        ));
    }
    let style = parse_style(at, place).map_err(|why| format!("its parameter `{named}` {why}"))?;
    let content = at.members_of("content").next();
    // Content that is not JSON is text.
    let json = content.is_some_and(|(media, _)| crate::document::body::is_json_media_type(media));
    let schema = match content {
        Some((_, content)) => content.member("schema"),
        None => at.member("schema"),
    };
    let parameter = OperationParameter {
        name: name.to_owned(),
        argument: String::new(),
        place,
        required: place == ParameterLocation::Path || at.is_true("required"),
        style,
        explode: match at.value.get("explode").and_then(Value::as_bool) {
            Some(explode) => explode,
            None => style == ParameterStyle::Form,
        },
        reserved: place == ParameterLocation::Query && at.is_true("allowReserved"),
        json,
    };
    Ok(Some(ParsedParameter {
        parameter,
        node: at,
        schema,
    }))
}

/// Parses the style of a parameter; it must be allowed in the parameter's location, whose first style is the default.
fn parse_style(at: DocumentNode<'_>, place: ParameterLocation) -> Result<ParameterStyle, String> {
    let allowed: &[ParameterStyle] = match place {
        ParameterLocation::Path => &[
            ParameterStyle::Simple,
            ParameterStyle::Label,
            ParameterStyle::Matrix,
        ],
        ParameterLocation::Query => &[
            ParameterStyle::Form,
            ParameterStyle::SpaceDelimited,
            ParameterStyle::PipeDelimited,
            ParameterStyle::DeepObject,
        ],
        ParameterLocation::Header => &[ParameterStyle::Simple],
        ParameterLocation::Cookie => &[ParameterStyle::Form],
    };
    let Some(written) = at.value.get("style") else {
        return Ok(allowed[0]);
    };
    let style = ParameterStyle::deserialize(written).ok();
    style
        .filter(|style| allowed.contains(style))
        .ok_or_else(|| {
            let written = to_single_line(written.as_str().unwrap_or_default(), QUOTED_CHARS_MAX);
            format!("has a style that is none of its place ({written})")
        })
}

/// Creates the parameter for a placeholder that the document does not declare.
fn undeclared_path_parameter<'a>(name: &str, at: DocumentNode<'a>) -> ParsedParameter<'a> {
    ParsedParameter {
        parameter: OperationParameter {
            name: name.to_owned(),
            argument: String::new(),
            place: ParameterLocation::Path,
            required: true,
            style: ParameterStyle::Simple,
            explode: false,
            reserved: false,
            json: false,
        },
        node: at.with_value(&Value::Null),
        schema: None,
    }
}

/// Returns the names in braces in a path, in order.
///
/// # Errors
/// The reason why the path is invalid, as a clause.
fn parse_placeholders(path: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, left)) = after.split_once('}') else {
            return Err("its path has a brace that is not closed".to_owned());
        };
        if !names.contains(&name) {
            names.push(name);
        }
        rest = left;
    }
    Ok(names)
}

/// Gives every parameter an argument name. Parameters with the same name in several locations are distinguished by the
/// location.
fn assign_arguments(all: &mut [ParsedParameter<'_>]) {
    let names: Vec<String> = all
        .iter()
        .map(|parsed| to_callable_name(&parsed.parameter.name, parsed.parameter.place.as_str()))
        .collect();
    let mut taken_names: Vec<String> = Vec::new();
    for (at, parsed) in all.iter_mut().enumerate() {
        let Some(own) = names.get(at) else { continue };
        let is_shared = names.iter().filter(|other| *other == own).count() > 1;
        let preferred = match is_shared {
            true => format!("{}_{own}", parsed.parameter.place.as_str()),
            false => own.clone(),
        };
        let argument = unique_name(&preferred, |name| {
            taken_names.iter().any(|other| other == name)
        });
        taken_names.push(argument.clone());
        parsed.parameter.argument = argument;
    }
}

/// Builds the member of the tool's schema for a parameter.
fn parameter_schema<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    parsed: &ParsedParameter<'a>,
) -> Value {
    let mut member = match parsed.schema {
        Some(schema) => schemas.convert(schema, 2),
        None if parsed.node.value.is_null() => json!({ "type": "string" }),
        None => json!({}),
    };
    if let Value::Bool(_) = member {
        member = json!({});
    }
    let own_text = parsed
        .node
        .text("description")
        .map(str::trim)
        .unwrap_or_default();
    let Value::Object(members) = &mut member else {
        return member;
    };
    let mut description = match own_text {
        "" => members
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        own_text => crate::document::escape_hidden_text(own_text, crate::limits::MEMBER_CHARS_MAX),
    };
    if parsed.node.is_true("deprecated") {
        members.insert("deprecated".to_owned(), Value::Bool(true));
    }
    let parameter = &parsed.parameter;
    if parameter.argument != parameter.name {
        let origin = format!(
            "The {} parameter `{}`.",
            parameter.place.as_str(),
            to_single_line(&parameter.name, QUOTED_CHARS_MAX)
        );
        description = match description.is_empty() {
            true => origin,
            false => format!("{origin} {description}"),
        };
    }
    if !description.is_empty() {
        members.insert("description".to_owned(), description.into());
    }
    member
}

/// Whether a text may be the name of a header or a cookie.
pub(crate) fn is_header_token(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}
