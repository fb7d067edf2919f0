//! Images that a transcript names by their files.

use std::path::{Path, PathBuf};

use protocol::Content;
use runtime::Workspace;
use tools::limits::IMAGE_BYTES_MAX;

use crate::limits::TRANSCRIPT_IMAGE_FILES_MAX;

/// The images of the files that a message names.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ImageFiles {
    /// Those that were read.
    pub images: Vec<Content>,
    /// Paths of the others: they are not there, no images, too large, or too many.
    pub unread: Vec<String>,
}

impl ImageFiles {
    /// Reads the images of these files, relative ones below a folder.
    pub fn read(folder: &Path, files: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for (index, file) in files.iter().enumerate() {
            let image = match index < TRANSCRIPT_IMAGE_FILES_MAX {
                true => read_image(&folder.join(file)),
                false => None,
            };
            match image {
                Some(image) => read.images.push(image),
                None => read.unread.push(file.display().to_string()),
            }
        }
        read
    }
}

fn read_image(file: &Path) -> Option<Content> {
    let folder = Workspace::open(file.parent()?).ok()?;
    let name = file.file_name()?.to_str()?;
    let bytes = folder.read_whole(name, IMAGE_BYTES_MAX).ok()??;
    Content::image(&bytes)
}
