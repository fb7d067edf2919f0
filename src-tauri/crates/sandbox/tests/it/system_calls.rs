//! Attempts that no shell can make: calls of the kernel.
#![allow(
    unsafe_code,
    reason = "an attempt calls the kernel as any program could"
)]

use std::ffi::CString;
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8};

fn given(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn out(name: &str) -> PathBuf {
    PathBuf::from(given("OUT")).join(name)
}

fn pid() -> i32 {
    given("PID").parse().unwrap()
}

/// Whether an attempt succeeds.
pub fn succeeds(name: &str) -> bool {
    match name {
        "unix stream" => UnixStream::connect(out("stream")).is_ok(),
        "unix datagram" => UnixDatagram::unbound()
            .and_then(|socket| socket.send_to(b"x", out("datagram")))
            .is_ok(),
        "unix name without a path" => {
            let address = SocketAddr::from_abstract_name(given("MARK")).unwrap();
            UnixStream::connect_addr(&address).is_ok()
        }
        "words to a path, told in memory alone" => words_in_memory(),
        "a pair pointed at a path" => pair_pointed_at_a_path(),
        "vsock" => unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0) >= 0 },
        "io_uring" => {
            let mut parameters = [0_u8; 120];
            unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) >= 0 }
        }
        "trace a process" => unsafe {
            libc::ptrace(
                libc::PTRACE_SEIZE,
                pid(),
                null_mut::<u8>(),
                null_mut::<u8>(),
            ) == 0
        },
        "read a process's memory" => read_memory(),
        "new names by unshare" => unsafe { libc::unshare(libc::CLONE_NEWUTS) == 0 },
        "new names by clone" => new_names_by_clone(),
        "shared memory by key" => unsafe { libc::shmget(key(&given("MARK")), 0, 0) >= 0 },
        "a key for all of the user's programs" => add_key(),
        "a lower nice value for a process" => unsafe {
            libc::setpriority(libc::PRIO_PROCESS, pid().unsigned_abs(), 10) == 0
        },
        "the names of another process" => {
            let names = std::fs::File::open(format!("/proc/{}/ns/uts", pid()));
            names.is_ok_and(|names| unsafe { libc::setns(names.as_raw_fd(), 0) == 0 })
        }
        "new names by the newer clone" => new_names_by_clone3(),
        "an open file of another process" => open_file_of_another(),
        "a listener of its own" => listener_of_its_own() >= 0,
        "a path changed after it was looked at" => changed_path(),
        "a file by its handle" => by_handle(),
        "the clock" => unsafe {
            let mut now: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
            libc::clock_settime(libc::CLOCK_REALTIME, &raw const now) == 0
        },
        "the name of the machine" => {
            let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
            let name = name.trim();
            unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) == 0 }
        }
        "a root of its own" => {
            let place = CString::new(given("WS")).unwrap();
            unsafe { libc::chroot(place.as_ptr()) == 0 }
        }
        other => panic!("nobody knows how to attempt {other}"),
    }
}

/// The key of the shared memory outside, from the mark.
pub fn key(mark: &str) -> i32 {
    (mark.parse::<u64>().unwrap() % 2_000_000_000) as i32
}

/// A message whose address nobody can see in the call itself.
fn words_in_memory() -> bool {
    let path = CString::new(out("datagram").to_str().unwrap()).unwrap();
    let path = path.as_bytes_with_nul();
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in address.sun_path.iter_mut().zip(path) {
            *to = from.cast_signed();
        }
        let mut words = libc::iovec {
            iov_base: b"x".as_ptr().cast_mut().cast(),
            iov_len: 1,
        };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_name = (&raw mut address).cast();
        message.msg_namelen = size_of::<libc::sockaddr_un>() as u32;
        message.msg_iov = &raw mut words;
        message.msg_iovlen = 1;
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0);
        libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL) == 1
    }
}

/// One end of a pair of datagram sockets can be pointed at another address afterwards, without a socket being made.
fn pair_pointed_at_a_path() -> bool {
    UnixDatagram::pair()
        .and_then(|(one, _other)| {
            one.connect(out("datagram"))?;
            one.send(b"x")
        })
        .is_ok()
}

fn read_memory() -> bool {
    // Where a program without a fixed place lies is in its map; the first line is enough.
    let Ok(map) = std::fs::read_to_string(format!("/proc/{}/maps", pid())) else {
        return false;
    };
    let Some(start) = map
        .split('-')
        .next()
        .and_then(|at| usize::from_str_radix(at, 16).ok())
    else {
        return false;
    };
    let mut byte = 0_u8;
    let mine = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let theirs = libc::iovec {
        iov_base: start as *mut libc::c_void,
        iov_len: 1,
    };
    unsafe { libc::process_vm_readv(pid(), &raw const mine, 1, &raw const theirs, 1, 0) == 1 }
}

