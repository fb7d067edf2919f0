//! What a process and everything that it started hold and use, as `/proc` says.

use crate::BenchResult;

/// Ids of a process and its descendants.
pub fn list_processes(root: u32) -> BenchResult<Vec<u32>> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let children = std::fs::read_to_string(task?.path().join("children"))?;
            for child in children.split_whitespace() {
                found.push(child.parse()?);
            }
        }
    }
    Ok(found)
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

/// Formats memory in MiB.
pub fn format_mebibytes(kib: u64) -> String {
    format!("{} MiB", kib / 1024)
}
