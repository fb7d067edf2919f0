//! Prompts and resources that an MCP server offers to a person beside its tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::display_text::DisplaySpan;

/// A person's request for prompts or resources of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerResourceQuery {
    /// One page of the server's prompts.
    Prompts {
        /// Cursor at which the list continues; none for its beginning.
        cursor: Option<String>,
    },
    /// One prompt, filled in.
    Prompt {
        /// The prompt's name, as in the list.
        name: String,
        /// Arguments of the prompt, by name.
        arguments: BTreeMap<String, String>,
    },
    /// One page of the server's resources.
    Resources {
        /// Cursor at which the list continues; none for its beginning.
        cursor: Option<String>,
    },
    /// One resource.
    Resource {
        /// The resource's address, as in the list.
        uri: String,
    },
}

/// Prompts or resources of a server. Nothing in them is trusted, and nothing in them reaches a model automatically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerResources {
    /// Answer to `prompts` and `resources`: a page of at most 200 items.
    Page {
        /// The items, in the order of the server.
        items: Vec<ServerItem>,
        /// Cursor at which the list continues; none at its end.
        next: Option<String>,
        /// Number of items of this page that were left out, because they are malformed or too many.
        left_out: u32,
    },
    /// Answer to `prompt` and `resource`.
    Text {
        /// The parts, in order.
        parts: Vec<ServerTextPart>,
    },
}

/// One prompt, or one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerItem {
    /// The identifier that the item is requested by: a prompt's name, a resource's address. It contains no hidden
    /// characters.
    pub name: String,
    /// The item's title, hidden characters named.
    pub title: Vec<DisplaySpan>,
    /// The server's description of the item, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// Whether the address is a template with parts to fill in.
    pub is_pattern: bool,
    /// Arguments of a prompt.
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptArgument {
    /// The argument's name. It contains no hidden characters.
    pub name: String,
    /// The server's description of the argument, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// Whether the prompt requires the argument.
    pub required: bool,
}

/// A piece of a prompt or of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerTextPart {
    /// Whether the part is attributed to the model.
    pub by_model: bool,
    /// The text, hidden characters named; content that is not text is described in brackets.
    pub text: Vec<DisplaySpan>,
}
