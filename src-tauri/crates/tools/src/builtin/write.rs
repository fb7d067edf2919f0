//! `write`: creates a file or replaces its content (`S002-13`, `S001-49`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::Origin;
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use super::files::{carry_out, change, content, inside};
use super::{blocking, object, path_member, text};
use crate::limits::FILE_BYTES_MAX;
use crate::text::{amount, visible};
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Creates a file, or replaces the whole content of one. Folders that are missing are made. \
    The path is relative to the workspace. To change a part of a file use edit.";

pub(super) struct Write {
    interface: ToolInterface,
}

impl Write {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    ToolInterface::tool("write")
        .user_facing_name("Write")
        .description(DESCRIPTION)
        .alias("write_file", &[])
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().writes("**"))
        .origin(Origin::BuiltIn)
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .build()
}

fn parameters() -> Value {
    object(
        json!({
            "path": path_member("The file, relative to the workspace."),
            "content": { "type": "string", "description": "The whole new content." },
        }),
        &["path", "content"],
    )
}

#[async_trait]
impl Tool for Write {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        visible(text(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(Capability::FsWrite, text(arguments, "path"))]
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        if text(arguments, "path").ends_with('/') {
            return Err(ToolError::InvalidArgs(
                "`path` ends with `/`, so it names a folder; name the file to be written"
                    .to_owned(),
            ));
        }
        let bytes = text(arguments, "content").len() as u64;
        if bytes > FILE_BYTES_MAX {
            return Err(ToolError::InvalidArgs(format!(
                "`content` is {} long, and at most {} can be written at once; write it in parts with bash",
                amount(bytes),
                amount(FILE_BYTES_MAX)
            )));
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let workspace = hands.workspace.clone();
        let path = text(arguments, "path").to_owned();
        let after = text(arguments, "content").as_bytes().to_vec();
        blocking(move || {
            let path = inside(&workspace, Capability::FsWrite, &path)?;
            let before = content(&workspace, &path)?;
            Ok(change(path, before, after))
        })
        .await
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = hands.workspace.clone();
        let plan = approved.plan().clone();
        let path = text(approved.arguments(), "path").to_owned();
        blocking(move || carry_out(&workspace, &plan, &path)).await
    }
}
