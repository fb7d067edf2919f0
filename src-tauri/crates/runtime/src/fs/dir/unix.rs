//! An open folder on Unix: every step by file descriptor, links refused by the kernel.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::Arc;

use rustix::fs::{self as sys, Access, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use crate::fs::dir::FileStat;
use crate::fs::workspace::PathKind;

/// An open folder.
#[derive(Debug, Clone)]
pub(crate) struct Dir(Arc<OwnedFd>);

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

const FOLDER_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const READ_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Dir {
    /// Opens a folder by an absolute path; links on the way are followed, so the path must be a real one.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(sys::open(
            path,
            FOLDER_FLAGS,
            Mode::empty(),
        )?)))
    }

    /// Opens a folder below this one; an empty path is this one.
    pub(crate) fn open_folder(&self, rel: &Path) -> io::Result<Self> {
        if rel.as_os_str().is_empty() {
            return Ok(self.clone());
        }
        Ok(Self(Arc::new(self.open_below(rel, FOLDER_FLAGS)?)))
    }

    /// Opens a file below this folder for reading, without ever waiting for it.
    pub(crate) fn open_file(&self, rel: &Path) -> io::Result<File> {
        let rel = if rel.as_os_str().is_empty() {
            Path::new(".")
        } else {
            rel
        };
        Ok(File::from(self.open_below(rel, READ_FLAGS)?))
    }

    #[cfg(target_os = "linux")]
    fn open_below(&self, rel: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match sys::openat2(self.0.as_fd(), rel, flags, Mode::empty(), resolve) {
            // Old kernels and some containers have no openat2.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                self.open_stepwise(rel, flags)
            }
            other => Ok(other?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_below(&self, rel: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        self.open_stepwise(rel, flags)
    }

    /// Opens a path name by name, and refuses a link at each.
    fn open_stepwise(&self, rel: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let mut here = self.0.as_fd().try_clone_to_owned()?;
        let mut parts = rel.components().peekable();
        while let Some(part) = parts.next() {
            let name = match part {
                Component::Normal(name) => name,
                Component::CurDir => OsStr::new("."),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(rustix::io::Errno::XDEV.into());
                }
            };
            let flags = if parts.peek().is_some() {
                FOLDER_FLAGS
            } else {
                flags
            };
            here = sys::openat(&here, name, flags, Mode::empty())?;
        }
        Ok(here)
    }

    /// Returns the details of a name; `None` if there is no such name.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat_from_system(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the details of this folder.
    pub(crate) fn stat_self(&self) -> io::Result<FileStat> {
        Ok(stat_from_system(&sys::fstat(&self.0)?))
    }

    /// Lists the names in this folder, in byte order.
    pub(crate) fn list_names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in sys::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads the target of a link, as bytes.
    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(sys::readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// Creates a new file; the mode is exactly `mode` if given, otherwise 0666 less the umask.
    pub(crate) fn create(&self, name: &OsStr, mode: Option<u32>) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A file that ends up narrower is never wider for a moment.
        let first = mode.map_or(0o666, |mode| mode & 0o600);
        let file = sys::openat(&self.0, name, flags, mode_from_bits(first))?;
        if let Some(mode) = mode {
            sys::fchmod(&file, mode_from_bits(mode))?;
        }
        Ok(File::from(file))
    }

    /// Creates a folder; the umask narrows `mode`.
    pub(crate) fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(sys::mkdirat(&self.0, name, mode_from_bits(mode))?)
    }

    /// Creates a symbolic link.
    pub(crate) fn create_link(&self, name: &OsStr, target: &[u8]) -> io::Result<()> {
        Ok(sys::symlinkat(OsStr::from_bytes(target), &self.0, name)?)
    }

    /// Renames within this folder; an entry at the new name is replaced in one step.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename_to(from, self, to)
    }

    /// Renames into another folder.
    pub(crate) fn rename_to(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        Ok(sys::renameat(&self.0, from, &folder.0, to)?)
    }

    /// Gives a file a second name.
    pub(crate) fn hard_link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    /// Removes a name that is no folder.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Sets this folder's permission bits.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(sys::fchmod(&self.0, mode_from_bits(mode))?)
    }

    /// Sets this folder's modification time.
    pub(crate) fn set_mtime(&self, mtime_ns: i64) -> io::Result<()> {
        Ok(sys::futimens(&self.0, &mtime_timestamps(mtime_ns))?)
    }

    /// Sets the modification time of a name, a link itself included.
    pub(crate) fn set_mtime_of(&self, name: &OsStr, mtime_ns: i64) -> io::Result<()> {
        Ok(sys::utimensat(
            &self.0,
            name,
            &mtime_timestamps(mtime_ns),
            AtFlags::SYMLINK_NOFOLLOW,
        )?)
    }

    /// Syncs the names of this folder to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(sys::fsync(&self.0)?)
    }

    /// Syncs the whole file system of this folder to disk in one call; `false` where the system cannot.
    pub(crate) fn sync_file_system(&self) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            sys::syncfs(&self.0)?;
            Ok(true)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(false)
    }

    /// Whether the current user may create and remove names in this folder.
    pub(crate) fn can_change_names(&self) -> bool {
        sys::accessat(
            &self.0,
            ".",
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    }

    /// Whether the current user may change the content of a name. The name must be known to be no link.
    pub(crate) fn can_write(&self, name: &OsStr) -> bool {
        sys::accessat(&self.0, name, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    /// Whether the current user has the rights that these owner's bits stand for at a name: read, write, enter. The
    /// name must be known to be no link.
    pub(crate) fn has_owner_access(&self, name: &OsStr, owner_bits: u32) -> bool {
        let each = [
            (0o400, Access::READ_OK),
            (0o200, Access::WRITE_OK),
            (0o100, Access::EXEC_OK),
        ];
        let asked = each.iter().filter(|(bit, _)| owner_bits & bit != 0);
        let access = asked.fold(Access::EXISTS, |all, (_, one)| all | *one);
        sys::accessat(&self.0, name, access, AtFlags::EACCESS).is_ok()
    }

    /// Bytes that the current user could still write to this folder's file system.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        let stat = sys::fstatvfs(&self.0)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Returns a path that leads to this folder whatever happens to the names above it; `None` where the system has
    /// none.
    pub(crate) fn handle_path(&self) -> Option<std::path::PathBuf> {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        (cfg!(target_os = "linux") && Path::new(&path).exists()).then(|| path.into())
    }
}

pub(super) fn mode_from_bits(mode: u32) -> Mode {
    // The width of a mode differs between systems; permission bits fit in all of them.
    #[allow(clippy::useless_conversion, reason = "narrower on some systems")]
    Mode::from_raw_mode(((mode & 0o7777) as u16).into())
}

fn mode_bits(stat: &sys::Stat) -> u32 {
    #[allow(clippy::useless_conversion, reason = "narrower on some systems")]
    let mode: u32 = stat.st_mode.into();
    mode & 0o7777
}

pub(super) fn stat_from_system(stat: &sys::Stat) -> FileStat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => PathKind::File,
        FileType::Directory => PathKind::Folder,
        FileType::Symlink => PathKind::Link,
        _ => PathKind::Special,
    };
    let bytes = if kind == PathKind::File {
        u64::try_from(stat.st_size).unwrap_or(0)
    } else {
        0
    };
    FileStat {
        kind,
        bytes,
        mode: mode_bits(stat),
        mtime_ns: epoch_nanos(stat.st_mtime.into(), i128::from(stat.st_mtime_nsec)),
    }
}

/// Nanoseconds since the epoch; times beyond the year 2262 are clamped to it.
pub(super) fn epoch_nanos(seconds: i128, nanos: i128) -> i64 {
    let all = seconds * 1_000_000_000 + nanos;
    i64::try_from(all).unwrap_or(if all < 0 { i64::MIN } else { i64::MAX })
}

fn mtime_timestamps(mtime_ns: i64) -> Timestamps {
    let seconds = mtime_ns.div_euclid(1_000_000_000);
    let nanos = mtime_ns.rem_euclid(1_000_000_000);
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: sys::UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: seconds,
            tv_nsec: nanos as _,
        },
    }
}
