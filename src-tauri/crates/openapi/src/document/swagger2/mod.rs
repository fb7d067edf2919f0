//! Converts documents of Swagger 2.0 to OpenAPI 3.0 before they are read: many services publish no other.
//!
//! This is our own code, since the existing converters parse 2.0 into their own types and reject the whole document for
//! one invalid operation; here an invalid operation stays in place, and is left out with its reason later.
//!
//! `definitions` stay in place, so that references to them remain valid. Parameters and responses are written out in
//! each operation, since a reference to a body has no counterpart in 3.0.

mod operation;
mod parameter;
mod references;
mod schema;

use serde_json::{Map, Value, json};

use crate::document::operation::HttpMethod;
use crate::document::reader::{DocumentNode, DocumentReader};
use crate::document::source::DocumentSource;
use crate::document::swagger2::operation::DefaultMediaTypes;

/// Whether the document has version 2.0; YAML reads the version as a number where it is not quoted.
fn is_swagger_2(root: &Value) -> bool {
    match root.get("swagger") {
        Some(Value::String(version)) => version == "2.0" || version == "2",
        Some(Value::Number(version)) => version.as_f64() == Some(2.0),
        Some(_) | None => false,
    }
}

/// Converts the document to OpenAPI 3.0; none if it is not of Swagger 2.0.
pub(crate) fn convert_to_openapi(source: &DocumentSource) -> Option<DocumentSource> {
    if !is_swagger_2(&source.root) {
        return None;
    }
    let converter = SwaggerConverter {
        reader: DocumentReader::new(source, true),
        defaults: DefaultMediaTypes::from_root(&source.root),
        document_scheme: source.address.as_deref().and_then(url_scheme),
    };
    let files = source.files.iter();
    Some(DocumentSource {
        root: converter.convert_root(&source.root),
        address: source.address.clone(),
        files: files
            .map(|(name, value)| (name.clone(), converter.convert_nested(value, name)))
            .collect(),
    })
}

fn url_scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once("://")?;
    ["http", "https"].contains(&scheme).then_some(scheme)
}

/// Converts one document with its files.
struct SwaggerConverter<'a> {
    reader: DocumentReader<'a>,
    /// Defaults for operations without media types of their own.
    defaults: DefaultMediaTypes,
    /// Scheme of the URL that the document came from.
    document_scheme: Option<&'a str>,
}

impl<'a> SwaggerConverter<'a> {
    fn convert_root(&self, root: &'a Value) -> Value {
        let mut converted = Map::from_iter([("openapi".to_owned(), json!("3.0.3"))]);
        for (name, value) in root.as_object().into_iter().flatten() {
            let member = match name.as_str() {
                "swagger"
                | "host"
                | "basePath"
                | "schemes"
                | "consumes"
                | "produces"
                | "securityDefinitions" => continue,
                "paths" => self.convert_paths(value),
                "definitions" => schema::convert_schema(value),
                _ => value.clone(),
            };
            converted.insert(name.clone(), member);
        }
        converted.insert(
            "servers".to_owned(),
            self.build_servers(&text_list(root, "schemes")),
        );
        if let Some(schemes) = root.get("securityDefinitions").and_then(Value::as_object) {
            let schemes = schemes.iter();
            let schemes: Map<String, Value> = schemes
                .map(|(name, scheme)| (name.clone(), convert_security_scheme(scheme)))
                .collect();
            converted.insert(
                "components".to_owned(),
                json!({ "securitySchemes": schemes }),
            );
        }
        Value::Object(converted)
    }

    /// Builds the servers of the service for these schemes, the encrypted ones first.
    fn build_servers(&self, schemes: &[&str]) -> Value {
        let root = self.reader.root();
        let path = match root.text("basePath").map(|path| path.trim_matches('/')) {
            None | Some("") => "/".to_owned(),
            Some(path) => format!("/{path}"),
        };
        let Some(host) = root.text("host").filter(|host| !host.is_empty()) else {
            // The document stands where the service does.
            return json!([{ "url": path }]);
        };
        let mut schemes = match schemes {
            [] => vec![self.document_scheme.unwrap_or("https")],
            named => named.to_vec(),
        };
        schemes.sort_by_key(|scheme| match *scheme {
            "https" => 0,
            "http" => 1,
            _ => 2,
        });
        let servers = schemes.iter();
        let servers = servers.map(|scheme| json!({ "url": format!("{scheme}://{host}{path}") }));
        Value::Array(servers.collect())
    }

    fn convert_paths(&self, paths: &'a Value) -> Value {
        let Some(paths) = paths.as_object() else {
            return paths.clone();
        };
        let paths = paths.iter();
        let paths = paths.map(|(path, item)| (path.clone(), self.convert_path_item(item, "")));
        Value::Object(paths.collect())
    }

    /// Converts a path with its operations; `file` contains it, and is empty for the document.
    fn convert_path_item(&self, item: &'a Value, file: &'a str) -> Value {
        let Some(members) = item.as_object() else {
            return item.clone();
        };
        let place = DocumentNode { file, value: item };
        let members = members.iter().filter(|(name, _)| *name != "parameters");
        let members = members.map(|(name, value)| {
            let value = match is_method_name(name) && value.is_object() {
                true => self.convert_operation(place, place.with_value(value)),
                false => value.clone(),
            };
            (name.clone(), value)
        });
        Value::Object(members.collect())
    }

    /// Converts the content of a file beside the document: a path that the document refers to is converted in any
    /// place.
    fn convert_nested(&self, value: &'a Value, file: &'a str) -> Value {
        let is_operation = |name: &String, value: &Value| {
            is_method_name(name) && value.get("responses").is_some_and(Value::is_object)
        };
        match value {
            Value::Object(members) if members.iter().any(|(name, it)| is_operation(name, it)) => {
                self.convert_path_item(value, file)
            }
            Value::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| (name.clone(), self.convert_nested(value, file)));
                Value::Object(schema::convert_nullable(members.collect()))
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.convert_nested(item, file));
                Value::Array(items.collect())
            }
            plain => plain.clone(),
        }
    }
}

fn is_method_name(name: &str) -> bool {
    HttpMethod::ALL.iter().any(|(method, _)| *method == name)
}

/// Returns the strings of a list.
fn text_list<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    let items = value.get(name).and_then(Value::as_array);
    let items = items.into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// Converts a security scheme. An unknown one stays as it is, and is reported later.
fn convert_security_scheme(scheme: &Value) -> Value {
    let text = |name: &str| scheme.get(name).and_then(Value::as_str);
    match text("type") {
        Some("basic") => json!({ "type": "http", "scheme": "basic" }),
        Some("oauth2") => {
            let flow = match text("flow") {
                Some("application") => "clientCredentials",
                Some("accessCode") => "authorizationCode",
                Some(other) => other,
                None => "implicit",
            };
            let mut described = Map::new();
            for member in ["authorizationUrl", "tokenUrl", "scopes"] {
                if let Some(value) = scheme.get(member) {
                    described.insert(member.to_owned(), value.clone());
                }
            }
            json!({ "type": "oauth2", "flows": { (flow): described } })
        }
        Some(_) | None => scheme.clone(),
    }
}
