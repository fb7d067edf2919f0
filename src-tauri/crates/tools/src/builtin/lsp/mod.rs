//! `lsp`: queries language servers about a file: definitions, references, problems, symbols (`S002-32`).
//!
//! The tool only reads, but the server that it asks is a program that the person switched on: that is their consent to
//! it, and until then every call is an error that says how to set one up. A server reads the workspace by itself, so
//! every call declares that it reads all of it; results in files that the rules close are left out of the answer.

mod edits;
mod position;
mod rename;
mod report;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::InterfaceBuilder;
use protocol::{Access, Capability, ToolError, ToolInterface, ToolOutput};
use runtime::Workspace;
use serde_json::{Map, Value, json};

use self::report::LanguageReport;
use super::presets::file_query_interface;
use super::{
    number_argument, object_schema, optional_text_argument, path_schema, run_blocking,
    text_argument,
};
use crate::language_service::{LanguageQuery, LanguageService};
use crate::limits::{COLUMN_MAX, LINE_MAX, LSP_TIMEOUT_MS, SYMBOL_CHARS_MAX};
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, Tool, ToolContext};

pub use self::rename::LspRenameTool;

/// Id of the tool that queries language servers.
pub const LSP: &str = "lsp";
/// Id of the tool that renames symbols by language servers.
pub const LSP_RENAME: &str = "lsp_rename";

/// Tool description for the model.
const DESCRIPTION: &str = "Asks the language server of a file what it knows. `definition` and `references` of what stands at a line: give \
    `line` as read shows it and `symbol`, a text on that line. `diagnostics`: errors and warnings of the file. `symbols`: what \
    the file defines, or with `query` what the whole workspace defines under such a name; `path` is then any file of \
    the language. It is exact where grep guesses. Answers are places as `path:line:column: text`.";

/// Error text where no server is available at all.
pub(super) const NO_SERVER: &str = "No language server is switched on, so nothing was asked. The person can switch one on in the settings under \
    Language servers. Until then use grep and read.";

/// The `lsp` tool over the language service of a session.
pub struct LspTool {
    interface: ToolInterface,
    languages: Option<Arc<dyn LanguageService>>,
}

impl LspTool {
    /// Creates the tool over this service; without one every call is an error that says how to set one up.
    pub fn new(languages: Option<Arc<dyn LanguageService>>) -> Self {
        let interface = state_server_facts(file_query_interface(LSP))
            .user_facing_name("Language server")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("definition, references, diagnostics and symbols by a language server")
            .classifier_input("{action} {path} {symbol}")
            .ui_summary("{action} {symbol} {path}")
            .activity_description("Asking the language server about {path}")
            .transcript_search_text("{action} {path} {symbol} {query}")
            .add_value_check("a definition and references have a line and a symbol or a column")
            .build();
        Self {
            interface,
            languages,
        }
    }
}

/// States the facts that both tools share.
fn state_server_facts(interface: InterfaceBuilder) -> InterfaceBuilder {
    interface
        .requires_setup(true)
        .timeout_ms(LSP_TIMEOUT_MS)
        .add_preflight("a language server that the person switched on knows the file's language")
}

/// Returns the parameters that name a position in a file.
fn position_parameters() -> Map<String, Value> {
    let parameters = [
        ("path", path_schema("The file.")),
        (
            "line",
            json!({
                "type": "integer", "minimum": 1, "maximum": LINE_MAX,
                "description": "The line that the symbol stands on, from 1, as read shows it.",
            }),
        ),
        (
            "symbol",
            json!({
                "type": "string", "minLength": 1, "maxLength": SYMBOL_CHARS_MAX,
                "description": "The symbol as it stands on that line.",
            }),
        ),
        (
            "column",
            json!({
                "type": "integer", "minimum": 1, "maximum": COLUMN_MAX,
                "description": "Its column in characters, from 1; only where the symbol stands on the line more than once.",
            }),
        ),
    ];
    Map::from_iter(parameters.map(|(name, schema)| (name.to_owned(), schema)))
}

