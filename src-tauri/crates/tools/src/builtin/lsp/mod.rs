//! `lsp`: what language servers know of a file: definitions, references, problems, symbols (`S002-32`).
//!
//! It only reads, but the server that it asks is a program of the person's, which they switched on: that is their consent to
//! it, and until then every call is an error that says what to set up. A server reads the workspace by itself, so every call
//! declares that it reads all of it; what the rules close is left out of the answer.

mod edits;
mod place;
mod rename;
mod told;

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{
    AbortSemantics, InterfaceBuilder, InterruptBehavior, PermissionMatcher, RenderHint,
};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use self::told::Told;
use super::{blocking, house, number, object, path_member, text, text_if};
use crate::languages::{Languages, Question};
use crate::limits::{COLUMN_MAX, LINE_MAX, LSP_TIMEOUT_MS, OUTPUT_BYTES_MAX, SYMBOL_CHARS_MAX};
use crate::text::visible;
use crate::tool::{Hands, Tool, ToolContext};

pub use self::rename::LspRename;

/// The id of the tool that asks language servers.
pub const LSP: &str = "lsp";
/// The id of the tool that renames by them.
pub const LSP_RENAME: &str = "lsp_rename";

/// What a model reads of it.
const DESCRIPTION: &str = "Asks the language server of a file what it knows. `definition` and `references` of what stands at a line: give \
    `line` as read shows it and `symbol`, a text on that line. `diagnostics`: errors and warnings of the file. `symbols`: what \
    the file defines, or with `query` what the whole workspace defines under such a name; `path` is then any file of \
    the language. It is exact where grep guesses. Answers are places as `path:line:column: text`.";

/// What is said where nobody can be asked at all.
pub(super) const NOBODY: &str = "No language server is switched on, so nothing was asked. The person can switch one on in the settings under \
    Language servers. Until then use grep and read.";

/// The tool over whoever knows languages.
pub struct Lsp {
    interface: ToolInterface,
    languages: Option<Arc<dyn Languages>>,
}

impl Lsp {
    /// The tool over these; over none every call is an error that says what to set up.
    pub fn new(languages: Option<Arc<dyn Languages>>) -> Self {
        Self {
            interface: interface(),
            languages,
        }
    }
}

/// What both tools have in common.
fn over_servers(name: &str) -> InterfaceBuilder {
    house(name)
        .requires_setup(true)
        .timeout_ms(LSP_TIMEOUT_MS)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .persistence_policy_ref("sidecar")
        .progress_render_hint(RenderHint::Nothing)
        .error_render_hint(RenderHint::Line)
}

fn interface() -> ToolInterface {
    over_servers(LSP)
        .user_facing_name("Language server")
        .description(DESCRIPTION)
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**"))
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .search_hint("definition, references, diagnostics and symbols by a language server")
        .is_read_only(true)
        .is_concurrency_safe(true)
        .sandbox_profile("workspace_read")
        .classifier_input("{action} {path} {symbol}")
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
        .ui_summary("{action} {symbol} {path}")
        .activity_description("Asking the language server about {path}")
        .rejected_render_hint(RenderHint::Line)
        .transcript_search_text("{action} {path} {symbol} {query}")
        .checks("a definition and references have a line and a symbol or a column")
        .preflights("a language server that the person switched on knows the file's language")
        .build()
}

/// The members that name a place in a file.
fn place_members() -> [(&'static str, Value); 4] {
    [
        ("path", path_member("The file.")),
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
    ]
}

fn parameters() -> Value {
    let mut members = Map::new();
    members.insert(
        "action".to_owned(),
        json!({ "type": "string", "enum": ["definition", "references", "diagnostics", "symbols"] }),
    );
    let place = place_members();
    members.extend(place.map(|(name, schema)| (name.to_owned(), schema)));
    members.insert(
        "query".to_owned(),
        json!({
            "type": "string", "minLength": 1, "maxLength": SYMBOL_CHARS_MAX,
            "description": "With `symbols`: a name to look for in the whole workspace.",
        }),
    );
    object(members.into(), &["action", "path"])
}

/// What a call of either tool reads: the file that it names, and everything, since a server looks by itself.
fn reads(arguments: &Map<String, Value>) -> Vec<Access> {
    vec![
        Access::new(Capability::FsRead, text(arguments, "path")),
        Access::new(Capability::FsRead, "."),
    ]
}

/// What has to be set up first, if something has.
fn missing(languages: Option<&Arc<dyn Languages>>) -> Option<String> {
    languages.map_or_else(|| Some(NOBODY.to_owned()), |languages| languages.missing())
}

#[async_trait]
impl Tool for Lsp {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let (action, path) = (text(arguments, "action"), text(arguments, "path"));
        let named = text_if(arguments, "query").or(text_if(arguments, "symbol"));
        match named.filter(|_| action != "diagnostics") {
            Some(name) => format!("{action}: {} in {}", visible(name), visible(path)),
            None => format!("{action}: {}", visible(path)),
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        reads(arguments)
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        match text(arguments, "action") {
            "definition" | "references" => place::check(arguments),
            _ => Ok(()),
        }
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments().clone();
        let Some(languages) = &self.languages else {
            return Err(ToolError::Failed(NOBODY.to_owned()));
        };
        let workspace = hands.workspace.clone();
        let (document, question) = blocking(move || {
            let document = place::document(&workspace, text(&arguments, "path"))?;
            let question = asked(&document.text, &arguments)?;
            Ok((document, question))
        })
        .await?;
        let answered = languages
            .ask(&hands.workspace, &document, &question, &cx.cancel)
            .await?;
        let (hands, call) = (hands.clone(), cx.tool_call_id.clone());
        blocking(move || Told::of(&hands.workspace, &document, &answered).output(&hands, &call))
            .await
    }

    fn missing_setup(&self) -> Option<String> {
        missing(self.languages.as_ref())
    }
}

/// What the arguments ask about a document.
fn asked(document: &str, arguments: &Map<String, Value>) -> Result<Question, ToolError> {
    Ok(
        match (text(arguments, "action"), text_if(arguments, "query")) {
            ("definition", _) => Question::Definition(place::place(document, arguments)?),
            ("references", _) => Question::References(place::place(document, arguments)?),
            ("diagnostics", _) => Question::Diagnostics,
            (_, Some(query)) => Question::Find(query.to_owned()),
            (_, None) => Question::Symbols,
        },
    )
}

/// A line of the arguments, from 0.
fn line_of(arguments: &Map<String, Value>) -> Option<usize> {
    usize::try_from(number(arguments, "line")?)
        .ok()?
        .checked_sub(1)
}
