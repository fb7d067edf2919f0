//! Control groups: the kernel keeps a sandbox to its memory where one can be made, and none is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sandbox::{CommandEnd, DenialKind, SandboxLimits, SandboxSpec};

use crate::lifecycle::{Place, with};
use crate::runner::{has_sandbox, run};

/// Whether there are such groups; where there are none, says so.
fn groups_work() -> bool {
    let work = has_sandbox() && sandbox::can_limit_memory();
    if !work {
        println!("left out, because no control group can be limited here");
    }
    work
}

/// Where groups for sandboxes of ours are made: in our own, or beside it.
fn places() -> Vec<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
    let of_memory = groups.lines().find(|line| line.contains("memory"));
    let all = match of_memory {
        Some(_) => "/sys/fs/cgroup/memory",
        None => "/sys/fs/cgroup",
    };
    let line = of_memory.or(groups.lines().find(|line| line.starts_with("0::")));
    let path = line.and_then(|line| line.splitn(3, ':').nth(2)).unwrap();
    let own = Path::new(all).join(path.trim_start_matches('/'));
    own.parent()
        .map(Path::to_owned)
        .into_iter()
        .chain([own])
        .collect()
}

/// Memory that nobody has mapped, which is not seen by adding up what processes have.
#[test]
fn no_memory_is_left_out_and_no_group_is_left() {
    if !groups_work() {
        return;
    }
    // Its owner is gone by the time that it is created.
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let name = format!("countersign-sandbox-{}", gone.id());
    let left = places().into_iter().map(|place| place.join(&name));
    let left = left
        .rev()
        .find(|group| fs::create_dir(group).is_ok())
        .unwrap();

    let hoard = "import os\nf = os.memfd_create('hoard')\nfor _ in range(400): os.write(f, bytes(1 << 20))\nprint('had it')";
    let runs = |total_memory_bytes| {
        let place = Place::new();
        run(&SandboxSpec {
            limits: SandboxLimits {
                total_memory_bytes,
                ..SandboxLimits::default()
            },
            ..place.spec(&format!("python3 -c \"{hoard}\" || true; echo on"))
        })
    };
    let ran = runs(200 << 20);
    let limit = (DenialKind::Limit, "memory (200 MiB for the whole sandbox)");
    assert_eq!(ran.told, with(CommandEnd::Signal(libc::SIGKILL), &[limit]));
    assert!(!ran.said.contains("had it"), "{}", ran.said);
    assert!(!left.exists(), "{}", left.display());

    let ran = runs(1 << 30);
    assert_eq!(ran.told, with(CommandEnd::Exit(0), &[]));
    assert_eq!(ran.said, "had it\non\n");
}

/// The sandbox's own processes are in it, and whoever keeps them is not.
#[test]
fn a_group_is_removed_with_its_sandbox() {
    if !groups_work() {
        return;
    }
    let place = Place::new();
    let said = run(&place.spec("grep -e memory: -e ^0:: /proc/self/cgroup")).said;
    let name = said.lines().find_map(|line| {
        let at = line.find("countersign-sandbox-")?;
        line.get(at..)
    });
    let name = name.unwrap_or_else(|| panic!("in no group: {said}"));
    for group in places().into_iter().map(|place| place.join(name)) {
        assert!(!group.exists(), "{}", group.display());
    }
}
