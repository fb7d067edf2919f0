//! Whether a call will be refused, seen from the room before it is made: where its path leads and whether anything may be
//! changed there, where its address leads.
//!
//! The mounts are asked, and no list of places: what the system will answer to the command, it answers to the keeper too.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, StatVfsMountFlags, StatxAttributes, StatxFlags,
    accessat, fstat, fstatvfs, openat, readlinkat, statx,
};
use rustix::io::{Errno, Result};
use rustix::process::getuid;

use super::questions::Question;
use super::watched::{self, About, Flags, Links, Path};
use crate::RefusedKind;

/// A link is itself, and not what it leads to.
const NOFOLLOW: AtFlags = AtFlags::SYMLINK_NOFOLLOW;

/// What will be refused, and what it is about, in the bytes that the system has for it.
pub(super) type Seen = (RefusedKind, Vec<u8>);

/// What a look at a call came to.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) seen: Vec<Seen>,
    pub(super) answer: Answer,
}

/// What the caller hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Answer {
    /// The system's own word.
    #[default]
    LetPass,
    /// That it may not.
    Refuse,
    /// A socket that leads nowhere.
    StandIn,
}

/// Looks at a call. What cannot be seen, because the caller is gone or its words lead nowhere, is nothing.
pub(super) fn look(question: &Question) -> Looked {
    let Some(about) = watched::about(question.call) else {
        return Looked::default();
    };
    let closed = match about {
        About::Opens { path, flags } => vec![opens(question, path, flags)],
        About::Makes(path) => vec![makes(question, path)],
        About::Removes(path) => vec![removes(question, path)],
        About::Moves { from, to } => moves(question, from, to),
        About::Changes { path, links } => vec![changes(question, path, links)],
        About::Speaks { address, length } => {
            return speaks(question, address, length, false).unwrap_or_default();
        }
        About::Listens { address, length } => {
            return speaks(question, address, length, true).unwrap_or_default();
        }
        About::Socket => return socket(question),
    };
    let places = closed.into_iter().flatten();
    let places = places.filter(|place| !is_of_a_process(place));
    Looked {
        seen: places.map(|place| (RefusedKind::Write, place)).collect(),
        answer: Answer::LetPass,
    }
}

/// What a program sets for itself below `/proc`: nobody else is touched by it, and its number is another every time.
fn is_of_a_process(place: &[u8]) -> bool {
    place
        .strip_prefix(b"/proc/")
        .is_some_and(|below| below.first().is_some_and(u8::is_ascii_digit))
}

fn opens(question: &Question, path: Path, flags: Flags) -> Option<Vec<u8>> {
    let flags = match flags {
        Flags::In(argument) => question.arguments[argument] as libc::c_int,
        Flags::Behind(argument) => {
            let mut flags = [0; size_of::<u64>()];
            let read = question.read(question.arguments[argument], &mut flags);
            u64::from_ne_bytes(read.try_into().ok()?) as libc::c_int
        }
        #[cfg(target_arch = "x86_64")]
        Flags::Always(flags) => flags,
    };
    let has = |flag| flags & flag != 0;
    if !watched::changes(flags) {
        return None;
    }
    let named = Named::read(question, path)?;
    let links = if has(libc::O_NOFOLLOW) {
        NOFOLLOW
    } else {
        AtFlags::empty()
    };
    match named.may_be_written(links) {
        // It must not be there, or is only looked for.
        Err(Errno::ROFS) if has(libc::O_CREAT) && has(libc::O_EXCL) => None,
        Err(Errno::ROFS) if !has(libc::O_ACCMODE | libc::O_TRUNC) => None,
        Err(Errno::ROFS) => named.hold(links).and_then(place).ok(),
        Err(Errno::NOENT) if has(libc::O_CREAT) => named.where_nothing_changes(),
        Ok(()) | Err(_) => None,
    }
}

/// What is there already is not made, and is no refusal.
fn makes(question: &Question, path: Path) -> Option<Vec<u8>> {
    let named = Named::read(question, path)?;
    let place = named.where_nothing_changes()?;
    named.is_held_in_place().is_err().then_some(place)
}

/// What is not there is not taken away either.
fn removes(question: &Question, path: Path) -> Option<Vec<u8>> {
    let named = Named::read(question, path)?;
    match named.is_held_in_place().ok()? {
        true => named.hold(NOFOLLOW).and_then(place).ok(),
        false => named.where_nothing_changes(),
    }
}

