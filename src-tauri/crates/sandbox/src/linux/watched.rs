//! Which calls of the command are looked at, and the filter that picks them out.
//!
//! **Looking is no wall.** A call that is looked at goes on as if nobody had looked, and it is the mounts, the empty network
//! and the refusing filters of `refused.rs` that let it fail. So nothing is lost where a program changes a path after it was
//! read, or where this system lets nobody look. For the same reason what those filters refuse is not told: of two filters the
//! stricter answer counts. That is so for `mount`, pairs of datagram sockets and their like: the command has the error of the
//! call. Nor is it told of words sent to an address that only lies in memory (`sendmsg`), which would cost every program that
//! speaks to itself so.
//!
//! One call never goes on: `socket` of a family that is closed. Its family is a number in the call, which nobody can change
//! after it was read, so the keeper's word is as good a wall as the filter's; and only so it is known what was to be spoken to,
//! see `questions.rs`. Where nobody may look, and where the keeper is gone, the kernel refuses it.
//!
//! The filter looks at the numbers and flags of a call in the kernel; whatever cannot be refused in a room is let through there and
//! costs nothing. Reading can be: of what is masked. Only an open by which nothing can be read is let through.

use super::refused::FAMILIES;

/// What a call is about, with the places of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A file is opened, with these flags.
    Opens { path: Path, flags: Flags },
    /// It is asked whether a file may be read, written or run.
    Asks(Path),
    /// Something is made where nothing was.
    Makes(Path),
    /// Something gets another name.
    Links { from: Path, to: Path },
    /// Something is taken away.
    Removes(Path),
    /// Something is put elsewhere.
    Moves { from: Path, to: Path },
    /// Something is changed that stays where it is: its mode, its owner, its times, its length.
    Changes { path: Path, links: Links },
    /// An address is spoken to.
    Speaks { address: usize, length: usize },
    /// An address is taken, to listen at.
    Listens { address: usize, length: usize },
    /// A socket is made, of a family that is closed.
    Socket,
}

/// A path and the folder that it starts in, if the call has one: otherwise it is the working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) folder: Option<usize>,
    pub(super) at: usize,
}

/// Whether a change of a link is a change of what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// It is.
    Followed,
    /// It changes the link.
    Themselves,
    /// As the flags in this argument say.
    As(usize),
}

/// Where the flags of an open stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    /// In this argument.
    In(usize),
    /// At the address in this argument, as its first number.
    Behind(usize),
    /// They are always these.
    #[cfg(target_arch = "x86_64")]
    Always(libc::c_int),
}

/// A call that is looked at.
struct Watched {
    call: libc::c_long,
    about: About,
    only: Only,
}

/// In which cases.
#[derive(Clone, Copy)]
enum Only {
    /// In all.
    Always,
    /// If the argument at this place has one of these bits.
    Has(usize, u64),
    /// If the argument at this place, a number of 32 bits, has none of these.
    Lacks(usize, u32),
    /// If the first argument is none of the open families.
    ClosedFamily,
}

/// Opens that change nothing have none of these.
const CHANGES: libc::c_int = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;

/// From Linux 5.8; the same number everywhere.
const FACCESSAT2: libc::c_long = 439;
/// From Linux 6.6; the same number everywhere.
const FCHMODAT2: libc::c_long = 452;

const fn at(folder: usize) -> Path {
    Path {
        folder: Some(folder),
        at: folder + 1,
    }
}

#[cfg(target_arch = "x86_64")]
const fn of(at: usize) -> Path {
    Path { folder: None, at }
}

const fn any(call: libc::c_long, about: About) -> Watched {
    Watched {
        call,
        about,
        only: Only::Always,
    }
}

const fn some(call: libc::c_long, about: About, argument: usize, bits: u64) -> Watched {
    Watched {
        call,
        about,
        only: Only::Has(argument, bits),
    }
}

const fn changes_at(path: Path, links: Links) -> About {
    About::Changes { path, links }
}

/// An open whose flags are an argument.
const fn opens(call: libc::c_long, path: Path, flags: usize) -> Watched {
    Watched {
        call,
        about: About::Opens {
            path,
            flags: Flags::In(flags),
        },
        only: Only::Lacks(flags, libc::O_PATH as u32),
    }
}

/// Whether a file is there is no secret; whether it can be read is not what it would be without a mask.
const fn asks(call: libc::c_long, path: Path, mode: usize) -> Watched {
    let modes = libc::R_OK | libc::W_OK | libc::X_OK;
    some(call, About::Asks(path), mode, modes as u64)
}

