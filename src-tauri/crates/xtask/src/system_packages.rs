//! System packages: those that a command needs, those that are missing, and how they are installed.

use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// Purpose of the packages. Each includes the packages of the purposes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackagePurpose {
    /// The command line: no window, no GTK.
    CommandLine,
    /// Building and opening the app.
    App,
    /// Running all tests, the window tests included.
    Tests,
    /// Taking screenshots of the app in a virtual display.
    Pictures,
    /// Filming the app in a virtual display.
    Film,
}

/// Programs that the tests need, by the name that their packages have everywhere.
const TEST_PROGRAMS: &[&str] = &["git", "curl", "ripgrep", "rsync", "zip"];

/// A package manager whose package names we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackageManager {
    Apt,
    Dnf,
    Pacman,
    Brew,
}

impl PackageManager {
    /// Returns the first one found on this machine.
    fn detect() -> Option<Self> {
        let known = [
            (Self::Apt, "apt-get"),
            (Self::Dnf, "dnf"),
            (Self::Pacman, "pacman"),
            (Self::Brew, "brew"),
        ];
        known
            .into_iter()
            .find(|(_, program)| paths::find_on_path(program).is_some())
            .map(|(manager, _)| manager)
    }

    /// Returns the packages that a purpose adds to those of the purposes before it, but for [`TEST_PROGRAMS`].
    fn packages_for(self, purpose: PackagePurpose) -> &'static [&'static str] {
        match (self, purpose) {
            (Self::Apt, PackagePurpose::CommandLine) => &["pkg-config", "libdbus-1-dev"],
            // The tray icon panics without the appindicator library, and bundling asks for its headers.
            (Self::Apt, PackagePurpose::App) => {
                &["libwebkit2gtk-4.1-dev", "libayatana-appindicator3-dev"]
            }
            (Self::Apt, PackagePurpose::Tests) => &[
                "webkit2gtk-driver",
                "at-spi2-core",
                "xvfb",
                "xauth",
                "dbus",
                "gnome-keyring",
                "imagemagick",
                "xdotool",
                "openssh-client",
                "openssh-server",
            ],
            (Self::Dnf, PackagePurpose::CommandLine) => &["pkgconf-pkg-config", "dbus-devel"],
            (Self::Dnf, PackagePurpose::App) => {
                &["webkit2gtk4.1-devel", "libappindicator-gtk3-devel"]
            }
            (Self::Dnf, PackagePurpose::Tests) => &[
                "webkit2gtk-driver",
                "at-spi2-core",
                "xorg-x11-server-Xvfb",
                "xorg-x11-xauth",
                "dbus-daemon",
                "gnome-keyring",
                "ImageMagick",
                "xdotool",
                "openssh-clients",
                "openssh-server",
            ],
            (Self::Pacman, PackagePurpose::CommandLine) => &["pkgconf", "dbus"],
            (Self::Pacman, PackagePurpose::App) => &["webkit2gtk-4.1", "libayatana-appindicator"],
            (Self::Pacman, PackagePurpose::Tests) => &[
                "at-spi2-core",
                "xorg-server-xvfb",
                "xorg-xauth",
                "gnome-keyring",
                "imagemagick",
                "xdotool",
                "openssh",
            ],
            // The web view is part of macOS.
            (Self::Brew, _) | (_, PackagePurpose::Pictures) => &[],
            (_, PackagePurpose::Film) => &["ffmpeg"],
        }
    }

    /// Returns the command that a person types to install packages.
    fn install_line(self, packages: &[&str]) -> String {
        let packages = packages.join(" ");
        match self {
            Self::Apt => format!(
                "sudo apt-get update && sudo apt-get install -y --no-install-recommends {packages}"
            ),
            Self::Dnf => format!("sudo dnf install {packages}"),
            Self::Pacman => format!("sudo pacman -S --needed {packages}"),
            Self::Brew => format!("brew install {packages}"),
        }
    }

    /// Returns those of `packages` that are not installed.
    fn missing_packages(self, packages: &[&'static str]) -> Vec<&'static str> {
        packages
            .iter()
            .copied()
            .filter(|package| !self.has_package(package))
            .collect()
    }

    fn has_package(self, package: &str) -> bool {
        let asks = |program: &str, arguments: &[&str]| {
            command::read_output(Command::new(program).args(arguments).arg(package))
        };
        match self {
            // `dpkg -s` also succeeds for a package of which only the settings are left.
            Self::Apt => asks("dpkg", &["-s"])
                .is_some_and(|status| status.contains("Status: install ok installed")),
            Self::Dnf => asks("rpm", &["-q", "--whatprovides"]).is_some(),
            Self::Pacman => asks("pacman", &["-Q"]).is_some(),
            Self::Brew => {
                paths::find_on_path(if package == "ripgrep" { "rg" } else { package }).is_some()
            }
        }
    }
}

/// Returns all packages for a purpose, those of the smaller purposes first.
fn required_packages(manager: PackageManager, purpose: PackagePurpose) -> Vec<&'static str> {
    let programs: &[&str] = match purpose {
        PackagePurpose::CommandLine | PackagePurpose::App => &[],
        PackagePurpose::Tests | PackagePurpose::Pictures | PackagePurpose::Film => TEST_PROGRAMS,
    };
    [
        PackagePurpose::CommandLine,
        PackagePurpose::App,
        PackagePurpose::Tests,
        PackagePurpose::Pictures,
        PackagePurpose::Film,
    ]
    .into_iter()
    .filter(|smaller| *smaller <= purpose)
    .flat_map(|smaller| manager.packages_for(smaller))
    .chain(programs)
    .copied()
    .collect()
}

