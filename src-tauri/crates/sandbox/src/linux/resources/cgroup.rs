//! A control group for the processes that a command starts: the kernel itself limits their memory together, without
//! exception.
//!
//! The group is created by the parent before the specification is known, below the current group, or beside it where
//! version 2 lets no group have both processes and limited groups below it. A group beside the current one is no longer
//! subject to limits on the current one: so none is created where the current group has a memory limit, and its other
//! limits are copied. A controller is never switched on: that would count the memory of every process in the same
//! place. Where no group can be created, memory is checked now and then instead (`memory.rs`).

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

use crate::SandboxLimits;

/// Root folder of control groups.
const CGROUP_ROOT: &str = "/sys/fs/cgroup";
/// Prefix of group names, before the id of the process that created them.
const GROUP_NAME_PREFIX: &str = "countersign-sandbox-";
/// Value that means no limit in version 2.
const NO_LIMIT: &str = "max";
/// Other limits of the current group, copied to a group beside it.
const OTHER_LIMIT_FILES: [&str; 2] = ["pids.max", "cpu.max"];
/// Longer than any file of a group.
const FILE_BYTES_MAX: usize = 4_096;

/// Version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

impl CgroupVersion {
    fn memory_limit_file(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// Returns the name of the file with the limit on memory and swap together, or on swap alone.
    fn swap_limit_file(self) -> &'static str {
        match self {
            Self::One => "memory.memsw.limit_in_bytes",
            Self::Two => "memory.swap.max",
        }
    }

    fn events_file(self) -> &'static str {
        match self {
            Self::One => "memory.oom_control",
            Self::Two => "memory.events",
        }
    }

    /// Returns the counters of events in which the limit was met and a process was killed for it.
    fn oom_kill_keys(self) -> &'static [&'static str] {
        match self {
            Self::One => &["oom_kill"],
            // The first also counts those who were ended for a limit above.
            Self::Two => &["oom_kill", "oom"],
        }
    }
}

/// Where a group can be created.
#[derive(Debug, PartialEq, Eq)]
struct GroupLocation {
    version: CgroupVersion,
    /// The parent group of the new one.
    above: PathBuf,
    /// The current group, where that is not the parent.
    beside: Option<PathBuf>,
}

/// A group that was created, to be removed by its creator.
pub(in crate::linux) struct CreatedGroup {
    above: OwnedFd,
    name: String,
}

/// A group as its supervisor sees it.
pub(in crate::linux) struct Cgroup {
    version: CgroupVersion,
    members: File,
    limit: File,
    swap_limit: Option<File>,
    events: File,
}

/// Creates a group, and removes those whose creators are gone; `None` where no group can be created.
pub(in crate::linux) fn create_group() -> Option<(CreatedGroup, Cgroup)> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let place = GroupLocation::find_location(&groups, Path::new(CGROUP_ROOT))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = rustix::fs::open(&place.above, flags, Mode::empty()).ok()?;
    remove_stale_groups(&place.above, &above);
    let name = format!("{GROUP_NAME_PREFIX}{}", getpid().as_raw_nonzero());
    mkdirat(&above, name.as_str(), Mode::from_raw_mode(0o755)).ok()?;
    let made = CreatedGroup { above, name };
    match Cgroup::open(&place, &place.above.join(&made.name)) {
        Ok(group) => Some((made, group)),
        Err(_) => {
            made.remove();
            None
        }
    }
}

/// Whether the kernel can limit the memory of sandboxes, as far as can be tested without one. It is tested once.
pub fn can_limit_memory() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        let Some((made, group)) = create_group() else {
            return false;
        };
        let keeps = group
            .set_memory_limit(SandboxLimits::default().total_memory_bytes)
            .is_ok();
        made.remove();
        keeps
    })
}

/// Removes empty groups whose creators are gone, as a crash leaves them.
fn remove_stale_groups(place: &Path, above: &OwnedFd) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(GROUP_NAME_PREFIX));
        let maker = number.and_then(|number| Pid::from_raw(number.parse().ok()?));
        let is_gone = |maker| maker == getpid() || test_kill_process(maker) == Err(Errno::SRCH);
        if maker.is_some_and(is_gone) {
            let _ = unlinkat(above, &name, AtFlags::REMOVEDIR);
        }
    }
}

