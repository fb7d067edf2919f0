//! The surroundings of an act's paths: unknown names in folders that are to be removed, missing parents, times of
//! folders.

use std::path::{Path, PathBuf};

use protocol::UndoDirection;
use protocol::history::{ConflictChoice, Node};

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::is_not_found;
use crate::fs::workspace::{PathKind, display_path, list_tree_at};
use crate::limits::TREE_ITEMS_MAX;
use crate::undo::entry::manifest::{RelPath, TouchedFolder, UndoManifest};
use crate::undo::entry::node;
use crate::undo::restore::conflict::{ConflictSides, PathConflict};
use crate::undo::restore::walk::{PathTrack, RestoreWalk};

/// Mode of a folder that is created because it is missing above a restored path.
const MISSING_FOLDER_MODE: u32 = 0o755;

impl RestoreWalk<'_> {
    /// Finds names in folders to be removed that no entry knows and that would be lost with them: unless that is
    /// chosen, the folder stays. A folder that was only created on the way to a file stays without a conflict.
    pub(in crate::undo) fn resolve_unknown_names(
        &mut self,
        conflicts: &mut Vec<PathConflict>,
    ) -> Result<(), FileError> {
        let going: Vec<PathBuf> = self
            .tracks
            .iter()
            .filter(|(_, track)| is_folder(&track.from) && !is_folder(&track.planned))
            .map(|(path, _)| path.clone())
            .collect();
        // From the inside out: a folder that stays keeps the one that it is in.
        for folder in going.into_iter().rev() {
            let opened = self.unlocked.dir().open_folder(&folder);
            let names = match opened.and_then(|dir| dir.list_names()) {
                Err(error) if is_not_found(&error) => continue,
                other => other.at(&folder)?,
            };
            let made = self.tracks.get(&folder).is_some_and(|track| track.made);
            let mut staying = None;
            for name in names {
                let path = folder.join(name);
                if !self.tracks.contains_key(&path) && !made {
                    self.resolve_unknown_name(&path, conflicts)?;
                }
                let goes = self
                    .tracks
                    .get(&path)
                    .is_some_and(|track| !is_present(&track.planned));
                if !goes {
                    staying.get_or_insert(display_path(&path));
                }
            }
            if let (Some(inner), Some(track)) = (staying, self.tracks.get_mut(&folder)) {
                track.keep_current(format!("`{inner}` in it stays."));
                let time = track.from.as_ref().and_then(node::mtime_ns);
                // Names in it go, so its time becomes another, and is to come back with them.
                if let Some(time) = time {
                    self.times.entry(folder).or_insert((time, None));
                }
            }
        }
        Ok(())
    }

    /// Handles a name that no entry knows, in a folder that is to be removed.
    fn resolve_unknown_name(
        &mut self,
        path: &Path,
        conflicts: &mut Vec<PathConflict>,
    ) -> Result<(), FileError> {
        let dir = self.unlocked.dir();
        self.unlocked.unlock_for_reading([path])?;
        match self.choices.get(display_path(path).as_str()) {
            Some(ConflictChoice::Keep) => {
                let mut track = PathTrack::new(node::observe_node(self.unlocked, path).at(path)?);
                track.keep_current("You chose to keep it.");
                self.tracks.insert(path.to_owned(), track);
            }
            Some(ConflictChoice::Restore) => {
                let Some(stat) = dir.stat_at(path).at(path)? else {
                    return Ok(());
                };
                self.unlocked.unlock_tree(path)?;
                let tree = list_tree_at(dir, path, stat, TREE_ITEMS_MAX).map_err(|failure| {
                    failure.into_file_error(&display_path(path), TREE_ITEMS_MAX)
                })?;
                for item in tree.items {
                    let Some(node) = node::observe_node(self.unlocked, &item.path).at(path)? else {
                        return Err(FileError::Special {
                            path: display_path(&item.path),
                        });
                    };
                    let track = PathTrack {
                        planned: Some(Node::Absent),
                        ..PathTrack::new(Some(node))
                    };
                    self.tracks.entry(item.path).or_insert(track);
                }
            }
            Some(ConflictChoice::Merge) => {
                let why = "it came since, so it can be kept or go, but not be merged";
                return Err(FileError::from_display(display_path(path), why));
            }
            None => {
                let now = node::observe_node(self.unlocked, path).at(path)?;
                let sides = ConflictSides {
                    left: &Node::Absent,
                    wanted: &Node::Absent,
                    now: now.as_ref(),
                };
                conflicts.push(PathConflict::from_sides(dir, self.store, path, &sides));
                let mut track = PathTrack::new(now);
                track.keep_current("It came since.");
                self.tracks.insert(path.to_owned(), track);
            }
        }
        Ok(())
    }

    /// Ensures that every restored path has a parent folder: a missing one is created; where something else stands, the
    /// path is not restored.
    pub(in crate::undo) fn ensure_parents(&mut self) -> Result<(), FileError> {
        let coming: Vec<PathBuf> = self
            .tracks
            .iter()
            .filter(|(_, track)| !is_present(&track.from) && is_present(&track.planned))
            .map(|(path, _)| path.clone())
            .collect();
        for path in coming {
            let mut missing = Vec::new();
            let mut barred = None;
            let mut stands_in = None;
            for above in path.ancestors().skip(1) {
                let (folder, there, stays) = match self.tracks.get(above) {
                    Some(track) => (
                        is_folder(&track.planned),
                        is_present(&track.planned),
                        track.stay_reason.is_some(),
                    ),
                    None => {
                        let stat = self.unlocked.stat(above).at(above)?;
                        let folder = stat.filter(|stat| stat.kind == PathKind::Folder);
                        stands_in = folder.map(|stat| (above.to_owned(), stat.mtime_ns));
                        (folder.is_some(), stat.is_some(), false)
                    }
                };
                if folder {
                    break;
                }
                if there || stays {
                    barred = Some(display_path(above));
                    break;
                }
                missing.push(above.to_owned());
            }
            if let Some(above) = barred {
                if let Some(track) = self.tracks.get_mut(&path) {
                    track.keep_current(format!("`{above}` is not a folder, and stays as it is."));
                }
                continue;
            }
            if let (Some((folder, time)), false) = (stands_in, missing.is_empty()) {
                self.times.entry(folder).or_insert((time, None));
            }
            for above in missing {
                let track = self
                    .tracks
                    .entry(above)
                    .or_insert_with(|| PathTrack::new(Some(Node::Absent)));
                track.made = true;
                track.planned = Some(Node::Folder {
                    mode: MISSING_FOLDER_MODE,
                    mtime_ns: self.at_ns,
                });
            }
        }
        Ok(())
    }

    /// Restores times of folders that have the time which the entry left: nobody else created or removed names in them.
    pub(in crate::undo) fn update_folder_times(
        &mut self,
        manifest: &UndoManifest,
        direction: UndoDirection,
    ) -> Result<(), FileError> {
        for touched in &manifest.touched {
            let path = &touched.path.0;
            let (from, to) = match direction {
                UndoDirection::Undo => (touched.after_ns, Some(touched.before_ns)),
                UndoDirection::Redo => (Some(touched.before_ns), touched.after_ns),
            };
            if let Some(track) = self.tracks.get_mut(path) {
                // It comes back itself, with the time that it had between two entries.
                if let (Some(Node::Folder { mtime_ns, .. }), Some(to)) = (&mut track.planned, to)
                    && Some(*mtime_ns) == from
                {
                    *mtime_ns = to;
                }
                continue;
            }
            let time = match self.times.get(path) {
                Some(time) => *time,
                None => {
                    let stat = self.unlocked.stat(path).at(path)?;
                    let Some(stat) = stat.filter(|stat| stat.kind == PathKind::Folder) else {
                        continue;
                    };
                    (stat.mtime_ns, Some(stat.mtime_ns))
                }
            };
            let goes_along = from.is_some() && time.1 == from;
            let time = (time.0, if goes_along { to } else { None });
            self.times.insert(path.clone(), time);
        }
        Ok(())
    }

    /// Returns the folders that stay, with their times before and after.
    pub(in crate::undo) fn changed_folder_times(&self) -> Vec<TouchedFolder> {
        let stays = |path: &Path| {
            let track = self.tracks.get(path);
            track.is_none_or(|track| is_folder(&track.planned))
        };
        let times = self.times.iter().filter(|(path, _)| stays(path));
        let touched = times.map(|(path, (before_ns, after_ns))| TouchedFolder {
            path: RelPath(path.clone()),
            before_ns: *before_ns,
            after_ns: *after_ns,
        });
        touched.collect()
    }
}

fn is_folder(node: &Option<Node>) -> bool {
    matches!(node, Some(Node::Folder { .. }))
}

fn is_present(node: &Option<Node>) -> bool {
    *node != Some(Node::Absent)
}
