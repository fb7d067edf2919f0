//! Whether a call will be refused, determined in the sandbox before it is carried out: where its path leads and whether
//! anything may be changed there, where its address leads; and what it reads outside of the workspace.
//!
//! The mounts are asked, and no list of places: the system's answer to the command is its answer to the supervisor too.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, fstat, fstatvfs};
use rustix::io::Errno;
use rustix::process::getuid;

use crate::linux::filesystem::mask_set::{GitFile, MaskSet};
use crate::linux::seccomp::call_path::{CallPath, NOFOLLOW, is_in_system_folder, resolve_fd_path};
use crate::linux::seccomp::git_process;
use crate::linux::seccomp::notify_filter;
use crate::linux::seccomp::notify_filter::{CallSubject, LinkHandling, OpenFlags, PathArgument};
use crate::linux::seccomp::read_scope::ReadScope;
use crate::linux::seccomp::seccomp_notify::Notification;
use crate::{DenialKind, SandboxSpec};

/// A refusal to be expected, and its target, in the system's own bytes.
pub(in crate::linux) type ExpectedDenial = (DenialKind, Vec<u8>);

/// The assessment of a call.
#[derive(Default)]
pub(in crate::linux) struct CallAssessment<'a> {
    pub(in crate::linux) denials: Vec<ExpectedDenial>,
    /// The file or folder that it reads, if that is to be reported.
    pub(in crate::linux) read: Option<Vec<u8>>,
    pub(in crate::linux) answer: NotifyAnswer<'a>,
}

/// The answer to the caller.
#[derive(Clone, Copy, Default)]
pub(in crate::linux) enum NotifyAnswer<'a> {
    /// The system's own answer.
    #[default]
    Continue,
    /// A refusal.
    Deny,
    /// A socket that is connected to nothing.
    PlaceholderSocket,
    /// The file below a mask.
    MaskedFile(&'a GitFile),
}

/// The places of a sandbox that calls are assessed by.
pub(in crate::linux) struct SandboxPlaces {
    secrets: MaskSet,
    reads: ReadScope,
    /// Masked paths in the system's own folders.
    masked_system_paths: Vec<PathBuf>,
    /// The workspace, if it is read-only.
    read_only_workspace: Option<PathBuf>,
}

impl SandboxPlaces {
    /// Returns the places of a sandbox whose mounts are in place.
    pub(in crate::linux) fn new(spec: &SandboxSpec, secrets: MaskSet) -> Self {
        let is_read_only = spec.read_only.contains(&spec.workspace);
        let masked = spec.masked.iter().cloned();
        Self {
            secrets,
            reads: ReadScope::new(spec),
            masked_system_paths: masked.filter(|mask| is_in_system_folder(mask)).collect(),
            read_only_workspace: is_read_only.then(|| spec.workspace.clone()),
        }
    }
}

/// Assesses a call. A call that cannot be inspected, because the caller is gone or its arguments lead nowhere, has no
/// denials.
pub(in crate::linux) fn assess_call<'a>(
    question: &Notification,
    places: &'a SandboxPlaces,
) -> CallAssessment<'a> {
    let Some(about) = notify_filter::call_subject(question.call) else {
        return CallAssessment::default();
    };
    if let CallSubject::Opens { path, flags } = about {
        return assess_open(question, path, flags, places).unwrap_or_default();
    }
    let masked = find_masked_paths(question, about, &places.secrets);
    if !masked.is_empty() {
        return CallAssessment::of_denials(masked);
    }
    let closed = match about {
        CallSubject::Opens { .. } => Vec::new(),
        CallSubject::CheckAccess(path) => vec![check_write_access(question, path, places)],
        CallSubject::Create(path) => vec![check_create(question, path)],
        CallSubject::Links { to, .. } => vec![check_create(question, to)],
        CallSubject::Remove(path) => vec![check_remove(question, path)],
        CallSubject::Moves { from, to } => check_rename(question, from, to),
        CallSubject::Changes { path, links } => vec![check_change(question, path, links)],
        CallSubject::Speaks(address) => {
            return check_address(question, address, false).unwrap_or_default();
        }
        CallSubject::Listens(address) => {
            return check_address(question, address, true).unwrap_or_default();
        }
        CallSubject::Socket => return check_socket(question),
    };
    CallAssessment::of_denials(write_denials(closed))
}

