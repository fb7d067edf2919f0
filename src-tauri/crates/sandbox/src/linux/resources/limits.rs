//! Limits that were met, as far as can be seen from outside: the call that met one gets an error, and no other process
//! is told. Limits on the memory of one process and on open files are not seen; a disk that is full only for a moment,
//! or a process that ignores the signal for a file that is too long, may be missed.

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

/// Limits that can be observed.
pub(in crate::linux) struct LimitMonitor<'a> {
    /// Limit on processes; `None` where they are not counted.
    processes: Option<usize>,
    /// Places that were not full at first, with their names.
    disks: Vec<(&'a Path, &'static str)>,
}

impl<'a> LimitMonitor<'a> {
    pub(in crate::linux) fn new(spec: &'a SandboxSpec) -> Self {
        let places = [
            (Path::new("/tmp"), "/tmp"),
            (Path::new("/dev/shm"), "/dev/shm"),
            (&spec.workspace, DISK),
        ];
        Self {
            processes: Some(spec.limits.processes as usize),
            disks: places
                .into_iter()
                .filter(|(place, _)| !is_disk_full(place))
                .collect(),
        }
    }

    /// Returns the monitor of a sandbox in which the processes of the whole machine are visible.
    pub(in crate::linux) fn disk_only(spec: &'a SandboxSpec) -> Self {
        Self {
            processes: None,
            disks: vec![(&spec.workspace, DISK)],
        }
    }

    /// Checks once, and returns the limits that are met now.
    pub(in crate::linux) fn reached_limits(&self) -> Vec<&'static str> {
        let full = self.disks.iter().filter(|(place, _)| is_disk_full(place));
        let mut met: Vec<_> = full.map(|(_, name)| *name).collect();
        if self.processes.is_some_and(is_process_limit_reached) {
            met.push(PROCESSES);
        }
        met
    }
}

/// Whether no more processes can be started. Testing starts one, and is skipped unless the limit is close.
fn is_process_limit_reached(processes: usize) -> bool {
    let there = count_tasks();
    there >= processes || there > processes / 4 * 3 && !can_start_process()
}

/// Returns the limit that ended a process, from its own status or, as shells pass it on, from the exit code of its
/// parent.
pub(in crate::linux) fn limit_from_status(status: WaitStatus) -> Option<&'static str> {
    const SHELL_SAYS: i32 = 128;
    let told = status.exit_status() == Some(SHELL_SAYS + libc::SIGXFSZ);
    (told || status.terminating_signal() == Some(libc::SIGXFSZ)).then_some(FILE_SIZE)
}

fn is_disk_full(place: &Path) -> bool {
    statvfs(place).is_ok_and(|found| found.f_blocks > 0 && found.f_bavail == 0)
}

/// Returns the number of processes and threads of the sandbox.
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
