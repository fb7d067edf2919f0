//! The memory of a sandbox, of all its processes and files in memory together. The kernel limits a control group to it,
//! where one could be created (`cgroup.rs`). Elsewhere the kernel has limits for one process and none for many, so the
//! memory is added up while the command runs; memory that no process has mapped and that is no file of the sandbox's
//! own (`memfd_create`) is not seen then.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use crate::linux::resources::cgroup::Cgroup;

/// Least interval between two checks: checking takes a tenth of the time, however many processes there are.
pub(in crate::linux) const CHECK_INTERVAL: Duration = Duration::from_millis(100);
const PAUSE_FACTOR: u32 = 9;

/// Folders for files in memory.
const TMPFS_FOLDERS: [&str; 2] = ["/tmp", "/dev/shm"];

/// Checks the memory limit of a sandbox.
pub(in crate::linux) struct MemoryMonitor {
    max_bytes: u64,
    /// `None` if the memory is added up instead.
    group: Option<Cgroup>,
    next: Instant,
}

impl MemoryMonitor {
    /// Returns a monitor, by a group that the command is in if there is one.
    pub(in crate::linux) fn new(max_bytes: u64, group: Option<Cgroup>) -> Self {
        Self {
            max_bytes,
            group: group.filter(|group| group.set_memory_limit(max_bytes).is_ok()),
            next: Instant::now(),
        }
    }

    /// Whether the sandbox takes more memory than it may, if it is time to check.
    pub(in crate::linux) fn is_limit_exceeded(&mut self) -> bool {
        let began = Instant::now();
        if began < self.next {
            return false;
        }
        let by_group = self.group.as_ref().map(Cgroup::is_limit_reached);
        let is_over = match by_group {
            Some(Ok(is_over)) => is_over,
            Some(Err(_)) | None => {
                // A group that says nothing any more was taken away.
                self.group = None;
                total_memory(resident_share) > self.max_bytes
                    && total_memory(private_share) > self.max_bytes
            }
        };
        self.next = Instant::now() + CHECK_INTERVAL.max(began.elapsed() * PAUSE_FACTOR);
        is_over
    }

    /// Whether the kernel killed a process of the sandbox for that, now that the command has ended.
    pub(in crate::linux) fn was_limit_reached(&self) -> bool {
        let over = self.group.as_ref().map(Cgroup::is_limit_reached);
        matches!(over, Some(Ok(true)))
    }

    /// Describes the limit that was met.
    pub(in crate::linux) fn limit_text(&self) -> String {
        format!(
            "memory ({} MiB for the whole sandbox)",
            self.max_bytes >> 20
        )
    }
}

/// Bytes of memory of a process alone, and bytes that it shares with others and with files in memory.
#[derive(Default)]
struct MemoryShare {
    own: u64,
    shared: u64,
}

/// Returns the memory of all processes and files in memory, where `of` returns that of one process.
fn total_memory(of: fn(&Path) -> MemoryShare) -> u64 {
    let mut all = MemoryShare::default();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        if name.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            let part = of(&process.path());
            all.own += part.own;
            all.shared += part.shared;
        }
    }
    all.own + all.shared.max(tmpfs_bytes())
}

fn tmpfs_bytes() -> u64 {
    let bytes = TMPFS_FOLDERS.iter().filter_map(|place| {
        let found = statvfs(*place).ok()?;
        Some((found.f_blocks - found.f_bfree) * found.f_frsize)
    });
    bytes.sum()
}

/// Returns the resident memory of a process, shared or not: quick to read, and never too little.
fn resident_share(process: &Path) -> MemoryShare {
    const RESIDENT: usize = 1;
    let found = fs::read_to_string(process.join("statm")).unwrap_or_default();
    let pages = found.split_ascii_whitespace().nth(RESIDENT);
    let pages: u64 = pages.and_then(|pages| pages.parse().ok()).unwrap_or(0);
    let page = rustix::param::page_size() as u64;
    MemoryShare {
        own: pages * page,
        shared: 0,
    }
}

/// Returns the proportional share of a process where several share memory; pages of files on a disk cost nobody
/// anything, and are left out. A process that cannot be inspected counts whole.
fn private_share(process: &Path) -> MemoryShare {
    let Ok(found) = fs::read_to_string(process.join("smaps_rollup")) else {
        return resident_share(process);
    };
    let kilobytes = |name: &str| {
        let line = found.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_ascii_whitespace().next());
        number.and_then(|number| number.parse::<u64>().ok())
    };
    match (kilobytes("Pss_Anon:"), kilobytes("Pss_Shmem:")) {
        (Some(own), Some(shared)) => MemoryShare {
            own: own << 10,
            shared: shared << 10,
        },
        // Older kernels do not tell them apart; of a process that has just ended nothing is said.
        _ => MemoryShare {
            own: kilobytes("Pss:").unwrap_or(0) << 10,
            shared: 0,
        },
    }
}