impl CallAssessment<'_> {
    /// Returns the assessment of a call that goes on, and that the system will deny for these reasons, if any.
    fn of_denials(denials: Vec<ExpectedDenial>) -> Self {
        Self {
            denials,
            ..Self::default()
        }
    }
}

/// Returns the denials of changes at these paths.
fn write_denials(closed: impl IntoIterator<Item = Option<Vec<u8>>>) -> Vec<ExpectedDenial> {
    let paths = closed.into_iter().flatten();
    let paths = paths.filter(|path| !is_own_proc_file(path));
    paths.map(|path| (DenialKind::Write, path)).collect()
}

/// Assesses an open. `None` if it gives no access to the content, or cannot be inspected.
fn assess_open<'a>(
    question: &Notification,
    path: PathArgument,
    flags: OpenFlags,
    places: &'a SandboxPlaces,
) -> Option<CallAssessment<'a>> {
    let flags = read_open_flags(question, flags)?;
    if flags & libc::O_PATH != 0 {
        return None;
    }
    let named = CallPath::from_notification(question, path)?;
    // Programs open little else as often as their libraries.
    if !notify_filter::can_change(flags)
        && named.is_in_system_folder()
        && !named.is_below_any(&places.masked_system_paths)
    {
        return None;
    }
    let links = open_link_flags(flags);
    let found = named.look_up(links);
    if let Some(mask) = named.find_mask_at(&found, links, &places.secrets) {
        let git_file = places.secrets.git_file(&mask);
        return Some(match git_file {
            Some(file)
                if !notify_filter::can_change(flags) && git_process::compares(question.pid) =>
            {
                CallAssessment {
                    answer: NotifyAnswer::MaskedFile(file),
                    ..CallAssessment::default()
                }
            }
            _ => CallAssessment::of_denials(vec![(DenialKind::Secret, mask)]),
        });
    }
    let assessed = CallAssessment::of_denials(write_denials([check_open(&named, flags)]));
    let is_read = assessed.denials.is_empty() && flags & libc::O_ACCMODE != libc::O_WRONLY;
    let found = found.ok().filter(|_| is_read);
    Some(CallAssessment {
        read: found.and_then(|found| places.reads.find_read(&named, links, &found)),
        ..assessed
    })
}

/// Whether a path is a process's own file below `/proc`: it affects no other process, and its number is another every
/// time.
fn is_own_proc_file(place: &[u8]) -> bool {
    place
        .strip_prefix(b"/proc/")
        .is_some_and(|below| below.first().is_some_and(u8::is_ascii_digit))
}

/// Returns the masks that the paths of a call lead to, or through. An open is assessed by itself.
fn find_masked_paths(
    question: &Notification,
    about: CallSubject,
    secrets: &MaskSet,
) -> Vec<ExpectedDenial> {
    let paths = match about {
        CallSubject::CheckAccess(path) => vec![(path, AtFlags::empty())],
        CallSubject::Create(path) | CallSubject::Remove(path) => vec![(path, NOFOLLOW)],
        CallSubject::Links { from, to } | CallSubject::Moves { from, to } => {
            vec![(from, NOFOLLOW), (to, NOFOLLOW)]
        }
        CallSubject::Changes { path, links } => vec![(path, change_link_flags(question, links))],
        CallSubject::Opens { .. }
        | CallSubject::Speaks(_)
        | CallSubject::Listens(_)
        | CallSubject::Socket => return Vec::new(),
    };
    let masks = paths.into_iter().filter_map(|(path, links)| {
        CallPath::from_notification(question, path)?.find_mask(links, secrets)
    });
    masks.map(|mask| (DenialKind::Secret, mask)).collect()
}

