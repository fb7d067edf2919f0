//! What a person chose of the rooms that commands run in: more that is closed there, and how much memory one may take.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

#[cfg(any(target_os = "linux", target_os = "macos"))]
use crate::limits::ROOM_MEMORY_BYTES_LEAST;

/// What holds in rooms beside what always does. Cheap to clone: what is chosen on one clone holds on all of them, for what is
/// started from then on.
#[derive(Debug, Clone, Default)]
pub struct RoomOptions(Arc<RwLock<Chosen>>);

#[derive(Debug, Default)]
#[cfg_attr(windows, allow(dead_code, reason = "there is no room"))]
struct Chosen {
    closed: Vec<PathBuf>,
    memory_bytes: Option<u64>,
}

impl RoomOptions {
    /// Chooses. `closed` are absolute paths, or begin with `~/`, and are closed as credentials are; `memory_bytes` is what one room
    /// may take of memory, if not half of the machine's.
    pub fn choose(&self, closed: Vec<PathBuf>, memory_bytes: Option<u64>) {
        let chosen = Chosen {
            closed,
            memory_bytes,
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = chosen;
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn closed(&self) -> Vec<PathBuf> {
        let chosen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        chosen.closed.clone()
    }

    /// What one room may take of memory, in bytes.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let chosen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let bytes = chosen.memory_bytes.or_else(half_of_the_machine);
        bytes
            .unwrap_or(ROOM_MEMORY_BYTES_LEAST)
            .max(ROOM_MEMORY_BYTES_LEAST)
    }
}

#[cfg(target_os = "linux")]
fn half_of_the_machine() -> Option<u64> {
    let known = rustix::system::sysinfo();
    let bytes = known.totalram.checked_mul(known.mem_unit.into())?;
    (bytes > 0).then_some(bytes / 2)
}

#[cfg(target_os = "macos")]
fn half_of_the_machine() -> Option<u64> {
    None
}
