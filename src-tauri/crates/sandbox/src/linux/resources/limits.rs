//! Which limits were met, as far as that can be seen from beside: the call that met one is told by its error, and nobody else.
//! Of the memory of one process and of open files nothing is seen; what is full only for a moment, or ignores the signal of a file that is too
//! long, may be missed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::statvfs;
use rustix::process::WaitStatus;

use crate::SandboxSpec;
use crate::linux::namespaces;

const PROCESSES: &str = "processes";
const FILE_SIZE: &str = "file size";
const DISK: &str = "disk";

/// What can be met.
pub(in crate::linux) struct LimitMonitor<'a> {
    /// None where they are not counted.
    processes: Option<usize>,
    /// Places that were not full at first, and what they are called.
    disks: Vec<(&'a Path, &'static str)>,
}

impl<'a> LimitMonitor<'a> {
    pub(in crate::linux) fn new(room: &'a SandboxSpec) -> Self {
        let places = [
            (Path::new("/tmp"), "/tmp"),
            (Path::new("/dev/shm"), "/dev/shm"),
            (&room.workspace, DISK),
        ];
        Self {
            processes: Some(room.limits.processes as usize),
            disks: places
                .into_iter()
                .filter(|(place, _)| !is_disk_full(place))
                .collect(),
        }
    }

    /// Those of a room in which everybody's processes are seen.
    pub(in crate::linux) fn disk_only(room: &'a SandboxSpec) -> Self {
        Self {
            processes: None,
            disks: vec![(&room.workspace, DISK)],
        }
    }

    /// Looks once.
    pub(in crate::linux) fn reached_limits(&self) -> Vec<&'static str> {
        let full = self.disks.iter().filter(|(place, _)| is_disk_full(place));
        let mut met: Vec<_> = full.map(|(_, name)| *name).collect();
        if self.processes.is_some_and(is_process_limit_reached) {
            met.push(PROCESSES);
        }
        met
    }
}

/// Whether no more processes can be started. Trying costs one, and is left until it may be so.
fn is_process_limit_reached(processes: usize) -> bool {
    let there = count_tasks();
    there >= processes || there > processes / 4 * 3 && !can_start_process()
}

/// The limit that a process was ended by, by its own end or, as shells pass it on, by the code of who waited for it.
pub(in crate::linux) fn limit_from_status(status: WaitStatus) -> Option<&'static str> {
    const SHELL_SAYS: i32 = 128;
    let told = status.exit_status() == Some(SHELL_SAYS + libc::SIGXFSZ);
    (told || status.terminating_signal() == Some(libc::SIGXFSZ)).then_some(FILE_SIZE)
}

fn is_disk_full(place: &Path) -> bool {
    statvfs(place).is_ok_and(|found| found.f_blocks > 0 && found.f_bavail == 0)
}

/// Processes and threads of the room.
fn count_tasks() -> usize {
    // A folder has two names beside those of the folders in it.
    const OWN_NAMES: u64 = 2;
    let Ok(found) = fs::read_dir("/proc") else {
        return 0;
    };
    let processes = found.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    let threads = processes.map(|process| {
        let tasks = fs::metadata(process.path().join("task"));
        tasks.map_or(0, |tasks| tasks.nlink().saturating_sub(OWN_NAMES) as usize)
    });
    threads.sum()
}

fn can_start_process() -> bool {
    match namespaces::fork_process() {
        Ok(None) => std::process::exit(0),
        Ok(Some(_)) => true,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}
