//! Where one command runs: over a layer, or in the workspace itself; and how much it may change there.

use std::path::PathBuf;

use sandbox::Layers;

#[cfg(target_os = "linux")]
use super::LayerKind;
#[cfg(target_os = "linux")]
use super::bounds::bytes_max;
use super::layer::Layer;
use crate::Command;

/// Where a command runs.
pub(super) struct Site<'a> {
    /// The folder of this command alone.
    pub folder: &'a Layer,
    /// What takes its changes; none where the workspace itself does.
    pub layers: Option<Layers>,
    /// The folder for temporary files, where the room cannot have its own `/tmp`.
    pub bare: Option<PathBuf>,
    /// What is looked after while it runs, and how many bytes that may take on the disk.
    pub watched: (PathBuf, u64),
    /// How long a file may become, in bytes.
    pub file_bytes: u64,
}

impl<'a> Site<'a> {
    /// Over a layer.
    #[cfg(target_os = "linux")]
    pub fn layered(kind: LayerKind, layer: &'a Layer) -> Self {
        let copied = layer.copied.as_ref().map_or(0, |copied| copied.bytes);
        let bytes_max = bytes_max(kind);
        Self {
            folder: layer,
            layers: Some(Layers {
                upper: layer.upper(),
                work: (kind != LayerKind::Copy).then(|| layer.work()),
            }),
            bare: None,
            watched: (layer.upper(), bytes_max.saturating_add(copied)),
            file_bytes: bytes_max,
        }
    }

    /// In the workspace itself, which takes so many bytes on the disk and may grow by so many.
    pub fn real(
        folder: &'a Layer,
        bare: Option<PathBuf>,
        command: &Command,
        (disk_bytes, grows_max): (u64, u64),
    ) -> Self {
        let root = command.workspace.root().to_owned();
        Self {
            folder,
            layers: None,
            bare,
            watched: (root, disk_bytes.saturating_add(grows_max)),
            file_bytes: grows_max,
        }
    }
}
