//! Language servers of the person: what is set up of each, and what is shown of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A program that knows a language. It runs as the person, outside of any room, and may run what it finds in a folder: so
/// each is off until the person switches it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct LanguageServer {
    /// A short id: that of one that is offered, or of the person's choice.
    pub id: String,
    /// Whether it may be started.
    #[serde(default)]
    pub enabled: bool,
    /// The name of its program on `PATH`, or the program's file, absolute.
    pub command: String,
    /// Its arguments, each as it is: there is no shell.
    #[serde(default)]
    pub args: Vec<String>,
    /// The endings of the files that it knows, in small letters and without their dot, each with the id of its language.
    pub files: BTreeMap<String, String>,
}

/// A language server as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LanguageServerView {
    /// As it is set up; as it would be where it is only offered.
    pub settings: LanguageServer,
    /// What people call it.
    pub title: String,
    /// The language or languages.
    pub language: String,
    /// What it may run of a folder that it works in, as a sentence.
    pub runs: String,
    /// Whether it is one of the person's own, beside those that are offered.
    pub own: bool,
    /// Where its program is; none where it was not found.
    pub found: Option<String>,
}
