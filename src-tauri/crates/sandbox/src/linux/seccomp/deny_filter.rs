//! System calls that no process in a sandbox needs and that could lead out of it.
#![allow(
    unsafe_code,
    reason = "the short filter that the library has no word for"
)]

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Calls that are denied whatever their arguments are.
const DENIED_CALLS: &[libc::c_long] = &[
    // The file tree as it stands is the wall.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    // Other names for things, and through them other rights.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes' memory and files.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // A door of their own past every filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // The kernel itself, its clock and its keys, which are shared.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Families of sockets that lead to the sandbox's own network and nowhere else.
pub(in crate::linux) const ALLOWED_FAMILIES: [libc::c_int; 3] =
    [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Flags that create a namespace of any kind.
const NAMESPACE_FLAGS: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The sockets that may be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum SocketPolicy {
    /// Those of [`ALLOWED_FAMILIES`].
    AllowedFamilies,
    /// Those of [`ALLOWED_FAMILIES`]; the supervisor is notified of any other.
    Notify,
    /// None: the network is the one of the whole machine.
    None,
}

/// Denies the calls from here on, for this process and all that it starts.
pub(in crate::linux) fn install_deny_filter(sockets: SocketPolicy) -> io::Result<()> {
    deny_x32_calls()?;
    let mut calls = denied_call_rules()?;
    match sockets {
        SocketPolicy::AllowedFamilies => calls.insert(
            libc::SYS_socket,
            vec![build_rule(other_family_conditions()?)?],
        ),
        SocketPolicy::Notify => None,
        SocketPolicy::None => calls.insert(libc::SYS_socket, Vec::new()),
    };
    apply_filter(&build_program(calls, libc::EPERM)?).map_err(io::Error::other)?;
    // A program that hears that a call does not exist takes the older one, whose flags can be looked at.
    let newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    apply_filter(&build_program(newer, libc::ENOSYS)?).map_err(io::Error::other)
}

fn build_program(
    calls: BTreeMap<libc::c_long, Vec<SeccompRule>>,
    error: libc::c_int,
) -> io::Result<BpfProgram> {
    let here = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    SeccompFilter::new(
        calls,
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        here,
    )
    .and_then(TryInto::try_into)
    .map_err(io::Error::other)
}

fn denied_call_rules() -> io::Result<BTreeMap<libc::c_long, Vec<SeccompRule>>> {
    let mut calls: BTreeMap<libc::c_long, Vec<SeccompRule>> = DENIED_CALLS
        .iter()
        .map(|call| (*call, Vec::new()))
        .collect();
    calls.insert(libc::SYS_socketpair, socket_pair_rules()?);
    let mut clones = Vec::new();
    for bit in (0..32).map(|bit| 1_u64 << bit) {
        if bit & u64::from(NAMESPACE_FLAGS.unsigned_abs()) != 0 {
            clones.push(build_rule(vec![argument_condition(
                0,
                SeccompCmpOp::MaskedEq(bit),
                bit,
            )?])?);
        }
    }
    calls.insert(libc::SYS_clone, clones);
    // Of two who look at a call the later is asked, and the keeper would see nothing more. Filters that only refuse are a
    // program's own affair.
    let listens = argument_condition(
        1,
        SeccompCmpOp::MaskedEq(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER),
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
    )?;
    calls.insert(libc::SYS_seccomp, vec![build_rule(vec![listens])?]);
    // Keys pushed into a terminal are typed by whoever sits there.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing = typing
        .into_iter()
        .map(|request| build_rule(vec![argument_condition(1, SeccompCmpOp::Eq, request)?]));
    calls.insert(libc::SYS_ioctl, typing.collect::<io::Result<_>>()?);
    Ok(calls)
}

/// Conditions for a socket of any family but the sandbox's own: a path or a name of another family reaches listeners
/// outside.
fn other_family_conditions() -> io::Result<Vec<SeccompCondition>> {
    ALLOWED_FAMILIES
        .into_iter()
        .map(|family| argument_condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect()
}

/// Rules for socket pairs whose ends could be connected to a path afterwards: only stream and seqpacket pairs stay
/// connected to each other.
fn socket_pair_rules() -> io::Result<Vec<SeccompRule>> {
    const KIND: u64 = 0xf;
    let kind = |kind: libc::c_int| {
        build_rule(vec![argument_condition(
            1,
            SeccompCmpOp::MaskedEq(KIND),
            u64::from(kind.unsigned_abs()),
        )?])
    };
    [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM]
        .into_iter()
        .map(kind)
        .collect()
}

fn argument_condition(at: u8, op: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(at, SeccompCmpArgLen::Dword, op, value).map_err(io::Error::other)
}

fn build_rule(conditions: Vec<SeccompCondition>) -> io::Result<SeccompRule> {
    SeccompRule::new(conditions).map_err(io::Error::other)
}

/// Denies x32 calls: on x86-64 the same kernel answers a second set of numbers, by which every refusal above could be
/// circumvented.
#[cfg(target_arch = "x86_64")]
fn deny_x32_calls() -> io::Result<()> {
    use crate::linux::seccomp::notify_filter::filter_step;
    const OTHER_NUMBERS: u32 = 0x4000_0000;
    let mut filter = [
        filter_step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        filter_step(
            libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
            0,
            1,
            OTHER_NUMBERS,
        ),
        filter_step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
        ),
        filter_step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program lives until the call returns; the kernel copies it.
    let set = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            &raw const program,
        )
    };
    match set {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn deny_x32_calls() -> io::Result<()> {
    Ok(())
}
