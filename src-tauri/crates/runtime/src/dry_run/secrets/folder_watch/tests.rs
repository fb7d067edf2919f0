//! Tests that the next search finds a secret in a workspace that was quiet, however it got there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use crate::dry_run::secrets::closed_files::ClosedFileFinder;
use crate::dry_run::secrets::folder_watch::system::is_local_file_system;
use crate::{ClosedFiles, Workspace};

/// Folders with a secret in each of two, and where things come from.
struct Place {
    _home: tempfile::TempDir,
    root: std::path::PathBuf,
    beside: std::path::PathBuf,
    workspace: Workspace,
    secrets: ClosedFileFinder,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let above = home.path().canonicalize().unwrap();
        let (root, beside) = (above.join("above/root"), above.join("beside"));
        for folder in ["a/b/c", "d/e", "empty", "held"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::create_dir_all(beside.join("moved/deep")).unwrap();
        for file in ["a/b/one.key", "d/two.key", "d/e/plain"] {
            fs::write(root.join(file), "").unwrap();
        }
        for file in ["moved/deep/in.key", "file.key"] {
            fs::write(beside.join(file), "").unwrap();
        }
        let by = Arc::new(());
        let closed =
            ClosedFiles::new(|path| path.ends_with(".key")).with_source(move || Some(by.clone()));
        Self {
            workspace: Workspace::open(&root).unwrap().with_closed_files(closed),
            _home: home,
            root,
            beside,
            secrets: ClosedFileFinder::without_settle_time(),
        }
    }

    /// The secrets that are found, in order.
    fn found(&self) -> Vec<String> {
        let found = self.secrets.search_from_root(&self.workspace);
        let name = |path: &std::path::PathBuf| {
            let below = path.strip_prefix(&self.root).unwrap();
            below.to_str().unwrap().to_owned()
        };
        let mut names: Vec<String> = found.paths.iter().map(name).collect();
        names.sort();
        names
    }

    /// The secrets that are there.
    fn there(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                if entry.file_type().unwrap().is_dir() {
                    walk(root, &path, names);
                } else if path.extension().is_some_and(|end| end == "key") {
                    let below = path.strip_prefix(root).unwrap();
                    names.push(below.to_str().unwrap().to_owned());
                }
            }
        }
        let mut names = Vec::new();
        walk(&self.root, &self.root, &mut names);
        names.sort();
        names
    }

    /// Searches until no folder is looked at any more: the first search is not watched yet.
    fn becomes_quiet(&self) {
        let known = (0..3).any(|_| {
            assert_eq!(self.found(), self.there());
            self.secrets.is_cached(&self.workspace)
        });
        assert!(known, "it never becomes quiet");
        self.a_while_passes();
    }

    /// Waits until the clock of the file system tells later changes from earlier ones.
    fn a_while_passes(&self) {
        let file = self.beside.join("clock");
        let now = || {
            fs::write(&file, "").unwrap();
            let stat = rustix::fs::stat(&file).unwrap();
            (stat.st_ctime, stat.st_ctime_nsec)
        };
        let before = now();
        while now() == before {}
    }
}

/// Whether changes are reported where these tests create their folders.
fn are_heard() -> bool {
    let are = is_local_file_system(&std::env::temp_dir());
    if !are {
        println!("left out, because others may change what lies in the folder for temporary files");
    }
    are
}

