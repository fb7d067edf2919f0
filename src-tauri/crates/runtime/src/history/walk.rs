//! Works out what an act would do: every path from what stands there now, through each entry, to where it ends.
//!
//! Nothing is changed by this. An entry is passed through only where it left what stands there; where somebody changed
//! that since, the person's choice decides, and without one the path stays.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use protocol::Direction;
use protocol::history::{Choice, Node, PathChoice};

use super::clash::{Clash, Sides, standing};
use super::manifest::{Manifest, Step, Touched, Way};
use super::merge::Merged;
use super::node::{self, Fit};
use super::store::Store;
use super::unlock::{Need, Unlocked};
use crate::FileError;
use crate::dir::Traits;
use crate::files::shown;

/// What an act does.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// In order of the paths.
    pub steps: Vec<Step>,
    pub touched: Vec<Touched>,
    /// Paths that stay though an entry speaks of them, and why.
    pub kept: Vec<(Way, String)>,
    pub merged: Vec<Way>,
    /// Texts to be put into the store.
    pub texts: Vec<Merged>,
    /// Paths that need a choice and have none.
    pub clashes: Vec<Clash>,
}

/// One path on its way.
#[derive(Debug)]
pub(super) struct Track {
    /// What stands there; none for what nobody can bring back: a pipe, a socket, a device.
    pub from: Option<Node>,
    /// Where it is by now.
    pub at: Option<Node>,
    /// A folder that was made on the way to a file.
    pub made: bool,
    /// What was met that the history did not leave.
    pub clash: Option<Clash>,
    /// Why it stays, whatever an entry says.
    pub stays: Option<String>,
    pub merged: bool,
    /// What it is to have beside content, mode and time, where an entry says so.
    pub traits: Option<Traits>,
}

impl Track {
    pub(super) fn new(from: Option<Node>) -> Self {
        Self {
            at: from.clone(),
            from,
            made: false,
            clash: None,
            stays: None,
            merged: false,
            traits: None,
        }
    }

    pub(super) fn stay(&mut self, why: impl Into<String>) {
        self.at.clone_from(&self.from);
        self.merged = false;
        self.stays.get_or_insert(why.into());
    }

    fn arrived(&self) -> bool {
        match (&self.from, &self.at) {
            (Some(from), Some(at)) => node::same(from, at, Fit::Exact),
            _ => false,
        }
    }
}

pub(super) struct Walk<'a> {
    pub unlocked: &'a Unlocked,
    pub store: &'a Store,
    pub choices: BTreeMap<&'a str, Choice>,
    pub at_ns: i64,
    pub tracks: BTreeMap<PathBuf, Track>,
    pub texts: Vec<Merged>,
    /// Folders with their times now and where they are by now; none where somebody else was at work in them.
    pub times: BTreeMap<PathBuf, (i64, Option<i64>)>,
}

/// Walks through entries in their order.
pub(super) fn walk(
    unlocked: &Unlocked,
    store: &Store,
    moves: &[(Manifest, Direction)],
    choices: &[PathChoice],
    at_ns: i64,
) -> Result<Walked, FileError> {
    let steps = moves.iter().flat_map(|(manifest, _)| &manifest.steps);
    unlocked.unlock(steps.map(|step| (step.path.0.as_path(), Need::Read)))?;
    let mut walk = Walk {
        unlocked,
        store,
        choices: choices
            .iter()
            .map(|choice| (choice.path.as_str(), choice.choice))
            .collect(),
        at_ns,
        tracks: BTreeMap::new(),
        texts: Vec::new(),
        times: BTreeMap::new(),
    };
    for (manifest, direction) in moves {
        for step in &manifest.steps {
            walk.step(step, *direction)
                .map_err(|error| error.at(&step.path.0))?;
        }
        walk.touch(manifest, *direction)?;
    }
    let mut clashes = walk.resolve();
    walk.leave_no_stranger(&mut clashes)?;
    walk.find_parents()?;
    let touched = walk.touched();
    Ok(walk.end(touched, clashes))
}

