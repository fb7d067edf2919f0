//! Reads a document operation by operation. An operation that cannot be called is left out with a reason; the rest
//! stays usable.

pub mod base_url;
pub(crate) mod body;
pub mod operation;
pub(crate) mod parameter;
pub(crate) mod reader;
pub(crate) mod schema;
pub(crate) mod security;
pub mod source;
pub(crate) mod swagger2;

use std::collections::HashSet;

use protocol::UserError;
use protocol::text::display_text::{to_single_line, to_spans};
use serde_json::{Map, Value, json};
use tools::sources::{Catalogue, Pins, record_left_out};
use tools::text::truncate_chars;

use crate::document::base_url::BaseUrlOptions;
use crate::document::operation::{HttpMethod, Operation, strip_path_fragment};
use crate::document::reader::{DocumentNode, DocumentReader};
use crate::document::schema::SchemaBuilder;
use crate::document::source::DocumentSource;
use crate::limits::{DESCRIPTION_CHARS_MAX, OPERATIONS_MAX, QUOTED_CHARS_MAX, TITLE_CHARS_MAX};

/// Selects the operations of a document: those that match each list that is not empty. `*` matches any text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationFilter {
    /// Tags; an operation must have one of them.
    pub tags: Vec<String>,
    /// Operation ids.
    pub operations: Vec<String>,
    /// Paths, or prefixes of paths: `/repos` includes `/repos/{owner}`.
    pub paths: Vec<String>,
}

/// A parsed document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiDocument {
    /// Title of the document.
    pub title: String,
    /// Version that the document gives of itself.
    pub version: String,
    /// Operations in the order of the document; none occurs twice.
    pub operations: Vec<Operation>,
    /// Descriptions of the operations that were left out, one sentence each.
    pub left_out: Vec<String>,
    left_out_beyond_limit: usize,
}

/// Inputs that all paths of a document share while they are parsed.
struct ParseContext<'c, 'a> {
    reader: &'c DocumentReader<'a>,
    bases: &'c BaseUrlOptions,
    filters: &'c OperationFilter,
}

impl ApiDocument {
    /// Parses a document of OpenAPI 3.0 or 3.1, or of Swagger 2.0 (`S001-53`, `S001-55`).
    ///
    /// # Errors
    /// The value is no such document, or has no operation that could be called. Problems with single operations are
    /// recorded in `left_out`.
    pub fn parse(
        source: &DocumentSource,
        bases: &BaseUrlOptions,
        filters: &OperationFilter,
    ) -> Result<Self, UserError> {
        let converted = swagger2::convert_to_openapi(source);
        let source = converted.as_ref().unwrap_or(source);
        let is_3_0 = is_version_3_0(&source.root)?;
        let reader = DocumentReader::new(source, is_3_0);
        let root = reader.root();
        let mut bases = bases.clone();
        bases.document = source.address.clone().or(bases.document);
        if !root.value.get("paths").is_some_and(Value::is_object) {
            return Err(invalid_document_error(
                "has no paths, so there is nothing that could be called",
            ));
        }
        let info = root.member("info");
        let info_text = |name: &str| {
            let info_text = info.and_then(|info| info.text(name)).unwrap_or_default();
            to_single_line(info_text, TITLE_CHARS_MAX)
        };
        let mut document = Self {
            title: info_text("title"),
            version: info_text("version"),
            ..Self::default()
        };
        let context = ParseContext {
            reader: &reader,
            bases: &bases,
            filters,
        };
        let mut ids = HashSet::new();
        for (path, item) in root.members_of("paths") {
            if !path.starts_with("x-") {
                document.parse_path(&context, path, item, &mut ids);
            }
        }
        Ok(document)
    }

