//! What a server of tools has for a person beside its tools: prompts that they may take up, and resources that they may read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::display_text::DisplaySpan;

/// What a person asks a server for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerResourceQuery {
    /// One page of its prompts.
    Prompts {
        /// Where the list goes on; none for its beginning.
        cursor: Option<String>,
    },
    /// One prompt, filled in.
    Prompt {
        /// As the list calls it.
        name: String,
        /// What it is filled in with.
        arguments: BTreeMap<String, String>,
    },
    /// One page of its resources.
    Resources {
        /// Where the list goes on; none for its beginning.
        cursor: Option<String>,
    },
    /// One resource.
    Resource {
        /// Its address, as the list tells it.
        uri: String,
    },
}

/// What it has. Nothing of it is believed, and nothing of it reaches a model by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerResources {
    /// To `prompts` and `resources`: a page of at most 200 items.
    Page {
        /// In the order of the server.
        items: Vec<ServerItem>,
        /// Where the list goes on; none at its end.
        next: Option<String>,
        /// Items of this page that are not told: they are no items, or too many.
        left_out: u32,
    },
    /// To `prompt` and `resource`.
    Text {
        /// One after the other.
        parts: Vec<ServerTextPart>,
    },
}

/// One prompt, or one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerItem {
    /// What it is asked for by: a prompt's name, a resource's address. It hides nothing.
    pub name: String,
    /// What it is called, hidden characters named.
    pub title: Vec<DisplaySpan>,
    /// What the server says of it, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// The address has parts to fill in.
    pub is_pattern: bool,
    /// What a prompt is filled in with.
    pub arguments: Vec<PromptArgument>,
}

/// Something that a prompt is filled in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptArgument {
    /// Its name. It hides nothing.
    pub name: String,
    /// What the server says of it, hidden characters named.
    pub description: Vec<DisplaySpan>,
    /// Whether the prompt cannot be had without it.
    pub required: bool,
}

/// A piece of a prompt or of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerTextPart {
    /// It stands there as the model's own words.
    pub by_model: bool,
    /// The text, hidden characters named; what is no text is told in brackets.
    pub text: Vec<DisplaySpan>,
}