fn moves(question: &Question, from: Path, to: Path) -> Vec<Option<Vec<u8>>> {
    let there = Named::read(question, from).is_some_and(|named| named.is_held_in_place().is_ok());
    if !there {
        return Vec::new();
    }
    let target = Named::read(question, to).and_then(|named| match named.is_held_in_place() {
        Ok(true) => named.hold(NOFOLLOW).and_then(place).ok(),
        Ok(false) | Err(_) => named.where_nothing_changes(),
    });
    vec![removes(question, from), target]
}

fn changes(question: &Question, path: Path, links: Links) -> Option<Vec<u8>> {
    let links = match links {
        Links::Followed => AtFlags::empty(),
        Links::Themselves => NOFOLLOW,
        Links::As(flags) => {
            AtFlags::from_bits_truncate(question.arguments[flags] as u32) & NOFOLLOW
        }
    };
    let there = Named::read(question, path)?.hold(links).ok()?;
    // The owner may change these whatever the mode says, and root may always.
    let me = getuid();
    let mine = me.is_root() || fstat(&there).is_ok_and(|found| found.st_uid == me.as_raw());
    let closed =
        fstatvfs(&there).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY));
    match mine && closed {
        true => place(there).ok(),
        false => None,
    }
}

/// Where something is, through whatever links it was reached.
fn place(there: OwnedFd) -> Result<Vec<u8>> {
    let held = format!("/proc/self/fd/{}", there.as_raw_fd());
    readlinkat(CWD, held, Vec::new()).map(CString::into_bytes)
}

/// A path as a process named it.
struct Named {
    /// As the keeper says it: it begins at the root, or in a folder of that process.
    path: Vec<u8>,
}

impl Named {
    fn read(question: &Question, path: Path) -> Option<Self> {
        let said = question.text(question.arguments[path.at])?;
        let folder = path.folder.map(|at| question.arguments[at] as libc::c_int);
        Self::of(question.pid, folder, &said)
    }

    /// A path that a process says, in a folder that it has open or in its working folder.
    fn of(pid: u32, folder: Option<libc::c_int>, said: &[u8]) -> Option<Self> {
        let own = |below: &str, rest: &[u8]| {
            let mut path = format!("/proc/{pid}/{below}").into_bytes();
            path.extend_from_slice(rest);
            Self { path }
        };
        if said.is_empty() {
            return None;
        }
        if said.first() != Some(&b'/') {
            return Some(match folder {
                None | Some(libc::AT_FDCWD) => own("cwd/", said),
                Some(folder) => own(&format!("fd/{folder}/"), said),
            });
        }
        // What a process calls its own is not the keeper's own.
        for (mine, below) in [
            (&b"/proc/self/"[..], ""),
            (b"/proc/thread-self/", ""),
            (b"/dev/fd/", "fd/"),
            (b"/dev/stdin", "fd/0"),
            (b"/dev/stdout", "fd/1"),
            (b"/dev/stderr", "fd/2"),
        ] {
            if let Some(rest) = said.strip_prefix(mine) {
                return Some(own(below, rest));
            }
        }
        Some(Self {
            path: said.to_owned(),
        })
    }

    /// Whether what is there may be written. A read-only file system is named only where the mode would allow it, and not for
    /// a device: what the room does not refuse is refused, or not, by somebody else.
    fn may_be_written(&self, links: AtFlags) -> Result<()> {
        accessat(CWD, self.path.as_slice(), Access::WRITE_OK, links)
    }

    /// Whether the room put what is there in its place: masked, read-only, or the workspace itself. It cannot be moved.
    fn is_held_in_place(&self) -> Result<bool> {
        let found = statx(CWD, self.path.as_slice(), NOFOLLOW, StatxFlags::empty())?;
        Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }

