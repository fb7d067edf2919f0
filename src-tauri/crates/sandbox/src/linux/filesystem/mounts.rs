//! The walls: everything read-only, the workspace under a layer of its own, places of the sandbox's own, secrets
//! masked.

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

use crate::linux::command::to_c_path;
use crate::linux::filesystem::devices;
use crate::linux::filesystem::mask_set::{GitFile, MaskSet};
use crate::linux::filesystem::mount_attributes::{Recursion, make_read_only, set_mount_attributes};
use crate::linux::filesystem::placeholders::{Placeholders, attach_mask};
use crate::linux::{EnterError, StepContext as _};
use crate::{PrivateFolder, SandboxLimits, SandboxSpec, WorkspaceLayers};

/// Attributes of mounts created in a sandbox: they hold neither devices nor programs with more rights than their
/// caller.
const NO_DEVICES_NO_SUID: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NODEV.union(MountAttrFlags::MOUNT_ATTR_NOSUID);

/// Folder at which mounts are prepared, and through which the sandbox's processes are seen afterwards: no command works
/// there, and no layer lies there.
const PROC_FOLDER: &str = "/proc";

/// Mounts that every sandbox has of its own, created before its specification is known.
pub(in crate::linux) struct PreparedMounts {
    placeholders: Placeholders,
    devices: OwnedFd,
    tmp: OwnedFd,
    tmp_bytes: u64,
}

impl PreparedMounts {
    /// Prepares the mounts. The file system stays visible and writable, but processes outside are out of sight.
    pub(in crate::linux) fn prepare() -> Result<Self, EnterError> {
        let workshop = Path::new(PROC_FOLDER);
        let devices = devices::create_device_folder(workshop).with_step("devices")?;
        let stand_ins = Placeholders::create_at(workshop).with_step("stand-ins")?;
        let processes = create_file_system(c"proc", &[], NO_DEVICES_NO_SUID).with_step("proc")?;
        attach_mount(&processes, workshop).with_step("proc")?;
        let tmp_bytes = SandboxLimits::default().tmp_bytes;
        Ok(Self {
            placeholders: stand_ins,
            devices,
            tmp: create_tmp(tmp_bytes).with_step("tmp")?,
            tmp_bytes,
        })
    }
}

/// Builds the mounts from the inside out: parts of the file system are taken before it is closed. Returns the masks.
pub(in crate::linux) fn build_mounts(
    spec: &SandboxSpec,
    prepared: PreparedMounts,
) -> Result<MaskSet, EnterError> {
    if spec.workspace == Path::new("/") || spec.workspace.is_relative() {
        let error = io::Error::other("the whole disk, or no place at all, cannot be a workspace");
        return Err(error).with_step("workspace");
    }
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .with_step("private")?;
    let workspace = match &spec.layers {
        Some(WorkspaceLayers {
            upper,
            work: Some(work),
        }) => mount_overlay(&spec.workspace, upper, work).with_step("overlay")?,
        Some(WorkspaceLayers { upper, work: None }) => clone_copy(upper).with_step("copy")?,
        None => clone_tree(&spec.workspace, Recursion::Recursive).with_step("workspace")?,
    };
    let private: Vec<_> = spec.private.iter().filter_map(mount_private).collect();
    let masks = prepared
        .placeholders
        .create_masks(&spec.masked)
        .with_step("masked")?;
    let git_files = spec.readable_by_git.iter().cloned();
    let git_files = git_files.filter_map(GitFile::open).collect();
    limit_processes(spec.limits.processes);

    // Also where the processes are seen: root may write settings of the kernel there whatever else was taken from it.
    let closed = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    set_mount_attributes(CWD, c"/", Recursion::Recursive, closed).with_step("read-only")?;
    let tmp = match spec.limits.tmp_bytes {
        bytes if bytes == prepared.tmp_bytes => prepared.tmp,
        bytes => create_tmp(bytes).with_step("tmp")?,
    };
    attach_mount(&tmp, Path::new("/tmp")).with_step("tmp")?;
    attach_mount(&prepared.devices, Path::new("/dev")).with_step("devices")?;
    for (layered, path) in &private {
        attach_mount(layered, path).with_step("private folder")?;
    }
    // It may lie in a folder that was emptied just now.
    fs::create_dir_all(&spec.workspace).with_step("workspace")?;
    attach_mount(&workspace, &spec.workspace).with_step("workspace")?;
    for path in &spec.read_only {
        protect_path(path).with_step("protected")?;
    }
    prepared
        .placeholders
        .mount_resolv_conf()
        .with_step("names")?;
    for mask in &masks {
        attach_mask(mask).with_step("masked")?;
    }
    MaskSet::new(prepared.placeholders.masks_mount(), &spec.masked, git_files).with_step("masked")
}

