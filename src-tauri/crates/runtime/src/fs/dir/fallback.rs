//! An open folder where the system has no usable directory handles: by path, with links refused name by name.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::fs::dir::FileStat;
use crate::fs::workspace::PathKind;

/// A folder, by its real path.
#[derive(Debug, Clone)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// Opens a folder by an absolute real path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens a folder below this one; an empty path is this one.
    pub(crate) fn open_folder(&self, rel: &Path) -> io::Result<Self> {
        Self::open(&self.resolve_below(rel)?)
    }

    /// Opens a file below this folder for reading.
    pub(crate) fn open_file(&self, rel: &Path) -> io::Result<File> {
        let path = self.resolve_below(rel)?;
        if fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        File::open(path)
    }

    /// Returns the path of a name in this folder.
    pub(super) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.0.join(name)
    }

    fn resolve_below(&self, rel: &Path) -> io::Result<PathBuf> {
        let mut path = self.0.clone();
        for part in rel.components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => continue,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
            }
            if fs::symlink_metadata(&path)?.is_symlink() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
        Ok(path)
    }

    /// Returns the details of a name; `None` if there is no such name.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(meta) => Ok(Some(stat_from_metadata(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the details of this folder.
    pub(crate) fn stat_self(&self) -> io::Result<FileStat> {
        Ok(stat_from_metadata(&fs::symlink_metadata(&self.0)?))
    }

    /// Lists the names in this folder, sorted.
    pub(crate) fn list_names(&self) -> io::Result<Vec<OsString>> {
        let mut names = fs::read_dir(&self.0)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    /// Reads the target of a link, as text in bytes.
    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.0.join(name))?;
        Ok(target.to_string_lossy().into_owned().into_bytes())
    }

    /// Creates a new file; the mode means only whether it is read-only.
    pub(crate) fn create(&self, name: &OsStr, mode: Option<u32>) -> io::Result<File> {
        let _ = mode;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.0.join(name))
    }

    /// Creates a folder.
    pub(crate) fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let _ = mode;
        fs::create_dir(self.0.join(name))
    }

    /// Fails: symbolic links need a privilege on this system, so none are created.
    pub(crate) fn create_link(&self, name: &OsStr, target: &[u8]) -> io::Result<()> {
        let _ = (name, target);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Renames within this folder.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename_to(from, self, to)
    }

    /// Renames into another folder.
    pub(crate) fn rename_to(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), folder.0.join(to))
    }

    /// Gives a file a second name.
    pub(crate) fn hard_link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))
    }

    /// Removes a name that is no folder.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    /// Does nothing: there are no permission bits on this system.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        let _ = mode;
        Ok(())
    }

    /// Does nothing: folder times are left to the system.
    pub(crate) fn set_mtime(&self, mtime_ns: i64) -> io::Result<()> {
        let _ = mtime_ns;
        Ok(())
    }

    /// Sets the modification time of a file; that of a folder or a link is left to the system.
    pub(crate) fn set_mtime_of(&self, name: &OsStr, mtime_ns: i64) -> io::Result<()> {
        if !fs::symlink_metadata(self.0.join(name))?.is_file() {
            return Ok(());
        }
        let nanos = u64::try_from(mtime_ns).unwrap_or(0);
        let time: SystemTime = UNIX_EPOCH + Duration::from_nanos(nanos);
        OpenOptions::new()
            .write(true)
            .open(self.0.join(name))?
            .set_times(FileTimes::new().set_modified(time))
    }

    /// Does nothing: folders cannot be synced on this system.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns `false`: the system has no such call.
    pub(crate) fn sync_file_system(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Returns `true`: whether names can change is not known before it is tried.
    pub(crate) fn can_change_names(&self) -> bool {
        true
    }

    /// Whether the current user may change the content of a name.
    pub(crate) fn can_write(&self, name: &OsStr) -> bool {
        fs::metadata(self.0.join(name)).is_ok_and(|meta| !meta.permissions().readonly())
    }

    /// Returns `true`: there are no owner's bits on this system.
    pub(crate) fn has_owner_access(&self, name: &OsStr, owner_bits: u32) -> bool {
        let _ = (name, owner_bits);
        true
    }

    /// Returns `u64::MAX`: the number is not known without a system call that is not available here.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    /// Returns `None` on this system.
    pub(crate) fn handle_path(&self) -> Option<PathBuf> {
        None
    }
}

fn stat_from_metadata(meta: &Metadata) -> FileStat {
    let kind = if meta.is_symlink() {
        PathKind::Link
    } else if meta.is_dir() {
        PathKind::Folder
    } else {
        PathKind::File
    };
    let since = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    FileStat {
        kind,
        bytes: if kind == PathKind::File {
            meta.len()
        } else {
            0
        },
        mode: 0o644,
        mtime_ns: since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        }),
    }
}
