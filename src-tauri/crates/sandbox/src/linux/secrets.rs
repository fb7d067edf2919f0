//! Sees that a masked file is opened, or a masked folder looked into. What is asked for by name below a masked folder is not
//! there, like anything that never was, and nobody hears of it.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::handover;

/// What is masked, and where it is heard that it was opened.
pub(super) struct Secrets {
    opened: OwnedFd,
    paths: BTreeMap<i32, Vec<u8>>,
}

impl AsFd for Secrets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.opened.as_fd()
    }
}

impl Secrets {
    /// Begins to listen, in the room.
    pub(super) fn watch(masked: &[PathBuf]) -> rustix::io::Result<Self> {
        let opened = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut paths = BTreeMap::new();
        for path in masked {
            match inotify::add_watch(&opened, path, WatchFlags::OPEN) {
                Ok(watch) => drop(paths.insert(watch, path.as_os_str().as_bytes().to_owned())),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { opened, paths })
    }

    /// Has whoever asked for the room hold this open as well, as far as there is a way to hand it over. The last to let go of
    /// it waits until the kernel has forgotten every watch, which takes longer than all else in a room.
    pub(super) fn hold_outside(&self) {
        if !self.paths.is_empty() {
            let _ = handover::send(io::stdin(), b"secrets", Some(&self.opened));
        }
    }

    /// What was opened since.
    pub(super) fn take(&self) -> Vec<&[u8]> {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.opened, &mut space);
        let mut taken = Vec::new();
        // Anything but an event is that there are no more.
        while let Ok(event) = events.next() {
            taken.extend(self.paths.get(&event.wd()).map(Vec::as_slice));
        }
        taken
    }
}
