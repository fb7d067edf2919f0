//! Where one command runs: over a layer, or in the workspace itself; and how much it may change there.

use std::path::PathBuf;

use sandbox::Layers;

use super::bounds::bytes_max;
use super::layer::Layer;
use super::{LayerKind, Walls};
use crate::Command;

/// Where a command runs.
pub(super) struct Site<'a> {
    /// The folder of this command alone.
    pub folder: &'a Layer,
    /// What takes its changes; none where the workspace itself does.
    pub layers: Option<Layers>,
    pub walls: Walls,
    /// What is looked after while it runs, and how many bytes that may take on the disk.
    pub watched: (PathBuf, u64),
    /// How long a file may become, in bytes.
    pub file_bytes: u64,
}

impl<'a> Site<'a> {
    /// Over a layer.
    pub fn layered(kind: LayerKind, layer: &'a Layer) -> Self {
        let copied = layer.copied.as_ref().map_or(0, |copied| copied.bytes);
        let bytes_max = bytes_max(kind);
        Self {
            folder: layer,
            layers: Some(Layers {
                upper: layer.upper(),
                work: (kind != LayerKind::Copy).then(|| layer.work()),
            }),
            walls: Walls::All,
            watched: (layer.upper(), bytes_max.saturating_add(copied)),
            file_bytes: bytes_max,
        }
    }

    /// In the workspace itself, which takes so many bytes on the disk and may grow by so many.
    pub fn real(
        folder: &'a Layer,
        walls: Walls,
        command: &Command,
        disk_bytes: u64,
        grows_max: u64,
    ) -> Self {
        let root = command.workspace.root().to_owned();
        Self {
            folder,
            layers: None,
            walls,
            watched: (root, disk_bytes.saturating_add(grows_max)),
            file_bytes: grows_max,
        }
    }

    /// The folder for temporary files, where the room cannot have its own `/tmp`.
    pub fn bare(&self) -> Option<PathBuf> {
        match self.walls {
            Walls::All => None,
            Walls::Landlock => Some(self.folder.tmp()),
        }
    }
}
