//! Converts operations of Swagger 2.0: the body of the request, and the responses.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::document::reader::DocumentNode;
use crate::document::swagger2::parameter;
use crate::document::swagger2::parameter::{FormBodyBuilder, text_member};
use crate::document::swagger2::references::rebase_references;
use crate::document::swagger2::{SwaggerConverter, schema, text_list};

/// Media types of operations that name none.
pub(super) struct DefaultMediaTypes {
    consumes: Vec<String>,
    produces: Vec<String>,
}

impl DefaultMediaTypes {
    pub(super) fn from_root(root: &Value) -> Self {
        let all = |name: &str| {
            let texts = text_list(root, name).into_iter();
            texts.map(str::to_owned).collect()
        };
        Self {
            consumes: all("consumes"),
            produces: all("produces"),
        }
    }
}

/// Returns the list of an operation, or the default one.
fn media_types<'v>(operation: &'v Value, name: &str, usual: &'v [String]) -> Vec<&'v str> {
    match operation.get(name).is_some_and(Value::is_array) {
        true => text_list(operation, name),
        false => usual.iter().map(String::as_str).collect(),
    }
}

impl<'a> SwaggerConverter<'a> {
    /// Converts an operation of a path.
    pub(super) fn convert_operation(
        &self,
        item: DocumentNode<'a>,
        operation: DocumentNode<'a>,
    ) -> Value {
        let value = operation.value;
        let mut out = Map::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            let converted = match name.as_str() {
                "consumes" | "produces" | "schemes" | "parameters" => continue,
                "responses" => self.convert_responses(operation),
                _ => value.clone(),
            };
            out.insert(name.clone(), converted);
        }
        let schemes = text_list(value, "schemes");
        if !schemes.is_empty() {
            out.insert("servers".to_owned(), self.build_servers(&schemes));
        }
        let inlined = self.inline_parameters(item, operation);
        let of_place = |place: &str| -> Vec<&Value> {
            let fits = inlined
                .iter()
                .filter(|parameter| text_member(parameter, "in") == Some(place));
            fits.map(Cow::as_ref).collect()
        };
        let (bodies, fields) = (of_place("body"), of_place("formData"));
        let consumes = media_types(value, "consumes", &self.defaults.consumes);
        let others = inlined
            .iter()
            .filter(|parameter| !matches!(text_member(parameter, "in"), Some("body" | "formData")));
        let mut parameters: Vec<Value> = others
            .map(|parameter| match parameter.get("$ref") {
                // It led nowhere, which is told later.
                Some(_) => parameter.clone().into_owned(),
                None => parameter::convert_parameter(parameter),
            })
            .collect();
        if let Some(body) = bodies.first() {
            out.insert("requestBody".to_owned(), convert_body(body, &consumes));
        } else if !fields.is_empty() {
            let mut form = FormBodyBuilder::new(&fields);
            parameters.append(&mut form.unsupported);
            out.insert("requestBody".to_owned(), form.into_body(&consumes));
        }
        out.insert("parameters".to_owned(), Value::Array(parameters));
        Value::Object(out)
    }

    /// Writes out the parameters of a path and of its operation; the operation's override those of the path.
    fn inline_parameters(
        &self,
        item: DocumentNode<'a>,
        operation: DocumentNode<'a>,
    ) -> Vec<Cow<'a, Value>> {
        let mut all: Vec<Cow<'a, Value>> = Vec::new();
        for at in item
            .items_of("parameters")
            .chain(operation.items_of("parameters"))
        {
            let inlined = match self.reader.follow_references(at) {
                Ok(target) if target.file == at.file => Cow::Borrowed(target.value),
                Ok(target) => Cow::Owned(rebase_references(
                    target.value.clone(),
                    target.file,
                    at.file,
                )),
                Err(_) => Cow::Borrowed(at.value),
            };
            let name =
                |parameter: &Value| (parameter.get("name").cloned(), parameter.get("in").cloned());
            let existing = all.iter_mut().find(|existing| {
                inlined.get("$ref").is_none() && name(existing.as_ref()) == name(inlined.as_ref())
            });
            match existing {
                Some(existing) => *existing = inlined,
                None => all.push(inlined),
            }
        }
        all
    }

    /// Converts the responses: 3.0 names the media types in each response that has content.
    fn convert_responses(&self, operation: DocumentNode<'a>) -> Value {
        let produces = media_types(operation.value, "produces", &self.defaults.produces);
        let responses = operation.members_of("responses").map(|(status, at)| {
            let Ok(target) = self.reader.follow_references(at) else {
                return (status.clone(), at.value.clone());
            };
            let mut response = Map::new();
            if let Some(description) = target.value.get("description") {
                response.insert("description".to_owned(), description.clone());
            }
            if let Some(described) = target.value.get("schema") {
                let is_file = text_member(described, "type") == Some("file");
                let types = match (produces.as_slice(), is_file) {
                    ([], true) => vec!["*/*"],
                    ([], false) => vec!["application/json"],
                    (named, _) => named.to_vec(),
                };
                let content = types.iter().map(|media| ((*media).to_owned(), json!({})));
                response.insert("content".to_owned(), Value::Object(content.collect()));
            }
            (status.clone(), Value::Object(response))
        });
        Value::Object(responses.collect())
    }
}

/// Converts a body parameter to a request body, with each media type that the operation accepts.
fn convert_body(body: &Value, consumes: &[&str]) -> Value {
    let described = schema::convert_schema(body.get("schema").unwrap_or(&json!({})));
    let types = match consumes {
        [] => &["application/json"],
        named => named,
    };
    let content = types
        .iter()
        .map(|media| ((*media).to_owned(), json!({ "schema": described })));
    let mut out = json!({
        "content": Value::Object(content.collect()),
        "required": body.get("required") == Some(&Value::Bool(true)),
    });
    if let (Some(description), Value::Object(members)) = (body.get("description"), &mut out) {
        members.insert("description".to_owned(), description.clone());
    }
    out
}
