//! The masked files and folders of the sandbox, recognized by the placeholder in their place: it may neither be opened
//! nor entered, and its file system holds nothing else.

use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, StatxFlags, fstat, statx};

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

    /// Whether a path of the sandbox leads to a mask.
    ///
    /// # Errors
    /// The path leads nowhere, or through a mask, which is [`Errno::ACCESS`](rustix::io::Errno::ACCESS).
    pub(in crate::linux) fn is_masked(
        &self,
        path: &[u8],
        links: AtFlags,
    ) -> rustix::io::Result<bool> {
        let Some(device) = self.device else {
            return Ok(false);
        };
        // Nobody is to be waited for: not a server that is gone, not a disk that is mounted when it is first used.
        let flags = links | AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
        let found = statx(CWD, path, flags, StatxFlags::empty())?;
        Ok((found.stx_dev_major, found.stx_dev_minor) == device)
    }
}
