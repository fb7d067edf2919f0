//! File details that only some callers need: identity, number of names, and size on disk.

#[cfg(not(unix))]
use std::{ffi::OsStr, io};

use crate::fs::dir::{Dir, FileStat};
use crate::fs::workspace::PathKind;

/// Further details of one name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileDetails {
    pub stat: FileStat,
    /// Whether the entry is a device with the number 0, by which the kernel marks a removed name.
    pub is_gone: bool,
    /// The file system that the entry is on; always the same where there is no number for that.
    pub device: u64,
    /// Whether the entry is a device of any kind.
    pub is_device: bool,
    /// How many names the entry has.
    names: u64,
    /// Space that the entry takes on disk, in bytes.
    pub disk_bytes: u64,
    /// When anything about the entry changed last, in nanoseconds since the epoch.
    pub changed_ns: i64,
    /// Stamp by which the entry is recognized; `None` where the system reports nothing that no program can set.
    pub change_stamp: Option<ChangeStamp>,
}

/// Stamp by which an untouched entry is recognized: its inode, and when anything about it changed last, which no
/// program sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangeStamp {
    place: (u64, u64),
    changed_ns: i64,
}

impl PathKind {
    /// Returns the mode with which the owner may read an entry of this kind; `None` if `mode` permits that already, or
    /// no mode governs it.
    pub(crate) fn readable_mode(self, mode: u32) -> Option<u32> {
        let needed = match self {
            Self::File => 0o400,
            Self::Folder => 0o700,
            Self::Link | Self::Special => return None,
        };
        (mode & needed != needed).then_some(mode | needed)
    }
}

impl FileDetails {
    /// Returns the device and inode; `None` where the system does not report them for a name.
    pub(crate) fn device_and_inode(&self) -> Option<(u64, u64)> {
        self.change_stamp.map(|mark| mark.place)
    }

    /// Whether the entry is a file with other names than this one.
    pub(crate) fn has_hard_links(&self) -> bool {
        self.names > 1 && self.stat.kind == PathKind::File
    }
}

#[cfg(unix)]
mod on_unix {
    use std::ffi::OsStr;
    use std::io;

    use rustix::fs::{self as sys, AtFlags, FileType};
    #[cfg(target_os = "linux")]
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    use super::{ChangeStamp, Dir, FileDetails};
    use crate::fs::dir::unix::{epoch_nanos, mode_from_bits, stat_from_system};

    impl Dir {
        /// Returns the details of a name; `None` if there is no such name.
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "of another width on some systems"
        )]
        pub(crate) fn read_details(&self, name: &OsStr) -> io::Result<Option<FileDetails>> {
            const BLOCK: u64 = 512;
            let stat = match sys::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            let device = stat.st_dev as u64;
            let changed_ns = epoch_nanos(stat.st_ctime.into(), i128::from(stat.st_ctime_nsec));
            Ok(Some(FileDetails {
                stat: stat_from_system(&stat),
                is_gone: kind == FileType::CharacterDevice && stat.st_rdev == 0,
                device,
                is_device: matches!(kind, FileType::CharacterDevice | FileType::BlockDevice),
                names: stat.st_nlink.into(),
                disk_bytes: u64::try_from(stat.st_blocks)
                    .unwrap_or(0)
                    .saturating_mul(BLOCK),
                changed_ns,
                change_stamp: Some(ChangeStamp {
                    place: (device, stat.st_ino.into()),
                    changed_ns,
                }),
            }))
        }

        /// Sets the permission bits of a name.
        ///
        /// # Errors
        /// Too many links, where the name is a link; any error reported by the system.
        #[cfg(target_os = "linux")]
        pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
            use std::os::fd::AsRawFd;
            // The kernel has no call for it that follows no link on all versions that are in use, but opens anything so.
            let only_path = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = sys::openat(self, name, only_path, Mode::empty())?;
            if FileType::from_raw_mode(sys::fstat(&opened)?.st_mode) == FileType::Symlink {
                return Err(Errno::LOOP.into());
            }
            let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
            Ok(sys::chmodat(
                sys::CWD,
                path,
                mode_from_bits(mode),
                AtFlags::empty(),
            )?)
        }

        /// Sets the permission bits of a name; of a link, its own.
        #[cfg(not(target_os = "linux"))]
        pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
            let no_link = AtFlags::SYMLINK_NOFOLLOW;
            Ok(sys::chmodat(self, name, mode_from_bits(mode), no_link)?)
        }
    }
}

#[cfg(not(unix))]
impl Dir {
    /// Returns the details of a name; `None` if there is no such name. The system reports other names and numbers only
    /// for open files.
    pub(crate) fn read_details(&self, name: &OsStr) -> io::Result<Option<FileDetails>> {
        Ok(self.stat(name)?.map(|stat| FileDetails {
            stat,
            is_gone: false,
            device: 0,
            is_device: false,
            names: 1,
            disk_bytes: stat.bytes,
            changed_ns: stat.mtime_ns,
            change_stamp: None,
        }))
    }

    /// Does nothing: there are no permission bits on this system.
    pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let _ = (name, mode);
        Ok(())
    }
}
