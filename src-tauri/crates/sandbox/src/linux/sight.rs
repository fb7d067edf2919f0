//! Whether a call will be refused, seen from the room before it is made: where its path leads and whether anything may be
//! changed there, where its address leads.
//!
//! The mounts are asked, and no list of places: what the system will answer to the command, it answers to the keeper too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, fstat, fstatvfs};
use rustix::io::Errno;
use rustix::process::getuid;

use super::named::{NOFOLLOW, Named, place};
use super::questions::Question;
use super::secrets::Secrets;
use super::watched::{self, About, Flags, Links, Path};
use crate::RefusedKind;

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
pub(super) fn look(question: &Question, secrets: &Secrets) -> Looked {
    let Some(about) = watched::about(question.call) else {
        return Looked::default();
    };
    let masked = masked(question, about, secrets);
    if !masked.is_empty() {
        return Looked {
            seen: masked,
            answer: Answer::LetPass,
        };
    }
    let closed = match about {
        About::Opens { path, flags } => vec![opens(question, path, flags)],
        About::Asks(_) => Vec::new(),
        About::Makes(path) => vec![makes(question, path)],
        About::Links { to, .. } => vec![makes(question, to)],
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

/// The masks that the paths of a call lead to, or through.
fn masked(question: &Question, about: About, secrets: &Secrets) -> Vec<Seen> {
    let paths = match about {
        About::Opens { path, flags } => match flags_of(question, flags) {
            Some(flags) if flags & libc::O_PATH == 0 => vec![(path, links_of(flags))],
            Some(_) | None => return Vec::new(),
        },
        About::Asks(path) => vec![(path, AtFlags::empty())],
        About::Makes(path) | About::Removes(path) => vec![(path, NOFOLLOW)],
        About::Links { from, to } | About::Moves { from, to } => {
            vec![(from, NOFOLLOW), (to, NOFOLLOW)]
        }
        About::Changes { path, links } => vec![(path, followed(question, links))],
        About::Speaks { .. } | About::Listens { .. } | About::Socket => return Vec::new(),
    };
    let masks = paths
        .into_iter()
        .filter_map(|(path, links)| Named::read(question, path)?.mask(links, secrets));
    masks.map(|mask| (RefusedKind::Secret, mask)).collect()
}

/// The flags of an open; none if they cannot be read.
fn flags_of(question: &Question, flags: Flags) -> Option<libc::c_int> {
    Some(match flags {
        Flags::In(argument) => question.arguments[argument] as libc::c_int,
        Flags::Behind(argument) => {
            let mut flags = [0; size_of::<u64>()];
            let read = question.read(question.arguments[argument], &mut flags);
            u64::from_ne_bytes(read.try_into().ok()?) as libc::c_int
        }
        #[cfg(target_arch = "x86_64")]
        Flags::Always(flags) => flags,
    })
}

/// Whether an open with these flags is of a link, or of what it leads to.
fn links_of(flags: libc::c_int) -> AtFlags {
    match flags & libc::O_NOFOLLOW {
        0 => AtFlags::empty(),
        _ => NOFOLLOW,
    }
}

fn opens(question: &Question, path: Path, flags: Flags) -> Option<Vec<u8>> {
    let flags = flags_of(question, flags)?;
    let has = |flag| flags & flag != 0;
    if !watched::changes(flags) {
        return None;
    }
    let named = Named::read(question, path)?;
    let links = links_of(flags);
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
    let there = Named::read(question, path)?
        .hold(followed(question, links))
        .ok()?;
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

/// Whether a change is of a link, or of what it leads to.
fn followed(question: &Question, links: Links) -> AtFlags {
    match links {
        Links::Followed => AtFlags::empty(),
        Links::Themselves => NOFOLLOW,
        Links::As(flags) => {
            AtFlags::from_bits_truncate(question.arguments[flags] as u32) & NOFOLLOW
        }
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
