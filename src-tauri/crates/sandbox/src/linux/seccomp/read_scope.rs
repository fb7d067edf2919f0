//! The files outside of the workspace whose reading is reported, see [`crate::WatchedReads`].

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};

use crate::linux::seccomp::call_path::CallPath;
use crate::{SandboxSpec, WatchedReads};

/// Places of the sandbox's own, beside the workspace and its private folders.
const OWN_FOLDERS: [&str; 3] = ["/tmp", "/dev", "/proc"];

/// The places of which a sandbox reports the files that are read.
pub(in crate::linux) struct ReadScope {
    watched: WatchedReads,
    /// The mounts that only this sandbox has, by their numbers: nothing in them is reported.
    own_mounts: Vec<u64>,
}

impl ReadScope {
    /// Returns the scope of a sandbox whose mounts are in place.
    pub(in crate::linux) fn new(spec: &SandboxSpec) -> Self {
        let own = OWN_FOLDERS.iter().map(Path::new);
        let private = spec.private.iter().map(|folder| folder.path.as_path());
        let own = own.chain(private).chain([spec.workspace.as_path()]);
        let mut watched = spec.watched_reads.clone();
        watched.except.push(spec.workspace.clone());
        Self {
            watched,
            own_mounts: own.filter_map(find_mount).collect(),
        }
    }

    /// Returns the path of a file or folder that is about to be read, if it is to be reported. `found` is what the path
    /// leads to.
    pub(in crate::linux) fn find_read(
        &self,
        path: &CallPath,
        links: AtFlags,
        found: &Statx,
    ) -> Option<Vec<u8>> {
        let is_own = mount_of(found).is_some_and(|mount| self.own_mounts.contains(&mount));
        if is_own || path.is_in_system_folder() {
            return None;
        }
        let real = path.resolve(links)?;
        let place = Path::new(OsStr::from_bytes(&real));
        let is_reported = match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::RegularFile => self.watched.covers_file(place),
            FileType::Directory => self.watched.covers_folder(place),
            _ => false,
        };
        (is_reported && path.is_readable(links)).then_some(real)
    }
}

/// Returns the number of the mount that a folder lies in; `None` where the system does not tell.
fn find_mount(folder: &Path) -> Option<u64> {
    let found = statx(CWD, folder, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    mount_of(&found)
}

fn mount_of(found: &Statx) -> Option<u64> {
    StatxFlags::from_bits_retain(found.stx_mask)
        .contains(StatxFlags::MNT_ID)
        .then_some(found.stx_mnt_id)
}