fn parameters_schema() -> Value {
    let mut members = Map::new();
    members.insert(
        "action".to_owned(),
        json!({ "type": "string", "enum": ["definition", "references", "diagnostics", "symbols"] }),
    );
    members.extend(position_parameters());
    members.insert(
        "query".to_owned(),
        json!({
            "type": "string", "minLength": 1, "maxLength": SYMBOL_CHARS_MAX,
            "description": "With `symbols`: a name to look for in the whole workspace.",
        }),
    );
    object_schema(members.into(), &["action", "path"])
}

/// Returns the reads of a call of either tool: the file that it names, and the whole workspace, since a server reads it
/// by itself.
fn declared_reads(arguments: &Map<String, Value>) -> Vec<Access> {
    vec![
        Access::new(Capability::FsRead, text_argument(arguments, "path")),
        Access::new(Capability::FsRead, "."),
    ]
}

/// Resolves the real path of a file that a server names, relative to the workspace root; `None` if it is outside of the
/// workspace.
fn resolve_in_workspace(
    workspace: &Workspace,
    capability: Capability,
    file: &str,
) -> Option<String> {
    let fact = workspace.resolve(&Access::new(capability, file));
    let is_inside = fact.inside && fact.unresolved.is_none();
    (is_inside && !Path::new(&fact.real).is_absolute()).then_some(fact.real)
}

/// Returns how to set up a server, if none is available.
fn missing_server(languages: Option<&Arc<dyn LanguageService>>) -> Option<String> {
    languages.map_or_else(
        || Some(NO_SERVER.to_owned()),
        |languages| languages.missing_setup(),
    )
}

#[async_trait]
impl Tool for LspTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let (action, path) = (
            text_argument(arguments, "action"),
            text_argument(arguments, "path"),
        );
        let named = optional_text_argument(arguments, "query")
            .or(optional_text_argument(arguments, "symbol"));
        match named.filter(|_| action != "diagnostics") {
            Some(name) => format!(
                "{action}: {} in {}",
                escape_invisible(name),
                escape_invisible(path)
            ),
            None => format!("{action}: {}", escape_invisible(path)),
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        declared_reads(arguments)
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        match text_argument(arguments, "action") {
            "definition" | "references" => position::check_position(arguments),
            _ => Ok(()),
        }
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments().clone();
        let Some(languages) = &self.languages else {
            return Err(ToolError::Failed(NO_SERVER.to_owned()));
        };
        let workspace = context.workspace.clone();
        let (document, query) = run_blocking(move || {
            let document = position::read_document(&workspace, text_argument(&arguments, "path"))?;
            let query = parse_query(&document.text, &arguments)?;
            Ok((document, query))
        })
        .await?;
        let response = languages
            .ask(&context.workspace, &document, &query, &execution.cancel)
            .await?;
        let (context, call) = (context.clone(), execution.tool_call_id.clone());
        run_blocking(move || {
            LanguageReport::from_response(&context.workspace, &document, &response)
                .into_output(&context, &call)
        })
        .await
    }

    fn missing_setup(&self) -> Option<String> {
        missing_server(self.languages.as_ref())
    }
}

/// Parses the arguments into a query about a document.
fn parse_query(document: &str, arguments: &Map<String, Value>) -> Result<LanguageQuery, ToolError> {
    Ok(
        match (
            text_argument(arguments, "action"),
            optional_text_argument(arguments, "query"),
        ) {
            ("definition", _) => {
                LanguageQuery::Definition(position::resolve_position(document, arguments)?)
            }
            ("references", _) => {
                LanguageQuery::References(position::resolve_position(document, arguments)?)
            }
            ("diagnostics", _) => LanguageQuery::Diagnostics,
            (_, Some(query)) => LanguageQuery::Find(query.to_owned()),
            (_, None) => LanguageQuery::Symbols,
        },
    )
}

/// Returns the line number in the arguments, converted to count from 0.
fn line_argument(arguments: &Map<String, Value>) -> Option<usize> {
    usize::try_from(number_argument(arguments, "line")?)
        .ok()?
        .checked_sub(1)
}
