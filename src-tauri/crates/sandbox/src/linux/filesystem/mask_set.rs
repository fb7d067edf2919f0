//! The masked files and folders of the sandbox, recognized by the placeholder in their place: it may neither be opened
//! nor entered, and its file system holds nothing else.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{Statx, fstat};

/// The masks of a sandbox.
pub(in crate::linux) struct MaskSet {
    /// The file system of the masks, by the two parts of its number; `None` where nothing is masked.
    device: Option<(u32, u32)>,
    git_files: Vec<GitFile>,
}

/// A masked file that git may read, opened before its mask covered it.
pub(in crate::linux) struct GitFile {
    path: PathBuf,
    file: File,
}

impl GitFile {
    /// Opens a file, if it is there and may be read.
    pub(in crate::linux) fn open(path: PathBuf) -> Option<Self> {
        let file = File::open(&path).ok()?;
        Some(Self { path, file })
    }

    pub(in crate::linux) fn path_bytes(&self) -> &[u8] {
        self.path.as_os_str().as_bytes()
    }

    /// Opens the file once more: each reader has a place of its own in it.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub(in crate::linux) fn reopen(&self) -> io::Result<File> {
        File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

impl MaskSet {
    /// Returns the masks on this file system, which holds nothing else.
    pub(in crate::linux) fn new(
        masks: impl AsFd,
        masked: &[PathBuf],
        git_files: Vec<GitFile>,
    ) -> rustix::io::Result<Self> {
        let device = match masked.is_empty() {
            true => None,
            false => {
                let found = fstat(masks)?.st_dev;
                Some((rustix::fs::major(found), rustix::fs::minor(found)))
            }
        };
        Ok(Self { device, git_files })
    }

    /// Whether this is a mask: the target of a path of the sandbox.
    pub(in crate::linux) fn is_mask(&self, found: &Statx) -> bool {
        self.device == Some((found.stx_dev_major, found.stx_dev_minor))
    }

    /// Returns the file below a mask, if git may read it. The path is that of the mask.
    pub(in crate::linux) fn git_file(&self, mask: &[u8]) -> Option<&GitFile> {
        self.git_files.iter().find(|file| file.path_bytes() == mask)
    }
}
