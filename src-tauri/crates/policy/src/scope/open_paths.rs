//! Paths outside of the workspace that a command in the sandbox may touch without harm: what every process reads, the
//! devices that keep nothing, and the sandbox's own folder for temporary files.

use protocol::{Capability, ResolvedAccess};

/// Folders whose files belong to the system and are open to everybody.
const SYSTEM_FOLDERS: &[&str] = &[
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/etc/ssl/certs/",
    "/etc/ca-certificates/",
    "/etc/alternatives/",
    "/etc/ld.so.conf.d/",
    "/sys/class/",
    "/sys/devices/system/",
    "/sys/devices/virtual/",
    "/sys/fs/cgroup/",
    "/sys/kernel/mm/",
    "/proc/sys/",
    "/dev/fd/",
];

/// Files of the system that are open to everybody.
const SYSTEM_FILES: &[&str] = &[
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/services",
    "/etc/protocols",
    "/etc/shells",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ssl/openssl.cnf",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/partitions",
    "/proc/diskstats",
    "/proc/swaps",
    "/proc/vmstat",
    "/proc/devices",
];

/// Devices that give and take bytes and keep none.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// Folders into which programs are installed. One is named by `--prefix=/usr` long before anything is.
const INSTALL_FOLDERS: &[&str] = &["/usr", "/usr/local", "/opt"];

/// The folder for temporary files, of which every sandbox has its own.
const TEMPORARY_FOLDER: &str = "/tmp";

/// Whether an access of a command in the sandbox reaches nothing that is anybody's: it is what the command line names,
/// and the sandbox holds the command to it.
pub(super) fn is_open_in_sandbox(fact: &ResolvedAccess) -> bool {
    let path = fact.real.as_str();
    let is_plain = !path.split('/').any(|part| part == "..");
    let is_read = fact.capability == Capability::FsRead;
    let is_system = SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || SYSTEM_FILES.contains(&path);
    let is_temporary = path.strip_prefix(TEMPORARY_FOLDER);
    let is_temporary =
        is_temporary.is_some_and(|below| below.starts_with('/') || below.is_empty() && is_read);
    let is_open_to_read = is_system || is_own_process(fact);
    fact.derived
        && is_plain
        && (DEVICES.contains(&path) || is_temporary || (is_read && is_open_to_read))
}

/// Whether a word of a command in the sandbox may name a folder for installed programs: the sandbox keeps it from being
/// written to, and a program that tries is asked about. Not what a program is known to write.
pub(super) fn is_install_folder(fact: &ResolvedAccess) -> bool {
    fact.derived && INSTALL_FOLDERS.contains(&fact.real.trim_end_matches('/'))
}

/// Whether a path is what the kernel says of the process that reads it, as `/proc/self/status` and `/proc/net/tcp` are:
/// they lead to the folder of the process that resolves them. A link in that folder leads out of it.
fn is_own_process(fact: &ResolvedAccess) -> bool {
    let Some((process, below)) = fact
        .real
        .strip_prefix("/proc/")
        .and_then(|path| path.split_once('/'))
    else {
        return false;
    };
    let named = fact.target.strip_prefix("/proc/").unwrap_or_default();
    let is_named =
        named.strip_prefix("self/") == Some(below) || named == below && below.starts_with("net/");
    process.bytes().all(|byte| byte.is_ascii_digit()) && is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nobodys_is_open_and_the_rest_is_not() {
        use Capability::{FsDelete, FsRead, FsWrite};
        for (capability, path, is_open) in [
            (FsRead, "/etc/os-release", true),
            (FsRead, "/usr/share/dict/words", true),
            (FsRead, "/dev/urandom", true),
            (FsRead, "/sys/devices/virtual/net/lo/mtu", true),
            (FsRead, "/proc/sys/kernel/pid_max", true),
            (FsWrite, "/proc/sys/kernel/core_pattern", false),
            (FsWrite, "/dev/null", true),
            (FsWrite, "/tmp/out.log", true),
            (FsDelete, "/tmp/out.log", true),
            (FsWrite, "/usr/local/bin/x", false),
            (FsRead, "/etc/passwd", false),
            (FsRead, "/etc/shadow", false),
            (FsRead, "/home/mira/.ssh/id_rsa", false),
            (FsRead, "/tmp", true),
            (FsWrite, "/tmp", false),
            (FsRead, "/tmpfile", false),
            (FsRead, "/tmp/../etc/shadow", false),
            (FsWrite, "/var/tmp/x", false),
            (FsRead, "/proc/1/environ", false),
        ] {
            let fact = ResolvedAccess {
                inside: false,
                derived: true,
                ..ResolvedAccess::new_inside(capability, path)
            };
            assert_eq!(is_open_in_sandbox(&fact), is_open, "{capability:?} {path}");
            let named_by_a_tool = ResolvedAccess {
                derived: false,
                ..fact
            };
            assert!(!is_open_in_sandbox(&named_by_a_tool), "{path}");
        }
    }

    #[test]
    fn a_process_reads_of_itself_and_of_no_other() {
        for (target, real, is_open) in [
            ("/proc/self/status", "/proc/71/status", true),
            ("/proc/self/fd", "/proc/71/fd", true),
            ("/proc/net/tcp", "/proc/71/net/tcp", true),
            ("/proc/71/status", "/proc/71/status", false),
            ("/proc/1/environ", "/proc/1/environ", false),
            ("/proc/self/root/etc/shadow", "/etc/shadow", false),
            ("/proc/self/cwd/../x", "/home/mira/x", false),
            ("link", "/proc/71/environ", false),
        ] {
            let fact = ResolvedAccess {
                inside: false,
                derived: true,
                target: target.to_owned(),
                ..ResolvedAccess::new_inside(Capability::FsRead, real)
            };
            assert_eq!(is_open_in_sandbox(&fact), is_open, "{target}");
        }
    }
}
