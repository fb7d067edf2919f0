//! What lies around the paths of an act: strangers in folders that are to go, parents that are missing, times of folders.

use std::path::{Path, PathBuf};

use protocol::Direction;
use protocol::history::{Choice, Node};

use super::clash::{Clash, Sides};
use super::manifest::{Manifest, Touched, Way};
use super::node;
use super::unlock::Need;
use super::walk::{Track, Walk};
use crate::FileError;
use crate::dir::is_absence;
use crate::files::{PathKind, shown, tree_at};
use crate::limits::TREE_ITEMS_MAX;

/// What a folder is made with where it is missing on the way to something that comes back.
const MISSING_FOLDER_MODE: u32 = 0o755;

impl Walk<'_> {
    /// Names in folders that are to go which no entry knows of would go with them: unless that is chosen, the folder
    /// stays. A folder that was only made on the way to a file stays without a word.
    pub(super) fn leave_no_stranger(&mut self, clashes: &mut Vec<Clash>) -> Result<(), FileError> {
        let going: Vec<PathBuf> = self
            .tracks
            .iter()
            .filter(|(_, track)| is_folder(&track.from) && !is_folder(&track.at))
            .map(|(path, _)| path.clone())
            .collect();
        // From the inside out: a folder that stays keeps the one that it is in.
        for folder in going.into_iter().rev() {
            let opened = self.unlocked.dir().folder(&folder);
            let names = match opened.and_then(|dir| dir.names()) {
                Err(error) if is_absence(&error) => continue,
                other => other.map_err(|error| FileError::from_io(shown(&folder), &error))?,
            };
            let made = self.tracks.get(&folder).is_some_and(|track| track.made);
            let mut staying = None;
            for name in names {
                let path = folder.join(name);
                if !self.tracks.contains_key(&path) && !made {
                    self.stranger(&path, clashes)?;
                }
                let goes = self
                    .tracks
                    .get(&path)
                    .is_some_and(|track| !is_there(&track.at));
                if !goes {
                    staying.get_or_insert(shown(&path));
                }
            }
            if let (Some(inner), Some(track)) = (staying, self.tracks.get_mut(&folder)) {
                track.stay(format!("`{inner}` in it stays."));
                let time = track.from.as_ref().and_then(node::mtime_ns);
                // Names in it go, so its time becomes another, and is to come back with them.
                if let Some(time) = time {
                    self.times.entry(folder).or_insert((time, None));
                }
            }
        }
        Ok(())
    }

    /// Something that no entry knows of, where a folder is to go.
    fn stranger(&mut self, path: &Path, clashes: &mut Vec<Clash>) -> Result<(), FileError> {
        let failed = |error: std::io::Error| FileError::from_io(shown(path), &error);
        let dir = self.unlocked.dir();
        self.unlocked.unlock([(path, Need::Read)])?;
        match self.choices.get(shown(path).as_str()) {
            Some(Choice::Keep) => {
                let mut track = Track::new(node::seen(self.unlocked, path).map_err(failed)?);
                track.stay("You chose to keep it.");
                self.tracks.insert(path.to_owned(), track);
            }
            Some(Choice::Restore) => {
                let Some(stat) = dir.stat_at(path).map_err(failed)? else {
                    return Ok(());
                };
                self.unlocked.unlock_tree(path)?;
                let tree = tree_at(dir, path, stat, TREE_ITEMS_MAX)
                    .map_err(|failure| failure.named(&shown(path), TREE_ITEMS_MAX))?;
                for item in tree.items {
                    let Some(node) = node::seen(self.unlocked, &item.path).map_err(failed)? else {
                        return Err(FileError::Special {
                            path: shown(&item.path),
                        });
                    };
                    let track = Track {
                        at: Some(Node::Absent),
                        ..Track::new(Some(node))
                    };
                    self.tracks.entry(item.path).or_insert(track);
                }
            }
            Some(Choice::Merge) => {
                let why = "it came since, so it can be kept or go, but not be merged";
                return Err(FileError::other(shown(path), why));
            }
            None => {
                let now = node::seen(self.unlocked, path).map_err(failed)?;
                let sides = Sides {
                    left: &Node::Absent,
                    wanted: &Node::Absent,
                    now: now.as_ref(),
                };
                clashes.push(Clash::of(dir, self.store, path, &sides));
                let mut track = Track::new(now);
                track.stay("It came since.");
                self.tracks.insert(path.to_owned(), track);
            }
        }
        Ok(())
    }

    /// What comes needs a folder to stand in: one that is missing is made; where something else stands it stays away.
    pub(super) fn find_parents(&mut self) -> Result<(), FileError> {
        let coming: Vec<PathBuf> = self
            .tracks
            .iter()
            .filter(|(_, track)| !is_there(&track.from) && is_there(&track.at))
            .map(|(path, _)| path.clone())
            .collect();
        for path in coming {
            let mut missing = Vec::new();
            let mut barred = None;
            let mut stands_in = None;
            for above in path.ancestors().skip(1) {
                let (folder, there, stays) = match self.tracks.get(above) {
                    Some(track) => (
                        is_folder(&track.at),
                        is_there(&track.at),
                        track.stays.is_some(),
                    ),
                    None => {
                        let stat = self.unlocked.stat(above);
                        let stat =
                            stat.map_err(|error| FileError::from_io(shown(above), &error))?;
                        let folder = stat.filter(|stat| stat.kind == PathKind::Folder);
                        stands_in = folder.map(|stat| (above.to_owned(), stat.mtime_ns));
                        (folder.is_some(), stat.is_some(), false)
                    }
                };
                if folder {
                    break;
                }
                if there || stays {
                    barred = Some(shown(above));
                    break;
                }
                missing.push(above.to_owned());
            }
            if let Some(above) = barred {
                if let Some(track) = self.tracks.get_mut(&path) {
                    track.stay(format!("`{above}` is no folder, and stays as it is."));
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
                    .or_insert_with(|| Track::new(Some(Node::Absent)));
                track.made = true;
                track.at = Some(Node::Folder {
                    mode: MISSING_FOLDER_MODE,
                    mtime_ns: self.at_ns,
                });
            }
        }
        Ok(())
    }

    /// Folders whose time is as the entry left it: nobody else made or removed names in them, so their time goes along.
    pub(super) fn touch(
        &mut self,
        manifest: &Manifest,
        direction: Direction,
    ) -> Result<(), FileError> {
        for touched in &manifest.touched {
            let path = &touched.path.0;
            let (from, to) = match direction {
                Direction::Undo => (touched.after_ns, Some(touched.before_ns)),
                Direction::Redo => (Some(touched.before_ns), touched.after_ns),
            };
            if let Some(track) = self.tracks.get_mut(path) {
                // It comes back itself, with the time that it had between two entries.
                if let (Some(Node::Folder { mtime_ns, .. }), Some(to)) = (&mut track.at, to)
                    && Some(*mtime_ns) == from
                {
                    *mtime_ns = to;
                }
                continue;
            }
            let time = match self.times.get(path) {
                Some(time) => *time,
                None => {
                    let stat = self.unlocked.stat(path);
                    let stat = stat.map_err(|error| FileError::from_io(shown(path), &error))?;
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

    /// The folders that stay, with their times before and after.
    pub(super) fn touched(&self) -> Vec<Touched> {
        let stays = |path: &Path| {
            let track = self.tracks.get(path);
            track.is_none_or(|track| is_folder(&track.at))
        };
        let times = self.times.iter().filter(|(path, _)| stays(path));
        let touched = times.map(|(path, (before_ns, after_ns))| Touched {
            path: Way(path.clone()),
            before_ns: *before_ns,
            after_ns: *after_ns,
        });
        touched.collect()
    }
}

fn is_folder(node: &Option<Node>) -> bool {
    matches!(node, Some(Node::Folder { .. }))
}

fn is_there(node: &Option<Node>) -> bool {
    *node != Some(Node::Absent)
}
