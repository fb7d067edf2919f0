//! Which folders stay as they were, as the kernel says it: what nothing came to and nothing went from since it was looked into
//! need not be looked at again, however many folders there are.
//!
//! Whatever is done to a folder is heard here before the call that did it returns, so nothing that was done before a question is
//! missed by its answer. Where that does not hold nothing is quiet: on file systems that others change, without a watch on
//! every folder above, and after more happened than the kernel keeps.

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

pub(super) use system::Quiet;

/// Until when something was heard; later changes make it another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "nothing is heard there")
)]
pub(super) struct Turn(u64);

#[cfg(target_os = "linux")]
mod system {
    use std::collections::hash_map::Entry;
    use std::collections::{HashMap, HashSet};
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};
    use rustix::fs::{lstat, statfs};
    use rustix::io::Errno;

    use super::super::secrets::Found;
    use super::Turn;
    use crate::files::ClosedBy;
    use crate::limits::FOLDERS_WATCHED_MAX;
    use crate::process::room::mounts;

    /// What changes which names a folder has, or which folder it is.
    const CHANGES: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW);

    /// File systems that nobody changes but through this kernel: ext2 to ext4, XFS, Btrfs, F2FS and memory.
    const OURS_ALONE: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

    /// The folders of all workspaces that are quiet.
    #[derive(Debug, Default)]
    pub(in super::super) struct Quiet(Mutex<State>);

    #[derive(Debug, Default)]
    struct State {
        /// Whether somebody asked before. Who asks only once has nothing of it.
        is_known: bool,
        turn: u64,
        ears: Option<Ears>,
    }

    #[derive(Debug)]
    struct Ears {
        kernel: Kernel,
        /// How many folders are watched at most.
        folders_max: usize,
        /// What was mounted where when they opened.
        mounts: Vec<u8>,
        /// Which folder each root of a workspace was.
        roots: HashMap<PathBuf, (u64, u64)>,
        /// The folders that are watched.
        folders: HashMap<i32, PathBuf>,
        /// Those of them that stayed as they were.
        quiet: HashSet<PathBuf>,
        /// What was found where every folder is quiet.
        found: HashMap<PathBuf, (ClosedBy, Found)>,
    }

    impl Quiet {
        /// Hears what happened until now; none where nothing is heard.
        pub fn hear(&self, root: &Path) -> Option<Turn> {
            let mut state = self.state();
            if !std::mem::replace(&mut state.is_known, true) {
                return None;
            }
            let State { turn, ears, .. } = &mut *state;
            let (mounts, stands) = (mounts()?, lstat(root).ok()?);
            let stands = (stands.st_dev, stands.st_ino);
            let still_hears = |ears: &mut Ears| {
                let is_same = ears.roots.get(root).is_none_or(|was| *was == stands);
                is_same && ears.mounts == mounts && ears.take(turn)
            };
            if !ears.as_mut().is_some_and(still_hears) {
                *turn += 1;
                *ears = Ears::open(mounts);
            }
            ears.as_mut()?.roots.insert(root.to_owned(), stands);
            Some(Turn(*turn))
        }

        /// What was found in a workspace, if nothing happened in it since.
        pub fn known(&self, root: &Path, by: &ClosedBy) -> Option<Found> {
            let state = self.state();
            let (decided, found) = state.ears.as_ref()?.found.get(root)?;
            Arc::ptr_eq(decided, by).then(|| found.clone())
        }

        /// Remembers what was found where every folder is quiet, if nothing happened since.
        pub fn remember(&self, heard: Turn, root: &Path, by: &ClosedBy, found: &Found) {
            let mut state = self.state();
            if state.turn == heard.0
                && let Some(ears) = &mut state.ears
            {
                let found = (by.clone(), found.clone());
                ears.found.insert(root.to_owned(), found);
            }
        }

        /// Whether a folder stayed as it was.
        pub fn is(&self, folder: &Path) -> bool {
            let state = self.state();
            let ears = state.ears.as_ref();
            ears.is_some_and(|ears| ears.quiet.contains(folder))
        }

        /// Has whatever happens to a folder from now on heard; false where that cannot be. The folder above must be watched.
        pub fn watch(&self, folder: &Path) -> bool {
            let mut state = self.state();
            let ears = state.ears.as_mut();
            ears.is_some_and(|ears| ears.watch(folder) == Some(true))
        }

        /// A folder that is watched is as it was found after that, if nothing was heard meanwhile; gives whether it is so.
        pub fn is_now(&self, heard: Turn, folder: &Path) -> bool {
            let mut state = self.state();
            let is_so = state.turn == heard.0;
            if let (true, Some(ears)) = (is_so, &mut state.ears) {
                ears.quiet.insert(folder.to_owned());
            }
            is_so
        }

        /// As if a disk had been mounted since.
        #[cfg(test)]
        pub fn sees_another_disk(&self) {
            if let Some(ears) = &mut self.state().ears {
                ears.mounts.extend(b"another disk");
            }
        }

        fn state(&self) -> MutexGuard<'_, State> {
            // A panic while the lock was held leaves plain data behind; going on with it is safe.
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Ears {
        fn open(mounts: Vec<u8>) -> Option<Self> {
            let kernel = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
            Some(Self {
                kernel: Kernel(Some(kernel.ok()?)),
                folders_max: folders_max(),
                mounts,
                roots: HashMap::new(),
                folders: HashMap::new(),
                quiet: HashSet::new(),
                found: HashMap::new(),
            })
        }

        fn watch(&mut self, folder: &Path) -> Option<bool> {
            let kernel = self.kernel.0.as_ref()?;
            if !is_ours_alone(folder) {
                return None;
            }
            let watch = inotify::add_watch(kernel, folder, CHANGES).ok()?;
            let is_full = self.folders.len() >= self.folders_max;
            Some(match self.folders.entry(watch) {
                // One folder with two paths: what happens in it is heard of the first.
                Entry::Occupied(known) => known.get() == folder,
                Entry::Vacant(_) if is_full => {
                    let _ = inotify::remove_watch(kernel, watch);
                    false
                }
                Entry::Vacant(place) => {
                    place.insert(folder.to_owned());
                    true
                }
            })
        }

        /// Takes what happened since; false when something may have been missed, or paths lead elsewhere now.
        fn take(&mut self, turn: &mut u64) -> bool {
            let Some(kernel) = &self.kernel.0 else {
                return false;
            };
            let mut space = [MaybeUninit::uninit(); 16_384];
            let mut events = Reader::new(kernel, &mut space);
            loop {
                match events.next() {
                    Ok(event) => {
                        *turn += 1;
                        self.found.clear();
                        if !happened(&event, &mut self.folders, &mut self.quiet) {
                            return false;
                        }
                    }
                    Err(Errno::WOULDBLOCK) => return true,
                    Err(Errno::INTR) => {}
                    Err(_) => return false,
                }
            }
        }
    }

    /// A part of what the kernel watches for all programs of a person: editors need theirs.
    fn folders_max() -> usize {
        let of_all = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
        let of_all = of_all
            .ok()
            .and_then(|text| text.trim().parse::<usize>().ok());
        of_all.map_or(0, |of_all| FOLDERS_WATCHED_MAX.min(of_all / 8))
    }

    /// Whether all that happens to a folder is done by this kernel, which tells of it.
    pub(in super::super) fn is_ours_alone(folder: &Path) -> bool {
        let kind = statfs(folder).map(|found| u64::try_from(found.f_type));
        matches!(kind, Ok(Ok(kind)) if OURS_ALONE.contains(&kind))
    }

    /// What it happened to is quiet no more; false when it could be anything.
    fn happened(
        event: &Event<'_>,
        folders: &mut HashMap<i32, PathBuf>,
        quiet: &mut HashSet<PathBuf>,
    ) -> bool {
        let what = event.events();
        let of_a_folder = what.contains(ReadFlags::ISDIR);
        let moved = what.intersects(ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO);
        let anything = ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT | ReadFlags::MOVE_SELF;
        if what.intersects(anything) || of_a_folder && moved {
            return false;
        }
        let Some(folder) = folders.get(&event.wd()) else {
            return true;
        };
        quiet.remove(folder);
        if let (true, Some(name)) = (of_a_folder, event.file_name()) {
            // The one of that name is another one, also while somebody still holds the one of before.
            quiet.remove(&folder.join(OsStr::from_bytes(name.to_bytes())));
        }
        if what.intersects(ReadFlags::IGNORED | ReadFlags::DELETE_SELF) {
            folders.remove(&event.wd());
        }
        true
    }

    /// What the kernel watches. To let go of it takes milliseconds, which nobody waits for.
    #[derive(Debug)]
    struct Kernel(Option<OwnedFd>);

    impl Drop for Kernel {
        fn drop(&mut self) {
            let watches = self.0.take();
            // Where no thread can be had, it is let go of here.
            let _ = std::thread::Builder::new().spawn(move || drop(watches));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use super::super::secrets::Found;
    use super::Turn;
    use crate::files::ClosedBy;

    /// Here nothing is heard, so nothing is quiet.
    #[derive(Debug, Default)]
    pub(in super::super) struct Quiet;

    impl Quiet {
        pub fn hear(&self, _root: &Path) -> Option<Turn> {
            None
        }

        pub fn known(&self, _root: &Path, _by: &ClosedBy) -> Option<Found> {
            None
        }

        pub fn remember(&self, _heard: Turn, _root: &Path, _by: &ClosedBy, _found: &Found) {}

        pub fn is(&self, _folder: &Path) -> bool {
            false
        }

        pub fn watch(&self, _folder: &Path) -> bool {
            false
        }

        pub fn is_now(&self, _heard: Turn, _folder: &Path) -> bool {
            false
        }
    }
}
