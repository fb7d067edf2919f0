//! Builds the request for an operation and its arguments, in the same way for the card and for the call.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::text::display_text::to_single_line;
use protocol::{Digest, ToolError};
use serde_json::{Map, Value};

use crate::call::style;
use crate::document::operation::{
    BodyKind, BodySpec, HttpMethod, MediaPart, Operation, OperationParameter, ParameterLocation,
    strip_path_fragment,
};
use crate::limits::{BODY_BYTES_MAX, QUOTED_CHARS_MAX};

/// A request without its credentials: it contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRequest {
    /// HTTP method.
    pub method: HttpMethod,
    /// URL without its query.
    pub address: String,
    /// Pairs of the query, in order, encoded.
    pub query: Vec<(String, String)>,
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
    /// Cookies, in order, encoded.
    pub cookies: Vec<(String, String)>,
    /// Body of the request.
    pub body: Option<RequestContent>,
}

/// Body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestContent {
    /// Its media type.
    pub media: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Reads the content of a workspace file.
pub type FileReader<'f> = &'f dyn Fn(&str) -> Result<Vec<u8>, ToolError>;

impl ApiRequest {
    /// Builds the request of a call (`S001-54`).
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`] for a value that cannot be encoded in its place; or a file cannot be read.
    pub fn new(
        operation: &Operation,
        arguments: &Map<String, Value>,
        files: FileReader<'_>,
    ) -> Result<Self, ToolError> {
        let mut path = strip_path_fragment(&operation.path).to_owned();
        let mut request = Self {
            method: operation.method,
            address: String::new(),
            query: Vec::new(),
            headers: Vec::new(),
            cookies: Vec::new(),
            body: None,
        };
        if !operation.accepts.is_empty() {
            let accepts = operation.accepts.clone();
            request.headers.push(("Accept".to_owned(), accepts));
        }
        for parameter in &operation.parameters {
            let value = arguments.get(&parameter.argument);
            let value = value.filter(|value| !value.is_null());
            let Some(value) = value.or(parameter.required.then_some(&Value::Null)) else {
                continue;
            };
            request
                .add_parameter(parameter, value, &mut path)
                .map_err(|why| invalid_argument(&parameter.argument, &why))?;
        }
        request.address = build_address(&operation.base, &path)?;
        if let Some(body) = &operation.body
            && let Some(value) = arguments.get(&body.argument)
        {
            let content = encode_body(body, &order_members(operation, body, value), files)?;
            if content.bytes.len() > BODY_BYTES_MAX {
                let why = format!("is longer than {BODY_BYTES_MAX} bytes");
                return Err(invalid_argument(&body.argument, &why));
            }
            request
                .headers
                .push(("Content-Type".to_owned(), content.media.clone()));
            request.body = Some(content);
        }
        Ok(request)
    }

    fn add_parameter(
        &mut self,
        parameter: &OperationParameter,
        value: &Value,
        path: &mut String,
    ) -> Result<(), String> {
        let as_json = Value::String(value.to_string());
        let value = match parameter.json && !value.is_null() {
            true => &as_json,
            false => value,
        };
        let (name, style, explode) = (parameter.name.as_str(), parameter.style, parameter.explode);
        match parameter.place {
            ParameterLocation::Path => {
                let encoded = style::encode_path_value(name, value, style, explode)?;
                *path = path.replace(&format!("{{{name}}}"), &escape_braces(&encoded));
            }
            ParameterLocation::Query => {
                let pairs = style::encode_pairs(name, value, style, explode, parameter.reserved)?;
                self.query.extend(pairs);
            }
            ParameterLocation::Header => {
                let value = style::encode_header_value(value, explode)?;
                self.headers
                    .extend(value.map(|value| (name.to_owned(), value)));
            }
            ParameterLocation::Cookie => {
                self.cookies
                    .extend(style::encode_pairs(name, value, style, explode, false)?);
            }
        }
        Ok(())
    }
}

/// Escapes braces in a value, so that they are not taken for placeholders of the path. (An encoded value contains none;
/// this holds whatever the encoding is.)
fn escape_braces(encoded: &str) -> String {
    encoded.replace('{', "%7B").replace('}', "%7D")
}

/// Joins the base address and a path into a URL, which must still have exactly that text after parsing.
fn build_address(base: &str, path: &str) -> Result<String, ToolError> {
    let whole = format!("{base}{path}");
    let cannot = || {
        ToolError::InvalidArgs(format!(
            "`{}` is not a path of this service: a value in it is `.` or `..`, or would lead elsewhere",
            to_single_line(path, QUOTED_CHARS_MAX)
        ))
    };
    let parsed = url::Url::parse(&whole).map_err(|_| cannot())?;
    let server = url::Url::parse(base).map_err(|_| cannot())?;
    let segments = |path: &str| path.matches('/').count();
    let expected = format!("{}{path}", server.path().trim_end_matches('/'));
    let is_unchanged = parsed.origin() == server.origin()
        && segments(parsed.path()) == segments(&expected)
        && parsed
            .path()
            .starts_with(server.path().trim_end_matches('/'))
        && parsed.query().is_none()
        && parsed.fragment().is_none();
    match is_unchanged {
        true => Ok(parsed.into()),
        false => Err(cannot()),
    }
}

fn invalid_argument(argument: &str, why: &str) -> ToolError {
    ToolError::InvalidArgs(format!(
        "`{}` {why}",
        to_single_line(argument, QUOTED_CHARS_MAX)
    ))
}

/// Sorts fields and parts in the order of the document: some services depend on it.
fn order_members(operation: &Operation, body: &BodySpec, value: &Value) -> Value {
    let ordered = match &body.kind {
        BodyKind::Form { .. } | BodyKind::Multipart { .. } => value.as_object(),
        BodyKind::Json | BodyKind::Text | BodyKind::Bytes => None,
    };
    let schema = operation.input_schema.get("properties");
    let schema = schema.and_then(|all| all.get(&body.argument)?.get("properties"));
    let (Some(members), Some(Value::Object(schema))) = (ordered, schema) else {
        return value.clone();
    };
    let declared = schema.keys().filter_map(|name| members.get_key_value(name));
    let others = members
        .iter()
        .filter(|(name, _)| !schema.contains_key(*name));
    let all = declared.chain(others);
    Value::Object(
        all.map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

fn encode_body(
    body: &BodySpec,
    value: &Value,
    files: FileReader<'_>,
) -> Result<RequestContent, ToolError> {
    let (media, bytes) = match &body.kind {
        BodyKind::Json => (body.media.clone(), value.to_string().into_bytes()),
        BodyKind::Text => {
            let text = style::scalar_to_text(value).unwrap_or_default();
            (body.media.clone(), text.into_bytes())
        }
        BodyKind::Bytes => {
            let file = FileUpload::from_argument(value, files)
                .map_err(|error| with_argument(&body.argument, error))?;
            (file.media.unwrap_or_else(|| body.media.clone()), file.bytes)
        }
        BodyKind::Form { fields } => {
            let empty = Map::new();
            let members = value.as_object().unwrap_or(&empty);
            let mut pairs = Vec::new();
            for (name, value) in members {
                match fields.get(name) {
                    None => pairs.extend(style::encode_form_fields(members, name)),
                    Some(field) => {
                        let encoded = style::encode_pairs(
                            name,
                            value,
                            field.style,
                            field.explode,
                            field.reserved,
                        );
                        pairs.extend(encoded.map_err(|why| invalid_argument(name, &why))?);
                    }
                }
            }
            (body.media.clone(), style::join_pairs(&pairs).into_bytes())
        }
        BodyKind::Multipart { parts } => {
            let empty = Map::new();
            let members = value.as_object().unwrap_or(&empty);
            let mut all = Vec::new();
            for (name, value) in members {
                let part = parts.get(name);
                let items = match value {
                    Value::Array(items) => items.as_slice(),
                    single => std::slice::from_ref(single),
                };
                for item in items.iter().filter(|item| !item.is_null()) {
                    all.push(encode_part(name, item, part, files)?);
                }
            }
            encode_multipart(&all)
        }
    };
    validate_media_type(&media).map_err(|why| invalid_argument(&body.argument, &why))?;
    Ok(RequestContent { media, bytes })
}

/// Checks that a media type may stand in a header.
fn validate_media_type(media: &str) -> Result<(), String> {
    let is_one =
        media.contains('/') && media.chars().all(|c| c.is_ascii() && !c.is_ascii_control());
    is_one
        .then_some(())
        .ok_or_else(|| "has a media type that is none".to_owned())
}

fn with_argument(argument: &str, error: ToolError) -> ToolError {
    match error {
        ToolError::InvalidArgs(why) => invalid_argument(argument, &why),
        other => other,
    }
}

/// A file as given by an argument.
struct FileUpload {
    bytes: Vec<u8>,
    name: Option<String>,
    media: Option<String>,
}

impl FileUpload {
    fn from_argument(value: &Value, files: FileReader<'_>) -> Result<Self, ToolError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let error = |why: &str| ToolError::InvalidArgs(why.to_owned());
        let (bytes, file_name) = match (text("text"), text("base64"), text("path")) {
            (Some(text), None, None) => (text.as_bytes().to_vec(), None),
            (None, Some(base64), None) => {
                let bytes = STANDARD.decode(base64);
                (bytes.map_err(|_| error("is not base64"))?, None)
            }
            (None, None, Some(path)) => {
                let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
                (files(path)?, Some(name.to_owned()))
            }
            _ => {
                return Err(error(
                    "gives not exactly one of `text`, `base64` and `path`",
                ));
            }
        };
        Ok(Self {
            bytes,
            name: text("filename").map(str::to_owned).or(file_name),
            media: text("content_type").map(str::to_owned),
        })
    }
}

/// Returns the paths of the files that the arguments name, in any place of the request.
pub(crate) fn file_paths(operation: &Operation, arguments: &Map<String, Value>) -> Vec<String> {
    let Some(body) = &operation.body else {
        return Vec::new();
    };
    let path = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
    let Some(value) = arguments.get(&body.argument) else {
        return Vec::new();
    };
    match &body.kind {
        BodyKind::Json | BodyKind::Form { .. } | BodyKind::Text => Vec::new(),
        BodyKind::Bytes => path(value).into_iter().collect(),
        BodyKind::Multipart { parts } => {
            let files = parts.iter().filter(|(_, part)| part.is_file);
            let uploads = files.filter_map(|(name, _)| value.get(name));
            uploads
                .flat_map(|uploads| match uploads {
                    Value::Array(items) => items.iter().filter_map(path).collect::<Vec<_>>(),
                    single => path(single).into_iter().collect(),
                })
                .collect()
        }
    }
}

/// One encoded part of a multipart body.
struct MultipartPart {
    head: String,
    bytes: Vec<u8>,
}

fn encode_part(
    name: &str,
    value: &Value,
    part: Option<&MediaPart>,
    files: FileReader<'_>,
) -> Result<MultipartPart, ToolError> {
    let mut head = format!(
        "Content-Disposition: form-data; name=\"{}\"",
        quote_header_value(name)
    );
    let declared_media = part.and_then(|part| part.media.clone());
    let (bytes, media) = if part.is_some_and(|part| part.is_file) {
        let file =
            FileUpload::from_argument(value, files).map_err(|error| with_argument(name, error))?;
        let called = file.name.as_deref().unwrap_or(name);
        head.push_str(&format!("; filename=\"{}\"", quote_header_value(called)));
        let media = file.media.or(declared_media);
        (
            file.bytes,
            Some(media.unwrap_or_else(|| "application/octet-stream".to_owned())),
        )
    } else {
        let text = style::scalar_to_text(value).unwrap_or_default();
        let is_deep = value.is_object() || value.is_array();
        (
            text.into_bytes(),
            declared_media.or_else(|| is_deep.then(|| "application/json".to_owned())),
        )
    };
    if let Some(media) = media {
        validate_media_type(&media).map_err(|why| invalid_argument(name, &why))?;
        head.push_str(&format!("\r\nContent-Type: {media}"));
    }
    Ok(MultipartPart { head, bytes })
}

/// Quotes a name for a part's header as browsers do.
fn quote_header_value(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Joins parts with a boundary that occurs in none of them and depends only on their content.
fn encode_multipart(parts: &[MultipartPart]) -> (String, Vec<u8>) {
    let mut mark = Digest::from_json(
        &parts
            .iter()
            .map(|part| (&part.head, &part.bytes))
            .collect::<Vec<_>>(),
    );
    let holds = |mark: &str| {
        let mark = mark.as_bytes();
        parts
            .iter()
            .any(|part| part.bytes.windows(mark.len()).any(|piece| piece == mark))
    };
    let mut boundary = boundary_for(&mark);
    while holds(&boundary) {
        mark = Digest::from_bytes(mark.0.as_bytes());
        boundary = boundary_for(&mark);
    }
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(format!("--{boundary}\r\n{}\r\n\r\n", part.head).as_bytes());
        bytes.extend_from_slice(&part.bytes);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), bytes)
}

fn boundary_for(mark: &Digest) -> String {
    let mark: String = mark.0.chars().take(32).collect();
    format!("part-{mark}")
}
