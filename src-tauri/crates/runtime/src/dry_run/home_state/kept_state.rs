//! The state that a program keeps from one start in a sandbox to the next: a layer over each folder that has it, which stays
//! when the sandbox is gone. The folders themselves stay as they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protocol::Digest;
use sandbox::PrivateFolder;

use super::create_private;
use crate::dry_run::overlay::owned_folder::remove_folder;
use crate::dry_run::secrets::masks::is_out_of_sight;
use crate::fs::at_path::AtPath as _;
use crate::fs::workspace::display_path;
use crate::{FileError, Workspace, create_private_folder};

/// How many characters of a folder's digest name its layer.
const NAME_CHARS: usize = 16;

/// Opens the layers over these folders, below `layers`: as their program left them, or empty.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] where a folder and the workspace lie in one another, or no sandbox sees the folder;
/// otherwise any error reported by the system.
pub(in crate::dry_run) fn open_kept_state(
    layers: &Path,
    folders: &[PathBuf],
    workspace: &Workspace,
) -> Result<Vec<PrivateFolder>, FileError> {
    let mut opened: Vec<PrivateFolder> = Vec::new();
    for folder in folders {
        if !folder.exists() {
            create_private_folder(folder)?;
        }
        let path = fs::canonicalize(folder).at(folder)?;
        let root = workspace.root();
        if path.starts_with(root) || root.starts_with(&path) {
            return Err(FileError::sandbox_unavailable(format!(
                "`{}`, where the program keeps its own state, and the folder that it works in lie in one another.",
                display_path(&path)
            )));
        }
        if is_out_of_sight(&path) {
            return Err(FileError::sandbox_unavailable(format!(
                "`{}`, where the program keeps its own state, is not to be seen in a sandbox.",
                display_path(&path)
            )));
        }
        let is_known = |other: &PrivateFolder| path.starts_with(&other.path);
        if !opened.iter().any(is_known) {
            opened.push(open_layer(path, layers).at("the layers over a home folder")?);
        }
    }
    Ok(opened)
}

/// Opens the layer over one folder. What the kernel left to work with is made anew: it is for one mount.
fn open_layer(path: PathBuf, layers: &Path) -> io::Result<PrivateFolder> {
    let digest = Digest::from_bytes(path.as_os_str().as_encoded_bytes());
    let layer = layers.join(&digest.0[..NAME_CHARS]);
    if !layer.join("upper").is_dir() {
        return create_private(path, &layer);
    }
    let folder = PrivateFolder {
        upper: layer.join("upper"),
        work: layer.join("work"),
        path,
    };
    if folder.work.is_dir() {
        remove_folder(&folder.work)?;
    }
    fs::create_dir(&folder.work)?;
    Ok(folder)
}
