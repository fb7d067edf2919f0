//! Folders that stay unchanged, as the kernel reports it: a folder to which no name was added and from which none was
//! removed since it was searched need not be searched again, however many folders there are.
//!
//! A change of a folder is reported here before the call that made it returns, so no change that was made before a
//! question is missed by its answer. Where that does not hold no folder is quiet: on file systems that others change,
//! without a watch on every folder above, and after more events than the kernel keeps.

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

pub(in crate::dry_run) use system::FolderWatch;

/// The state of the watch up to some event; any later change makes another turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "nothing is heard there")
)]
pub(in crate::dry_run) struct WatchTurn(u64);

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

    use super::WatchTurn;
    use crate::dry_run::secrets::closed_files::FoundClosedFiles;
    use crate::fs::workspace::ClosedSource;
    use crate::limits::FOLDERS_WATCHED_MAX;
    use crate::process::sandbox_process::read_mounts;

    /// Events that change the names in a folder, or its identity.
    const CHANGE_EVENTS: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW);

    /// File systems that are changed only through this kernel: ext2 to ext4, XFS, Btrfs, F2FS and memory.
    const LOCAL_FILE_SYSTEMS: [u64; 5] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

    /// The quiet folders of all workspaces.
    #[derive(Debug, Default)]
    pub(in crate::dry_run) struct FolderWatch(Mutex<WatchState>);

    #[derive(Debug, Default)]
    struct WatchState {
        /// Whether changes were polled before. A watch is of no use to a process that polls only once.
        is_known: bool,
        turn: u64,
        watches: Option<WatchSet>,
    }

    #[derive(Debug)]
    struct WatchSet {
        kernel: KernelWatches,
        /// How many folders are watched at most.
        folders_max: usize,
        /// The mount table at the time when the watch was opened.
        mounts: Vec<u8>,
        /// Identity of each workspace root: device and inode.
        roots: HashMap<PathBuf, (u64, u64)>,
        /// The folders that are watched, by watch descriptor.
        folders: HashMap<i32, PathBuf>,
        /// Watched folders that stayed unchanged.
        quiet: HashSet<PathBuf>,
        /// Results of searches in which every folder was quiet, by workspace root.
        found: HashMap<PathBuf, (ClosedSource, FoundClosedFiles)>,
    }

    impl FolderWatch {
        /// Takes in all events until now; `None` where no events are reported.
        pub fn poll_changes(&self, root: &Path) -> Option<WatchTurn> {
            let mut state = self.lock_state();
            if !std::mem::replace(&mut state.is_known, true) {
                return None;
            }
            let WatchState { turn, watches, .. } = &mut *state;
            let (mounts, root_id) = (read_mounts()?, lstat(root).ok()?);
            let root_id = (root_id.st_dev, root_id.st_ino);
            let is_current = |watches: &mut WatchSet| {
                let is_same = watches.roots.get(root).is_none_or(|was| *was == root_id);
                is_same && watches.mounts == mounts && watches.take_events(turn)
            };
            if !watches.as_mut().is_some_and(is_current) {
                *turn += 1;
                *watches = WatchSet::open(mounts);
            }
            watches.as_mut()?.roots.insert(root.to_owned(), root_id);
            Some(WatchTurn(*turn))
        }

        /// Returns the result of the last search in a workspace, if nothing happened in it since.
        pub fn cached_search(&self, root: &Path, by: &ClosedSource) -> Option<FoundClosedFiles> {
            let state = self.lock_state();
            let (decided, found) = state.watches.as_ref()?.found.get(root)?;
            Arc::ptr_eq(decided, by).then(|| found.clone())
        }

        /// Remembers the result of a search in which every folder was quiet, if nothing happened since.
        pub fn cache_search(
            &self,
            heard: WatchTurn,
            root: &Path,
            by: &ClosedSource,
            closed_files: &FoundClosedFiles,
        ) {
            let mut state = self.lock_state();
            if state.turn == heard.0
                && let Some(watches) = &mut state.watches
            {
                let closed_files = (by.clone(), closed_files.clone());
                watches.found.insert(root.to_owned(), closed_files);
            }
        }

        /// Whether a folder stayed unchanged.
        pub fn is_unchanged(&self, folder: &Path) -> bool {
            let state = self.lock_state();
            let watches = state.watches.as_ref();
            watches.is_some_and(|watches| watches.quiet.contains(folder))
        }

        /// Watches a folder from now on; `false` where it cannot be watched. The folder above must be watched.
        pub fn watch_folder(&self, folder: &Path) -> bool {
            let mut state = self.lock_state();
            let watches = state.watches.as_mut();
            watches.is_some_and(|watches| watches.watch_folder(folder) == Some(true))
        }

        /// Marks a watched folder as unchanged since it was searched, if no event was reported meanwhile; returns
        /// whether it did so.
        pub fn confirm_unchanged(&self, heard: WatchTurn, folder: &Path) -> bool {
            let mut state = self.lock_state();
            let is_so = state.turn == heard.0;
            if let (true, Some(watches)) = (is_so, &mut state.watches) {
                watches.quiet.insert(folder.to_owned());
            }
            is_so
        }

        /// Acts as if a disk had been mounted since.
        #[cfg(test)]
        pub fn sees_another_disk(&self) {
            if let Some(watches) = &mut self.lock_state().watches {
                watches.mounts.extend(b"another disk");
            }
        }

        fn lock_state(&self) -> MutexGuard<'_, WatchState> {
            // A panic while the lock was held leaves plain data behind; going on with it is safe.
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl WatchSet {
        fn open(mounts: Vec<u8>) -> Option<Self> {
            let kernel = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
            Some(Self {
                kernel: KernelWatches(Some(kernel.ok()?)),
                folders_max: watched_folders_max(),
                mounts,
                roots: HashMap::new(),
                folders: HashMap::new(),
                quiet: HashSet::new(),
                found: HashMap::new(),
            })
        }

        fn watch_folder(&mut self, folder: &Path) -> Option<bool> {
            let kernel = self.kernel.0.as_ref()?;
            if !is_local_file_system(folder) {
                return None;
            }
            let watch = inotify::add_watch(kernel, folder, CHANGE_EVENTS).ok()?;
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

        /// Takes in all events since the last call; `false` when some may have been missed, or paths lead elsewhere
        /// now.
        fn take_events(&mut self, turn: &mut u64) -> bool {
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
                        if !apply_event(&event, &mut self.folders, &mut self.quiet) {
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

    /// Returns a part of the watches that the kernel has for all programs of a person: editors need theirs.
    fn watched_folders_max() -> usize {
        let of_all = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
        let of_all = of_all
            .ok()
            .and_then(|text| text.trim().parse::<usize>().ok());
        of_all.map_or(0, |of_all| FOLDERS_WATCHED_MAX.min(of_all / 8))
    }

    /// Whether a folder is changed only through this kernel, which reports the changes.
    pub(in crate::dry_run) fn is_local_file_system(folder: &Path) -> bool {
        let kind = statfs(folder).map(|found| u64::try_from(found.f_type));
        matches!(kind, Ok(Ok(kind)) if LOCAL_FILE_SYSTEMS.contains(&kind))
    }

    /// Marks the folder of an event as no longer quiet; `false` when the event may affect any folder.
    fn apply_event(
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

    /// The watches of the kernel. Releasing them takes milliseconds, so it is done on a thread of its own.
    #[derive(Debug)]
    struct KernelWatches(Option<OwnedFd>);

    impl Drop for KernelWatches {
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

    use super::WatchTurn;
    use crate::dry_run::secrets::closed_files::FoundClosedFiles;
    use crate::fs::workspace::ClosedSource;

    /// The watch on systems that report no events, on which no folder is quiet.
    #[derive(Debug, Default)]
    pub(in crate::dry_run) struct FolderWatch;

    impl FolderWatch {
        pub fn poll_changes(&self, _root: &Path) -> Option<WatchTurn> {
            None
        }

        pub fn cached_search(&self, _root: &Path, _by: &ClosedSource) -> Option<FoundClosedFiles> {
            None
        }

        pub fn cache_search(
            &self,
            _heard: WatchTurn,
            _root: &Path,
            _by: &ClosedSource,
            _closed_files: &FoundClosedFiles,
        ) {
        }

        pub fn is_unchanged(&self, _folder: &Path) -> bool {
            false
        }

        pub fn watch_folder(&self, _folder: &Path) -> bool {
            false
        }

        pub fn confirm_unchanged(&self, _heard: WatchTurn, _folder: &Path) -> bool {
            false
        }
    }
}
