//! The walls: everything read-only, the workspace under a layer of its own, places of the room's own, secrets gone.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree,
};

use super::attributes::{Below, set};
use super::command::c_path;
use super::secrets::Secrets;
use super::stand_ins::{StandIns, hide};
use super::{At as _, NotEntered, devices};
use crate::{Layers, Limits, Room};

/// What is made in a room holds neither devices nor programs with more rights than their caller.
const NO_DEVICES: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NODEV.union(MountAttrFlags::MOUNT_ATTR_NOSUID);

/// Where things are made and where the room's processes are looked at then: nobody works there, and no layer lies there.
const PROCESSES: &str = "/proc";

/// What every room has of its own, made before it is known which one it is.
pub(super) struct Prepared {
    stand_ins: StandIns,
    devices: OwnedFd,
    tmp: OwnedFd,
    tmp_bytes: u64,
}

impl Prepared {
    /// The world stays in sight, but for the processes outside, and can still be written.
    pub(super) fn for_any_room() -> Result<Self, NotEntered> {
        let workshop = Path::new(PROCESSES);
        let devices = devices::make(workshop).at("devices")?;
        let stand_ins = StandIns::prepare(workshop).at("stand-ins")?;
        let processes = file_system(c"proc", &[], NO_DEVICES).at("proc")?;
        attach(&processes, workshop).at("proc")?;
        let tmp_bytes = Limits::default().tmp_bytes;
        Ok(Self {
            stand_ins,
            devices,
            tmp: temporary(tmp_bytes).at("tmp")?,
            tmp_bytes,
        })
    }
}

/// Builds them from the inside out: what is taken from the world is taken before the world is closed. Gives what is masked.
pub(super) fn build(room: &Room, prepared: Prepared) -> Result<Secrets, NotEntered> {
    if room.workspace == Path::new("/") || room.workspace.is_relative() {
        let error = io::Error::other("the whole disk, or no place at all, cannot be a workspace");
        return Err(error).at("workspace");
    }
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .at("private")?;
    let workspace = match &room.layers {
        Some(Layers {
            upper,
            work: Some(work),
        }) => overlay(&room.workspace, upper, work).at("overlay")?,
        Some(Layers { upper, work: None }) => copied(upper).at("copy")?,
        None => tree(&room.workspace, Below::Too).at("workspace")?,
    };
    let masks = prepared.stand_ins.for_all(&room.masked).at("masked")?;
    limit_processes(room.limits.processes);

    // Also where the processes are seen: root may write settings of the kernel there whatever else was taken from it.
    let closed = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    set(CWD, c"/", Below::Too, closed).at("read-only")?;
    let tmp = match room.limits.tmp_bytes {
        bytes if bytes == prepared.tmp_bytes => prepared.tmp,
        bytes => temporary(bytes).at("tmp")?,
    };
    attach(&tmp, Path::new("/tmp")).at("tmp")?;
    attach(&prepared.devices, Path::new("/dev")).at("devices")?;
    // It may lie in a folder that was emptied just now.
    fs::create_dir_all(&room.workspace).at("workspace")?;
    attach(&workspace, &room.workspace).at("workspace")?;
    for path in &room.read_only {
        keep_as_it_is(path).at("protected")?;
    }
    prepared.stand_ins.lead_to_the_keeper().at("names")?;
    for mask in &masks {
        hide(mask).at("masked")?;
    }
    Secrets::on(prepared.stand_ins.masks(), &room.masked).at("masked")
}

/// Where the kernel keeps a number of processes for each room: the one limit that also holds for root. Older kernels do not,
/// and there the limit of the user is all there is.
fn limit_processes(max: u32) {
    const LEAST: u32 = 301;
    let _ = fs::write("/proc/sys/kernel/pid_max", max.max(LEAST).to_string());
}

/// The workspace with a layer over it, which takes what is written.
fn overlay(lower: &Path, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let lower = escaped(lower)?;
    let (upper, work) = (c_path(upper)?, c_path(work)?);
    let options = [
        (c"lowerdir", lower),
        (c"upperdir", upper),
        (c"workdir", work),
    ];
    let layered = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in &options {
        fsconfig_set_string(layered.as_fd(), *name, value.as_c_str())?;
    }
    // What an ordinary user may write beside a file; without it the layer could not say what was deleted.
    fsconfig_set_flag(layered.as_fd(), c"userxattr")?;
    // A layer is used once, and what of it is to last is put on the disk by whoever carries it out. Otherwise the kernel puts
    // the whole file system that it lies on there, everybody's files, before the room is gone. Older kernels know no other way.
    let _ = fsconfig_set_flag(layered.as_fd(), c"volatile");
    made(layered, NO_DEVICES)
}

/// A copy of the workspace, which takes what is written.
fn copied(copy: &Path) -> io::Result<OwnedFd> {
    let held = tree(copy, Below::Too)?;
    set(&held, c"", Below::Too, NO_DEVICES)?;
    Ok(held)
}

/// A path in the list of lower layers, where a colon parts one from the next.
fn escaped(path: &Path) -> io::Result<CString> {
    let mut bytes = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b':' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    CString::new(bytes).map_err(io::Error::other)
}

/// Where temporary files lie, in memory.
fn temporary(bytes: u64) -> io::Result<OwnedFd> {
    memory(&format!("size={bytes},mode=1777"))
}

/// A file system in memory.
pub(super) fn memory(options: &str) -> io::Result<OwnedFd> {
    let mut given = Vec::new();
    for (name, value) in options
        .split(',')
        .filter_map(|option| option.split_once('='))
    {
        given.push((CString::new(name)?, CString::new(value)?));
    }
    let given: Vec<_> = given
        .iter()
        .map(|(name, value)| (name.as_c_str(), value.as_c_str()))
        .collect();
    file_system(c"tmpfs", &given, NO_DEVICES)
}

/// A file system of the room's own.
pub(super) fn file_system(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let fresh = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(fresh.as_fd(), *name, *value)?;
    }
    made(fresh, attributes)
}

fn made(context: OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(context.as_fd())?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    Ok(fsmount(context.as_fd(), flags, attributes)?)
}

/// What is at a path, held where no path leads to it yet.
pub(super) fn tree(path: &Path, below: Below) -> io::Result<OwnedFd> {
    tree_at(CWD, path, below)
}

/// The same of a path that begins at a folder.
pub(super) fn tree_at(folder: impl AsFd, path: &Path, below: Below) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if below == Below::Too {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(open_tree(folder, path, flags)?)
}

/// Puts what is held at a path.
pub(super) fn attach(held: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(held.as_fd(), c"", CWD, path, flags)?)
}

/// Lets a path of the workspace be read and not written. One that does not exist is judged when it is committed.
fn keep_as_it_is(path: &Path) -> io::Result<()> {
    let held = match tree(path, Below::Too) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        held => held?,
    };
    set(&held, c"", Below::Too, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    attach(&held, path)
}