/// Returns the flags of an open; `None` if they cannot be read.
fn read_open_flags(question: &Notification, flags: OpenFlags) -> Option<libc::c_int> {
    Some(match flags {
        OpenFlags::Argument(argument) => question.arguments[argument] as libc::c_int,
        OpenFlags::Pointer(argument) => {
            let mut flags = [0; size_of::<u64>()];
            let read = question.read_bytes(question.arguments[argument], &mut flags);
            u64::from_ne_bytes(read.try_into().ok()?) as libc::c_int
        }
        #[cfg(target_arch = "x86_64")]
        OpenFlags::Always(flags) => flags,
    })
}

/// Whether an open with these flags opens a link itself, or its target.
fn open_link_flags(flags: libc::c_int) -> AtFlags {
    match flags & libc::O_NOFOLLOW {
        0 => AtFlags::empty(),
        _ => NOFOLLOW,
    }
}

/// Returns the target of an access check that finds the workspace read-only, where the command could write otherwise: a
/// program that asks first would not even try.
fn check_write_access(
    question: &Notification,
    path: PathArgument,
    places: &SandboxPlaces,
) -> Option<Vec<u8>> {
    let workspace = places.read_only_workspace.as_ref()?;
    // In every call of this kind the mode comes after the path.
    let mode = question.arguments[path.at + 1] as libc::c_int;
    if mode & libc::W_OK == 0 {
        return None;
    }
    let named = CallPath::from_notification(question, path)?;
    if named.check_writable(AtFlags::empty()) != Err(Errno::ROFS) {
        return None;
    }
    let target = named.resolve(AtFlags::empty())?;
    Path::new(OsStr::from_bytes(&target))
        .starts_with(workspace)
        .then_some(target)
}

fn check_open(named: &CallPath, flags: libc::c_int) -> Option<Vec<u8>> {
    let has = |flag| flags & flag != 0;
    if !notify_filter::can_change(flags) {
        return None;
    }
    let links = open_link_flags(flags);
    match named.check_writable(links) {
        // It must not be there, or is only looked for.
        Err(Errno::ROFS) if has(libc::O_CREAT) && has(libc::O_EXCL) => None,
        Err(Errno::ROFS) if !has(libc::O_ACCMODE | libc::O_TRUNC) => None,
        Err(Errno::ROFS) => named.resolve(links),
        Err(Errno::NOENT) if has(libc::O_CREAT) => named.read_only_target(),
        Ok(()) | Err(_) => None,
    }
}

/// Returns the path at which creating an entry is refused. An existing entry is not created, and therefore not refused.
fn check_create(question: &Notification, path: PathArgument) -> Option<Vec<u8>> {
    let named = CallPath::from_notification(question, path)?;
    let place = named.read_only_target()?;
    named.is_mount_point().is_err().then_some(place)
}

/// Returns the path whose removal is refused. A missing entry is not removed, and therefore not refused.
fn check_remove(question: &Notification, path: PathArgument) -> Option<Vec<u8>> {
    let named = CallPath::from_notification(question, path)?;
    match named.is_mount_point().ok()? {
        true => named.resolve(NOFOLLOW),
        false => named.read_only_target(),
    }
}

fn check_rename(
    question: &Notification,
    from: PathArgument,
    to: PathArgument,
) -> Vec<Option<Vec<u8>>> {
    let there = CallPath::from_notification(question, from)
        .is_some_and(|named| named.is_mount_point().is_ok());
    if !there {
        return Vec::new();
    }
    let target =
        CallPath::from_notification(question, to).and_then(|named| match named.is_mount_point() {
            Ok(true) => named.resolve(NOFOLLOW),
            Ok(false) | Err(_) => named.read_only_target(),
        });
    vec![check_remove(question, from), target]
}

fn check_change(
    question: &Notification,
    path: PathArgument,
    links: LinkHandling,
) -> Option<Vec<u8>> {
    let there = CallPath::from_notification(question, path)?
        .open_path(change_link_flags(question, links))
        .ok()?;
    // The owner may change these whatever the mode says, and root may always.
    let me = getuid();
    let mine = me.is_root() || fstat(&there).is_ok_and(|found| found.st_uid == me.as_raw());
    let closed =
        fstatvfs(&there).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY));
    match mine && closed {
        true => resolve_fd_path(there).ok(),
        false => None,
    }
}