const EVERYWHERE: &[Watched] = &[
    opens(libc::SYS_openat, at(0), 2),
    any(
        libc::SYS_openat2,
        About::Opens {
            path: at(0),
            flags: Flags::Behind(2),
        },
    ),
    asks(libc::SYS_faccessat, at(0), 2),
    asks(FACCESSAT2, at(0), 2),
    any(libc::SYS_mkdirat, About::Makes(at(0))),
    any(libc::SYS_mknodat, About::Makes(at(0))),
    any(libc::SYS_symlinkat, About::Makes(at(1))),
    any(
        libc::SYS_linkat,
        About::Links {
            from: at(0),
            to: at(2),
        },
    ),
    any(libc::SYS_unlinkat, About::Removes(at(0))),
    any(
        libc::SYS_renameat,
        About::Moves {
            from: at(0),
            to: at(2),
        },
    ),
    any(
        libc::SYS_renameat2,
        About::Moves {
            from: at(0),
            to: at(2),
        },
    ),
    any(libc::SYS_fchmodat, changes_at(at(0), Links::Followed)),
    any(FCHMODAT2, changes_at(at(0), Links::As(3))),
    any(libc::SYS_fchownat, changes_at(at(0), Links::As(4))),
    // Without a path it is about an open file.
    some(
        libc::SYS_utimensat,
        changes_at(at(0), Links::As(3)),
        1,
        u64::MAX,
    ),
    any(libc::SYS_truncate, changes_at(BARE, Links::Followed)),
    any(libc::SYS_setxattr, changes_at(BARE, Links::Followed)),
    any(libc::SYS_lsetxattr, changes_at(BARE, Links::Themselves)),
    any(libc::SYS_removexattr, changes_at(BARE, Links::Followed)),
    any(libc::SYS_lremovexattr, changes_at(BARE, Links::Themselves)),
    any(
        libc::SYS_connect,
        About::Speaks {
            address: 1,
            length: 2,
        },
    ),
    any(
        libc::SYS_bind,
        About::Listens {
            address: 1,
            length: 2,
        },
    ),
    Watched {
        call: libc::SYS_socket,
        about: About::Socket,
        only: Only::ClosedFamily,
    },
    // Without an address it goes where the socket is connected to.
    some(
        libc::SYS_sendto,
        About::Speaks {
            address: 4,
            length: 5,
        },
        4,
        u64::MAX,
    ),
];

/// A path in the first argument.
const BARE: Path = Path {
    folder: None,
    at: 0,
};

/// The calls of old, which newer systems do without.
#[cfg(target_arch = "x86_64")]
const OLDER: &[Watched] = &[
    opens(libc::SYS_open, BARE, 1),
    any(
        libc::SYS_creat,
        About::Opens {
            path: BARE,
            flags: Flags::Always(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC),
        },
    ),
    asks(libc::SYS_access, BARE, 1),
    any(libc::SYS_mkdir, About::Makes(BARE)),
    any(libc::SYS_mknod, About::Makes(BARE)),
    any(libc::SYS_symlink, About::Makes(of(1))),
    any(
        libc::SYS_link,
        About::Links {
            from: BARE,
            to: of(1),
        },
    ),
    any(libc::SYS_unlink, About::Removes(BARE)),
    any(libc::SYS_rmdir, About::Removes(BARE)),
    any(
        libc::SYS_rename,
        About::Moves {
            from: BARE,
            to: of(1),
        },
    ),
    any(libc::SYS_chmod, changes_at(BARE, Links::Followed)),
    any(libc::SYS_chown, changes_at(BARE, Links::Followed)),
    any(libc::SYS_lchown, changes_at(BARE, Links::Themselves)),
    any(libc::SYS_utime, changes_at(BARE, Links::Followed)),
    any(libc::SYS_utimes, changes_at(BARE, Links::Followed)),
    some(
        libc::SYS_futimesat,
        changes_at(at(0), Links::Followed),
        1,
        u64::MAX,
    ),
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[Watched] = &[];

/// What a call is about; none if it is not looked at.
pub(super) fn about(call: libc::c_long) -> Option<About> {
    EVERYWHERE
        .iter()
        .chain(OLDER)
        .find(|watched| watched.call == call)
        .map(|watched| watched.about)
}

/// Whether an open with these flags can change anything.
pub(super) fn changes(flags: libc::c_int) -> bool {
    flags & CHANGES != 0
}

/// The filter: asks about the calls above, lets everything else pass. It needs no look at the architecture: calls with other
/// numbers are refused by the other filters.
pub(super) fn filter() -> Vec<libc::sock_filter> {
    let mut filter = vec![load(std::mem::offset_of!(libc::seccomp_data, nr))];
    for watched in EVERYWHERE.iter().chain(OLDER) {
        let then = watched.only.asks();
        let number = watched.call as u32;
        let past = then.len() as u8;
        filter.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            past,
            number,
        ));
        filter.extend(then);
    }
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    filter
}

impl Only {
    /// Asks about a call whose number fits, or lets it pass.
    fn asks(self) -> Vec<libc::sock_filter> {
        let asks = answer(libc::SECCOMP_RET_USER_NOTIF);
        let passes = answer(libc::SECCOMP_RET_ALLOW);
        let test = |test: u32, yes: u8, no: u8, what: u32| {
            step(libc::BPF_JMP | test | libc::BPF_K, yes, no, what)
        };
        // The least of an argument comes first: both of the architectures write their numbers so.
        let argument =
            |at: usize| std::mem::offset_of!(libc::seccomp_data, args) + at * size_of::<u64>();
        match self {
            Self::Always => vec![asks],
            Self::Has(at, bits) => vec![
                load(argument(at)),
                test(libc::BPF_JSET, 3, 0, bits as u32),
                load(argument(at) + size_of::<u32>()),
                test(libc::BPF_JSET, 1, 0, (bits >> 32) as u32),
                passes,
                asks,
            ],
            Self::Lacks(at, bits) => vec![
                load(argument(at)),
                test(libc::BPF_JSET, 0, 1, bits),
                passes,
                asks,
            ],
            // The kernel takes it for a number of 32 bits too.
            Self::ClosedFamily => {
                let mut filter = vec![load(argument(0))];
                for (left, family) in (1..=FAMILIES.len() as u8).rev().zip(FAMILIES) {
                    filter.push(test(libc::BPF_JEQ, left, 0, family as u32));
                }
                filter.extend([asks, passes]);
                filter
            }
        }
    }
}

const fn load(place: usize) -> libc::sock_filter {
    step(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
        place as u32,
    )
}

const fn answer(answer: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}

/// One step of a filter.
pub(super) const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}