/// What goes wrong at a path.
pub(super) enum Trouble {
    Io(io::Error),
    File(FileError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Trouble {
    fn at(self, path: &Path) -> FileError {
        match self {
            Self::Io(error) => FileError::from_io(shown(path), &error),
            Self::File(error) => error,
        }
    }
}

impl Walk<'_> {
    fn step(&mut self, step: &Step, direction: Direction) -> Result<(), Trouble> {
        let (left, wanted) = (step.to(direction.opposite()), step.to(direction));
        let fit = if step.made { Fit::Loose } else { Fit::Exact };
        let path = &step.path.0;
        let mut track = match self.tracks.remove(path) {
            Some(track) => track,
            None => self.look(path, left, wanted, fit)?,
        };
        track.made |= step.made;
        if track.stays.is_none() {
            match &track.at {
                Some(at) if node::same(at, left, fit) => {
                    track.at = Some(wanted.clone());
                    track.traits = Some(step.traits_to(direction).clone());
                }
                Some(at) if node::same(at, wanted, fit) => {}
                _ => {
                    self.clash(path, &mut track, left, wanted)?;
                    track.traits = Some(step.traits_to(direction).clone());
                }
            }
        }
        self.tracks.insert(path.clone(), track);
        Ok(())
    }

    /// What stands at a path. It is read only where it is neither of what is expected.
    fn look(&self, path: &Path, left: &Node, wanted: &Node, fit: Fit) -> io::Result<Track> {
        for expected in [left, wanted] {
            if node::fits(self.unlocked, path, expected, fit)? {
                let stat = self.unlocked.stat(path)?;
                return Ok(Track::new(Some(node::as_stands(expected, stat))));
            }
        }
        node::seen(self.unlocked, path).map(Track::new)
    }

    fn clash(
        &mut self,
        path: &Path,
        track: &mut Track,
        left: &Node,
        wanted: &Node,
    ) -> Result<(), Trouble> {
        let sides = Sides {
            left,
            wanted,
            now: track.at.as_ref(),
        };
        let clash = Clash::of(self.unlocked.dir(), self.store, path, &sides);
        let name = shown(path);
        let choice = self.choices.get(name.as_str()).copied();
        if let Some(choice) = choice
            && !clash.conflict.choices.contains(&choice)
        {
            let why = match choice {
                Choice::Keep | Choice::Restore => {
                    "it is a pipe, socket or device, so it can only be kept"
                }
                Choice::Merge => "both changes touch the same lines, so they cannot be merged",
            };
            return Err(Trouble::File(FileError::other(name, why)));
        }
        match choice {
            Some(Choice::Keep) => track.stay("You chose to keep it."),
            Some(Choice::Merge) => {
                if let Some(bytes) = clash.merged.clone() {
                    let text = Merged::of(bytes);
                    track.at = Some(text.node(left, wanted, track.at.as_ref(), self.at_ns));
                    self.texts.push(text);
                    track.merged = true;
                }
            }
            Some(Choice::Restore) => track.at = Some(wanted.clone()),
            None => {
                track.at = Some(wanted.clone());
                track.clash.get_or_insert(clash);
            }
        }
        Ok(())
    }

    /// What was met and would not matter is no conflict; for the rest a choice is needed, and meanwhile it stays.
    fn resolve(&mut self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for track in self.tracks.values_mut() {
            let Some(mut clash) = track.clash.take() else {
                continue;
            };
            if track.arrived() {
                track.at.clone_from(&track.from);
                continue;
            }
            clash.conflict.wanted = track.at.as_ref().and_then(node::standing);
            clash.conflict.now = standing(track.from.as_ref());
            clashes.push(clash);
            track.stay("It changed since.");
        }
        clashes
    }

    fn end(self, touched: Vec<Touched>, clashes: Vec<Clash>) -> Walked {
        let mut walked = Walked {
            touched,
            clashes,
            ..Walked::default()
        };
        let mut used = BTreeSet::new();
        for (path, track) in self.tracks {
            let way = Way(path);
            if let Some(why) = track.stays {
                walked.kept.push((way, why));
                continue;
            }
            let (Some(before), Some(after)) = (track.from, track.at) else {
                continue;
            };
            let as_is = node::same(&before, &after, Fit::Exact)
                && node::mtime_ns(&before) == node::mtime_ns(&after);
            if as_is {
                continue;
            }
            if track.merged {
                walked.merged.push(way.clone());
            }
            if let Node::File { blob, .. } = &after {
                used.insert(blob.clone());
            }
            let before_traits = self.unlocked.dir().traits_at(&way.0);
            walked.steps.push(Step {
                path: way,
                before,
                after,
                made: track.made,
                // A text that was put together stays what it was beside its content.
                after_traits: match (track.merged, track.traits) {
                    (false, Some(traits)) => traits,
                    (_, _) => before_traits.clone(),
                },
                before_traits,
            });
        }
        walked.texts = self.texts;
        walked.texts.retain(|text| used.contains(&text.blob));
        walked
    }
}
