//! Files of the room's own that stand where others stood: nothing at all in place of a secret, and where names are asked for.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::attributes::{Below, set};
use super::mounts::{attach, memory, tree};
use rustix::mount::MountAttrFlags;

/// Held where no path leads to them yet.
pub(super) struct StandIns {
    nothing: Vec<OwnedFd>,
    names: OwnedFd,
}

/// The keeper answers there, see `names.rs`. No domain is put behind a name that is not found.
const NAMES: &str = "nameserver 127.0.0.1\nsearch .\noptions timeout:1 attempts:1\n";

/// Makes them at a place that something else is put over afterwards, and enough of nothing for so many files: each has its
/// own, so that it can be seen which of them is opened.
pub(super) fn make(place: &Path, files: usize) -> io::Result<StandIns> {
    attach(&memory("size=1048576,mode=0700")?, place)?;
    let held = |name: &str, mode| -> io::Result<OwnedFd> {
        let path = place.join(name);
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
        let held = tree(&path, Below::Not)?;
        set(&held, c"", Below::Not, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
        Ok(held)
    };
    fs::write(place.join("names"), NAMES)?;
    let mut nothing = Vec::new();
    for number in 0..files {
        let name = number.to_string();
        drop(File::create(place.join(&name))?);
        nothing.push(held(&name, 0o600)?);
    }
    Ok(StandIns {
        nothing,
        names: held("names", 0o644)?,
    })
}

impl StandIns {
    /// Puts nothing in place of a file.
    pub(super) fn hide(&mut self, path: &Path) -> io::Result<()> {
        match self.nothing.pop() {
            Some(nothing) => attach(&nothing, path),
            None => Err(io::Error::other("more files are hidden than were counted")),
        }
    }

    /// Lets programs ask the keeper for names. Where a system says nothing of this they do so anyway.
    pub(super) fn lead_to_the_keeper(&self) -> io::Result<()> {
        match fs::canonicalize("/etc/resolv.conf") {
            Ok(path) => attach(&self.names, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}
