//! One parsed operation of a document: everything that a call needs, and the content that approvals pin.

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::ToolMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::sources::SourceTool;

use crate::names::to_callable_name;

/// An operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// HTTP method.
    pub method: HttpMethod,
    /// Path, with `{names}` in it.
    pub path: String,
    /// The document's id for the operation; empty if there is none.
    pub id: String,
    /// Base URL, which precedes the path.
    pub base: String,
    /// Summary in a few words; may be empty.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Parameters.
    pub parameters: Vec<OperationParameter>,
    /// Request body.
    pub body: Option<BodySpec>,
    /// Media types for the `Accept` header; empty for any.
    pub accepts: String,
    /// Security requirements. Each item is an alternative; an empty one allows anonymous calls.
    pub security: Vec<Vec<SecurityScheme>>,
    /// JSON Schema of the arguments, that of an object.
    pub input_schema: Value,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Reads a resource.
    Get,
    /// Replaces a resource.
    Put,
    /// The service defines the effect.
    Post,
    /// Deletes a resource.
    Delete,
    /// Returns the methods that a resource supports.
    Options,
    /// The same as `GET`, without the body of the response.
    Head,
    /// Modifies a resource.
    Patch,
    /// Returns the request as it arrives at the service.
    Trace,
}

impl HttpMethod {
    /// Every method with its name in documents.
    pub const ALL: [(&str, Self); 8] = [
        ("get", Self::Get),
        ("put", Self::Put),
        ("post", Self::Post),
        ("delete", Self::Delete),
        ("options", Self::Options),
        ("head", Self::Head),
        ("patch", Self::Patch),
        ("trace", Self::Trace),
    ];

    /// Returns the method's name in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Head => "HEAD",
            Self::Patch => "PATCH",
            Self::Trace => "TRACE",
        }
    }

    /// Converts the method to that of the network client.
    pub(crate) fn to_runtime_method(self) -> runtime::RequestMethod {
        match self {
            Self::Get => runtime::RequestMethod::Get,
            Self::Put => runtime::RequestMethod::Put,
            Self::Post => runtime::RequestMethod::Post,
            Self::Delete => runtime::RequestMethod::Delete,
            Self::Options => runtime::RequestMethod::Options,
            Self::Head => runtime::RequestMethod::Head,
            Self::Patch => runtime::RequestMethod::Patch,
            Self::Trace => runtime::RequestMethod::Trace,
        }
    }

    /// Whether the method changes nothing, by its definition in HTTP.
    pub fn is_read_only(self) -> bool {
        match self {
            Self::Get | Self::Head | Self::Options | Self::Trace => true,
            Self::Put | Self::Post | Self::Delete | Self::Patch => false,
        }
    }

    /// Returns the mode of a call: reading methods are external, deleting ones destructive. Other changing methods have
    /// no mode, and so ask: a request cannot be undone.
    pub fn tool_mode(self) -> Option<ToolMode> {
        match self {
            Self::Delete => Some(ToolMode::Destructive),
            Self::Get | Self::Head | Self::Options | Self::Trace => Some(ToolMode::External),
            Self::Put | Self::Post | Self::Patch => None,
        }
    }
}

/// Location of a parameter in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header of its own.
    Header,
    /// In the `Cookie` header.
    Cookie,
}

