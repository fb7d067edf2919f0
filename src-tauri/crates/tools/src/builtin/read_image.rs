//! A file that is an image, given as one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::{Content, ToolError, ToolOutput};
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
    let Some((mime, name)) = format_of(&start.bytes) else {
        return Ok(None);
    };
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
        content: vec![Content::Image {
            mime: mime.to_owned(),
            base64: STANDARD.encode(&bytes),
        }],
        data: Some(json!({ "mime": mime, "total_bytes": bytes.len() })),
        ..ToolOutput::new(
            format!("`{path}` is {name} image of {size}."),
            format!("image, {size}"),
        )
    }))
}

/// Media type and name of the formats that models can be shown.
fn format_of(start: &[u8]) -> Option<(&'static str, &'static str)> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(("image/png", "a PNG")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "a JPEG")),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(("image/gif", "a GIF")),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some(("image/webp", "a WebP")),
        _ => None,
    }
}
