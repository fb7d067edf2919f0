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
    "/sys/devices/system/cpu/",
    "/sys/fs/cgroup/",
    "/proc/self/",
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
    fact.derived && is_plain && (DEVICES.contains(&path) || is_temporary || (is_read && is_system))
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
}