impl GroupLocation {
    /// Finds the location from the kernel's list of the current groups, and the root of all groups.
    fn find_location(groups: &str, all: &Path) -> Option<Self> {
        let below = |line: &str| {
            let path = Path::new(line).strip_prefix("/").ok()?;
            let is_plain = |part| matches!(part, Component::Normal(_));
            path.components().all(is_plain).then(|| path.to_owned())
        };
        let mut lines = groups.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            Some((parts.next()?, parts.next()?, parts.next()?))
        });
        let first = lines
            .clone()
            .find(|(_, what, _)| what.split(',').any(|one| one == "memory"));
        if let Some((_, _, path)) = first {
            return Some(Self {
                version: CgroupVersion::One,
                above: all.join("memory").join(below(path)?),
                beside: None,
            });
        }
        let (_, _, path) = lines.find(|(number, what, _)| *number == "0" && what.is_empty())?;
        let own = all.join(below(path)?);
        let (above, beside) = match can_limit_below(&own) {
            true => (own, None),
            false => (own.parent()?.to_owned(), Some(own)),
        };
        let may_be_left = |own: &PathBuf| {
            let is_open = |name| read_group_file(own, name).is_some_and(|limit| limit == NO_LIMIT);
            own != all && is_open("memory.max") && is_open("memory.high")
        };
        let fits = can_limit_below(&above) && beside.as_ref().is_none_or(may_be_left);
        fits.then_some(Self {
            version: CgroupVersion::Two,
            above,
            beside,
        })
    }
}

fn can_limit_below(group: &Path) -> bool {
    let on = read_group_file(group, "cgroup.subtree_control");
    on.is_some_and(|on| on.split(' ').any(|one| one == "memory"))
}

fn read_group_file(group: &Path, name: &str) -> Option<String> {
    let said = fs::read_to_string(group.join(name)).ok()?;
    Some(said.trim_end().to_owned())
}

impl CreatedGroup {
    /// Removes the group. If a process is still in it, the next creator of a group does.
    pub(in crate::linux) fn remove(self) {
        let _ = unlinkat(&self.above, self.name.as_str(), AtFlags::REMOVEDIR);
    }
}

impl Cgroup {
    fn open(place: &GroupLocation, folder: &Path) -> io::Result<Self> {
        let version = place.version;
        let writable = |name: &str| File::options().write(true).open(folder.join(name));
        for name in OTHER_LIMIT_FILES {
            let ours = place
                .beside
                .as_ref()
                .and_then(|own| read_group_file(own, name));
            if let Some(ours) = ours.filter(|ours| ours != NO_LIMIT) {
                writable(name)?.write_all(ours.as_bytes())?;
            }
        }
        if version == CgroupVersion::Two {
            // All of it ends, and not the largest alone.
            writable("memory.oom.group")?.write_all(b"1")?;
        }
        let group = Self {
            version,
            members: writable("cgroup.procs")?,
            limit: writable(version.memory_limit_file())?,
            swap_limit: writable(version.swap_limit_file()).ok(),
            events: File::open(folder.join(version.events_file()))?,
        };
        // A kernel that does not count is of no use.
        group.is_limit_reached().map(|_| group)
    }

    /// Adds a process, and all that it will start.
    pub(in crate::linux) fn add_process(&self, process: Pid) -> io::Result<()> {
        let number = process.as_raw_nonzero().to_string();
        (&self.members).write_all(number.as_bytes())
    }

    /// Limits the memory to so many bytes, without swap.
    pub(in crate::linux) fn set_memory_limit(&self, bytes: u64) -> io::Result<()> {
        let bytes = bytes.to_string();
        (&self.limit).write_all(bytes.as_bytes())?;
        let aside = match self.version {
            CgroupVersion::One => bytes.as_str(),
            CgroupVersion::Two => "0",
        };
        // Not every kernel counts that.
        if let Some(mut limit) = self.swap_limit.as_ref() {
            limit.write_all(aside.as_bytes())?;
        }
        Ok(())
    }

