//! Objects that a command removed from their files: what packs a repository moves them to others, and only what is in
//! none of these is gone.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::{Kind, ObjectId};
use gix_object::Find as _;
use gix_odb::pack::index;

use super::Repository;

/// How many objects are looked for. If more were moved, some count as gone.
const OBJECTS_MAX: usize = 20_000;

/// Files beside the packs that git makes from them again.
const DERIVED_ENDINGS: &[&str] = &["pack", "rev", "bitmap", "mtimes", "keep"];

/// Folders with something else than objects whose first two digits they are named after.
const FIXED_FOLDERS: &[&str] = &["info", "pack"];

/// Whether objects are in no file any more after a command removed these paths, which are relative to the folder of
/// objects. The repository has the layer of the command.
pub(super) fn loses_objects(repository: &Repository, removed: &HashSet<&Path>) -> bool {
    if removed.is_empty() {
        return false;
    }
    let objects = repository.common_dir.join("objects");
    let mut sought = HashSet::new();
    for path in removed {
        match RemovedFile::from_path(path) {
            RemovedFile::Object(id) => drop(sought.insert(id)),
            RemovedFile::PackIndex => match index::File::at(objects.join(path), Kind::Sha1) {
                Ok(pack) => sought.extend(pack.iter().map(|entry| entry.oid)),
                Err(_) => return true,
            },
            RemovedFile::Derived => {}
            RemovedFile::Unknown => return true,
        }
        if sought.len() > OBJECTS_MAX {
            return true;
        }
    }
    let left = LeftObjects::open(repository, &objects, removed);
    !sought.iter().all(|id| left.contains(id))
}

/// What a path below the folder of objects stands for.
enum RemovedFile {
    Object(ObjectId),
    PackIndex,
    /// What git makes again from the objects.
    Derived,
    Unknown,
}

impl RemovedFile {
    fn from_path(path: &Path) -> Self {
        let parts: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
        let ending = path.extension().and_then(OsStr::to_str);
        match parts.as_slice() {
            ["pack", _] if ending == Some("idx") => Self::PackIndex,
            ["pack", _] if ending.is_some_and(|it| DERIVED_ENDINGS.contains(&it)) => Self::Derived,
            ["pack", "multi-pack-index"] | ["info", "packs" | "commit-graph"] => Self::Derived,
            ["info", "commit-graphs", ..] => Self::Derived,
            [folder] if folder.len() == 2 && !FIXED_FOLDERS.contains(folder) => Self::Derived,
            [folder, rest] => match ObjectId::from_hex(format!("{folder}{rest}").as_bytes()) {
                Ok(id) => Self::Object(id),
                Err(_) => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// The objects of a repository after a command.
struct LeftObjects<'a> {
    repository: &'a Repository,
    /// The packs that the command left alone.
    packs: Vec<index::File>,
    /// The folder of objects, and what the command removed of it.
    objects: &'a Path,
    removed: &'a HashSet<&'a Path>,
}

impl<'a> LeftObjects<'a> {
    fn open(repository: &'a Repository, objects: &'a Path, removed: &'a HashSet<&'a Path>) -> Self {
        let packs = fs::read_dir(objects.join("pack")).into_iter().flatten();
        let is_left = |index: &PathBuf| {
            ["idx", "pack"].iter().all(|ending| {
                let file = index.with_extension(ending);
                let below = file.strip_prefix(objects);
                file.is_file() && below.is_ok_and(|below| !removed.contains(below))
            })
        };
        Self {
            packs: packs
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension() == Some(OsStr::new("idx")) && is_left(path))
                .filter_map(|path| index::File::at(path, Kind::Sha1).ok())
                .collect(),
            repository,
            objects,
            removed,
        }
    }

    fn contains(&self, id: &ObjectId) -> bool {
        self.packs.iter().any(|pack| pack.lookup(id).is_some())
            || self.is_loose(id)
            || self.is_written_anew(id)
    }

    fn is_loose(&self, id: &ObjectId) -> bool {
        let hex = id.to_string();
        let path = Path::new(&hex[..2]).join(&hex[2..]);
        !self.removed.contains(&*path) && self.objects.join(path).is_file()
    }

    /// Whether the command wrote the object, whole, to another file.
    fn is_written_anew(&self, id: &ObjectId) -> bool {
        let mut buffer = Vec::new();
        let layer = self.repository.layer.as_ref();
        let found = layer.and_then(|layer| layer.objects.try_find(id, &mut buffer).ok().flatten());
        found.is_some_and(|object| {
            gix_object::compute_hash(Kind::Sha1, object.kind, object.data)
                .is_ok_and(|found| found == *id)
        })
    }
}
