//! What a layer of the kernel says about a name beside what every file has: marks, devices, other names.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, Mode};
use rustix::io::Errno;

use super::unix::{nanos, stat_of};
use super::{Dir, Stat};
use crate::files::PathKind;

/// More of what the system says of one name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Details {
    pub stat: Stat,
    /// Whether it is a device with the number 0: so the kernel says that a name is gone.
    pub is_gone: bool,
    /// The file system that it is on, and its number there.
    pub place: (u64, u64),
    /// Whether it is a device of any kind.
    pub is_device: bool,
    /// How many names it has.
    names: u64,
    /// What it takes on the disk.
    pub disk_bytes: u64,
    /// When anything about it changed last, nanoseconds since the epoch.
    pub changed_ns: i64,
}

/// A name that can be read for as long as this is kept.
pub(crate) struct Readable<'a> {
    dir: &'a Dir,
    name: &'a OsStr,
    /// The mode that it gets back; none if it was not changed.
    mode: Option<u32>,
}

impl Drop for Readable<'_> {
    fn drop(&mut self) {
        if let Some(mode) = self.mode
            && let Err(error) = self.dir.set_mode_of(self.name, mode)
        {
            tracing::warn!(name = %self.name.display(), %error, "its mode stays another");
        }
    }
}

impl PathKind {
    /// The mode with which its owner may read it; none if that is so already, or goes by no mode.
    pub(crate) fn opened(self, mode: u32) -> Option<u32> {
        let needed = match self {
            Self::File => 0o400,
            Self::Folder => 0o700,
            Self::Link | Self::Special => return None,
        };
        (mode & needed != needed).then_some(mode | needed)
    }
}

impl Details {
    /// Whether it is a file with other names than this one.
    pub(crate) fn has_more_names(&self) -> bool {
        self.names > 1 && self.stat.kind == PathKind::File
    }
}

impl Dir {
    /// More of what a name is; none if there is no such name.
    #[allow(clippy::useless_conversion, reason = "narrower on some systems")]
    pub(crate) fn details(&self, name: &OsStr) -> io::Result<Option<Details>> {
        const BLOCK: u64 = 512;
        match sys::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Details {
                stat: stat_of(&stat),
                is_gone: sys::FileType::from_raw_mode(stat.st_mode)
                    == sys::FileType::CharacterDevice
                    && stat.st_rdev == 0,
                place: (stat.st_dev.into(), stat.st_ino.into()),
                is_device: matches!(
                    sys::FileType::from_raw_mode(stat.st_mode),
                    sys::FileType::CharacterDevice | sys::FileType::BlockDevice
                ),
                names: stat.st_nlink.into(),
                changed_ns: nanos(stat.st_ctime.into(), i128::from(stat.st_ctime_nsec)),
                disk_bytes: u64::try_from(stat.st_blocks)
                    .unwrap_or(0)
                    .saturating_mul(BLOCK),
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a pipe or a socket, as what stands under the same name in `like`.
    pub(crate) fn create_alike(&self, name: &OsStr, like: &Self) -> io::Result<()> {
        let stat = sys::statat(like, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = sys::FileType::from_raw_mode(stat.st_mode);
        Ok(sys::mknodat(self, name, kind, Mode::RUSR | Mode::WUSR, 0)?)
    }

    /// Lets us read what stands at a name until this is dropped, whatever its mode says.
    pub(crate) fn readable<'a>(
        &'a self,
        name: &'a OsStr,
        found: &Details,
    ) -> io::Result<Readable<'a>> {
        let mode = found.stat.mode;
        let opened = found.stat.kind.opened(mode);
        if let Some(opened) = opened {
            self.set_mode_of(name, opened)?;
        }
        Ok(Readable {
            dir: self,
            name,
            mode: opened.map(|_| mode),
        })
    }

    /// Sets the permission bits of a name that is known to be no link.
    pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(sys::chmodat(
            self,
            name,
            Mode::from_raw_mode(mode & 0o7777),
            AtFlags::empty(),
        )?)
    }

    /// A mark of this folder; empty if it has none of that name.
    pub(crate) fn mark(&self, name: &str) -> io::Result<Vec<u8>> {
        mark(self, name)
    }

    /// Whether a mark can be set on this folder: the kernel needs one to say that a folder was replaced.
    pub(crate) fn takes_marks(&self) -> bool {
        sys::fsetxattr(self, "user.countersign", b"y", sys::XattrFlags::empty()).is_ok()
            && sys::fremovexattr(self, "user.countersign").is_ok()
    }

    /// A mark of a regular file in this folder.
    pub(crate) fn mark_of(&self, name: &OsStr, mark_name: &str) -> io::Result<Vec<u8>> {
        mark(&self.file(Path::new(name))?, mark_name)
    }
}

fn mark(file: impl std::os::fd::AsFd, name: &str) -> io::Result<Vec<u8>> {
    let mut value = [0_u8; 8];
    match sys::fgetxattr(file, name, &mut value) {
        Ok(length) => Ok(value[..length].to_vec()),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(Vec::new()),
        // Longer than any that says no more than yes.
        Err(Errno::RANGE) => Ok(b"?".to_vec()),
        Err(error) => Err(error.into()),
    }
}