/// Ensures that the packages for a purpose are installed. Returns whether packages had to be installed.
///
/// Installs them itself with apt, as root or where sudo asks for no password; everywhere else it fails with the exact
/// command to type.
pub fn ensure_packages(purpose: PackagePurpose) -> Result<bool, Failure> {
    if cfg!(windows) {
        return Ok(false);
    }
    let Some(manager) = PackageManager::detect() else {
        // A build that lacks a library says so by itself; without a package manager we know no better.
        println!(
            "    No apt, dnf, pacman or brew here: taking it that the system libraries are installed."
        );
        return Ok(false);
    };
    install_missing(manager, &required_packages(manager, purpose))
}

/// Ensures that packages of Debian and Ubuntu are installed, by their names there. Returns whether some had to be.
pub fn ensure_debian_packages(packages: &[&'static str]) -> Result<bool, Failure> {
    if PackageManager::detect() != Some(PackageManager::Apt) {
        return Err(Failure::new(
            "This works on Debian and Ubuntu only, which have the programs for it.",
            "Run the same command there.",
        ));
    }
    install_missing(PackageManager::Apt, packages)
}

/// Installs those of `packages` that are missing. Returns whether there were some.
fn install_missing(manager: PackageManager, packages: &[&'static str]) -> Result<bool, Failure> {
    let missing = manager.missing_packages(packages);
    if missing.is_empty() {
        return Ok(false);
    }
    let by_hand = Failure::new(
        format!("These system packages are missing: {}.", missing.join(", ")),
        format!(
            "type `{}`, then run the same command again.",
            manager.install_line(&missing)
        ),
    );
    let Some(prefix) = install_prefix(manager) else {
        return Err(by_hand);
    };
    println!("    installing {}", missing.join(", "));
    install_with_apt(prefix, &["update", "-qq"], &by_hand)?;
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(&missing);
    install_with_apt(prefix, &install, &by_hand)?;
    Ok(true)
}

/// Runs apt-get without questions; a failure contains the command to type.
pub fn run_apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let by_hand = Failure::new(
        format!("`apt-get {}` did not succeed.", arguments.join(" ")),
        "Run it as root, or where sudo asks for no password, and read its message above.",
    );
    match install_prefix(PackageManager::Apt) {
        Some(prefix) => install_with_apt(prefix, arguments, &by_hand),
        None => Err(by_hand),
    }
}

fn install_with_apt(prefix: &[&str], arguments: &[&str], by_hand: &Failure) -> Result<(), Failure> {
    let words: Vec<&str> = prefix
        .iter()
        .chain(&[
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-o",
            "Dpkg::Use-Pty=0",
        ])
        .chain(arguments)
        .copied()
        .collect();
    command::run_command(
        Command::new(words[0]).args(&words[1..]),
        &by_hand.what,
        &by_hand.next,
    )
}

/// Returns the prefix that lets apt-get install packages; none if we may not install.
fn install_prefix(manager: PackageManager) -> Option<&'static [&'static str]> {
    match manager {
        PackageManager::Apt => root_prefix(),
        PackageManager::Dnf | PackageManager::Pacman | PackageManager::Brew => None,
    }
}

/// Returns the words before a command that let it run as root; none where that takes a password.
pub fn root_prefix() -> Option<&'static [&'static str]> {
    if command::read_output(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        return Some(&[]);
    }
    command::read_output(Command::new("sudo").args(["-n", "true"])).map(|_| &["sudo", "-n"][..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_holds_the_packages_of_the_smaller_ones() {
        for manager in [
            PackageManager::Apt,
            PackageManager::Dnf,
            PackageManager::Pacman,
            PackageManager::Brew,
        ] {
            let tests = required_packages(manager, PackagePurpose::Tests);
            for package in required_packages(manager, PackagePurpose::App) {
                assert!(tests.contains(&package), "{manager:?} {package}");
            }
        }
        assert_eq!(
            required_packages(PackageManager::Apt, PackagePurpose::CommandLine),
            ["pkg-config", "libdbus-1-dev"]
        );
    }

    #[test]
    fn the_line_to_type_is_whole() {
        let table = [
            (
                PackageManager::Apt,
                "sudo apt-get update && sudo apt-get install -y --no-install-recommends xvfb git",
            ),
            (PackageManager::Dnf, "sudo dnf install xvfb git"),
            (PackageManager::Pacman, "sudo pacman -S --needed xvfb git"),
            (PackageManager::Brew, "brew install xvfb git"),
        ];
        for (manager, line) in table {
            assert_eq!(manager.install_line(&["xvfb", "git"]), line);
        }
    }

    #[test]
    fn a_package_that_no_one_has_is_missing() {
        if PackageManager::detect() == Some(PackageManager::Apt) {
            let asked = ["dpkg", "countersign-no-such-package"];
            assert_eq!(
                PackageManager::Apt.missing_packages(&asked),
                ["countersign-no-such-package"]
            );
        }
    }
}
