//! What a process and everything that it started hold and use, as `/proc` says.

use std::io;

use crate::BenchResult;

/// Ids of a process and its descendants. Those that end meanwhile are left out, but for the process itself.
pub fn list_processes(root: u32) -> BenchResult<Vec<u32>> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        let children = match list_children(pid) {
            Err(error) if pid != root && has_ended(&error) => continue,
            listed => listed?,
        };
        for child in children {
            found.push(child.parse()?);
        }
    }
    Ok(found)
}

/// Ids of the processes that the threads of a process started, as text.
fn list_children(pid: u32) -> io::Result<Vec<String>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        match std::fs::read_to_string(task?.path().join("children")) {
            Ok(ids) => children.extend(ids.split_whitespace().map(str::to_owned)),
            // A thread that ended since the folder was read.
            Err(error) if has_ended(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(children)
}

/// Whether `/proc` refuses because a process or thread is not there any more.
fn has_ended(error: &io::Error) -> bool {
    const NO_SUCH_PROCESS: i32 = 3;
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_SUCH_PROCESS)
}

/// Returns the memory of a process and its descendants, in KiB; shared memory counts once (PSS).
pub fn measure_memory_kib(root: u32) -> BenchResult<u64> {
    let mut sum = 0;
    for pid in list_processes(root)? {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        sum += rollup
            .lines()
            .find_map(|line| line.strip_prefix("Pss:"))
            .and_then(|rest| rest.split_whitespace().next())
            .ok_or("the system does not say what a process holds")?
            .parse::<u64>()?;
    }
    Ok(sum)
}

/// Returns the processor time that a process and its descendants have used so far, in clock ticks of 10 ms.
pub fn measure_cpu_ticks(root: u32) -> BenchResult<u64> {
    let mut sum = 0;
    for pid in list_processes(root)? {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name stands in brackets and may contain anything; user and system time are the 12th and 13th after it.
        let (_, fields) = stat.rsplit_once(')').ok_or("a process has no state")?;
        for field in fields.split_whitespace().skip(11).take(2) {
            sum += field.parse::<u64>()?;
        }
    }
    Ok(sum)
}

/// Returns the number of files and sockets that a process has open.
pub fn count_descriptors(pid: u32) -> BenchResult<usize> {
    Ok(std::fs::read_dir(format!("/proc/{pid}/fd"))?.count())
}

/// Formats memory in MiB.
pub fn format_mebibytes(kib: u64) -> String {
    format!("{} MiB", kib / 1024)
}