fn new_names_by_clone() -> bool {
    let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
    let child = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            null::<u8>(),
            null::<u8>(),
            null::<u8>(),
            null::<u8>(),
        )
    };
    if child == 0 {
        unsafe { libc::_exit(0) };
    }
    child > 0
}

fn new_names_by_clone3() -> bool {
    // As `struct clone_args` of the kernel was at first.
    let mut arguments = [0_u64; 8];
    arguments[0] = libc::CLONE_NEWUSER as u64;
    arguments[4] = libc::SIGCHLD as u64;
    let child = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            arguments.as_ptr(),
            size_of_val(&arguments),
        )
    };
    if child == 0 {
        unsafe { libc::_exit(0) };
    }
    child > 0
}

/// Among those of the first process of a sandbox is where calls are asked about.
fn open_file_of_another() -> bool {
    const LOOKED_AT: i32 = 32;
    [pid(), 1].into_iter().any(|process| unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, process, 0);
        (0..LOOKED_AT).any(|file| libc::syscall(libc::SYS_pidfd_getfd, process, file, 0) >= 0)
    })
}

/// Opens a seccomp listener, whose owner could let all calls of its children pass. Below zero if there is none.
pub fn listener_of_its_own() -> libc::c_int {
    let listens = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    set_filter(
        &mut [step(libc::BPF_RET, 0, libc::SECCOMP_RET_ALLOW)],
        listens,
    )
}

/// Refuses one call to this process and all that it starts. Below zero if that cannot be.
pub fn refuse(call: libc::c_long) -> libc::c_int {
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let filter = &mut [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ, 1, call as u32),
        step(libc::BPF_RET, 0, refused),
        step(libc::BPF_RET, 0, libc::SECCOMP_RET_ALLOW),
    ];
    set_filter(filter, 0)
}

fn step(code: u32, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    }
}

fn set_filter(filter: &mut [libc::sock_filter], flags: libc::c_ulong) -> libc::c_int {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        ) as libc::c_int
    }
}

/// While one thread opens a path, another changes its last letter: what was looked at is not what is opened.
fn changed_path() -> bool {
    const TRIES: usize = 3_000;
    let folder = PathBuf::from(given("WS"));
    for (name, target) in [("l0", folder.join("a")), ("l1", out("file"))] {
        std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
    }
    let mut path = folder.join("l0").into_os_string().into_encoded_bytes();
    let end = path.len() - 1;
    path.push(0);
    let letters: Vec<AtomicU8> = path.into_iter().map(AtomicU8::new).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Relaxed) {
                letters[end].fetch_xor(1, Relaxed);
            }
        });
        for _ in 0..TRIES {
            unsafe {
                let file = libc::open(letters.as_ptr().cast(), libc::O_WRONLY | libc::O_APPEND);
                libc::write(file, b"x".as_ptr().cast(), 1);
                libc::close(file);
            }
        }
        done.store(true, Relaxed);
    });
    true
}

fn add_key() -> bool {
    const USER_KEYRING: i32 = -4;
    const UNLINK: i32 = 9;
    let (kind, name) = (c"user", CString::new(given("MARK")).unwrap());
    unsafe {
        let key = libc::syscall(
            libc::SYS_add_key,
            kind.as_ptr(),
            name.as_ptr(),
            b"x".as_ptr(),
            1_usize,
            USER_KEYRING,
        );
        // It would stay until the machine starts anew.
        libc::syscall(libc::SYS_keyctl, UNLINK, key, USER_KEYRING);
        key > 0
    }
}

/// A handle leads to a file without any path, past every mount.
fn by_handle() -> bool {
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: i32,
        data: [u8; 128],
    }
    let mut handle = Handle {
        bytes: 128,
        kind: 0,
        data: [0; 128],
    };
    let path = CString::new(out("file").to_str().unwrap()).unwrap();
    let mut mount = 0_i32;
    unsafe {
        if libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount,
            0,
        ) != 0
        {
            return false;
        }
        let place = libc::open(c"/".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY);
        libc::syscall(
            libc::SYS_open_by_handle_at,
            place,
            &raw const handle,
            libc::O_WRONLY,
        ) >= 0
    }
}
