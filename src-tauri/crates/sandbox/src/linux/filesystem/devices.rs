//! Devices of the sandbox's own: the few that hold nothing, a terminal of its own, a network that leads nowhere.
#![allow(unsafe_code, reason = "raising an interface has no safe form")]

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::mount::MountAttrFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::linux::filesystem::mount_attributes::{Recursion, make_read_only};
use crate::linux::filesystem::mounts::{
    attach_mount, clone_tree, create_file_system, create_tmpfs,
};

/// Devices that keep nothing and know nothing.
const HARMLESS_DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Creates a folder of devices in which nothing leads to a disk: read-only mounts do not stop a write to a device. It
/// is created at a place that is covered by another mount afterwards, and held where no path leads to it yet. It stays
/// there out of sight: the kernel takes longer to unmount it than to create it.
pub(in crate::linux) fn create_device_folder(place: &Path) -> io::Result<OwnedFd> {
    attach_mount(&create_tmpfs("size=65536,mode=0755")?, place)?;
    for name in HARMLESS_DEVICES {
        let path = place.join(name);
        drop(fs::File::create(&path)?);
        attach_mount(
            &clone_tree(&Path::new("/dev").join(name), Recursion::TopOnly)?,
            &path,
        )?;
    }
    for (name, target) in DEVICE_LINKS {
        symlink(target, place.join(name))?;
    }
    fs::create_dir(place.join("pts"))?;
    let terminals = create_file_system(
        c"devpts",
        &[(c"ptmxmode", c"0666"), (c"mode", c"0620")],
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )?;
    attach_mount(&terminals, &place.join("pts"))?;
    fs::create_dir(place.join("shm"))?;
    attach_mount(
        &create_tmpfs("size=268435456,mode=1777")?,
        &place.join("shm"),
    )?;
    let mount = clone_tree(place, Recursion::Recursive)?;
    make_read_only(&mount, Recursion::TopOnly)?;
    Ok(mount)
}

/// Lets the sandbox's programs reach each other, and nothing else.
pub(in crate::linux) fn raise_loopback() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: an all-zero request is a valid one; the kernel reads and writes no more than its size.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed() as libc::c_char;
        request.ifr_name[1] = b'o'.cast_signed() as libc::c_char;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) != 0 {
            return Err(io::Error::last_os_error());
        }
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
