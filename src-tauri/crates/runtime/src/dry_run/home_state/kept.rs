//! Changes in caches of the home folder that rules keep: taken out of a layer as a plan of their own, which is committed
//! with the command's other effects.
//!
//! What a cache has no need of keeps nothing of it: pipes, sockets and devices, links that may lead out of it, rights to
//! run as the owner, and rights for everyone to write.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use protocol::history::Node;
use protocol::text::display_text::{format_count, name};
use protocol::{CapturedEffects, CommandExit, CommandRun, Plan};

use super::{HomeState, ProgramTable, StateLayer};
use crate::FileError;
use crate::dry_run::effects::report::{ChangeStage, build_report};
use crate::dry_run::overlay::change::{ABSENT, ChangedPath, PathContent};
use crate::dry_run::overlay::content_digest::hash_without_copy;
use crate::dry_run::overlay::diff::{UpperSource, UpperTree, diff_upper};
use crate::dry_run::{CacheUse, HomeCache, KeptCache};
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;

/// Rights of a file that no cache needs: to run as its owner, and for everyone to write.
const NEEDLESS_RIGHTS: u32 = 0o6002;

/// A cache of the table in a layer.
#[derive(Debug)]
pub(super) struct CachePlace {
    pub cache: &'static HomeCache,
    pub path: PathBuf,
}

/// What a command changed in the layers over a home folder.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct HomeChanges {
    /// Changes that rules keep.
    pub kept: Vec<KeptCache>,
    /// Sentences on all changes, for a person.
    pub notes: Vec<String>,
}

/// Returns the caches of home folders whose changes a rule can keep.
pub fn list_home_caches() -> &'static [HomeCache] {
    ProgramTable::load().map_or(&[], |table| &table.kept)
}

impl HomeState {
    /// Takes what a command that began at `began_ns` changed in the layers: in the caches that rules keep as plans, and all
    /// of it as notes.
    pub(in crate::dry_run) fn take_changes(
        &self,
        caches: &[CacheUse],
        began_ns: i64,
    ) -> HomeChanges {
        let mut changes = HomeChanges::default();
        let mut offers = Vec::new();
        for place in &self.caches {
            let mut layers = self.layers.iter();
            let changed = layers.find_map(|layer| Some((layer, layer.find_changed(&place.path)?)));
            let Some((layer, below)) = changed else {
                continue;
            };
            let cache = &place.cache.folder;
            let Some(used) = caches.iter().find(|used| used.folder == *cache) else {
                continue;
            };
            if !used.is_kept {
                offers.push(format!(
                    "The rule `home.keep` for `{cache}` would keep what it wrote there."
                ));
                continue;
            }
            match layer.capture(below, began_ns) {
                Ok(captured) => {
                    let files = count_files(&captured);
                    changes.notes.push(format!(
                        "In `{cache}` it wrote {}, which a rule keeps.",
                        format_count(files, "file")
                    ));
                    changes.kept.push(KeptCache {
                        cache: cache.clone(),
                        folder: layer.folder.path.clone(),
                        files,
                        plan: Plan::Effects(Arc::new(captured)),
                    });
                }
                Err(error) => changes.notes.push(format!(
                    "What it wrote in `{cache}` is not kept, though a rule says so: {error}"
                )),
            }
        }
        let lost = self.describe_lost_changes(&changes.kept);
        changes.notes.extend(lost);
        changes.notes.append(&mut offers);
        changes
    }
}

impl StateLayer {
    /// Returns the path of a cache below the folder that the layer lies over, if the layer has changes there.
    fn find_changed<'p>(&self, cache: &'p Path) -> Option<&'p Path> {
        let below = cache.strip_prefix(&self.folder.path).ok()?;
        let changed = fs::symlink_metadata(self.folder.upper.join(below));
        changed.is_ok().then_some(below)
    }

    /// Captures the changes below a path, as a plan for the folder that the layer lies over.
    fn capture(&self, below: &Path, began_ns: i64) -> Result<CapturedEffects, FileError> {
        let upper = Dir::open(&self.folder.upper).at("the layer over a home folder")?;
        let lower = Dir::open(&self.folder.path).at(&self.folder.path)?;
        let tree = UpperTree {
            source: UpperSource::Layer,
            dir: &upper,
        };
        let diff = diff_upper(tree, &lower, began_ns, &mut hash_without_copy, None)?;
        let mut changes = diff.changes;
        changes.retain(|change| change.path.starts_with(below) || leads_to(change, below));
        if let Some(needless) = changes.iter().find(|change| is_needless(change)) {
            return Err(FileError::sandbox_unavailable(format!(
                "`{}` is nothing that a cache needs.",
                name(&needless.path)
            )));
        }
        Ok(CapturedEffects {
            layer: self.folder.upper.clone(),
            steps: build_report(changes, ChangeStage::DryRun).steps,
            // What the command printed is with its other effects.
            ran: CommandRun::without_output(CommandExit::Code(0)),
        })
    }
}

/// Whether a change creates a folder on the way to another.
fn leads_to(change: &ChangedPath, below: &Path) -> bool {
    let is_folder = matches!(change.after, PathContent::Node(Node::Folder { .. }));
    change.before == ABSENT && is_folder && below.starts_with(&change.path)
}

/// Whether a change is one that no cache needs.
fn is_needless(change: &ChangedPath) -> bool {
    match (&change.before, &change.after) {
        (PathContent::Special(_), _) | (_, PathContent::Special(_)) => true,
        (_, PathContent::Node(Node::Link { target, .. })) => {
            let mut parts = Path::new(OsStr::from_bytes(target)).components();
            !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        }
        (_, PathContent::Node(Node::File { mode, .. } | Node::Folder { mode, .. })) => {
            mode & NEEDLESS_RIGHTS != 0
        }
        (_, PathContent::Node(Node::Absent)) => false,
    }
}

fn count_files(captured: &CapturedEffects) -> u64 {
    let is_folder = |node: &Node| matches!(node, Node::Folder { .. });
    let steps = captured.steps.iter();
    let files = steps.filter(|step| !is_folder(&step.before) && !is_folder(&step.after));
    files.count() as u64
}