    /// Parses one path with its operations.
    fn parse_path<'a>(
        &mut self,
        context: &ParseContext<'_, 'a>,
        path: &'a str,
        item: DocumentNode<'a>,
        ids: &mut HashSet<&'a str>,
    ) {
        let named = to_single_line(path, QUOTED_CHARS_MAX);
        let item = match context.reader.follow_references(item) {
            Ok(item) if item.value.is_object() => item,
            Ok(_) => {
                return self
                    .record_left_out(format!("`{named}` is left out: it is not an object."));
            }
            Err(why) => return self.record_left_out(format!("`{named}` is left out: {why}.")),
        };
        for (name, method) in HttpMethod::ALL {
            let Some(operation) = item.member(name) else {
                continue;
            };
            if !context.filters.matches_operation(path, operation) {
                continue;
            }
            let named = format!("{} {named}", method.as_str());
            if self.operations.len() >= OPERATIONS_MAX {
                self.record_left_out(format!(
                    "`{named}` is left out: the document has more than {OPERATIONS_MAX} operations. Choose some by tag, id or path."
                ));
                continue;
            }
            match parse_operation(context, path, item, method, operation) {
                Ok(mut operation) => {
                    let id = item.member(name).and_then(|at| at.text("operationId"));
                    if id.is_some_and(|id| !ids.insert(id)) {
                        // Two of one id: the second goes by its path.
                        operation.id = String::new();
                    }
                    self.operations.push(operation);
                }
                Err(why) => self.record_left_out(format!("`{named}` is left out: {why}.")),
            }
        }
    }

    fn record_left_out(&mut self, why: String) {
        record_left_out(&mut self.left_out, &mut self.left_out_beyond_limit, why);
    }
}

impl Catalogue for ApiDocument {
    type Tool = Operation;
    const FOLDER: &'static str = "apis";

    fn tools(&self) -> &[Operation] {
        &self.operations
    }

    fn title(&self) -> Option<&str> {
        Some(&self.title)
    }
}

/// The approved operations of one document.
pub type OperationPins = Pins<ApiDocument>;

/// Whether the document has version 3.0.
fn is_version_3_0(root: &Value) -> Result<bool, UserError> {
    if !root.is_object() {
        return Err(invalid_document_error("is not an object"));
    }
    let declared = match root.get("openapi") {
        Some(Value::String(declared)) => declared.clone(),
        // As YAML reads it where nobody quoted it.
        Some(Value::Number(declared)) => declared.to_string(),
        Some(_) | None if root.get("swagger").is_some() => {
            return Err(UserError::new(
                "The document is of a version of Swagger before 2.0.",
                "Convert it to Swagger 2.0 or OpenAPI 3 first.",
            ));
        }
        Some(_) | None => {
            return Err(invalid_document_error(
                "does not say its version in `openapi`",
            ));
        }
    };
    let is = |version: &str| declared == version || declared.starts_with(&format!("{version}."));
    match (is("3.0"), is("3.1")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        (false, false) => Err(invalid_document_error(&format!(
            "is of version {}, which is not known here",
            to_single_line(&declared, QUOTED_CHARS_MAX)
        ))),
    }
}

fn invalid_document_error(why: &str) -> UserError {
    UserError::new(
        format!("The document {why}."),
        "Give a document of OpenAPI 3.0 or 3.1, or of Swagger 2.0.",
    )
}

/// Parses one operation.
///
/// # Errors
/// The reason why it cannot be called, as a clause.
fn parse_operation<'a>(
    context: &ParseContext<'_, 'a>,
    path: &'a str,
    item: DocumentNode<'a>,
    method: HttpMethod,
    operation: DocumentNode<'a>,
) -> Result<Operation, String> {
    let reader = context.reader;
    if !operation.value.is_object() {
        return Err("it is not an object".to_owned());
    }
    let sent_path = strip_path_fragment(path);
    if !sent_path.starts_with('/') || sent_path.contains(['?', '\\']) {
        return Err("its path is none that could be sent".to_owned());
    }
    let base = context
        .bases
        .resolve_base_url([operation, item, reader.root()])?;
    let mut schemas = SchemaBuilder::new(reader);
    let parameters = parameter::parse_parameters(&mut schemas, item, operation, sent_path)?;
    let mut members = parameters.members;
    let mut required: Vec<String> = Vec::new();
    for parameter in parameters.all.iter().filter(|parameter| parameter.required) {
        required.push(parameter.argument.clone());
    }
    let is_taken = |name: &str| members.contains_key(name);
    let body = body::parse_body(&mut schemas, operation, is_taken)?;
    let body = body.map(|(body, schema)| {
        members.insert(body.argument.clone(), schema);
        if body.required {
            required.push(body.argument.clone());
        }
        body
    });
    let mut schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(members)),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    let member_text = |at: DocumentNode<'_>, name: &str, chars_max| {
        escape_hidden_text(at.text(name).unwrap_or_default(), chars_max)
    };
    let or_item_text = |own: String, name: &str, chars_max| match own.is_empty() {
        true => member_text(item, name, chars_max),
        false => own,
    };
    let title = member_text(operation, "summary", TITLE_CHARS_MAX);
    let description = member_text(operation, "description", DESCRIPTION_CHARS_MAX);
    Ok(Operation {
        method,
        path: path.to_owned(),
        id: operation.text("operationId").unwrap_or_default().to_owned(),
        title: or_item_text(title, "summary", TITLE_CHARS_MAX),
        description: or_item_text(description, "description", DESCRIPTION_CHARS_MAX),
        security: security::parse_security(reader, operation, &base),
        base,
        parameters: parameters.all,
        body,
        accepts: accepted_media_types(reader, operation),
        input_schema: schemas.into_schema(schema),
    })
}

