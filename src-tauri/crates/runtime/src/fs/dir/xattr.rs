//! Extended attributes by which the kernel's overlayfs marks folders and files in a layer.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rustix::fs as sys;
use rustix::io::Errno;

use crate::fs::dir::Dir;

impl Dir {
    /// Reads a mark of this folder; empty if it has none of that name.
    pub(crate) fn read_xattr(&self, name: &str) -> io::Result<Vec<u8>> {
        get_xattr(self, name)
    }

    /// Whether a mark can be set on this folder: the kernel needs one to mark a replaced folder.
    pub(crate) fn supports_xattrs(&self) -> bool {
        sys::fsetxattr(self, "user.countersign", b"y", sys::XattrFlags::empty()).is_ok()
            && sys::fremovexattr(self, "user.countersign").is_ok()
    }

    /// Reads a mark of a regular file in this folder.
    pub(crate) fn read_file_xattr(&self, name: &OsStr, mark_name: &str) -> io::Result<Vec<u8>> {
        get_xattr(&self.open_file(Path::new(name))?, mark_name)
    }
}

fn get_xattr(file: impl std::os::fd::AsFd, name: &str) -> io::Result<Vec<u8>> {
    let mut value = [0_u8; 8];
    match sys::fgetxattr(file, name, &mut value) {
        Ok(length) => Ok(value[..length].to_vec()),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(Vec::new()),
        // Longer than any that says no more than yes.
        Err(Errno::RANGE) => Ok(b"?".to_vec()),
        Err(error) => Err(error.into()),
    }
}
