//! Limits on how much a command may change. The engine checks them while the command runs, because a sandbox has no
//! disk quota of its own.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::LayerKind;
use crate::fs::dir::Dir;
use crate::fs::workspace::PathKind;
use crate::limits::{
    DISK_RESERVE_BYTES, LAYER_BYTES_MAX, LAYER_CHECK_INTERVAL, LAYER_MEMORY_BYTES_MAX,
    LAYER_PATHS_MAX, TREE_DEPTH_MAX,
};

/// Returns how many bytes one layer may take.
pub(super) fn layer_bytes_max(kind: LayerKind) -> u64 {
    match kind {
        LayerKind::Disk | LayerKind::Copy => LAYER_BYTES_MAX,
        LayerKind::Memory | LayerKind::None => LAYER_MEMORY_BYTES_MAX,
    }
}

/// How far a workspace may grow by a command that runs in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrowthLimit {
    /// Space that the workspace takes on disk before the command, in bytes.
    pub initial_bytes: u64,
    /// How many bytes the workspace may grow.
    pub growth_bytes_max: u64,
}

impl GrowthLimit {
    /// Returns the limit for a command that changes nothing.
    pub fn for_probe() -> Self {
        Self {
            initial_bytes: u64::MAX,
            growth_bytes_max: layer_bytes_max(LayerKind::Disk),
        }
    }

    /// Returns how much space the workspace may take on disk, in bytes.
    pub fn total_bytes_max(self) -> u64 {
        self.initial_bytes.saturating_add(self.growth_bytes_max)
    }
}

/// Awaits a command while checking the size of its changes, and ends it by `stop` when they take more than `bytes_max`
/// bytes.
/// Returns the result of the command and, if its changes became too large, in which way.
pub(super) async fn run_within_limits<T>(
    ran: impl Future<Output = T>,
    watched: PathBuf,
    bytes_max: u64,
    stop: &CancellationToken,
) -> (T, Option<String>) {
    let too_large = wait_until_outgrown(watched, bytes_max);
    tokio::pin!(ran, too_large);
    tokio::select! {
        ran = &mut ran => (ran, None),
        why = &mut too_large => {
            stop.cancel();
            (ran.await, Some(why))
        }
    }
}

/// Returns once a layer has become too large, with a description of the excess.
pub(super) async fn wait_until_outgrown(upper: PathBuf, bytes_max: u64) -> String {
    let mut pause = LAYER_CHECK_INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let began = Instant::now();
        let upper = upper.clone();
        let found = tokio::task::spawn_blocking(move || find_excess(&upper, bytes_max)).await;
        if let Ok(Some(why)) = found {
            return why;
        }
        // Looking takes a tenth of the time at most, however many files there are.
        pause = LAYER_CHECK_INTERVAL
            .max(began.elapsed() * 9)
            .min(Duration::from_secs(5));
    }
}

/// Describes which limit a layer exceeds, if it exceeds one.
fn find_excess(upper: &Path, bytes_max: u64) -> Option<String> {
    // Paths that disappear while they are measured no longer count.
    let dir = Dir::open(upper).ok()?;
    if dir.free_bytes().is_ok_and(|free| free < DISK_RESERVE_BYTES) {
        return Some("the disk on which its changes are kept is almost full".to_owned());
    }
    let mut sum = LayerUsage {
        bytes: 0,
        paths: 0,
        bytes_max,
    };
    sum.add_folder(&dir, 0)
}

struct LayerUsage {
    bytes: u64,
    paths: usize,
    bytes_max: u64,
}

impl LayerUsage {
    fn add_folder(&mut self, folder: &Dir, depth: usize) -> Option<String> {
        if depth > TREE_DEPTH_MAX {
            return Some(format!(
                "it made folders deeper than {TREE_DEPTH_MAX} levels"
            ));
        }
        for name in folder.list_names().ok()? {
            let Ok(Some(found)) = folder.read_details(&name) else {
                continue;
            };
            self.paths += 1;
            self.bytes = self.bytes.saturating_add(found.disk_bytes);
            if self.paths > LAYER_PATHS_MAX {
                return Some(format!("it changed more than {LAYER_PATHS_MAX} paths"));
            }
            if self.bytes > self.bytes_max {
                let max = self.bytes_max >> 20;
                return Some(format!("it wrote more than {max} MiB"));
            }
            if found.stat.kind == PathKind::Folder
                && let Ok(below) = folder.open_folder(Path::new(&name))
                && let Some(why) = self.add_folder(&below, depth + 1)
            {
                return Some(why);
            }
        }
        None
    }
}
