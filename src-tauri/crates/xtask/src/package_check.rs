//! Tests the .deb as a person would use it: installs it, starts the installed program, and removes it again.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;
use crate::run::APP_NAME;
use crate::screenshots;
use crate::system_packages::{self, PackagePurpose};

/// The Debian package's name: the product's, in small letters.
const PACKAGE_NAME: &str = "countersign";

/// What starts the app from a menu.
const DESKTOP_FILE: &str = "/usr/share/applications/Countersign.desktop";

/// What software centres show of the app.
const METAINFO: &str = "/usr/share/metainfo/app.countersign.desktop.metainfo.xml";

/// Files that the package must install, besides its icons.
const INSTALLED_FILES: [&str; 10] = [
    "/usr/bin/countersign-desktop",
    "/usr/bin/countersign",
    "/usr/lib/countersign/countersign-sandbox",
    DESKTOP_FILE,
    METAINFO,
    "/usr/share/doc/countersign/LICENSE-MIT",
    "/usr/share/man/man1/countersign.1.gz",
    "/usr/share/bash-completion/completions/countersign",
    "/usr/share/zsh/vendor-completions/_countersign",
    "/usr/share/fish/vendor_completions.d/countersign.fish",
];

/// Installs the package, uses it and removes it; also removes it when a check fails.
pub fn check_package(deb: &Path) -> Result<(), Failure> {
    let progress = Progress::start();
    if paths::find_on_path("dpkg").is_none() {
        return Err(Failure::new(
            "A .deb can be tried out on Debian and Ubuntu only.",
            "Run `cargo xtask dist --check` there.",
        ));
    }
    if is_installed() {
        return Err(Failure::new(
            "Countersign is installed here already, and the check would remove it.",
            "Remove it first: `sudo apt-get remove countersign`.",
        ));
    }
    progress.stage("system packages", || {
        let readers = ["appstream", "desktop-file-utils"];
        let installed = system_packages::ensure_debian_packages(&readers)?;
        Ok(system_packages::ensure_packages(PackagePurpose::Pictures)? || installed)
    })?;
    let deb = deb.display().to_string();
    let result = progress
        .stage("install", || {
            system_packages::run_apt_get(&["install", "-y", "-qq", &deb]).map(|()| true)
        })
        .and_then(|()| {
            progress.stage("what it installed", || {
                check_installed_programs().map(|()| true)
            })
        });
    let removed = progress.stage("remove", || {
        system_packages::run_apt_get(&["remove", "-y", "-qq", PACKAGE_NAME])
            .and_then(|()| check_removed())
            .map(|()| true)
    });
    result.and(removed)?;
    println!("{deb} installs, opens its window, answers on the command line, and goes away again.");
    Ok(())
}

fn check_installed_programs() -> Result<(), Failure> {
    if let Some(missing) = INSTALLED_FILES
        .iter()
        .find(|file| !Path::new(file).is_file())
    {
        return Err(Failure::new(
            format!("The package brought no {missing}."),
            "Look at bundle.linux.deb in tauri.conf.json.",
        ));
    }
    check_menu_entry()?;
    let version = command::read_output(Command::new("/usr/bin/countersign").arg("--version"))
        .ok_or_else(|| {
            Failure::new(
                "The installed command line did not say its version.",
                "Run `/usr/bin/countersign --version` after installing the package by hand.",
            )
        })?;
    println!("    {}", version.trim());
    check_dry_run()?;
    screenshots::check_window_draws(&Path::new("/usr/bin").join(APP_NAME))
}

/// Checks that menus and software centres can read what the package says of the app.
fn check_menu_entry() -> Result<(), Failure> {
    let mut desktop_file = Command::new("desktop-file-validate");
    let what = "The desktop file is not valid.";
    command::run_command(
        desktop_file.arg(DESKTOP_FILE),
        what,
        "Read the message above.",
    )?;
    let mut metainfo = Command::new("appstreamcli");
    metainfo.args(["validate", "--no-net", METAINFO]);
    let what = "The metainfo is not valid.";
    command::run_command(
        &mut metainfo,
        what,
        "Correct src/publish/metainfo.rs in xtask.",
    )
}

/// Checks that a command finds its sandbox: otherwise the package is not assembled correctly.
fn check_dry_run() -> Result<(), Failure> {
    let report = command::read_output(Command::new("/usr/bin/countersign").arg("doctor"));
    let report = report.unwrap_or_default();
    let first = report.lines().next().unwrap_or_default();
    println!("    {first}");
    match report.is_empty() || report.contains("countersign-sandbox") {
        false => Ok(()),
        true => Err(Failure::new(
            "The installed command line does not find the sandbox program.",
            "Run `/usr/bin/countersign doctor` after installing the package by hand.",
        )),
    }
}

fn is_installed() -> bool {
    command::read_output(Command::new("dpkg").args(["-s", PACKAGE_NAME]))
        .is_some_and(|status| status.contains("Status: install ok installed"))
}

fn check_removed() -> Result<(), Failure> {
    match INSTALLED_FILES.iter().find(|file| Path::new(file).exists()) {
        None => Ok(()),
        Some(left) => Err(Failure::new(
            format!("Removing the package left {left} behind."),
            "Look at the package's scripts, then remove the file by hand.",
        )),
    }
}