/// Returns the media types that the operation documents for its successful responses.
fn accepted_media_types(reader: &DocumentReader<'_>, operation: DocumentNode<'_>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for (status, response) in operation.members_of("responses") {
        if !status.starts_with('2') && status != "default" {
            continue;
        }
        let Ok(response) = reader.follow_references(response) else {
            continue;
        };
        for (media, _) in response.members_of("content") {
            let media = media.trim();
            let is_one = media.is_ascii()
                && !media.contains(char::is_control)
                && media.len() <= QUOTED_CHARS_MAX;
            if is_one && !all.contains(&media) && all.len() < 8 {
                all.push(media);
            }
        }
    }
    // Media types that are read as they are come first.
    all.sort_by_key(|media| !body::is_json_media_type(media));
    all.join(", ")
}

/// Returns a text of several lines, cut, with its hidden characters named.
pub(crate) fn escape_hidden_text(text: &str, chars_max: usize) -> String {
    truncate_chars(
        protocol::text::display_text::join_spans(&to_spans(text.trim())).trim(),
        chars_max,
    )
}

impl OperationFilter {
    /// Whether the filter selects an operation.
    fn matches_operation(&self, path: &str, operation: DocumentNode<'_>) -> bool {
        let fits = |patterns: &[String], matches: &dyn Fn(&str) -> bool| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern))
        };
        let id = operation.text("operationId").unwrap_or_default();
        let has_tag = |pattern: &str| {
            let tags = operation.items_of("tags");
            let mut tags = tags.filter_map(|tag| tag.value.as_str());
            tags.any(|tag| matches_wildcard(pattern, tag))
        };
        fits(&self.tags, &has_tag)
            && fits(&self.operations, &|pattern| matches_wildcard(pattern, id))
            && fits(&self.paths, &|pattern| matches_path_pattern(pattern, path))
    }
}

/// Whether a text matches a pattern in which `*` stands for any text.
fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    // As early as it can: so whatever comes after has the most room.
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    match rest.contains('*') {
        false => text.ends_with(rest),
        true => ends.any(|at| {
            text.get(at..)
                .is_some_and(|text| matches_wildcard(rest, text))
        }),
    }
}

/// Whether a path matches a pattern, or lies below a path that does.
fn matches_path_pattern(pattern: &str, path: &str) -> bool {
    let folder = pattern.trim_end_matches('/');
    matches_wildcard(pattern, path)
        || matches_wildcard(folder, path)
        || matches_wildcard(&format!("{folder}/*"), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_filters() {
        for (pattern, text, fits) in [
            ("issues", "issues", true),
            ("issues", "issues2", false),
            ("issues/*", "issues/list", true),
            ("*list*", "issues/list-all", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_wildcard(pattern, text), fits, "{pattern} {text}");
        }
        for (pattern, path, fits) in [
            ("/repos", "/repos/{owner}", true),
            ("/repos/", "/repos", true),
            ("/repos", "/reposit", false),
            ("/repos/*/issues", "/repos/{owner}/issues/{n}", true),
        ] {
            assert_eq!(
                matches_path_pattern(pattern, path),
                fits,
                "{pattern} {path}"
            );
        }
    }
}