impl ParameterLocation {
    /// Returns the location's name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// Style in which the items of a list or the members of an object are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterStyle {
    /// `;a=1;b=2`, in paths.
    Matrix,
    /// `.1.2`, in paths.
    Label,
    /// `a=1&b=2`, in queries and cookies.
    Form,
    /// `1,2`, in paths and headers.
    Simple,
    /// `1%202`, in queries.
    SpaceDelimited,
    /// `1|2`, in queries.
    PipeDelimited,
    /// `a[b]=1`, in queries.
    DeepObject,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationParameter {
    /// Name in the request.
    pub name: String,
    /// Name of the argument that holds the parameter's value.
    pub argument: String,
    /// Location in the request.
    #[serde(rename = "in")]
    pub place: ParameterLocation,
    /// Whether the parameter is required.
    pub required: bool,
    /// Style of the value.
    pub style: ParameterStyle,
    /// Whether each item or member is written separately.
    pub explode: bool,
    /// Whether reserved characters such as `/` and `:` stay unescaped.
    pub reserved: bool,
    /// Whether the value is written as JSON instead.
    pub json: bool,
}

/// Body of an operation's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Name of the argument that holds the body.
    pub argument: String,
    /// Media type of the body.
    pub media: String,
    /// Whether the body is required.
    pub required: bool,
    /// Format of the body.
    pub kind: BodyKind,
}

/// Format of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyKind {
    /// As JSON.
    Json,
    /// As the fields of a form.
    Form {
        /// Fields with an encoding of their own.
        fields: BTreeMap<String, FieldEncoding>,
    },
    /// As multipart parts, some of which may be files.
    Multipart {
        /// Parts with an encoding of their own.
        parts: BTreeMap<String, MediaPart>,
    },
    /// As the given text.
    Text,
    /// As the given bytes.
    Bytes,
}

/// Encoding of a field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldEncoding {
    /// Style of the value.
    pub style: ParameterStyle,
    /// Whether each item or member is written separately.
    pub explode: bool,
    /// Whether reserved characters such as `/` and `:` stay unescaped.
    pub reserved: bool,
}

/// Encoding of a part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaPart {
    /// Media type of the part; none for the one that follows from its value.
    pub media: Option<String>,
    /// Whether the part is a file.
    pub is_file: bool,
}

/// A security scheme: a method of authentication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityScheme {
    /// Name of the scheme in the document.
    pub name: String,
    /// Kind of the scheme.
    pub kind: SecuritySchemeKind,
}

/// Kind of a security scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SecuritySchemeKind {
    /// An API key.
    ApiKey {
        /// Location of the key in the request.
        #[serde(rename = "in")]
        place: ParameterLocation,
        /// Name of the parameter that holds the key.
        name: String,
    },
    /// `Authorization: Bearer …`.
    Bearer,
    /// `Authorization: Basic …`.
    Basic,
    /// A token that is requested first, or one that the person has already.
    Oauth2 {
        /// URL at which a token is requested with client credentials; none if the service does not offer that.
        token_url: Option<String>,
        /// Scopes to request.
        scopes: Vec<String>,
    },
    /// A scheme that is not supported.
    Other {
        /// The document's name for the kind of the scheme.
        what: String,
    },
}

/// Returns the part of a path that is sent: some documents distinguish several operations of one path by a suffix after
/// `#`.
pub(crate) fn strip_path_fragment(path: &str) -> &str {
    path.split('#').next().unwrap_or_default()
}

impl Operation {
    /// Returns the key that identifies the operation: `GET /pets/{id}`.
    pub fn key(&self) -> String {
        format!("{} {}", self.method.as_str(), self.path)
    }

    /// Whether the name of the operation indicates a deletion although its method does not.
    pub fn is_destructive_by_name(&self) -> bool {
        let words = [
            "delete", "remove", "destroy", "purge", "drop", "archive", "revoke", "cancel",
        ];
        let last = self
            .id
            .rsplit(['/', '.', ':'])
            .next()
            .unwrap_or_default()
            .to_lowercase();
        !self.method.is_read_only() && words.iter().any(|word| last.starts_with(word))
    }
}

impl SourceTool for Operation {
    const MEMBER: &'static str = "operation";

    fn key(&self) -> Cow<'_, str> {
        Cow::Owned(self.key())
    }

    fn callable_name(&self) -> String {
        let named = match self.id.is_empty() {
            true => format!("{}_{}", self.method.as_str().to_lowercase(), self.path),
            false => self.id.clone(),
        };
        to_callable_name(&named.replace('.', "_"), "operation")
    }
}
