//! The calls of the command that are observed, and the filter that selects them.
//!
//! **Observing is no wall.** An observed call goes on as if unobserved, and the mounts, the empty network and the
//! denying filters of `deny_filter.rs` make it fail. So nothing is lost where a program changes a path after it was
//! read, or where this system does not permit observing. For the same reason calls that those filters deny are not
//! reported: of two filters the stricter answer counts. That holds for `mount`, pairs of datagram sockets and the like:
//! the command gets the error of the call. Messages to an address that is only in memory (`sendmsg`) are not reported
//! either, which would slow down every program that communicates so.
//!
//! One call never goes on: `socket` of a closed family. The family is a number in the call, which cannot change after
//! it was read, so the supervisor's answer is as good a wall as the filter's; and only so the intended peer becomes
//! known, see `seccomp_notify.rs`. Where observing is not permitted, and where the supervisor is gone, the kernel
//! denies the call.
//!
//! The filter looks at the numbers and flags of a call in the kernel; calls that cannot be denied in a sandbox pass
//! there at no cost. Reading can be denied, by a mask: only an open that gives no read access passes.

use crate::linux::seccomp::deny_filter::ALLOWED_FAMILIES;

/// The subject of a call, with the positions of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum CallSubject {
    /// A file is opened, with these flags.
    Opens {
        path: PathArgument,
        flags: OpenFlags,
    },
    /// The permission to read, write or run a file is checked.
    CheckAccess(PathArgument),
    /// A new entry is created.
    Create(PathArgument),
    /// An entry gets another name.
    Links {
        from: PathArgument,
        to: PathArgument,
    },
    /// An entry is removed.
    Remove(PathArgument),
    /// An entry is moved.
    Moves {
        from: PathArgument,
        to: PathArgument,
    },
    /// The metadata of an entry is changed: its mode, its owner, its times, its length.
    Changes {
        path: PathArgument,
        links: LinkHandling,
    },
    /// A message is sent or a connection made to the address in this argument, whose length the next one has.
    Speaks(usize),
    /// The address in this argument, whose length the next one has, is bound, to listen at.
    Listens(usize),
    /// A socket of a closed family is created.
    Socket,
}

/// A path and the folder that it is relative to, if the call has one: otherwise the working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) struct PathArgument {
    pub(in crate::linux) folder: Option<usize>,
    pub(in crate::linux) at: usize,
}

/// Whether a change of a link changes its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum LinkHandling {
    /// The target.
    Followed,
    /// The link itself.
    NotFollowed,
    /// Depends on the flags in this argument.
    ByFlags(usize),
}

/// Position of the flags of an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum OpenFlags {
    /// In this argument.
    Argument(usize),
    /// At the address in this argument, as its first number.
    Pointer(usize),
    /// Always these flags.
    #[cfg(target_arch = "x86_64")]
    Always(libc::c_int),
}

/// A call that is observed.
struct WatchedCall {
    call: libc::c_long,
    about: CallSubject,
    only: CallCondition,
}

/// Condition under which a call is observed.
#[derive(Clone, Copy)]
enum CallCondition {
    /// Always.
    Always,
    /// If the argument at this place has one of these bits.
    HasBits(usize, u64),
    /// If the argument at this place, a number of 32 bits, has none of these.
    LacksBits(usize, u32),
    /// If the first argument is none of the allowed families.
    ClosedFamily,
}

/// Flags of which an open that changes nothing has none.
const CHANGING_FLAGS: libc::c_int = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;

/// From Linux 5.8; the same number everywhere.
const FACCESSAT2: libc::c_long = 439;
/// From Linux 6.6; the same number everywhere.
const FCHMODAT2: libc::c_long = 452;

const fn path_at(folder: usize) -> PathArgument {
    PathArgument {
        folder: Some(folder),
        at: folder + 1,
    }
}

#[cfg(target_arch = "x86_64")]
const fn path_in_cwd(at: usize) -> PathArgument {
    PathArgument { folder: None, at }
}

const fn watch_always(call: libc::c_long, about: CallSubject) -> WatchedCall {
    WatchedCall {
        call,
        about,
        only: CallCondition::Always,
    }
}

const fn watch_if_bits(
    call: libc::c_long,
    about: CallSubject,
    argument: usize,
    bits: u64,
) -> WatchedCall {
    WatchedCall {
        call,
        about,
        only: CallCondition::HasBits(argument, bits),
    }
}

