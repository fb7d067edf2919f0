//! Watches files for changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use protocol::UserError;
use tokio::sync::mpsc::{Receiver, channel};

use crate::Workspace;
use crate::fs::workspace::{PathUse, join_path};
use crate::limits::DEBOUNCE;

/// Watches some paths for change, replacement, appearance and disappearance.
///
/// Folders are watched, not files: a file that is replaced by a rename is another file under the same name.
#[derive(Debug)]
pub struct FileWatcher {
    watcher: RecommendedWatcher,
    targets: Vec<PathBuf>,
    watched: BTreeSet<PathBuf>,
    signs: Receiver<()>,
}

impl FileWatcher {
    /// Watches `paths`, which need not exist. A path through a link is watched where it leads now.
    ///
    /// # Errors
    /// When a path leads outside, or the system gives no more watches.
    pub fn new(workspace: &Workspace, paths: &[impl AsRef<str>]) -> Result<Self, UserError> {
        let mut targets = Vec::new();
        for path in paths {
            let place = workspace.resolve_readable(path.as_ref(), true, PathUse::List)?;
            targets.push(join_path(&place.root.path, &place.rel));
        }
        // One sign is enough: it says that something happened, not what.
        let (sender, signs) = channel(1);
        let concerned = targets.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.map_or(true, |event| is_relevant(&event, &concerned)) {
                // Full means that there is a sign already.
                let _ = sender.try_send(());
            }
        });
        let watcher = watcher.map_err(|error| watch_error(Path::new("the workspace"), &error))?;
        let mut watch = Self {
            watcher,
            targets,
            watched: BTreeSet::new(),
            signs,
        };
        watch.watch_folders()?;
        Ok(watch)
    }

    /// Returns when one of the paths changed; changes within 80 ms count as one.
    pub async fn wait_for_change(&mut self) {
        if self.signs.recv().await.is_none() {
            // The watcher is gone, which it never is while we hold it: nothing will ever change.
            return std::future::pending().await;
        }
        tokio::time::sleep(DEBOUNCE).await;
        while self.signs.try_recv().is_ok() {}
        // A folder on the way to a path may have come or gone: watch what is there now.
        if let Err(error) = self.watch_folders() {
            tracing::warn!(%error, "some changes will not be seen");
        }
    }

    /// Watches, for each path, the nearest existing folder above it, and the folders that lead there.
    fn watch_folders(&mut self) -> Result<(), UserError> {
        let mut folders = BTreeSet::new();
        for target in &self.targets {
            let above = target.ancestors().skip(1);
            // Two levels: the folder itself, and the one that says when the folder is replaced.
            folders.extend(
                above
                    .filter(|path| path.is_dir())
                    .take(2)
                    .map(PathBuf::from),
            );
        }
        for gone in self.watched.difference(&folders) {
            // A folder that is no more has no watch either.
            let _ = self.watcher.unwatch(gone);
        }
        // Watching again what is watched is cheap, and needed when a folder was replaced by another of its name.
        for folder in &folders {
            self.watcher
                .watch(folder, RecursiveMode::NonRecursive)
                .map_err(|error| watch_error(folder, &error))?;
        }
        self.watched = folders;
        Ok(())
    }
}

/// Whether an event is about one of the paths, or about a folder on the way to one.
fn is_relevant(event: &Event, targets: &[PathBuf]) -> bool {
    let tells = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    };
    // An overflow names no path: anything may have happened.
    tells
        && (event.need_rescan()
            || event
                .paths
                .iter()
                .any(|path| targets.iter().any(|target| target.starts_with(path))))
}

fn watch_error(path: &Path, error: &notify::Error) -> UserError {
    UserError::new(
        format!("`{}` cannot be watched for changes.", path.display()),
        "Previews will not follow the files; raise the system's limit of file watches.",
    )
    .with_source(error)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    /// Whether a change is seen; the timeout only makes a failing test end.
    async fn seen(watch: &mut FileWatcher) -> bool {
        tokio::time::timeout(Duration::from_secs(20), watch.wait_for_change())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn every_kind_of_change_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        fs::write(at("a"), "1").unwrap();
        let workspace = Workspace::open(home.path()).unwrap();
        let mut watch = FileWatcher::new(&workspace, &["a", "new/deep/b"]).unwrap();
        type Change<'a> = (&'a str, &'a dyn Fn());
        let changes: [Change; 8] = [
            ("written", &|| fs::write(at("a"), "2").unwrap()),
            ("replaced", &|| {
                fs::write(at("other"), "3").unwrap();
                fs::rename(at("other"), at("a")).unwrap();
            }),
            ("removed", &|| fs::remove_file(at("a")).unwrap()),
            ("came up", &|| fs::write(at("a"), "4").unwrap()),
            ("folder came", &|| fs::create_dir(at("new")).unwrap()),
            ("inner folder came", &|| {
                fs::create_dir(at("new/deep")).unwrap()
            }),
            ("file in it came", &|| {
                fs::write(at("new/deep/b"), "5").unwrap()
            }),
            ("folder went", &|| {
                fs::rename(at("new"), at("gone")).unwrap()
            }),
        ];
        for (name, change) in changes {
            change();
            assert!(seen(&mut watch).await, "{name}");
        }
    }

    #[test]
    fn reading_and_neighbours_are_no_change() {
        use notify::event::{CreateKind, ModifyKind};
        let target = PathBuf::from("/w/a/b");
        let event = |kind: EventKind, path: &str| Event::new(kind).add_path(path.into());
        let cases = [
            (
                event(
                    EventKind::Access(AccessKind::Open(AccessMode::Any)),
                    "/w/a/b",
                ),
                false,
            ),
            (event(EventKind::Access(AccessKind::Read), "/w/a/b"), false),
            (
                event(
                    EventKind::Access(AccessKind::Close(AccessMode::Write)),
                    "/w/a/b",
                ),
                true,
            ),
            (event(EventKind::Modify(ModifyKind::Any), "/w/a/b"), true),
            (event(EventKind::Modify(ModifyKind::Any), "/w/a/bb"), false),
            (event(EventKind::Create(CreateKind::Folder), "/w/a"), true),
            (
                event(EventKind::Create(CreateKind::File), "/w/a/b/c"),
                false,
            ),
            (
                Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan),
                true,
            ),
        ];
        for (event, expected) in cases {
            assert_eq!(
                is_relevant(&event, std::slice::from_ref(&target)),
                expected,
                "{event:?}"
            );
        }
    }

    #[test]
    fn a_path_outside_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(home.path()).unwrap();
        let fault = FileWatcher::new(&workspace, &["../x"]).unwrap_err();
        assert!(fault.message.contains("outside the workspace"), "{fault}");
    }
}
