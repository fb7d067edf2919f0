//! `read`: returns a file's lines with their numbers, or its bytes, at any size (`S002-12`, `S001-48`, M07).

use async_trait::async_trait;
use policy::Approved;
use protocol::text::redact;
use protocol::{Access, Capability, ToolError, ToolInterface, ToolKind, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::fs::read_image::read_image;
use crate::builtin::fs::read_lines::{Excerpt, LineRange, read_bytes, read_lines};
use crate::builtin::presets::file_query_interface;
use crate::builtin::{
    number_argument, object_schema, path_schema, reject_if, run_blocking, text_argument,
};
use crate::limits::OUTPUT_BYTES_MAX;
use crate::text::{escape_invisible, format_count};
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Reads a text file, or looks at an image. Every line comes after its number and a tab; neither is part of the \
    file. Without offset and limit as much as fits in 200 KB is read from the start; what \
    is left is said at the end, with the offset to go on from. byte_offset and byte_limit \
    read bytes instead of lines, for files with very long lines.";

pub(in crate::builtin) struct ReadFileTool {
    interface: ToolInterface,
}

impl ReadFileTool {
    pub(in crate::builtin) fn new() -> Self {
        let interface = file_query_interface("read")
            .user_facing_name("Read")
            .description(DESCRIPTION)
            .add_alias("read_file", &[])
            .model_input_schema(parameters_schema())
            .kind(ToolKind::Read)
            .search_hint("read a text file by lines or bytes")
            .classifier_input("read {path}")
            .persistence_policy_ref("never")
            .ui_summary("Read {path}")
            .activity_description("Reading {path}")
            .transcript_search_text("{path}")
            .add_value_check("lines and bytes are not asked for together")
            .build();
        Self { interface }
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "path": path_schema("The file, relative to the workspace, or the path of a long output."),
            "offset": { "type": "integer", "minimum": 1, "description": "The first line, from 1." },
            "limit": { "type": "integer", "minimum": 1, "description": "How many lines." },
            "byte_offset": { "type": "integer", "minimum": 0, "description": "The first byte, from 0." },
            "byte_limit": {
                "type": "integer", "minimum": 1, "maximum": OUTPUT_BYTES_MAX,
                "description": "How many bytes.",
            },
        }),
        &["path"],
    )
}

fn is_byte_range(arguments: &Map<String, Value>) -> bool {
    arguments.contains_key("byte_offset") || arguments.contains_key("byte_limit")
}

#[async_trait]
impl Tool for ReadFileTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::FsRead,
            text_argument(arguments, "path"),
        )]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let by_lines = arguments.contains_key("offset") || arguments.contains_key("limit");
        reject_if(
            by_lines && is_byte_range(arguments),
            "`offset` and `limit` count lines, `byte_offset` and `byte_limit` count bytes; give one pair of them",
        )
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments();
        let path = text_argument(arguments, "path").to_owned();
        let workspace = context.workspace.clone();
        let cancel = execution.cancel.clone();
        let masks = redact::is_masking_requested(&self.interface.result.redaction_policy_refs);
        let byte_range = is_byte_range(arguments).then(|| {
            let from = number_argument(arguments, "byte_offset").unwrap_or_default();
            (
                from,
                number_argument(arguments, "byte_limit").unwrap_or(OUTPUT_BYTES_MAX),
            )
        });
        let range = LineRange {
            first: number_argument(arguments, "offset").unwrap_or(1),
            count: number_argument(arguments, "limit"),
            masks,
        };
        run_blocking(move || {
            if byte_range.is_none()
                && let Some(image) = read_image(&workspace, &path)?
            {
                return Ok(image);
            }
            let excerpt = match byte_range {
                Some((from, count)) => read_bytes(&workspace, &path, from, count, masks)?,
                None => read_lines(&workspace, &path, range, &cancel)?,
            };
            Ok(format_excerpt(&path, excerpt))
        })
        .await
    }
}

fn format_excerpt(path: &str, excerpt: Excerpt) -> ToolOutput {
    let message = match (excerpt.lines, excerpt.total_lines) {
        (None, _) if excerpt.total_bytes == 0 => "empty".to_owned(),
        (None, _) => format_count(excerpt.bytes.1 - excerpt.bytes.0, "byte", "bytes"),
        (Some((first, last)), Some(total)) if first == 1 && last == total => {
            format_count(total, "line", "lines")
        }
        (Some((first, last)), _) => format!("lines {first}–{last}"),
    };
    let data = json!({
        "first_line": excerpt.lines.map(|lines| lines.0),
        "last_line": excerpt.lines.map(|lines| lines.1),
        "total_lines": excerpt.total_lines,
        "first_byte": excerpt.bytes.0,
        "end_byte": excerpt.bytes.1,
        "total_bytes": excerpt.total_bytes,
        "is_whole": excerpt.bytes == (0, excerpt.total_bytes),
    });
    let output = match excerpt.total_bytes {
        0 => ToolOutput::new_empty(
            format!("`{path}` is empty: it stands there with 0 bytes."),
            message,
        ),
        _ => ToolOutput::new(excerpt.text, message),
    };
    ToolOutput {
        data: Some(data),
        secrets_masked: excerpt.secrets_masked,
        ..output
    }
}