const fn link(from: PathArgument, to: PathArgument) -> CallSubject {
    CallSubject::Links { from, to }
}

const fn rename(from: PathArgument, to: PathArgument) -> CallSubject {
    CallSubject::Moves { from, to }
}

const fn change_at(path: PathArgument, links: LinkHandling) -> CallSubject {
    CallSubject::Changes { path, links }
}

const fn watch_change(call: libc::c_long, path: PathArgument, links: LinkHandling) -> WatchedCall {
    watch_always(call, change_at(path, links))
}

/// Observes an open whose flags are an argument.
const fn watch_open(call: libc::c_long, path: PathArgument, flags: usize) -> WatchedCall {
    WatchedCall {
        call,
        about: CallSubject::Opens {
            path,
            flags: OpenFlags::Argument(flags),
        },
        only: CallCondition::LacksBits(flags, libc::O_PATH as u32),
    }
}

/// Observes an access check: whether a file exists is no secret, but its readability differs from the one without a
/// mask.
const fn watch_access_check(call: libc::c_long, path: PathArgument, mode: usize) -> WatchedCall {
    let modes = libc::R_OK | libc::W_OK | libc::X_OK;
    watch_if_bits(call, CallSubject::CheckAccess(path), mode, modes as u64)
}

const COMMON_CALLS: &[WatchedCall] = &[
    watch_open(libc::SYS_openat, path_at(0), 2),
    watch_always(
        libc::SYS_openat2,
        CallSubject::Opens {
            path: path_at(0),
            flags: OpenFlags::Pointer(2),
        },
    ),
    watch_access_check(libc::SYS_faccessat, path_at(0), 2),
    watch_access_check(FACCESSAT2, path_at(0), 2),
    watch_always(libc::SYS_mkdirat, CallSubject::Create(path_at(0))),
    watch_always(libc::SYS_mknodat, CallSubject::Create(path_at(0))),
    watch_always(libc::SYS_symlinkat, CallSubject::Create(path_at(1))),
    watch_always(libc::SYS_linkat, link(path_at(0), path_at(2))),
    watch_always(libc::SYS_unlinkat, CallSubject::Remove(path_at(0))),
    watch_always(libc::SYS_renameat, rename(path_at(0), path_at(2))),
    watch_always(libc::SYS_renameat2, rename(path_at(0), path_at(2))),
    watch_change(libc::SYS_fchmodat, path_at(0), LinkHandling::Followed),
    watch_change(FCHMODAT2, path_at(0), LinkHandling::ByFlags(3)),
    watch_change(libc::SYS_fchownat, path_at(0), LinkHandling::ByFlags(4)),
    // Without a path it is about an open file.
    watch_if_bits(
        libc::SYS_utimensat,
        change_at(path_at(0), LinkHandling::ByFlags(3)),
        1,
        u64::MAX,
    ),
    watch_change(libc::SYS_truncate, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_change(libc::SYS_setxattr, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_change(
        libc::SYS_lsetxattr,
        FIRST_ARGUMENT,
        LinkHandling::NotFollowed,
    ),
    watch_change(
        libc::SYS_removexattr,
        FIRST_ARGUMENT,
        LinkHandling::Followed,
    ),
    watch_change(
        libc::SYS_lremovexattr,
        FIRST_ARGUMENT,
        LinkHandling::NotFollowed,
    ),
    watch_always(libc::SYS_connect, CallSubject::Speaks(1)),
    watch_always(libc::SYS_bind, CallSubject::Listens(1)),
    WatchedCall {
        call: libc::SYS_socket,
        about: CallSubject::Socket,
        only: CallCondition::ClosedFamily,
    },
    // Without an address it goes where the socket is connected to.
    watch_if_bits(libc::SYS_sendto, CallSubject::Speaks(4), 4, u64::MAX),
];

/// A path in the first argument.
const FIRST_ARGUMENT: PathArgument = PathArgument {
    folder: None,
    at: 0,
};

/// Old calls, which newer systems do without.
#[cfg(target_arch = "x86_64")]
const LEGACY_CALLS: &[WatchedCall] = &[
    watch_open(libc::SYS_open, FIRST_ARGUMENT, 1),
    watch_always(
        libc::SYS_creat,
        CallSubject::Opens {
            path: FIRST_ARGUMENT,
            flags: OpenFlags::Always(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC),
        },
    ),
    watch_access_check(libc::SYS_access, FIRST_ARGUMENT, 1),
    watch_always(libc::SYS_mkdir, CallSubject::Create(FIRST_ARGUMENT)),
    watch_always(libc::SYS_mknod, CallSubject::Create(FIRST_ARGUMENT)),
    watch_always(libc::SYS_symlink, CallSubject::Create(path_in_cwd(1))),
    watch_always(libc::SYS_link, link(FIRST_ARGUMENT, path_in_cwd(1))),
    watch_always(libc::SYS_unlink, CallSubject::Remove(FIRST_ARGUMENT)),
    watch_always(libc::SYS_rmdir, CallSubject::Remove(FIRST_ARGUMENT)),
    watch_always(libc::SYS_rename, rename(FIRST_ARGUMENT, path_in_cwd(1))),
    watch_change(libc::SYS_chmod, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_change(libc::SYS_chown, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_change(libc::SYS_lchown, FIRST_ARGUMENT, LinkHandling::NotFollowed),
    watch_change(libc::SYS_utime, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_change(libc::SYS_utimes, FIRST_ARGUMENT, LinkHandling::Followed),
    watch_if_bits(
        libc::SYS_futimesat,
        change_at(path_at(0), LinkHandling::Followed),
        1,
        u64::MAX,
    ),
];

#[cfg(not(target_arch = "x86_64"))]
const LEGACY_CALLS: &[WatchedCall] = &[];

/// Returns the subject of a call; `None` if the call is not observed.
pub(in crate::linux) fn call_subject(call: libc::c_long) -> Option<CallSubject> {
    COMMON_CALLS
        .iter()
        .chain(LEGACY_CALLS)
        .find(|watched| watched.call == call)
        .map(|watched| watched.about)
}

/// Whether an open with these flags can change anything.
pub(in crate::linux) fn can_change(flags: libc::c_int) -> bool {
    flags & CHANGING_FLAGS != 0
}

/// Builds the filter: it notifies of the calls above, and lets every other call pass. It need not check the
/// architecture: calls with other numbers are denied by the other filters.
pub(in crate::linux) fn build_filter() -> Vec<libc::sock_filter> {
    let mut filter = vec![load_step(std::mem::offset_of!(libc::seccomp_data, nr))];
    for watched in COMMON_CALLS.iter().chain(LEGACY_CALLS) {
        let then = watched.only.build_steps();
        let number = watched.call as u32;
        let past = then.len() as u8;
        filter.push(filter_step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            past,
            number,
        ));
        filter.extend(then);
    }
    filter.push(return_step(libc::SECCOMP_RET_ALLOW));
    filter
}

impl CallCondition {
    /// Builds the steps that notify of a call whose number matches, or let it pass.
    fn build_steps(self) -> Vec<libc::sock_filter> {
        let asks = return_step(libc::SECCOMP_RET_USER_NOTIF);
        let passes = return_step(libc::SECCOMP_RET_ALLOW);
        let test = |test: u32, yes: u8, no: u8, what: u32| {
            filter_step(libc::BPF_JMP | test | libc::BPF_K, yes, no, what)
        };
        // The least of an argument comes first: both of the architectures write their numbers so.
        let argument =
            |at: usize| std::mem::offset_of!(libc::seccomp_data, args) + at * size_of::<u64>();
        match self {
            Self::Always => vec![asks],
            Self::HasBits(at, bits) => vec![
                load_step(argument(at)),
                test(libc::BPF_JSET, 3, 0, bits as u32),
                load_step(argument(at) + size_of::<u32>()),
                test(libc::BPF_JSET, 1, 0, (bits >> 32) as u32),
                passes,
                asks,
            ],
            Self::LacksBits(at, bits) => vec![
                load_step(argument(at)),
                test(libc::BPF_JSET, 0, 1, bits),
                passes,
                asks,
            ],
            // The kernel takes it for a number of 32 bits too.
            Self::ClosedFamily => {
                let mut filter = vec![load_step(argument(0))];
                for (left, family) in (1..=ALLOWED_FAMILIES.len() as u8)
                    .rev()
                    .zip(ALLOWED_FAMILIES)
                {
                    filter.push(test(libc::BPF_JEQ, left, 0, family as u32));
                }
                filter.extend([asks, passes]);
                filter
            }
        }
    }
}

const fn load_step(place: usize) -> libc::sock_filter {
    filter_step(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
        place as u32,
    )
}

const fn return_step(answer: u32) -> libc::sock_filter {
    filter_step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}

/// Returns one step of a filter.
pub(in crate::linux) const fn filter_step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}
