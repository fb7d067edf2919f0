//! The masked files and folders of the sandbox, recognized by the placeholder in their place: it may neither be opened
//! nor entered, and its file system holds nothing else.

use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{Statx, fstat};

/// The masks of a sandbox.
pub(in crate::linux) struct MaskSet {
    /// The file system of the masks, by the two parts of its number; `None` where nothing is masked.
    device: Option<(u32, u32)>,
}

impl MaskSet {
    /// Returns the masks on this file system, which holds nothing else.
    pub(in crate::linux) fn new(masks: impl AsFd, masked: &[PathBuf]) -> rustix::io::Result<Self> {
        let device = match masked.is_empty() {
            true => None,
            false => {
                let found = fstat(masks)?.st_dev;
                Some((rustix::fs::major(found), rustix::fs::minor(found)))
            }
        };
        Ok(Self { device })
    }

    /// Whether this is a mask: the target of a path of the sandbox.
    pub(in crate::linux) fn is_mask(&self, found: &Statx) -> bool {
        self.device == Some((found.stx_dev_major, found.stx_dev_minor))
    }
}
