//! Parses the body of a request: selects one of the media types that a document offers, and builds the schema of the
//! body's argument.

use std::collections::BTreeMap;

use protocol::text::display_text::to_single_line;
use serde_json::{Map, Value, json};
use tools::sources::unique_name;

use crate::document::operation::{BodyKind, BodySpec, FieldEncoding, MediaPart, ParameterStyle};
use crate::document::reader::DocumentNode;
use crate::document::schema::SchemaBuilder;
use crate::limits::{QUOTED_CHARS_MAX, REFERENCES_MAX};

/// Parses the body of an operation, with the schema of its argument; none if it has no body.
///
/// # Errors
/// The reason why the body cannot be sent, as a clause.
pub(crate) fn parse_body<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    operation: DocumentNode<'a>,
    is_taken: impl Fn(&str) -> bool,
) -> Result<Option<(BodySpec, Value)>, String> {
    let Some(request_body) = operation.member("requestBody") else {
        return Ok(None);
    };
    let request_body = schemas.reader.follow_references(request_body)?;
    let mut offered: Vec<(&String, DocumentNode<'a>)> =
        request_body.members_of("content").collect();
    offered.sort_by_key(|(media, _)| media_type_rank(media));
    let Some((media, content)) = offered.first() else {
        // It says that something is sent and not what.
        return Ok(None);
    };
    let content = schemas.reader.follow_references(*content)?;
    let (kind, mut schema) = parse_body_kind(schemas, media, content)?;
    if let Value::Bool(_) = schema {
        schema = json!({});
    }
    if let (Some(description), Value::Object(members)) =
        (request_body.text("description"), &mut schema)
    {
        let description =
            crate::document::escape_hidden_text(description, crate::limits::MEMBER_CHARS_MAX);
        if !description.is_empty() {
            members.insert("description".to_owned(), description.into());
        }
    }
    let argument = ["body", "request_body"]
        .into_iter()
        .find(|name| !is_taken(name));
    let argument = argument.map_or_else(|| unique_name("body", is_taken), str::to_owned);
    let body = BodySpec {
        argument,
        media: concrete_media_type(media),
        required: request_body.is_true("required"),
        kind,
    };
    Ok(Some((body, schema)))
}

/// Ranks a media type: the one that is easiest to fill in comes first.
fn media_type_rank(media: &str) -> u8 {
    let media_type = strip_media_type_parameters(media);
    match media_type.as_str() {
        "application/json" => 0,
        _ if is_json_media_type(media) => 1,
        "application/x-www-form-urlencoded" => 2,
        "multipart/form-data" => 3,
        _ if media_type.starts_with("text/") => 4,
        "*/*" => 5,
        _ => 6,
    }
}

/// Returns a media type without its parameters.
fn strip_media_type_parameters(media: &str) -> String {
    let media_type = media.split(';').next().unwrap_or_default();
    media_type.trim().to_lowercase()
}

/// Whether a media type is JSON or based on JSON.
pub(crate) fn is_json_media_type(media: &str) -> bool {
    let media_type = strip_media_type_parameters(media);
    media_type == "application/json" || media_type == "text/json" || media_type.ends_with("+json")
}

/// Returns one concrete media type for a range of media types.
fn concrete_media_type(media: &str) -> String {
    match strip_media_type_parameters(media).as_str() {
        "*/*" | "application/*" => "application/json".to_owned(),
        "text/*" => "text/plain".to_owned(),
        other if other.contains('*') => "application/octet-stream".to_owned(),
        _ => media.trim().to_owned(),
    }
}

fn parse_body_kind<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    media: &str,
    content: DocumentNode<'a>,
) -> Result<(BodyKind, Value), String> {
    let schema = content.member("schema");
    let plain = |schemas: &mut SchemaBuilder<'a, '_>| match schema {
        Some(schema) => schemas.convert(schema, 2),
        None => json!({}),
    };
    let media_type = concrete_media_type(media);
    if media_type.contains(|c: char| c.is_control() || !c.is_ascii()) {
        let media = to_single_line(media, QUOTED_CHARS_MAX);
        return Err(format!(
            "what is sent with it is of no media type ({media})"
        ));
    }
    if is_json_media_type(&media_type) {
        return Ok((BodyKind::Json, plain(schemas)));
    }
    match strip_media_type_parameters(&media_type).as_str() {
        "application/x-www-form-urlencoded" => {
            let fields = content.members_of("encoding");
            let fields = fields.map(|(name, at)| (name.clone(), parse_field_encoding(at)));
            let fields = fields
                .filter_map(|(name, field)| Some((name, field?)))
                .collect();
            Ok((BodyKind::Form { fields }, plain(schemas)))
        }
        "multipart/form-data" => parse_multipart(schemas, content),
        other if other.starts_with("text/") || other.ends_with("xml") => Ok((
            BodyKind::Text,
            json!({ "type": "string", "description": format!("The whole body as text ({media_type}).") }),
        )),
        _ => Ok((
            BodyKind::Bytes,
            file_argument_schema(&format!("What is sent, as {media_type}.")),
        )),
    }
}

