//! Tests of the history: in stories, in crashes, and with random trees.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use protocol::call::plan::{FileChange, Removal};
use protocol::history::{ConflictChoice, PathChoice, RestoreRequest};
use protocol::{Plan, UndoEntry, UndoId, UndoState};
use tempfile::TempDir;

use super::store::RequiredFiles;
use super::{
    History, RestoreError, RestoreMeta, RestoreResult, RetentionLimits, UndoDirection,
    UndoEntryMeta,
};
use crate::fs::dir::Dir;
use crate::{FileError, TreeLimits, Workspace, apply_plan};

mod acts;
mod captured;
mod crash;
mod kept;
mod killed;
mod modes;
#[cfg(target_os = "linux")]
mod pictured;
mod random;
mod removed;
mod story;
mod traits;
mod trees;

/// The entry at a path, with everything that an undo must restore.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    kind: char,
    content: Vec<u8>,
    mode: u32,
    mtime_ns: i128,
}

type Picture = BTreeMap<PathBuf, Seen>;

/// A path that its owner may read and write while this is kept, whatever its mode.
struct Readable(PathBuf, fs::Permissions);

impl Readable {
    fn new(at: &Path) -> Self {
        let own = fs::metadata(at).unwrap().permissions();
        let open = if at.is_dir() { 0o700 } else { 0o600 };
        if own.mode() & open != open {
            let opened = fs::Permissions::from_mode(own.mode() | open);
            fs::set_permissions(at, opened).unwrap();
        }
        Self(at.to_owned(), own)
    }
}

impl Drop for Readable {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, self.1.clone());
    }
}

/// Returns the state of a whole folder, itself included.
fn picture(root: &Path) -> Picture {
    fn look(at: &Path, root: &Path, all: &mut Picture) {
        let meta = at.symlink_metadata().unwrap();
        let (kind, content) = if meta.is_symlink() {
            (
                'l',
                fs::read_link(at)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes(),
            )
        } else if meta.is_dir() {
            ('d', Vec::new())
        } else {
            let _readable = Readable::new(at);
            ('f', fs::read(at).unwrap())
        };
        let seen = Seen {
            kind,
            content,
            mode: meta.mode() & 0o7777,
            mtime_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        };
        all.insert(at.strip_prefix(root).unwrap().to_owned(), seen);
        if kind == 'd' {
            let _readable = Readable::new(at);
            for entry in fs::read_dir(at).unwrap() {
                look(&entry.unwrap().path(), root, all);
            }
        }
    }
    let mut all = Picture::new();
    look(root, root, &mut all);
    all
}

/// Removes times of folders, which differ by the last change in them; everything else must not differ.
fn without_folder_times(mut picture: Picture) -> Picture {
    for seen in picture.values_mut().filter(|seen| seen.kind == 'd') {
        seen.mtime_ns = 0;
    }
    picture
}

/// Asserts that two states are the same, and names the first paths that differ.
fn assert_same(is: &Picture, expected: &Picture, what: &str) {
    let paths: std::collections::BTreeSet<&PathBuf> = is.keys().chain(expected.keys()).collect();
    let other = paths
        .into_iter()
        .find(|path| is.get(*path) != expected.get(*path));
    if let Some(path) = other {
        let (is, expected) = (is.get(path), expected.get(path));
        panic!(
            "{what}: `{}` is {is:?} and not {expected:?}",
            path.display()
        );
    }
}

/// Undoes or redoes one entry; returns how many paths that changed.
fn carry(history: &History, id: &UndoId, direction: UndoDirection) -> Result<u64, RestoreError> {
    let restore = match direction {
        UndoDirection::Undo => RestoreRequest::Undo {
            entries: vec![id.clone()],
        },
        UndoDirection::Redo => RestoreRequest::Redo { entry: id.clone() },
    };
    act(history, &restore, &[]).map(|done| done.receipt.entry.paths)
}

/// Runs an act with the next id, a moment after the one before.
fn act(
    history: &History,
    restore: &RestoreRequest,
    choices: &[(&str, ConflictChoice)],
) -> Result<RestoreResult, RestoreError> {
    let number = history.entries().unwrap().len();
    let choices: Vec<PathChoice> = choices
        .iter()
        .map(|(path, choice)| PathChoice {
            path: (*path).into(),
            choice: *choice,
        })
        .collect();
    let meta = RestoreMeta {
        id: format!("act_{number:04}").into(),
        at: NOW + 1 + number as i64,
    };
    history.restore(restore, &choices, meta)
}

/// Returns a text that is stored in pieces, of which a line in the middle varies.
fn long(middle: &str) -> String {
    let mut text = String::new();
    for line in 0..4_000 {
        let hash = blake3::hash(format!("{line}").as_bytes());
        text.push_str(&hash.to_hex()[..20]);
        text.push('\n');
        if line == 2_000 {
            text.push_str(middle);
        }
    }
    text
}

/// Returns the copies that the entries of a history need, and asserts that all exist.
fn needed(history: &History) -> RequiredFiles {
    let mut needed = RequiredFiles::default();
    for entry in history.entries().unwrap() {
        for (blob, _) in history
            .0
            .load_manifest(&entry.id)
            .unwrap()
            .required_copies()
        {
            assert!(
                history.0.store.contains(blob).unwrap(),
                "{blob} is not there"
            );
            let mut more = RequiredFiles::default();
            history
                .0
                .store
                .collect_required(blob, &needed, &mut more)
                .unwrap();
            needed.merge(more);
        }
    }
    needed
}

const NOW: i64 = 1_767_225_600_000;

/// The folder of a fixture: removed with it, or owned elsewhere.
enum Home {
    Own(TempDir),
    Other(PathBuf),
}

