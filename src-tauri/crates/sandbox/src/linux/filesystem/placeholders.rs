//! Files and folders of the sandbox's own in the place of others: a mask in place of each secret, and the configuration
//! of name resolution.
//!
//! A mask can be neither read nor entered, not even by its owner: its mode permits nothing, its mount is read-only, so
//! the mode stays, and no process of the sandbox has a capability. It has the length and the times of the secret, so
//! that a program that only looks at those sees the truth, and takes a secret neither for empty nor for changed.

use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::linux::filesystem::mount_attributes::{Recursion, make_read_only};
use crate::linux::filesystem::mounts::{attach_mount, clone_tree_at, create_tmpfs};
use rustix::fs::{
    AtFlags, Mode, OFlags, Timespec, Timestamps, fchmod, ftruncate, mkdirat, openat, utimensat,
};

/// The folder in which placeholders are created: a place in memory that is covered by another mount.
pub(in crate::linux) struct Placeholders {
    /// A file system that holds nothing but masks.
    masks: OwnedFd,
    names: OwnedFd,
}

/// A mask, held where no path leads to it yet, and the path that it is to stand at.
pub(in crate::linux) struct Mask<'a> {
    path: &'a Path,
    held: OwnedFd,
}

/// The supervisor answers at this address, see `dns.rs`. No domain is appended to a name that is not found.
const RESOLV_CONF: &str = "nameserver 127.0.0.1\nsearch .\noptions timeout:1 attempts:1\n";

impl Placeholders {
    /// Prepares the folder at a place that is covered by another mount afterwards.
    pub(in crate::linux) fn create_at(at: &Path) -> io::Result<Self> {
        let place = create_tmpfs("size=65536,mode=0700")?;
        attach_mount(&place, at)?;
        let names = create_resolv_conf(&place)?;
        let masks = create_tmpfs("size=65536,mode=0700")?;
        attach_mount(&masks, at)?;
        Ok(Self { masks, names })
    }

    /// Returns the file system of the masks.
    pub(in crate::linux) fn masks_mount(&self) -> &OwnedFd {
        &self.masks
    }

    /// Creates a mask for each of these paths that exists.
    pub(in crate::linux) fn create_masks<'a>(
        &self,
        paths: &'a [PathBuf],
    ) -> io::Result<Vec<Mask<'a>>> {
        let mut all = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let secret = match fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
                Ok(found) => found,
            };
            let held = self.create_mask(&number.to_string(), &secret)?;
            all.push(Mask { path, held });
        }
        Ok(all)
    }

    fn create_mask(&self, name: &str, secret: &fs::Metadata) -> io::Result<OwnedFd> {
        let closed = Mode::empty();
        if secret.is_dir() {
            mkdirat(&self.masks, name, closed)?;
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(&self.masks, name, flags, closed)?;
            // A hole: it takes no memory.
            ftruncate(&file, secret.len())?;
        }
        let times = Timestamps {
            last_access: to_timespec(secret.atime(), secret.atime_nsec()),
            last_modification: to_timespec(secret.mtime(), secret.mtime_nsec()),
        };
        utimensat(&self.masks, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        create_read_only_file(&self.masks, name)
    }

    /// Lets programs ask the supervisor for names. Without this file they do so anyway.
    pub(in crate::linux) fn mount_resolv_conf(&self) -> io::Result<()> {
        match fs::canonicalize("/etc/resolv.conf") {
            Ok(path) => attach_mount(&self.names, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Attaches a mask over a file or a folder. A path that is out of sight in the sandbox needs no mask.
pub(in crate::linux) fn attach_mask(mask: &Mask<'_>) -> io::Result<()> {
    match attach_mount(&mask.held, mask.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        hidden => hidden,
    }
}

fn create_resolv_conf(place: &OwnedFd) -> io::Result<OwnedFd> {
    const NAME: &str = "names";
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut made = fs::File::from(openat(place, NAME, flags, Mode::RUSR | Mode::WUSR)?);
    made.write_all(RESOLV_CONF.as_bytes())?;
    // Whatever whoever started us lets nobody do with new files.
    fchmod(&made, Mode::from_raw_mode(0o644))?;
    drop(made);
    create_read_only_file(place, NAME)
}

fn to_timespec(seconds: i64, nanoseconds: i64) -> Timespec {
    Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds,
    }
}

fn create_read_only_file(place: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let mount = clone_tree_at(place, Path::new(name), Recursion::TopOnly)?;
    make_read_only(&mount, Recursion::TopOnly)?;
    Ok(mount)
}