/// Parses the encoding of a field, if the document gives one.
fn parse_field_encoding(at: DocumentNode<'_>) -> Option<FieldEncoding> {
    let style = match at.text("style") {
        Some("spaceDelimited") => ParameterStyle::SpaceDelimited,
        Some("pipeDelimited") => ParameterStyle::PipeDelimited,
        Some("deepObject") => ParameterStyle::DeepObject,
        Some(_) => ParameterStyle::Form,
        None if at.value.get("explode").is_some() => ParameterStyle::Form,
        None => return None,
    };
    let explode = at.value.get("explode").and_then(Value::as_bool);
    Some(FieldEncoding {
        style,
        explode: explode.unwrap_or(style == ParameterStyle::Form),
        reserved: at.is_true("allowReserved"),
    })
}

/// Builds the schema of a file argument: its text, its bytes, or a workspace file.
fn file_argument_schema(description: &str) -> Value {
    json!({
        "type": "object",
        "description": format!("{description} Give one of `text`, `base64` and `path`.").trim_start(),
        "properties": {
            "text": { "type": "string", "description": "The content as text." },
            "base64": { "type": "string", "description": "The content as base64." },
            "path": { "type": "string", "description": "A file of the workspace with the content." },
            "filename": { "type": "string", "description": "What the file is called there." },
            "content_type": { "type": "string", "description": "Its media type." },
        },
        "additionalProperties": false,
        "minProperties": 1,
    })
}

/// Collects the members of an object and of the schemas that it is composed of, as far as they are written out.
fn collect_members<'a>(
    schemas: &SchemaBuilder<'a, '_>,
    schema: DocumentNode<'a>,
    depth: usize,
    members: &mut Vec<(String, DocumentNode<'a>)>,
    required: &mut Vec<String>,
) -> Result<(), String> {
    if depth > REFERENCES_MAX {
        return Err("what is sent with it is composed in a circle".to_owned());
    }
    let schema = schemas.reader.follow_references(schema)?;
    for (name, member) in schema.members_of("properties") {
        if !members.iter().any(|(existing, _)| existing == name) {
            members.push((name.clone(), member));
        }
    }
    let names = schema
        .items_of("required")
        .filter_map(|name| name.value.as_str());
    required.extend(names.map(str::to_owned));
    for part in schema.items_of("allOf") {
        collect_members(schemas, part, depth + 1, members, required)?;
    }
    Ok(())
}

fn parse_multipart<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    content: DocumentNode<'a>,
) -> Result<(BodyKind, Value), String> {
    let (mut members, mut required) = (Vec::new(), Vec::new());
    if let Some(schema) = content.member("schema") {
        collect_members(schemas, schema, 0, &mut members, &mut required)?;
    }
    let mut parts = BTreeMap::new();
    let mut properties = Map::new();
    for (name, member) in members {
        if member.is_true("readOnly") {
            required.retain(|required_name| *required_name != name);
            continue;
        }
        let at = schemas.reader.follow_references(member)?;
        let item = at
            .member("items")
            .map(|item| schemas.reader.follow_references(item));
        let item = item.transpose()?;
        let encoding = content.member("encoding").and_then(|all| all.member(&name));
        let media = encoding.and_then(|at| at.text("contentType"));
        // One of a list or a range is what its content says.
        let media = media.filter(|media| !media.contains([',', '*']) && media.is_ascii());
        let is_list = at.text("type") == Some("array");
        let file_schema = item.filter(|_| is_list).unwrap_or(at);
        let is_text = |media: &str| is_json_media_type(media) || media.starts_with("text/");
        let of_media = media.is_some_and(|media| !is_text(media));
        let is_file = is_file_schema(file_schema)
            || of_media && file_schema.text("type").is_none_or(|name| name == "string");
        let description = at.text("description").unwrap_or_default();
        let description =
            crate::document::escape_hidden_text(description, crate::limits::MEMBER_CHARS_MAX);
        let schema = match (is_file, is_list) {
            (true, true) => json!({ "type": "array", "items": file_argument_schema(&description) }),
            (true, false) => file_argument_schema(&description),
            (false, _) => schemas.convert(member, 4),
        };
        let part = MediaPart {
            media: media.map(str::to_owned),
            is_file,
        };
        if part != MediaPart::default() {
            parts.insert(name.clone(), part);
        }
        properties.insert(name, schema);
    }
    let mut schema = json!({ "type": "object" });
    if let Value::Object(members) = &mut schema
        && !properties.is_empty()
    {
        required.retain(|name| properties.contains_key(name));
        required.dedup();
        members.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            required.sort();
            required.dedup();
            members.insert("required".to_owned(), json!(required));
        }
    }
    Ok((BodyKind::Multipart { parts }, schema))
}

/// Whether a schema describes a file: bytes in 3.0, content of some media type in 3.1.
fn is_file_schema(at: DocumentNode<'_>) -> bool {
    let of_bytes = matches!(at.text("format"), Some("binary" | "byte" | "base64"));
    let media = at.text("contentMediaType");
    of_bytes
        || at.text("type") == Some("file")
        || at.text("contentEncoding").is_some()
        || media.is_some_and(|media| !is_json_media_type(media) && !media.starts_with("text/"))
}
