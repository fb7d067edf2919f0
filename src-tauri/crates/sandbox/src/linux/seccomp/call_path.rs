//! A path as a process of the sandbox named it, and its target: resolved by the supervisor before the system answers
//! the process.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, Statx, StatxAttributes, StatxFlags, accessat, openat,
    readlinkat, statx,
};
use rustix::io::{Errno, Result};

use crate::linux::filesystem::mask_set::MaskSet;
use crate::linux::seccomp::notify_filter::PathArgument;
use crate::linux::seccomp::seccomp_notify::Notification;

/// Flag that makes a link stand for itself, and not for its target.
pub(in crate::linux) const NOFOLLOW: AtFlags = AtFlags::SYMLINK_NOFOLLOW;

/// Folders that hold the system's own programs and settings.
const SYSTEM_FOLDERS: [&[u8]; 7] = [
    b"/usr/", b"/lib/", b"/lib32/", b"/lib64/", b"/bin/", b"/sbin/", b"/etc/",
];

/// A path as a process named it.
pub(in crate::linux) struct CallPath {
    /// Path as the supervisor sees it: it begins at the root, or in a folder of that process.
    path: Vec<u8>,
}

impl CallPath {
    pub(in crate::linux) fn from_notification(
        question: &Notification,
        path: PathArgument,
    ) -> Option<Self> {
        let said = question.read_c_string(question.arguments[path.at])?;
        let folder = path.folder.map(|at| question.arguments[at] as libc::c_int);
        Self::from_process(question.pid, folder, &said)
    }

    /// Returns the path that a process named, in a folder that it has open or in its working folder.
    pub(in crate::linux) fn from_process(
        pid: u32,
        folder: Option<libc::c_int>,
        path_bytes: &[u8],
    ) -> Option<Self> {
        let own = |below: &str, rest: &[u8]| {
            let mut path = format!("/proc/{pid}/{below}").into_bytes();
            path.extend_from_slice(rest);
            Self { path }
        };
        if path_bytes.is_empty() {
            return None;
        }
        if path_bytes.first() != Some(&b'/') {
            return Some(match folder {
                None | Some(libc::AT_FDCWD) => own("cwd/", path_bytes),
                Some(folder) => own(&format!("fd/{folder}/"), path_bytes),
            });
        }
        // Paths by which a process names itself are not those of the supervisor.
        for (mine, below) in [
            (&b"/proc/self/"[..], ""),
            (b"/proc/thread-self/", ""),
            (b"/dev/fd/", "fd/"),
            (b"/dev/stdin", "fd/0"),
            (b"/dev/stdout", "fd/1"),
            (b"/dev/stderr", "fd/2"),
        ] {
            if let Some(rest) = path_bytes.strip_prefix(mine) {
                return Some(own(below, rest));
            }
        }
        Some(Self {
            path: path_bytes.to_owned(),
        })
    }

    /// Looks up the target: its type, its device, and its mount.
    ///
    /// # Errors
    /// The path leads nowhere, or through a mask, which is [`Errno::ACCESS`].
    pub(in crate::linux) fn look_up(&self, links: AtFlags) -> Result<Statx> {
        // Nobody is to be waited for: not a server that is gone, not a disk that is mounted when it is first used.
        let flags = links | AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
        let wanted = StatxFlags::TYPE | StatxFlags::MNT_ID;
        statx(CWD, self.path.as_slice(), flags, wanted)
    }

    /// Whether the path lies in a folder of the system, see [`is_in_system_folder`].
    pub(in crate::linux) fn is_in_system_folder(&self) -> bool {
        is_in_system_folder(self.as_path())
    }

    /// Whether the path is one of these or lies below one, if no link leads away.
    pub(in crate::linux) fn is_below_any(&self, paths: &[PathBuf]) -> bool {
        paths.iter().any(|path| self.as_path().starts_with(path))
    }

    fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Whether the process may read the target.
    pub(in crate::linux) fn is_readable(&self, links: AtFlags) -> bool {
        // By the effective rights: by the real ones root may read everything.
        let flags = links | AtFlags::EACCESS;
        accessat(CWD, self.path.as_slice(), Access::READ_OK, flags).is_ok()
    }

    /// Checks that the target may be written. A read-only file system is reported only where the mode would allow
    /// writing, and not for a device: other refusals are not the sandbox's.
    pub(in crate::linux) fn check_writable(&self, links: AtFlags) -> Result<()> {
        accessat(CWD, self.path.as_slice(), Access::WRITE_OK, links)
    }

    /// Whether the target is a mount of the sandbox: masked, read-only, or the workspace itself. It cannot be moved.
    pub(in crate::linux) fn is_mount_point(&self) -> Result<bool> {
        let found = statx(CWD, self.path.as_slice(), NOFOLLOW, StatxFlags::empty())?;
        Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }

    /// Opens the target as a handle, without access to its content.
    pub(in crate::linux) fn open_path(&self, links: AtFlags) -> Result<OwnedFd> {
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, links.contains(NOFOLLOW));
        openat(CWD, self.path.as_slice(), flags, Mode::empty())
    }

    /// Returns the path of the target, through whatever links it is reached.
    pub(in crate::linux) fn resolve(&self, links: AtFlags) -> Option<Vec<u8>> {
        self.open_path(links).and_then(resolve_fd_path).ok()
    }

    /// Returns the mask that the path leads to, or, where the way is barred, the one that bars it.
    pub(in crate::linux) fn find_mask(&self, links: AtFlags, secrets: &MaskSet) -> Option<Vec<u8>> {
        self.find_mask_at(&self.look_up(links), links, secrets)
    }

    /// Returns the same where it was looked up already, with this result.
    pub(in crate::linux) fn find_mask_at(
        &self,
        found: &Result<Statx>,
        links: AtFlags,
        secrets: &MaskSet,
    ) -> Option<Vec<u8>> {
        match found {
            Ok(found) if secrets.is_mask(found) => self.resolve(links),
            Err(Errno::ACCESS) => self.parent()?.find_mask(AtFlags::empty(), secrets),
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns the path without its last name; `None` where a single name is left.
    fn parent(&self) -> Option<Self> {
        let end = self.path.iter().rposition(|byte| *byte != b'/')? + 1;
        let start = self.path[..end].iter().rposition(|byte| *byte == b'/')?;
        (start > 0).then(|| Self {
            path: self.path[..start].to_owned(),
        })
    }

    /// Returns the target, if nothing may be created or removed there.
    pub(in crate::linux) fn read_only_target(&self) -> Option<Vec<u8>> {
        let end = self.path.iter().rposition(|byte| *byte != b'/')? + 1;
        let start = self.path[..end].iter().rposition(|byte| *byte == b'/')? + 1;
        let name = &self.path[start..end];
        if matches!(name, b"." | b"..") {
            return None;
        }
        let folder = Self {
            path: self.path[..start].to_owned(),
        };
        if folder.check_writable(AtFlags::empty()) != Err(Errno::ROFS) {
            return None;
        }
        let mut path = folder.resolve(AtFlags::empty())?;
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Some(path)
    }
}

/// Whether a path begins in a folder of the system and stays there, if no link leads away: what is in it is a secret or
/// somebody's own only if the system itself links to it.
pub(in crate::linux) fn is_in_system_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    SYSTEM_FOLDERS
        .iter()
        .any(|folder| bytes.starts_with(folder))
        && !bytes.split(|byte| *byte == b'/').any(|name| name == b"..")
}

/// Returns the path of an open target, through whatever links it was reached.
pub(in crate::linux) fn resolve_fd_path(there: OwnedFd) -> Result<Vec<u8>> {
    let held = format!("/proc/self/fd/{}", there.as_raw_fd());
    readlinkat(CWD, held, Vec::new()).map(CString::into_bytes)
}