impl Home {
    fn path(&self) -> &Path {
        match self {
            Self::Own(home) => home.path(),
            Self::Other(home) => home,
        }
    }
}

struct Fixture {
    home: Home,
    workspace: Workspace,
    history: History,
}

impl Fixture {
    fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// Creates a fixture in memory, for a test that creates many.
    fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let home = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        Self::in_folder(home.unwrap())
    }

    fn in_folder(home: TempDir) -> Self {
        fs::create_dir(home.path().join("ws")).unwrap();
        Self::standing(Home::Own(home))
    }

    /// Opens an existing fixture.
    fn standing(home: Home) -> Self {
        let workspace = Workspace::open(&home.path().join("ws")).unwrap();
        let history = History::open(&home.path().join("history"), 1 << 30).unwrap();
        Self {
            home,
            workspace,
            history,
        }
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.workspace.root().join(path)
    }

    fn file(&self, path: &str, text: &str, mode: u32) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Gives every path its own time in the past, so that a wrong one is detected.
    fn age(&self) {
        let root = Dir::open(self.workspace.root()).unwrap();
        let mut paths: Vec<PathBuf> = self.picture().into_keys().collect();
        paths.sort();
        for (number, path) in paths.iter().enumerate().rev() {
            let mtime_ns = 1_500_000_000_000_000_000 + number as i64 * 1_000_000_007;
            match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => {
                    let parent = root.open_folder(parent).unwrap();
                    parent.set_mtime_of(name, mtime_ns).unwrap();
                }
                _ => root.set_mtime(mtime_ns).unwrap(),
            }
        }
    }

    fn picture(&self) -> Picture {
        picture(self.workspace.root())
    }

    fn removal(&self, path: &str) -> Plan {
        let tree = self
            .workspace
            .list_tree(path, TreeLimits::default())
            .unwrap();
        Plan::Remove(Removal {
            path: path.into(),
            listing: tree.digest,
            files: tree.files,
            bytes: tree.bytes,
        })
    }

    fn writing(&self, changes: &[(&str, &str)]) -> Plan {
        let change = |(path, after): &(&str, &str)| FileChange {
            path: (*path).into(),
            before: self.workspace.read_whole(path, 1 << 20).unwrap(),
            after: Some(after.as_bytes().to_vec()),
            from: None,
        };
        Plan::Write(changes.iter().map(change).collect())
    }

    /// Returns a plan of a patch: one file changes, one is added, one is removed, one moves.
    fn patching(&self) -> Plan {
        let text = |path: &str| self.workspace.read_whole(path, 1 << 20).unwrap();
        let change = |path: &str, after: Option<&str>, from: Option<&str>| FileChange {
            path: path.into(),
            before: text(path),
            after: after.map(Into::into),
            from: from.map(Into::into),
        };
        Plan::Write(vec![
            change("keep/a.txt", Some("changed"), None),
            change("new/deep/b.txt", Some("b"), None),
            change("old/secret", None, None),
            change("old/run.sh", None, None),
            change("moved/run.sh", Some("moved"), Some("old/run.sh")),
            change("old/deep/long.txt", Some(&long("an edit of it")), None),
        ])
    }

    fn prepare(&self, id: &str, plan: &Plan) -> Result<UndoEntry, FileError> {
        self.history
            .prepare_entry(&self.workspace, plan, self.meta(id))
    }

    fn meta(&self, id: &str) -> UndoEntryMeta {
        UndoEntryMeta {
            id: id.into(),
            session: "ses_1".into(),
            call: "call_1".into(),
            at: NOW + self.history.entries().unwrap().len() as i64,
            title: "Did it".into(),
        }
    }

    fn carry_out(&self, plan: &Plan) -> Result<(), FileError> {
        self.history.apply_plan(&self.workspace, plan)
    }

    /// Prepares, applies and records a plan.
    fn effect(&self, id: &str, plan: &Plan) -> UndoId {
        let entry = self.prepare(id, plan).unwrap();
        self.carry_out(plan).unwrap();
        self.history.mark_applied(&entry.id).unwrap();
        entry.id
    }

    fn state(&self, id: &UndoId) -> UndoState {
        self.history.entry(id).unwrap().unwrap().state
    }

    fn undo(&self, id: &UndoId) -> Result<u64, RestoreError> {
        carry(&self.history, id, UndoDirection::Undo)
    }

    fn redo(&self, id: &UndoId) -> Result<u64, RestoreError> {
        carry(&self.history, id, UndoDirection::Redo)
    }

    /// Creates a tree with one of everything.
    fn everything(&self) {
        self.file("keep/a.txt", "keep", 0o640);
        self.file("old/run.sh", "#!/bin/sh\n", 0o755);
        self.file("old/secret", "s", 0o600);
        self.file("old/deep/er/x.bin", "\0\u{1}\u{2}", 0o444);
        self.file("old/deep/empty", "", 0o644);
        self.file("old/deep/long.txt", &long("a line of it"), 0o644);
        fs::create_dir_all(self.at("old/hollow/hollower")).unwrap();
        fs::set_permissions(self.at("old/hollow"), fs::Permissions::from_mode(0o711)).unwrap();
        symlink("../keep/a.txt", self.at("old/link")).unwrap();
        symlink("nowhere", self.at("old/dangling")).unwrap();
        symlink("/etc", self.at("old/out")).unwrap();
        let odd: std::ffi::OsString =
            std::os::unix::ffi::OsStringExt::from_vec(b"old/b\xff\xfe\nd".to_vec());
        fs::write(self.at(odd), "odd").unwrap();
        self.age();
    }
}
