//! A file that is an image, given as one.

use protocol::{Content, ToolError, ToolOutput, image_type};
use runtime::Workspace;
use serde_json::json;

use super::failed;
use crate::limits::IMAGE_BYTES_MAX;
use crate::text::amount;

/// The output for an image; none if the file is none, or if it cannot be looked at: reading it as text then says why.
pub(super) fn read_image(
    workspace: &Workspace,
    path: &str,
) -> Result<Option<ToolOutput>, ToolError> {
    let Ok(start) = workspace.read(path, 0, 16) else {
        return Ok(None);
    };
    let Some(mime) = image_type(&start.bytes) else {
        return Ok(None);
    };
    let name = name_of(mime);
    if start.total > IMAGE_BYTES_MAX {
        return Err(ToolError::Failed(format!(
            "`{path}` is {name} image of {}, and at most {} can be looked at. Make it smaller with bash first.",
            amount(start.total),
            amount(IMAGE_BYTES_MAX)
        )));
    }
    let Some(bytes) = workspace
        .read_whole(path, IMAGE_BYTES_MAX)
        .map_err(failed)?
    else {
        return Ok(None);
    };
    let size = amount(bytes.len() as u64);
    Ok(Some(ToolOutput {
        content: Content::image(&bytes).into_iter().collect(),
        data: Some(json!({ "mime": mime, "total_bytes": bytes.len() })),
        ..ToolOutput::new(
            format!("`{path}` is {name} image of {size}."),
            format!("image, {size}"),
        )
    }))
}

/// The name of a format, by its media type.
fn name_of(mime: &str) -> &'static str {
    match mime {
        "image/png" => "a PNG",
        "image/jpeg" => "a JPEG",
        "image/gif" => "a GIF",
        _ => "a WebP",
    }
}
