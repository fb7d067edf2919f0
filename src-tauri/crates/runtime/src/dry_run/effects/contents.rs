//! The content of a file before and after a captured command.

use std::io::{self, Read as _};
use std::path::Path;

use protocol::history::Node;
use protocol::{CapturedEffects, EffectStep};

use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{Dir, open_file_kind};
use crate::fs::workspace::{PathKind, display_path};
use crate::{FileError, Workspace};

/// The content of a path before and after; none where there is no regular file on that side.
pub type ContentPair = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Reads both sides of a step: the content in the workspace, and the content in the layer.
///
/// # Errors
/// [`FileError::TooLarge`] when one of the contents is longer than `bytes_max`; [`FileError::Changed`] when the file in
/// the workspace is no longer as long as the command found it; otherwise any error reported by the system.
pub fn read_contents(
    workspace: &Workspace,
    captured: &CapturedEffects,
    step: &EffectStep,
    bytes_max: u64,
) -> Result<ContentPair, FileError> {
    let path = display_path(&step.path);
    let side = |node: &Node, dir: &dyn Fn() -> io::Result<Dir>| match node {
        Node::File { bytes, .. } if *bytes > bytes_max => Err(FileError::TooLarge {
            path: path.clone(),
            bytes: *bytes,
            bytes_max,
        }),
        Node::File { bytes, .. } => {
            let found = dir().and_then(|dir| read_exact_file(&dir, &step.path, *bytes));
            match found.at(&path)? {
                Some(content) => Ok(Some(content)),
                None => Err(FileError::Changed { path: path.clone() }),
            }
        }
        Node::Absent | Node::Folder { .. } | Node::Link { .. } => Ok(None),
    };
    Ok((
        side(&step.before, &|| Ok(workspace.dir().clone()))?,
        side(&step.after, &|| Dir::open(&captured.layer))?,
    ))
}

/// Reads a file of exactly this length; `None` if its length has changed.
fn read_exact_file(dir: &Dir, path: &Path, bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let file = dir.open_file(path)?;
    if open_file_kind(&file)? != PathKind::File {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(bytes.saturating_add(1))
        .read_to_end(&mut content)?;
    Ok((content.len() as u64 == bytes).then_some(content))
}
