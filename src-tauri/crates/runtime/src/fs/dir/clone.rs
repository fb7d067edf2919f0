//! Files cloned from others by reference, where the disk can: both share their content until one of them changes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use crate::fs::dir::Dir;

impl Dir {
    /// Creates a file for a copy of `source`, which stands at `name` in `from`, for the owner alone, and returns
    /// whether it has its content already: by reference, which is tried only if `clones`.
    pub(crate) fn create_copy_target(
        &self,
        name: &OsStr,
        from: &Self,
        source: &File,
        clones: bool,
    ) -> io::Result<(File, bool)> {
        #[cfg(not(target_os = "linux"))]
        if clones && self.create_clone(name, from, source) {
            return Ok((self.open_file(std::path::Path::new(name))?, true));
        }
        let made = self.create(name, Some(0o600))?;
        #[cfg(target_os = "linux")]
        let has_content = clones && rustix::fs::ioctl_ficlone(&made, source).is_ok();
        #[cfg(not(target_os = "linux"))]
        let has_content = false;
        let _ = from;
        Ok((made, has_content))
    }

    /// Creates the file and its content at once, as APFS can.
    #[cfg(target_vendor = "apple")]
    fn create_clone(&self, name: &OsStr, _: &Self, source: &File) -> bool {
        let plain = rustix::fs::CloneFlags::empty();
        rustix::fs::fclonefileat(source, self, name, plain).is_ok()
    }

    /// Creates the file and its content at once, as ReFS can.
    #[cfg(windows)]
    fn create_clone(&self, name: &OsStr, from: &Self, _: &File) -> bool {
        reflink_copy::reflink(from.path_of(name), self.path_of(name)).is_ok()
    }

    /// Returns `false`: no such call is known on this system.
    #[cfg(not(any(target_os = "linux", target_vendor = "apple", windows)))]
    fn create_clone(&self, _: &OsStr, _: &Self, _: &File) -> bool {
        false
    }
}

impl Dir {
    /// Creates a pipe or a socket like the one of the same name in `like`.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_special_like(&self, name: &OsStr, like: &Self) -> io::Result<()> {
        use rustix::fs::{self as sys, AtFlags, FileType, Mode};
        let stat = sys::statat(like, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(sys::mknodat(self, name, kind, Mode::RUSR | Mode::WUSR, 0)?)
    }

    /// Fails: there is no safe call for it on this system.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn create_special_like(&self, name: &OsStr, like: &Self) -> io::Result<()> {
        let _ = (name, like);
        Err(io::ErrorKind::Unsupported.into())
    }
}
