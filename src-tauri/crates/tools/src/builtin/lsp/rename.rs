//! `lsp_rename`: a symbol renamed everywhere, by the changes that its language server names, shown before one is made
//! (`S002-32`).
//!
//! A tool of its own beside `lsp`, because it writes: rules, modes and planning tell the two apart by their names. The server
//! changes nothing; which files change is known once it was asked, and the call is judged on each of them then.

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{LSP_RENAME, NOBODY, edits, missing, over_servers, place, place_members, reads};
use crate::builtin::files::carry_out;
use crate::builtin::masked::keeps_secrets;
use crate::builtin::{blocking, object, text};
use crate::languages::{Languages, Question};
use crate::limits::SYMBOL_CHARS_MAX;
use crate::text::visible;
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Renames what stands at a line of a file, everywhere in the workspace, as its language server knows it: give `line` as \
    read shows it, `symbol` as it stands there, and `new_name`. All files change together or none does.";

/// The tool over whoever knows languages.
pub struct LspRename {
    interface: ToolInterface,
    languages: Option<Arc<dyn Languages>>,
}

impl LspRename {
    /// The tool over these; over none every call is an error that says what to set up.
    pub fn new(languages: Option<Arc<dyn Languages>>) -> Self {
        Self {
            interface: interface(),
            languages,
        }
    }
}

fn interface() -> ToolInterface {
    over_servers(LSP_RENAME)
        .user_facing_name("Rename")
        .description(DESCRIPTION)
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**").writes("**"))
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .search_hint("rename a symbol everywhere by a language server")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .sandbox_profile("workspace_write")
        .classifier_input("rename {symbol} to {new_name} in {path}")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .ui_summary("Rename {symbol} to {new_name}")
        .activity_description("Renaming {symbol} to {new_name}")
        .rejected_render_hint(RenderHint::Difference)
        .transcript_search_text("{path} {symbol} {new_name}")
        .checks("the place has a line and a symbol or a column, and the new name is not blank")
        .preflights("a language server that the person switched on knows the file's language")
        .preflights("every change lies in the workspace, at a place that is there, and no file is made, moved or deleted")
        .preflights("every file is still as it was when the difference was shown")
        .build()
}

fn parameters() -> Value {
    let place = place_members();
    let mut members: Map<String, Value> = place
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    members.insert(
        "new_name".to_owned(),
        json!({ "type": "string", "minLength": 1, "maxLength": SYMBOL_CHARS_MAX }),
    );
    object(members.into(), &["path", "line", "new_name"])
}

#[async_trait]
impl Tool for LspRename {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let [symbol, new, path] =
            ["symbol", "new_name", "path"].map(|name| visible(text(arguments, name)));
        match symbol.is_empty() {
            true => format!("a symbol to {new} in {path}"),
            false => format!("{symbol} to {new} in {path}"),
        }
    }

    /// The file that it names is written in any case; which others are, its plan says.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let mut accesses = reads(arguments);
        accesses.push(Access::new(Capability::FsWrite, text(arguments, "path")));
        accesses
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        place::check(arguments)?;
        match text(arguments, "new_name").trim().is_empty() {
            true => Err(ToolError::InvalidArgs(
                "`new_name` is blank; give the name that it is to have".to_owned(),
            )),
            false => Ok(()),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let Some(languages) = &self.languages else {
            return Err(ToolError::Failed(NOBODY.to_owned()));
        };
        let (workspace, arguments) = (hands.workspace.clone(), arguments.clone());
        let (document, question) = blocking(move || {
            let document = place::document(&workspace, text(&arguments, "path"))?;
            let place = place::place(&document.text, &arguments)?;
            let new = text(&arguments, "new_name").trim().to_owned();
            Ok((document, Question::Rename(place, new)))
        })
        .await?;
        let never = CancellationToken::new();
        let answered = languages
            .ask(&hands.workspace, &document, &question, &never)
            .await?;
        let workspace = hands.workspace.clone();
        blocking(move || keeps_secrets(edits::plan(&workspace, &answered)?)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = hands.workspace.clone();
        let plan = approved.plan().clone();
        blocking(move || carry_out(&workspace, &plan, "the renaming")).await
    }

    fn missing_setup(&self) -> Option<String> {
        missing(self.languages.as_ref())
    }
}
