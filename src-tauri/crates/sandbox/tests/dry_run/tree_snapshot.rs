//! A whole folder as it stands, to be compared with another.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub kind: char,
    /// Bytes of a file, target of a link.
    pub content: Vec<u8>,
    pub mode: u32,
    /// Left out where only what a command decides is compared.
    pub mtime_ns: Option<i128>,
}

pub type Picture = BTreeMap<PathBuf, Seen>;

/// Everything in a folder, itself included, without its times.
pub fn picture(root: &Path) -> Picture {
    let mut all = Picture::new();
    look(root, root, "", &mut all);
    all
}

/// The same with the times of files.
pub fn dated(root: &Path) -> Picture {
    let mut all = Picture::new();
    look(root, root, "f", &mut all);
    all
}

/// The same with the times of files and folders.
pub fn exact(root: &Path) -> Picture {
    let mut all = Picture::new();
    look(root, root, "fd", &mut all);
    all
}

/// `dated`: the kinds of things whose times count.
fn look(at: &Path, root: &Path, dated: &str, all: &mut Picture) {
    let meta = at.symlink_metadata().unwrap();
    let kind = meta.file_type();
    let (kind, content) = if kind.is_symlink() {
        let target = fs::read_link(at).unwrap();
        ('l', target.into_os_string().into_encoded_bytes())
    } else if kind.is_dir() {
        ('d', Vec::new())
    } else if kind.is_file() {
        ('f', fs::read(at).unwrap())
    } else if kind.is_fifo() {
        ('p', Vec::new())
    } else {
        ('s', Vec::new())
    };
    let mtime = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    let seen = Seen {
        kind,
        content,
        mode: meta.mode() & 0o7777,
        mtime_ns: dated.contains(kind).then_some(mtime),
    };
    all.insert(at.strip_prefix(root).unwrap().to_owned(), seen);
    if kind == 'd' {
        for entry in fs::read_dir(at).unwrap() {
            look(&entry.unwrap().path(), root, dated, all);
        }
    }
}

/// Fails with the paths in which two pictures differ.
#[track_caller]
pub fn same(is: &Picture, expected: &Picture, what: &str) {
    let paths: std::collections::BTreeSet<_> = is.keys().chain(expected.keys()).collect();
    let differ: Vec<_> = paths
        .into_iter()
        .filter(|path| is.get(*path) != expected.get(*path))
        .map(|path| (path, is.get(path), expected.get(path)))
        .collect();
    assert!(differ.is_empty(), "{what}: {differ:?}");
}
