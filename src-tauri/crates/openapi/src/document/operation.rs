//! One operation of a document, read and understood: everything that a call of it needs, and what is pinned.

use std::collections::BTreeMap;

use protocol::text::display_text::is_hidden;
use protocol::{Digest, ToolMode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its method.
    pub method: HttpMethod,
    /// Its path, with `{names}` in it.
    pub path: String,
    /// What the document calls it; empty if it does not.
    pub id: String,
    /// The address before the path.
    pub base: String,
    /// A few words on it; may be empty.
    pub title: String,
    /// What it does; may be empty.
    pub description: String,
    /// Its parameters.
    pub parameters: Vec<OperationParameter>,
    /// What is sent with it.
    pub body: Option<BodySpec>,
    /// What answers it accepts; empty for any.
    pub accepts: String,
    /// What it wants to know who asks by: each a way by itself, an empty one is nobody.
    pub security: Vec<Vec<SecurityScheme>>,
    /// JSON Schema of the arguments, that of an object.
    pub input_schema: Value,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Gets something.
    Get,
    /// Puts something in its place.
    Put,
    /// Whatever its service makes of it.
    Post,
    /// Removes something.
    Delete,
    /// What can be done.
    Options,
    /// The same as get, without what it gets.
    Head,
    /// Changes something.
    Patch,
    /// What arrives.
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

    /// As it is sent.
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

    /// As the way to the network takes it.
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

    /// Whether it changes nothing, by what the method means.
    pub fn is_read_only(self) -> bool {
        match self {
            Self::Get | Self::Head | Self::Options | Self::Trace => true,
            Self::Put | Self::Post | Self::Delete | Self::Patch => false,
        }
    }

    /// How a call is treated: what looks is outside, what removes something is destructive. What changes something there has
    /// no mode, and so asks: what is sent cannot be taken back.
    pub fn tool_mode(self) -> Option<ToolMode> {
        match self {
            Self::Delete => Some(ToolMode::Destructive),
            Self::Get | Self::Head | Self::Options | Self::Trace => Some(ToolMode::External),
            Self::Put | Self::Post | Self::Patch => None,
        }
    }
}

/// Where a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterLocation {
    /// Into the path.
    Path,
    /// Behind the `?`.
    Query,
    /// A header of its own.
    Header,
    /// Into the header of cookies.
    Cookie,
}

impl ParameterLocation {
    /// As documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How the items of a list or the members of an object are written.
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

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationParameter {
    /// As the service knows it.
    pub name: String,
    /// The argument that holds its value.
    pub argument: String,
    /// Where it goes.
    #[serde(rename = "in")]
    pub place: ParameterLocation,
    /// Whether it must be given.
    pub required: bool,
    /// How it is written.
    pub style: ParameterStyle,
    /// Whether each item or member is written by itself.
    pub explode: bool,
    /// Whether `/`, `:` and others like it stay as they are.
    pub reserved: bool,
    /// Whether it is written as JSON instead.
    pub json: bool,
}

/// What is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// The argument that holds it.
    pub argument: String,
    /// What it is sent as.
    pub media: String,
    /// Whether it must be given.
    pub required: bool,
    /// How it is written.
    pub kind: BodyKind,
}

/// How a body is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyKind {
    /// As JSON.
    Json,
    /// As the fields of a form.
    Form {
        /// Those that are written in a way of their own.
        fields: BTreeMap<String, FieldEncoding>,
    },
    /// As parts, some of which may be files.
    Multipart {
        /// Those that are written in a way of their own.
        parts: BTreeMap<String, MediaPart>,
    },
    /// As the text that is given.
    Text,
    /// As the bytes that are given.
    Bytes,
}

/// How a field of a form is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldEncoding {
    /// How it is written.
    pub style: ParameterStyle,
    /// Whether each item or member is written by itself.
    pub explode: bool,
    /// Whether `/`, `:` and others like it stay as they are.
    pub reserved: bool,
}

/// What a part of a body is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaPart {
    /// What it is sent as; none for what its value is.
    pub media: Option<String>,
    /// Whether it is a file.
    pub is_file: bool,
}

/// A way to say who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityScheme {
    /// What the document calls it.
    pub name: String,
    /// How it is said.
    pub kind: SecuritySchemeKind,
}

/// How it is said who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SecuritySchemeKind {
    /// A key.
    ApiKey {
        /// Where it goes.
        #[serde(rename = "in")]
        place: ParameterLocation,
        /// Under which name.
        name: String,
    },
    /// `Authorization: Bearer …`.
    Bearer,
    /// `Authorization: Basic …`.
    Basic,
    /// A token that is asked for first, or one that somebody has.
    Oauth2 {
        /// Where it is asked for in our own name; none if that is not offered.
        token_url: Option<String>,
        /// What it is asked for.
        scopes: Vec<String>,
    },
    /// Something that is not known here.
    Other {
        /// What the document says that it is.
        what: String,
    },
}

/// Of a path what is sent: some documents tell several operations of one path apart by what they write behind a `#`.
pub(crate) fn strip_path_fragment(path: &str) -> &str {
    path.split('#').next().unwrap_or_default()
}

impl Operation {
    /// By what it is known again: `GET /pets/{id}`.
    pub fn key(&self) -> String {
        format!("{} {}", self.method.as_str(), self.path)
    }

    /// What it is, as one value: two that say the same have the same.
    pub fn digest(&self) -> Digest {
        Digest::from_json(self)
    }

    /// All of it as text, for a difference.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Whether something in it is not seen, or reads otherwise than it is.
    pub fn has_hidden_text(&self) -> bool {
        // Whatever stands outside of ASCII stands in JSON as it is.
        let all = serde_json::to_string(self).unwrap_or_default();
        all.chars().any(is_hidden)
    }

    /// The nearest name that a model can call.
    pub(crate) fn callable_name(&self) -> String {
        let said = match self.id.is_empty() {
            true => format!("{}_{}", self.method.as_str().to_lowercase(), self.path),
            false => self.id.clone(),
        };
        crate::names::to_callable_name(&said.replace('.', "_"), "operation")
    }

    /// Whether its name says that it takes something away although its method does not.
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
