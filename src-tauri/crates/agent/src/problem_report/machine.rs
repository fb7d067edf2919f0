//! The machine: its system by name and number, and nothing that tells whose it is.

use std::path::Path;

use serde::Serialize;

use super::text::VersionNumber;

const KERNEL_FILE: &str = "/proc/sys/kernel/osrelease";
const DISTRIBUTION_FILE: &str = "/etc/os-release";
/// Distributions by the ids that they give themselves. Any other is `another`: its name may be somebody's own.
const DISTRIBUTIONS: [&str; 26] = [
    "almalinux",
    "alpine",
    "amzn",
    "arch",
    "bazzite",
    "cachyos",
    "centos",
    "debian",
    "elementary",
    "endeavouros",
    "fedora",
    "gentoo",
    "kali",
    "linuxmint",
    "manjaro",
    "neon",
    "nixos",
    "opensuse-leap",
    "opensuse-tumbleweed",
    "pop",
    "raspbian",
    "rhel",
    "rocky",
    "ubuntu",
    "void",
    "zorin",
];
/// Types of desktop sessions.
const SESSION_TYPES: [&str; 4] = ["wayland", "x11", "tty", "mir"];
const ANOTHER: &str = "another";

/// The machine.
#[derive(Debug, Serialize)]
pub(super) struct MachineReport {
    system: &'static str,
    distribution: Option<&'static str>,
    distribution_version: Option<VersionNumber>,
    kernel: Option<VersionNumber>,
    architecture: &'static str,
    desktop_session: Option<&'static str>,
}

impl MachineReport {
    pub(super) fn read() -> Self {
        let read = |file: &str| runtime::read_text(Path::new(file)).ok().flatten();
        let kernel = read(KERNEL_FILE);
        let distribution = read(DISTRIBUTION_FILE).unwrap_or_default();
        let session = std::env::var("XDG_SESSION_TYPE").ok();
        Self {
            system: std::env::consts::OS,
            distribution: find_value(&distribution, "ID").map(|id| known_name(&DISTRIBUTIONS, id)),
            distribution_version: find_value(&distribution, "VERSION_ID")
                .and_then(VersionNumber::parse),
            kernel: kernel.as_deref().and_then(VersionNumber::parse),
            architecture: std::env::consts::ARCH,
            desktop_session: session
                .filter(|session| !session.is_empty())
                .map(|session| known_name(&SESSION_TYPES, &session)),
        }
    }
}

/// Returns a value of a file with a `NAME=value` or `NAME="value"` a line.
fn find_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once('='));
    let (_, value) = lines.find(|(found, _)| *found == name)?;
    Some(value.trim_matches(['"', '\'']))
}

fn known_name(names: &[&'static str], name: &str) -> &'static str {
    let known = names.iter().find(|known| **known == name);
    known.copied().unwrap_or(ANOTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_known_are_left_out() {
        let text = "NAME=\"Ada's Linux\"\nID=adalinux\nVERSION_ID=\"24.04\"\n";
        assert_eq!(find_value(text, "VERSION_ID"), Some("24.04"));
        let id = find_value(text, "ID").unwrap();
        assert_eq!(known_name(&DISTRIBUTIONS, id), ANOTHER);
        assert_eq!(known_name(&DISTRIBUTIONS, "ubuntu"), "ubuntu");
        assert_eq!(find_value(text, "BUILD_ID"), None);
    }
}