/// Whether a change changes a link itself, or its target.
fn change_link_flags(question: &Notification, links: LinkHandling) -> AtFlags {
    match links {
        LinkHandling::Followed => AtFlags::empty(),
        LinkHandling::NotFollowed => NOFOLLOW,
        LinkHandling::ByFlags(flags) => {
            AtFlags::from_bits_truncate(question.arguments[flags] as u32) & NOFOLLOW
        }
    }
}

/// Assesses an address that leads out of the sandbox, or that is bound to listen at.
fn check_address(
    question: &Notification,
    address: usize,
    listens: bool,
) -> Option<CallAssessment<'static>> {
    let mut said = [0; 128];
    let length = usize::try_from(question.arguments[address + 1])
        .ok()?
        .min(said.len());
    let said = question.read_bytes(question.arguments[address], &mut said[..length]);
    let (family, rest) = said.split_first_chunk::<2>()?;
    let family = libc::c_int::from(u16::from_ne_bytes(*family));
    let (port, place) = rest.split_first_chunk::<2>().unzip();
    let port = || Some(u16::from_be_bytes(*port?));
    let result = match family {
        libc::AF_UNIX => {
            let result = check_unix_address(question.pid, rest, listens);
            return Some(CallAssessment {
                answer: NotifyAnswer::Deny,
                ..CallAssessment::of_denials(result.into_iter().collect())
            });
        }
        libc::AF_INET if !listens => {
            let host = Ipv4Addr::from(*place?.first_chunk::<4>()?);
            external_address_denial(host.into(), port()?)
        }
        libc::AF_INET6 if !listens => {
            let host = Ipv6Addr::from(*place?.get(4..)?.first_chunk::<16>()?);
            external_address_denial(host.to_canonical(), port()?)
        }
        _ => None,
    };
    Some(CallAssessment::of_denials(result.into_iter().collect()))
}

/// Returns the denial of an address; `None` if it is in the sandbox.
fn external_address_denial(host: IpAddr, port: u16) -> Option<ExpectedDenial> {
    (!host.is_loopback() && !host.is_unspecified()).then(|| {
        let address = SocketAddr::new(host, port).to_string();
        (DenialKind::Network, address.into_bytes())
    })
}

/// Returns the denial of a path or name of a program on this machine. Where nothing listens that the caller could
/// reach, nothing is denied: many programs try a listener that mostly does not exist.
fn check_unix_address(pid: u32, address: &[u8], listens: bool) -> Option<ExpectedDenial> {
    // A name without a path begins with a zero byte; a path ends before one.
    let path = match address {
        [] => return None,
        [0, name @ ..] => return Some((DenialKind::Socket, [b"@", name].concat())),
        path => path.split(|byte| *byte == 0).next()?,
    };
    let named = CallPath::from_process(pid, None, path)?;
    let follow = AtFlags::empty();
    let there = named.open_path(follow).ok().filter(|there| {
        let found = fstat(there).map(|found| FileType::from_raw_mode(found.st_mode));
        found == Ok(FileType::Socket) && named.check_writable(follow).is_ok()
    });
    let target = match (there.map(resolve_fd_path), listens) {
        (Some(place), _) => place.ok()?,
        (None, true) => path.to_owned(),
        (None, false) => return None,
    };
    Some((DenialKind::Socket, target))
}

/// Assesses a socket of a closed family. One to a program on this machine is reported when the caller names its peer.
fn check_socket(question: &Notification) -> CallAssessment<'static> {
    match question.arguments[0] as libc::c_int {
        libc::AF_UNIX => CallAssessment {
            answer: NotifyAnswer::PlaceholderSocket,
            ..CallAssessment::default()
        },
        family => CallAssessment {
            answer: NotifyAnswer::Deny,
            ..CallAssessment::of_denials(vec![(
                DenialKind::Socket,
                family_name(family).into_bytes(),
            )])
        },
    }
}

/// Name of sockets to programs on this machine, where the peer does not become known.
pub(in crate::linux) const UNIX_FAMILY_NAME: &[u8] = b"AF_UNIX";

/// Returns the name of a socket family.
fn family_name(family: libc::c_int) -> String {
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
