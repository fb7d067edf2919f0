//! A person's options for the sandboxes in which commands run: further paths that are closed there, and the memory that
//! one sandbox may take.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

#[cfg(any(target_os = "linux", target_os = "macos"))]
use crate::limits::SANDBOX_MEMORY_BYTES_MIN;

/// Options of sandboxes beyond the defaults. Cheap to clone: a choice on one clone holds on all of them, for sandboxes
/// started from then on.
#[derive(Debug, Clone, Default)]
pub struct SandboxOptions(Arc<RwLock<SandboxChoice>>);

#[derive(Debug, Default)]
#[cfg_attr(windows, allow(dead_code, reason = "there is no sandbox"))]
struct SandboxChoice {
    closed: Vec<PathBuf>,
    memory_bytes: Option<u64>,
}

impl SandboxOptions {
    /// Sets the options. `closed` are absolute paths, or begin with `~/`, and are closed as credentials are;
    /// `memory_bytes` is the memory that one sandbox may take, half of the machine's if `None`.
    pub fn set_choice(&self, closed: Vec<PathBuf>, memory_bytes: Option<u64>) {
        let chosen = SandboxChoice {
            closed,
            memory_bytes,
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = chosen;
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn closed_paths(&self) -> Vec<PathBuf> {
        let chosen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        chosen.closed.clone()
    }

    /// Returns the memory that one sandbox may take, in bytes.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let chosen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let bytes = chosen.memory_bytes.or_else(half_of_system_memory);
        bytes
            .unwrap_or(SANDBOX_MEMORY_BYTES_MIN)
            .max(SANDBOX_MEMORY_BYTES_MIN)
    }
}

#[cfg(target_os = "linux")]
fn half_of_system_memory() -> Option<u64> {
    let known = rustix::system::sysinfo();
    let bytes = known.totalram.checked_mul(known.mem_unit.into())?;
    (bytes > 0).then_some(bytes / 2)
}

#[cfg(target_os = "macos")]
fn half_of_system_memory() -> Option<u64> {
    None
}
