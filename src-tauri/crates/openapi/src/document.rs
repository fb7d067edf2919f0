//! A document read operation by operation: what cannot be called is left out and said so, the rest stays usable.

use std::collections::HashSet;

use protocol::shown::{in_a_sentence, shown};
use protocol::{Digest, Fault};
use serde_json::{Map, Value, json};
use tools::text::shortened;

use crate::base::Bases;
use crate::limits::{
    DESCRIPTION_CHARS_MAX, LEFT_OUT_MAX, NAMED_CHARS_MAX, OPERATIONS_MAX, TITLE_CHARS_MAX,
};
use crate::operation::{Method, Operation, sent};
use crate::reader::{Place, Reader};
use crate::schema::Schemas;
use crate::source::Source;
use crate::{body, parameter, security, swagger2};

/// Which operations of a document are taken: all of those that fit each list that is not empty. `*` stands for anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Tags, of which an operation has one.
    pub tags: Vec<String>,
    /// What the document calls operations.
    pub operations: Vec<String>,
    /// Paths, or what they begin with: `/repos` is `/repos/{owner}` as well.
    pub paths: Vec<String>,
}

/// A document, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What it is called.
    pub title: String,
    /// Its own version.
    pub version: String,
    /// Its operations in its order, none twice.
    pub operations: Vec<Operation>,
    /// What was left out, one sentence each.
    pub left_out: Vec<String>,
    more: usize,
}

impl Document {
    /// Reads a document of OpenAPI 3.0 or 3.1, or of Swagger 2.0 (`S001-53`, `S001-55`).
    ///
    /// # Errors
    /// It is none, or has nothing that could be called; what is wrong with one operation is told in `left_out`.
    pub fn read(source: &Source, bases: &Bases, filters: &Filters) -> Result<Self, Fault> {
        let converted = swagger2::converted(source);
        let source = converted.as_ref().unwrap_or(source);
        let is_3_0 = version(&source.root)?;
        let reader = Reader::new(source, is_3_0);
        let root = reader.root();
        let mut bases = bases.clone();
        bases.document = source.address.clone().or(bases.document);
        if !root.value.get("paths").is_some_and(Value::is_object) {
            return Err(no_document(
                "has no paths, so there is nothing that could be called",
            ));
        }
        let info = root.member("info");
        let said = |name: &str| {
            let said = info.and_then(|info| info.text(name)).unwrap_or_default();
            in_a_sentence(said, TITLE_CHARS_MAX)
        };
        let mut document = Self {
            title: said("title"),
            version: said("version"),
            ..Self::default()
        };
        let mut ids = HashSet::new();
        for (path, item) in root.members("paths") {
            if !path.starts_with("x-") {
                document.path(&reader, (&bases, filters), path, item, &mut ids);
            }
        }
        Ok(document)
    }

    /// Reads one path with its operations.
    fn path<'a>(
        &mut self,
        reader: &Reader<'a>,
        (bases, filters): (&Bases, &Filters),
        path: &'a str,
        item: Place<'a>,
        ids: &mut HashSet<&'a str>,
    ) {
        let named = in_a_sentence(path, NAMED_CHARS_MAX);
        let item = match reader.follow(item) {
            Ok(item) if item.value.is_object() => item,
            Ok(_) => return self.leave_out(format!("`{named}` is left out: it is no object.")),
            Err(why) => return self.leave_out(format!("`{named}` is left out: {why}.")),
        };
        for (name, method) in Method::ALL {
            let Some(operation) = item.member(name) else {
                continue;
            };
            if !filters.take(path, operation) {
                continue;
            }
            let named = format!("{} {named}", method.as_str());
            if self.operations.len() >= OPERATIONS_MAX {
                self.leave_out(format!(
                    "`{named}` is left out: the document has more than {OPERATIONS_MAX} operations. Choose some by tag, id or path."
                ));
                continue;
            }
            match read(reader, bases, (path, item), (method, operation)) {
                Ok(mut operation) => {
                    let id = item.member(name).and_then(|at| at.text("operationId"));
                    if id.is_some_and(|id| !ids.insert(id)) {
                        // Two of one id: the second goes by its path.
                        operation.id = String::new();
                    }
                    self.operations.push(operation);
                }
                Err(why) => self.leave_out(format!("`{named}` is left out: {why}.")),
            }
        }
    }

    /// Says that something was left out. Of many only the first are told one by one.
    fn leave_out(&mut self, why: String) {
        if self.left_out.len() < LEFT_OUT_MAX {
            self.left_out.push(why);
            return;
        }
        self.more += 1;
        self.left_out.truncate(LEFT_OUT_MAX);
        self.left_out
            .push(format!("And {} more are left out.", self.more));
    }

    /// The operation of this key.
    pub fn find(&self, key: &str) -> Option<&Operation> {
        self.operations
            .iter()
            .find(|operation| operation.key() == key)
    }

    /// All of it as one value.
    pub fn digest(&self) -> Digest {
        let all = self.operations.iter();
        Digest::of_json(&all.map(Operation::digest).collect::<Vec<_>>())
    }
}

