//! Reads image files as images.

use protocol::{Content, ToolError, ToolOutput, detect_image_type};
use runtime::Workspace;
use serde_json::json;

use crate::builtin::file_error;
use crate::limits::IMAGE_BYTES_MAX;
use crate::text::format_byte_size;

/// Returns the output for an image; `None` if the file is not an image or cannot be read: reading it as text then
/// reports the reason.
pub(in crate::builtin) fn read_image(
    workspace: &Workspace,
    path: &str,
) -> Result<Option<ToolOutput>, ToolError> {
    let Ok(start) = workspace.read(path, 0, 16) else {
        return Ok(None);
    };
    let Some(mime) = detect_image_type(&start.bytes) else {
        return Ok(None);
    };
    let name = format_name(mime);
    if start.total > IMAGE_BYTES_MAX {
        return Err(ToolError::Failed(format!(
            "`{path}` is {name} image of {}, and at most {} can be looked at. Make it smaller with bash first.",
            format_byte_size(start.total),
            format_byte_size(IMAGE_BYTES_MAX)
        )));
    }
    let Some(bytes) = workspace
        .read_whole(path, IMAGE_BYTES_MAX)
        .map_err(file_error)?
    else {
        return Ok(None);
    };
    let size = format_byte_size(bytes.len() as u64);
    Ok(Some(ToolOutput {
        content: Content::image(&bytes).into_iter().collect(),
        data: Some(json!({ "mime": mime, "total_bytes": bytes.len() })),
        ..ToolOutput::new(
            format!("`{path}` is {name} image of {size}."),
            format!("image, {size}"),
        )
    }))
}

/// Returns the name of an image format by its media type.
fn format_name(mime: &str) -> &'static str {
    match mime {
        "image/png" => "a PNG",
        "image/jpeg" => "a JPEG",
        "image/gif" => "a GIF",
        _ => "a WebP",
    }
}
