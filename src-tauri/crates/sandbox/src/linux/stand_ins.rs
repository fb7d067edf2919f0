//! Files and folders of the room's own that stand where others stood: nothing at all in place of a secret, and where names are
//! asked for.

use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::attributes::{Below, set};
use super::mounts::{attach, memory, tree_at};
use rustix::fs::{AtFlags, Mode, OFlags, chmodat, fchmod, mkdirat, openat};
use rustix::mount::MountAttrFlags;

/// Where they are made: a place in memory that something else is put over.
pub(super) struct StandIns {
    place: OwnedFd,
    names: OwnedFd,
}

/// Nothing, held where no path leads to it yet, and the path that it is to stand at.
pub(super) type Nothing<'a> = (&'a Path, OwnedFd);

/// The keeper answers there, see `names.rs`. No domain is put behind a name that is not found.
const NAMES: &str = "nameserver 127.0.0.1\nsearch .\noptions timeout:1 attempts:1\n";

impl StandIns {
    /// Prepares them at a place that something else is put over afterwards.
    pub(super) fn prepare(at: &Path) -> io::Result<Self> {
        let place = memory("size=1048576,mode=0700")?;
        attach(&place, at)?;
        let names = file(&place, "names", 0o644, NAMES)?;
        Ok(Self { place, names })
    }

    /// Makes nothing for each of these paths that is there: each has its own, so that it can be seen which of them is opened.
    pub(super) fn for_all<'a>(&self, paths: &'a [PathBuf]) -> io::Result<Vec<Nothing<'a>>> {
        let mut all = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let nothing = match fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
                Ok(found) if found.is_dir() => folder(&self.place, &number.to_string())?,
                Ok(_) => file(&self.place, &number.to_string(), 0o600, "")?,
            };
            all.push((path.as_path(), nothing));
        }
        Ok(all)
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

/// Puts nothing in place of a file or a folder. One that is out of sight in the room is not there, and needs none.
pub(super) fn hide((path, nothing): Nothing<'_>) -> io::Result<()> {
    match attach(&nothing, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        hidden => hidden,
    }
}

fn file(place: &OwnedFd, name: &str, mode: u32, text: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut made = fs::File::from(openat(place, name, flags, Mode::RUSR | Mode::WUSR)?);
    made.write_all(text.as_bytes())?;
    // Whatever whoever started us lets nobody do with new files.
    fchmod(&made, Mode::from_raw_mode(mode))?;
    drop(made);
    only_to_be_read(place, name)
}

fn folder(place: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    mkdirat(place, name, Mode::RWXU)?;
    chmodat(place, name, Mode::from_raw_mode(0o755), AtFlags::empty())?;
    only_to_be_read(place, name)
}

fn only_to_be_read(place: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let held = tree_at(place, Path::new(name), Below::Not)?;
    set(&held, c"", Below::Not, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    Ok(held)
}