    /// Takes hold of what is there, without opening it.
    fn hold(&self, links: AtFlags) -> Result<OwnedFd> {
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, links.contains(NOFOLLOW));
        openat(CWD, self.path.as_slice(), flags, Mode::empty())
    }

    /// Where the path leads, if nothing may be made or taken away there.
    fn where_nothing_changes(&self) -> Option<Vec<u8>> {
        let end = self.path.iter().rposition(|byte| *byte != b'/')? + 1;
        let start = self.path[..end].iter().rposition(|byte| *byte == b'/')? + 1;
        let name = &self.path[start..end];
        if matches!(name, b"." | b"..") {
            return None;
        }
        let folder = Self {
            path: self.path[..start].to_owned(),
        };
        if folder.may_be_written(AtFlags::empty()) != Err(Errno::ROFS) {
            return None;
        }
        let mut path = folder.hold(AtFlags::empty()).and_then(place).ok()?;
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Some(path)
    }
}

/// An address that leads out of the room, or that is taken to listen at.
fn speaks(question: &Question, address: usize, length: usize, listens: bool) -> Option<Looked> {
    let mut said = [0; 128];
    let length = usize::try_from(question.arguments[length])
        .ok()?
        .min(said.len());
    let said = question.read(question.arguments[address], &mut said[..length]);
    let (family, rest) = said.split_first_chunk::<2>()?;
    let family = libc::c_int::from(u16::from_ne_bytes(*family));
    let (port, place) = rest.split_first_chunk::<2>().unzip();
    let port = || Some(u16::from_be_bytes(*port?));
    let seen = match family {
        libc::AF_UNIX => {
            let seen = on_this_machine(question.pid, rest, listens);
            return Some(Looked {
                seen: seen.into_iter().collect(),
                answer: Answer::Refuse,
            });
        }
        libc::AF_INET if !listens => {
            let host = Ipv4Addr::from(*place?.first_chunk::<4>()?);
            out(host.into(), port()?)
        }
        libc::AF_INET6 if !listens => {
            let host = Ipv6Addr::from(*place?.get(4..)?.first_chunk::<16>()?);
            out(host.to_canonical(), port()?)
        }
        _ => None,
    };
    Some(Looked {
        seen: seen.into_iter().collect(),
        answer: Answer::LetPass,
    })
}

/// None if it stays in the room.
fn out(host: IpAddr, port: u16) -> Option<Seen> {
    (!host.is_loopback() && !host.is_unspecified()).then(|| {
        let address = SocketAddr::new(host, port).to_string();
        (RefusedKind::Network, address.into_bytes())
    })
}

/// The path or name of a program on this machine. Where none listens that the caller could speak to, nothing is refused:
/// many a program asks for one that is mostly not there.
fn on_this_machine(pid: u32, address: &[u8], listens: bool) -> Option<Seen> {
    // A name without a path begins with a zero byte; a path ends before one.
    let path = match address {
        [] => return None,
        [0, name @ ..] => return Some((RefusedKind::Socket, [b"@", name].concat())),
        path => path.split(|byte| *byte == 0).next()?,
    };
    let named = Named::of(pid, None, path)?;
    let follow = AtFlags::empty();
    let there = named.hold(follow).ok().filter(|there| {
        let found = fstat(there).map(|found| FileType::from_raw_mode(found.st_mode));
        found == Ok(FileType::Socket) && named.may_be_written(follow).is_ok()
    });
    let target = match (there.map(place), listens) {
        (Some(place), _) => place.ok()?,
        (None, true) => path.to_owned(),
        (None, false) => return None,
    };
    Some((RefusedKind::Socket, target))
}

/// A socket of a family that is closed. Of one to a program on this machine it is told when it says to which.
fn socket(question: &Question) -> Looked {
    match question.arguments[0] as libc::c_int {
        libc::AF_UNIX => Looked {
            seen: Vec::new(),
            answer: Answer::StandIn,
        },
        family => Looked {
            seen: vec![(RefusedKind::Socket, family_named(family).into_bytes())],
            answer: Answer::Refuse,
        },
    }
}

/// What sockets to programs on this machine are called, where it does not come to be known to which.
pub(super) const ON_THIS_MACHINE: &[u8] = b"AF_UNIX";

/// What a family of sockets is called.
fn family_named(family: libc::c_int) -> String {
    let name = match family {
        libc::AF_ALG => "AF_ALG",
        libc::AF_BLUETOOTH => "AF_BLUETOOTH",
        libc::AF_CAN => "AF_CAN",
        libc::AF_PACKET => "AF_PACKET",
        libc::AF_TIPC => "AF_TIPC",
        libc::AF_VSOCK => "AF_VSOCK",
        other => return format!("AF_{other}"),
    };
    name.to_owned()
}