/// Sets the kernel's process limit of the PID namespace: the one limit that also holds for root. Older kernels have
/// none, and there only the limit of the user holds.
fn limit_processes(max: u32) {
    const LEAST: u32 = 301;
    let _ = fs::write("/proc/sys/kernel/pid_max", max.max(LEAST).to_string());
}

/// Mounts a layer over a private folder, for its path; `None` where its file system takes none.
fn mount_private(folder: &PrivateFolder) -> Option<(OwnedFd, &Path)> {
    let layered = mount_overlay(&folder.path, &folder.upper, &folder.work).ok()?;
    Some((layered, &folder.path))
}

/// Mounts a layer over a folder, which takes the changes.
fn mount_overlay(lower: &Path, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let lower = escape_overlay_path(lower)?;
    let (upper, work) = (to_c_path(upper)?, to_c_path(work)?);
    let options = [
        (c"lowerdir", lower),
        (c"upperdir", upper),
        (c"workdir", work),
    ];
    let layered = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in &options {
        fsconfig_set_string(layered.as_fd(), *name, value.as_c_str())?;
    }
    // Attributes that an ordinary user may write beside a file; without them the layer could not say what was deleted.
    fsconfig_set_flag(layered.as_fd(), c"userxattr")?;
    // A layer is used once, and what of it is to last is put on the disk by whoever carries it out. Otherwise the
    // kernel puts the whole file system that it lies on there, everybody's files, before the sandbox is gone. Older
    // kernels know no other way.
    let _ = fsconfig_set_flag(layered.as_fd(), c"volatile");
    mount_context(layered, NO_DEVICES_NO_SUID)
}

/// Clones the mount of a copy of the workspace, which takes the changes.
fn clone_copy(copy: &Path) -> io::Result<OwnedFd> {
    let held = clone_tree(copy, Recursion::Recursive)?;
    set_mount_attributes(&held, c"", Recursion::Recursive, NO_DEVICES_NO_SUID)?;
    Ok(held)
}

/// Escapes a path for the list of lower layers, in which a colon separates one from the next.
fn escape_overlay_path(path: &Path) -> io::Result<CString> {
    let mut bytes = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b':' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    CString::new(bytes).map_err(io::Error::other)
}

/// Creates the file system for temporary files, in memory.
fn create_tmp(bytes: u64) -> io::Result<OwnedFd> {
    create_tmpfs(&format!("size={bytes},mode=1777"))
}

/// Creates a file system in memory.
pub(in crate::linux) fn create_tmpfs(options: &str) -> io::Result<OwnedFd> {
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
    create_file_system(c"tmpfs", &given, NO_DEVICES_NO_SUID)
}

/// Creates a file system of the sandbox's own.
pub(in crate::linux) fn create_file_system(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let fresh = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(fresh.as_fd(), *name, *value)?;
    }
    mount_context(fresh, attributes)
}

fn mount_context(context: OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(context.as_fd())?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    Ok(fsmount(context.as_fd(), flags, attributes)?)
}

/// Clones the mount at a path, held where no path leads to it yet.
pub(in crate::linux) fn clone_tree(path: &Path, below: Recursion) -> io::Result<OwnedFd> {
    clone_tree_at(CWD, path, below)
}

/// Clones the mount at a path that begins at a folder.
pub(in crate::linux) fn clone_tree_at(
    folder: impl AsFd,
    path: &Path,
    below: Recursion,
) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if below == Recursion::Recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(open_tree(folder, path, flags)?)
}

/// Attaches a held mount at a path.
pub(in crate::linux) fn attach_mount(mount: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(mount.as_fd(), c"", CWD, path, flags)?)
}

/// Makes a path readable but not writable. One that does not exist is judged when it is committed.
fn protect_path(path: &Path) -> io::Result<()> {
    let mount = match clone_tree(path, Recursion::Recursive) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        mount => mount?,
    };
    make_read_only(&mount, Recursion::Recursive)?;
    attach_mount(&mount, path)
}
