//! Converts parameters of Swagger 2.0: those that stay parameters, and the fields of a form, which become the request
//! body.

use serde_json::{Map, Value, json};

use crate::document::swagger2::schema;

/// Converts a parameter of the path, the query or a header.
pub(super) fn convert_parameter(parameter: &Value) -> Value {
    let mut out = Map::new();
    for name in ["name", "in", "description", "required", "deprecated"] {
        if let Some(value) = parameter.get(name) {
            out.insert(name.to_owned(), value.clone());
        }
    }
    // Some documents write a schema where 2.0 has none.
    let own_schema = parameter
        .get("schema")
        .filter(|_| parameter.get("type").is_none());
    let described = own_schema.map_or_else(
        || schema::schema_from_parameter(parameter),
        schema::convert_schema,
    );
    out.insert("schema".to_owned(), described);
    if is_array_parameter(parameter) {
        let is_query = text_member(parameter, "in") == Some("query");
        let (style, explode) = match (text_member(parameter, "collectionFormat"), is_query) {
            (None | Some("csv"), _) => (None, false),
            (Some("multi"), true) => (None, true),
            (Some("ssv"), true) => (Some("spaceDelimited"), false),
            (Some("pipes"), true) => (Some("pipeDelimited"), false),
            // 3.0 has no such way: it is told with the parameter's name.
            (Some(other), _) => (Some(other), false),
        };
        if let Some(style) = style {
            out.insert("style".to_owned(), style.into());
        }
        out.insert("explode".to_owned(), explode.into());
    }
    Value::Object(out)
}

/// Collects the fields of a form as the request body, and the parameters that cannot be part of one.
pub(super) struct FormBodyBuilder {
    properties: Map<String, Value>,
    required: Vec<String>,
    encoding: Map<String, Value>,
    /// Parameters with an unknown location, kept so that the operation is left out with its reason.
    pub unsupported: Vec<Value>,
    has_file: bool,
}

impl FormBodyBuilder {
    pub(super) fn new(fields: &[&Value]) -> Self {
        let mut form = Self {
            properties: Map::new(),
            required: Vec::new(),
            encoding: Map::new(),
            unsupported: Vec::new(),
            has_file: false,
        };
        fields.iter().for_each(|field| form.add_field(field));
        form
    }

    fn add_field(&mut self, field: &Value) {
        let Some(name) = text_member(field, "name") else {
            return self.unsupported.push(json!({ "in": "formData" }));
        };
        self.has_file |= text_member(field, "type") == Some("file");
        let mut described = schema::schema_from_parameter(field);
        if let (Some(description), Value::Object(members)) =
            (field.get("description"), &mut described)
        {
            members.insert("description".to_owned(), description.clone());
        }
        if is_array_parameter(field) {
            let encoding = match text_member(field, "collectionFormat") {
                None | Some("csv") => json!({ "style": "form", "explode": false }),
                Some("multi") => json!({ "style": "form", "explode": true }),
                Some("ssv") => json!({ "style": "spaceDelimited", "explode": false }),
                Some("pipes") => json!({ "style": "pipeDelimited", "explode": false }),
                Some(other) => {
                    let place = format!("formData as {other}");
                    return self.unsupported.push(json!({ "name": name, "in": place }));
                }
            };
            self.encoding.insert(name.to_owned(), encoding);
        }
        if field.get("required") == Some(&Value::Bool(true)) {
            self.required.push(name.to_owned());
        }
        self.properties.insert(name.to_owned(), described);
    }

    /// Builds the request body: multipart if a field is a file or the operation accepts nothing else, otherwise a form.
    pub(super) fn into_body(self, consumes: &[&str]) -> Value {
        const MULTIPART_FORM: &str = "multipart/form-data";
        const URLENCODED_FORM: &str = "application/x-www-form-urlencoded";
        let takes_parts_alone =
            consumes.contains(&MULTIPART_FORM) && !consumes.contains(&URLENCODED_FORM);
        let media = match self.has_file || takes_parts_alone {
            true => MULTIPART_FORM,
            false => URLENCODED_FORM,
        };
        let mut described = json!({ "type": "object", "properties": self.properties });
        if let (Value::Object(members), false) = (&mut described, self.required.is_empty()) {
            members.insert("required".to_owned(), json!(self.required));
        }
        json!({
            "required": !self.required.is_empty(),
            "content": { (media): { "schema": described, "encoding": self.encoding } },
        })
    }
}

fn is_array_parameter(parameter: &Value) -> bool {
    text_member(parameter, "type") == Some("array")
}

pub(super) fn text_member<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}
