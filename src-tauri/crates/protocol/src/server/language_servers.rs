//! Language servers of the person: how they are configured, and how they are shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A language server. It runs as you, outside of any sandbox, and may run programs that it finds in a folder: so
/// each language server is off until you switch it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct LanguageServer {
    /// A short id: the one of the offered server, or one of your choice.
    pub id: String,
    /// Whether the server may be started.
    #[serde(default)]
    pub enabled: bool,
    /// The name of the server's program on `PATH`, or the program's file, absolute.
    pub command: String,
    /// Arguments of the program, each passed as it is: there is no shell.
    #[serde(default)]
    pub args: Vec<String>,
    /// Extensions of the files that the server handles, in lower case and without the dot, each with the id of its
    /// language.
    pub files: BTreeMap<String, String>,
}

/// A language server as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LanguageServerView {
    /// The configuration; for a server that is only offered, the configuration that it would have.
    pub settings: LanguageServer,
    /// The server's usual name.
    pub title: String,
    /// The language or languages.
    pub language: String,
    /// Programs of a workspace folder that the server may run, described in a sentence.
    pub runs: String,
    /// Whether the person added the server, beside those that are offered.
    pub own: bool,
    /// Path of the server's program; none if it was not found.
    pub found: Option<String>,
}