type Change = (&'static str, fn(&Place));

const CHANGES: &[Change] = &[
    ("nothing", |_| ()),
    ("a file is made", |at| {
        fs::write(at.root.join("a/b/c/new.key"), "").unwrap();
    }),
    ("in the root", |at| {
        fs::write(at.root.join("new.key"), "").unwrap();
    }),
    ("a file is renamed", |at| {
        fs::rename(at.root.join("d/e/plain"), at.root.join("d/e/now.key")).unwrap();
    }),
    ("a file comes from elsewhere", |at| {
        fs::rename(at.beside.join("file.key"), at.root.join("a/b/file.key")).unwrap();
    }),
    ("a file gets another name", |at| {
        fs::hard_link(at.beside.join("file.key"), at.root.join("empty/link.key")).unwrap();
    }),
    ("a link is made", |at| {
        symlink("/etc/passwd", at.root.join("empty/link.key")).unwrap();
    }),
    ("a secret goes", |at| {
        fs::remove_file(at.root.join("d/two.key")).unwrap();
    }),
    ("a folder is made", |at| {
        fs::create_dir_all(at.root.join("empty/new/deep")).unwrap();
        fs::write(at.root.join("empty/new/deep/x.key"), "").unwrap();
    }),
    ("a folder comes from elsewhere", |at| {
        fs::rename(at.beside.join("moved"), at.root.join("a/moved")).unwrap();
    }),
    ("a folder takes the place of another", |at| {
        fs::rename(at.beside.join("moved"), at.root.join("empty")).unwrap();
    }),
    ("a folder is renamed", |at| {
        fs::rename(at.root.join("a"), at.root.join("z")).unwrap();
    }),
    ("two folders change places", |at| {
        let (one, other) = (at.root.join("a/b"), at.root.join("d/e"));
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        let here = rustix::fs::CWD;
        rustix::fs::renameat_with(here, &one, here, &other, flags).unwrap();
    }),
    ("a folder goes", |at| {
        fs::remove_dir_all(at.root.join("a")).unwrap();
    }),
    ("a folder goes and comes again", |at| {
        fs::remove_dir_all(at.root.join("a")).unwrap();
        fs::create_dir_all(at.root.join("a/b/c")).unwrap();
        fs::write(at.root.join("a/b/c/new.key"), "").unwrap();
    }),
    ("a folder that somebody holds goes and comes again", |at| {
        let held = fs::File::open(at.root.join("held")).unwrap();
        fs::remove_dir(at.root.join("held")).unwrap();
        fs::create_dir(at.root.join("held")).unwrap();
        fs::write(at.root.join("held/new.key"), "").unwrap();
        // Until the tests are over.
        std::mem::forget(held);
    }),
    ("another folder takes the place of the workspace", |at| {
        fs::rename(&at.root, at.beside.join("old")).unwrap();
        fs::rename(at.beside.join("moved"), &at.root).unwrap();
    }),
    ("another folder takes the place of one above it", |at| {
        let above = at.root.parent().unwrap();
        fs::rename(above, at.beside.join("old")).unwrap();
        fs::create_dir_all(at.root.join("a/b/c")).unwrap();
        fs::write(at.root.join("a/b/c/other.key"), "").unwrap();
    }),
];

#[test]
fn whatever_happens_to_a_quiet_workspace_is_heard() {
    if !are_heard() {
        return;
    }
    for (what, change) in CHANGES {
        let at = Place::new();
        at.becomes_quiet();
        change(&at);
        assert_eq!(at.found(), at.there(), "{what}");
        assert_eq!(at.found(), at.there(), "{what}, the next time");
    }
}

/// A second change that equals the first is not hidden by it.
#[test]
fn each_change_is_heard_after_the_last() {
    if !are_heard() {
        return;
    }
    let at = Place::new();
    at.becomes_quiet();
    for (what, change) in &CHANGES[1..] {
        let root = at.root.clone();
        change(&at);
        assert_eq!(at.found(), at.there(), "{what}");
        // As it was, but for what is beside the workspace.
        let fresh = Place::new();
        fs::rename(&root, at.beside.join(what)).unwrap();
        fs::rename(&fresh.root, &root).unwrap();
        let _ = fs::remove_dir_all(at.beside.join("old"));
        for name in ["moved", "file.key"] {
            let _ = fs::rename(fresh.beside.join(name), at.beside.join(name));
        }
        at.becomes_quiet();
    }
}

/// Changes more often than the kernel keeps events.
#[test]
fn what_was_not_heard_is_looked_for() {
    if !are_heard() {
        return;
    }
    let at = Place::new();
    at.becomes_quiet();
    let kept: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    // Each of them two events, and none like the one before.
    for number in 0..kept / 2 + 1 {
        let file = at.root.join(format!("a/{number}"));
        fs::write(&file, "").unwrap();
        fs::remove_file(&file).unwrap();
    }
    fs::write(at.root.join("a/b/c/new.key"), "").unwrap();
    assert_eq!(at.found(), at.there());
    at.becomes_quiet();
}

/// Opening a workspace for one command asks the kernel for no watch.
#[test]
fn nothing_is_known_after_one_search() {
    let at = Place::new();
    assert_eq!(at.found(), at.there());
    assert!(!at.secrets.is_cached(&at.workspace));
}

/// A new mount may hide every folder, and no event reports it.
#[test]
fn another_disk_leaves_nothing_quiet() {
    if !are_heard() {
        return;
    }
    let at = Place::new();
    at.becomes_quiet();
    let (quiet, deep) = (at.secrets.folder_watch(), at.root.join("a/b/c"));
    let before = quiet.poll_changes(&at.root).unwrap();
    assert!(at.secrets.is_cached(&at.workspace) && quiet.is_unchanged(&deep));
    quiet.sees_another_disk();
    assert_ne!(quiet.poll_changes(&at.root).unwrap(), before);
    assert!(!at.secrets.is_cached(&at.workspace) && !quiet.is_unchanged(&deep));
    // An earlier state cannot be confirmed now.
    assert!(quiet.watch_folder(&deep) && !quiet.confirm_unchanged(before, &deep));
    at.becomes_quiet();
}

#[test]
fn where_others_change_what_lies_there_nothing_is_watched() {
    for (folder, is_ours) in [("/proc", false), ("/sys", false), ("/missing", false)] {
        assert_eq!(is_local_file_system(Path::new(folder)), is_ours, "{folder}");
    }
    let quiet = ClosedFileFinder::without_settle_time();
    let quiet = quiet.folder_watch();
    let root = Path::new("/");
    assert_eq!(
        quiet.poll_changes(root),
        None,
        "who asks once has nothing of it"
    );
    assert!(quiet.poll_changes(root).is_some());
    assert!(!quiet.watch_folder(Path::new("/proc/sys")));
    let is_watched = quiet.watch_folder(&std::env::temp_dir());
    assert_eq!(is_watched, is_local_file_system(&std::env::temp_dir()));
}