    /// Whether the limit was met, and a process was killed for it.
    pub(in crate::linux) fn is_limit_reached(&self) -> io::Result<bool> {
        let mut said = [0; FILE_BYTES_MAX];
        let length = self.events.read_at(&mut said, 0)?;
        let said = String::from_utf8_lossy(&said[..length]);
        for name in self.version.oom_kill_keys() {
            let counted = said
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let counted: Option<u64> = counted.and_then(|number| number.trim().parse().ok());
            match counted {
                None => return Err(io::Error::other("the group does not count who is ended")),
                Some(0) => return Ok(false),
                Some(_) => {}
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files with contents, below a folder.
    fn create_tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let all = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = all.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        all
    }

    const OPEN: [(&str, &str); 3] = [
        ("u/slice/cgroup.subtree_control", "cpu memory pids\n"),
        ("u/slice/app/memory.max", "max\n"),
        ("u/slice/app/memory.high", "max\n"),
    ];

    #[test]
    fn a_group_is_made_where_one_can_be_limited() {
        let two = |above, beside| Some((CgroupVersion::Two, above, beside));
        let own = "u/slice/app";
        for (what, groups, files, place) in [
            (
                "version 1",
                "3:cpu:/\n2:hugetlb,memory:/a/b\n0::/\n",
                &[][..],
                Some((CgroupVersion::One, "memory/a/b", None)),
            ),
            ("another's", "2:memory:/../b\n", &[], None),
            ("no memory", "2:cpu:/\n", &[], None),
            ("nonsense", "memory\n::\n", &[], None),
            (
                "beside ours",
                "0::/u/slice/app\n",
                &OPEN,
                two("u/slice", Some(own)),
            ),
            ("below ours", "0::/u/slice\n", &OPEN, two("u/slice", None)),
            ("at the top", "0::/\n", &OPEN, None),
            (
                "nothing is switched on",
                "0::/u/other\n",
                &[("u/cgroup.subtree_control", "cpu")],
                None,
            ),
            (
                "ours is limited",
                "0::/u/slice/app\n",
                &[OPEN[0], OPEN[1], ("u/slice/app/memory.high", "1000\n")],
                None,
            ),
        ] {
            let all = create_tree(files);
            let expected =
                place.map(
                    |(version, above, beside): (_, &str, Option<&str>)| GroupLocation {
                        version,
                        above: all.path().join(above),
                        beside: beside.map(|own| all.path().join(own)),
                    },
                );
            assert_eq!(
                GroupLocation::find_location(groups, all.path()),
                expected,
                "{what}"
            );
        }
    }

    /// A simulated group of version 2, as far as files can be one.
    #[test]
    fn what_is_written_limits_a_group_and_what_is_read_says_whether_it_was_met() {
        let (inner, own) = ("u/slice/sandbox", "u/slice/app");
        let mut files: Vec<(String, &str)> =
            OPEN.map(|(file, text)| (file.to_owned(), text)).into();
        files.push((format!("{own}/pids.max"), "1234\n"));
        files.push((format!("{own}/cpu.max"), "max\n"));
        for (name, text) in [
            ("cgroup.procs", ""),
            ("memory.max", ""),
            ("memory.swap.max", ""),
            ("memory.oom.group", ""),
            (
                "memory.events",
                "low 0\noom 0\noom_kill 0\noom_group_kill 0\n",
            ),
            ("pids.max", ""),
        ] {
            files.push((format!("{inner}/{name}"), text));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(file, text)| (file.as_str(), *text))
            .collect();
        let all = create_tree(&files);
        let place = GroupLocation::find_location("0::/u/slice/app\n", all.path()).unwrap();
        let folder = all.path().join(inner);
        let group = Cgroup::open(&place, &folder).unwrap();
        group.add_process(Pid::INIT).unwrap();
        group.set_memory_limit(5_000).unwrap();
        for (name, written) in [
            ("cgroup.procs", "1"),
            ("memory.max", "5000"),
            ("memory.swap.max", "0"),
            ("memory.oom.group", "1"),
            ("pids.max", "1234"),
        ] {
            let now = read_group_file(&folder, name);
            assert_eq!(now.as_deref(), Some(written), "{name}");
        }
        for (events, is_over) in [
            ("oom 0\noom_kill 0\n", Some(false)),
            // Somebody was ended for a limit further up.
            ("oom 0\noom_kill 1\n", Some(false)),
            ("oom 2\noom_kill 1\n", Some(true)),
            ("oom 2\n", None),
        ] {
            fs::write(folder.join("memory.events"), events).unwrap();
            assert_eq!(group.is_limit_reached().ok(), is_over, "{events}");
        }
    }
}