/// Whether it is of version 3.0.
fn version(root: &Value) -> Result<bool, Fault> {
    if !root.is_object() {
        return Err(no_document("is no object"));
    }
    let said = match root.get("openapi") {
        Some(Value::String(said)) => said.clone(),
        // As YAML reads it where nobody quoted it.
        Some(Value::Number(said)) => said.to_string(),
        Some(_) | None if root.get("swagger").is_some() => {
            return Err(Fault::new(
                "The document is of a version of Swagger before 2.0.",
                "Convert it to Swagger 2.0 or OpenAPI 3 first.",
            ));
        }
        Some(_) | None => return Err(no_document("does not say its version in `openapi`")),
    };
    let is = |version: &str| said == version || said.starts_with(&format!("{version}."));
    match (is("3.0"), is("3.1")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        (false, false) => Err(no_document(&format!(
            "is of version {}, which is not known here",
            in_a_sentence(&said, NAMED_CHARS_MAX)
        ))),
    }
}

fn no_document(why: &str) -> Fault {
    Fault::new(
        format!("The document {why}."),
        "Give a document of OpenAPI 3.0 or 3.1, or of Swagger 2.0.",
    )
}

/// Reads one operation.
///
/// # Errors
/// Why it cannot be called, as a clause.
fn read<'a>(
    reader: &Reader<'a>,
    bases: &Bases,
    (path, item): (&'a str, Place<'a>),
    (method, operation): (Method, Place<'a>),
) -> Result<Operation, String> {
    if !operation.value.is_object() {
        return Err("it is no object".to_owned());
    }
    let sent = sent(path);
    if !sent.starts_with('/') || sent.contains(['?', '\\']) {
        return Err("its path is none that could be sent".to_owned());
    }
    let base = bases.of([operation, item, reader.root()])?;
    let mut schemas = Schemas::new(reader);
    let parameters = parameter::read(&mut schemas, item, operation, sent)?;
    let mut members = parameters.members;
    let mut required: Vec<String> = Vec::new();
    for parameter in parameters.all.iter().filter(|parameter| parameter.required) {
        required.push(parameter.argument.clone());
    }
    let is_taken = |name: &str| members.contains_key(name);
    let body = body::read(&mut schemas, operation, is_taken)?;
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
    let said = |at: Place<'_>, name: &str, chars_max| {
        readable(at.text(name).unwrap_or_default(), chars_max)
    };
    let of_path = |mine: String, name: &str, chars_max| match mine.is_empty() {
        true => said(item, name, chars_max),
        false => mine,
    };
    let title = said(operation, "summary", TITLE_CHARS_MAX);
    let description = said(operation, "description", DESCRIPTION_CHARS_MAX);
    Ok(Operation {
        method,
        path: path.to_owned(),
        id: operation.text("operationId").unwrap_or_default().to_owned(),
        title: of_path(title, "summary", TITLE_CHARS_MAX),
        description: of_path(description, "description", DESCRIPTION_CHARS_MAX),
        security: security::read(reader, operation, &base),
        base,
        parameters: parameters.all,
        body,
        accepts: accepts(reader, operation),
        input_schema: schemas.whole(schema),
    })
}

/// What it says that it answers where it works.
fn accepts(reader: &Reader<'_>, operation: Place<'_>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for (status, response) in operation.members("responses") {
        if !status.starts_with('2') && status != "default" {
            continue;
        }
        let Ok(response) = reader.follow(response) else {
            continue;
        };
        for (media, _) in response.members("content") {
            let media = media.trim();
            let is_one = media.is_ascii()
                && !media.contains(char::is_control)
                && media.len() <= NAMED_CHARS_MAX;
            if is_one && !all.contains(&media) && all.len() < 8 {
                all.push(media);
            }
        }
    }
    // What is read as it is comes first.
    all.sort_by_key(|media| !body::is_json(media));
    all.join(", ")
}

/// A text of several lines with its hidden characters named, cut.
pub(crate) fn readable(text: &str, chars_max: usize) -> String {
    shortened(
        protocol::shown::plain(&shown(text.trim())).trim(),
        chars_max,
    )
}

impl Filters {
    /// Whether an operation is taken.
    fn take(&self, path: &str, operation: Place<'_>) -> bool {
        let fits = |list: &[String], mut is: Box<dyn FnMut(&str) -> bool + '_>| {
            list.is_empty() || list.iter().any(|pattern| is(pattern))
        };
        let id = operation.text("operationId").unwrap_or_default();
        let tagged = |pattern: &str| {
            let mut tags = operation.items("tags").filter_map(|tag| tag.value.as_str());
            tags.any(|tag| is_like(pattern, tag))
        };
        fits(&self.tags, Box::new(tagged))
            && fits(&self.operations, Box::new(|pattern| is_like(pattern, id)))
            && fits(&self.paths, Box::new(|pattern| is_below(pattern, path)))
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
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
        true => ends.any(|at| text.get(at..).is_some_and(|text| is_like(rest, text))),
    }
}

/// Whether a path is what a pattern says, or lies below that.
fn is_below(pattern: &str, path: &str) -> bool {
    let folder = pattern.trim_end_matches('/');
    is_like(pattern, path) || is_like(folder, path) || is_like(&format!("{folder}/*"), path)
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
            assert_eq!(is_like(pattern, text), fits, "{pattern} {text}");
        }
        for (pattern, path, fits) in [
            ("/repos", "/repos/{owner}", true),
            ("/repos/", "/repos", true),
            ("/repos", "/reposit", false),
            ("/repos/*/issues", "/repos/{owner}/issues/{n}", true),
        ] {
            assert_eq!(is_below(pattern, path), fits, "{pattern} {path}");
        }
    }
}
