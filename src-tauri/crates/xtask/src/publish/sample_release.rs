//! A made-up release: small files under the names of a real one, each with its checksum beside it.

use std::path::Path;
use std::process::Command;

use super::product::Product;
use super::release;
use super::text::write_text;
use super::updates;
use crate::command;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Files of the real `.deb` that its manifests name, besides the command line.
const DEB_FILES: [&str; 3] = [
    "usr/share/doc/countersign/LICENSE-APACHE",
    "usr/share/doc/countersign/LICENSE-MIT",
    "usr/share/zsh/vendor-completions/_countersign",
];

/// Writes all files of a release. None of them can be installed.
pub fn write_files(folder: &Path, product: &Product) -> Result<(), Failure> {
    let updates = updates::list_files(product).map(|file| file.name);
    for name in release::file_names(product).into_iter().chain(updates) {
        write_text(&folder.join(&name), &format!("made up: {name}\n"))?;
        write_checksum(folder, &name)?;
    }
    Ok(())
}

/// Writes the checksum of a file beside it, as the workflow does.
pub fn write_checksum(folder: &Path, name: &str) -> Result<(), Failure> {
    let mut sha256sum = Command::new("sha256sum");
    sha256sum.current_dir(folder).arg(name);
    let line = command::read_output(&mut sha256sum).ok_or_else(|| {
        Failure::new(
            format!("`sha256sum` computed no checksum of {name}."),
            "Install GNU's coreutils, which bring it.",
        )
    })?;
    write_text(&folder.join(format!("{name}.sha256")), &line)
}

/// Replaces the packages for Linux by some that can be installed: with a command line that says its version.
pub fn write_packages(folder: &Path, product: &Product) -> Result<(), Failure> {
    let version = &product.version;
    let [deb, rpm, ..] = release::file_names(product);
    let work = folder.join("work");
    let program = format!("#!/bin/sh\necho {ENGINE_NAME} {version}\n");
    write_text(&work.join(ENGINE_NAME), &program)?;
    let mut install = Command::new("install");
    install
        .current_dir(&work)
        .args(["-D", "-m", "755", "-t", "deb/usr/bin"]);
    run_builder(install.arg(ENGINE_NAME), "made-up program")?;
    for file in DEB_FILES {
        write_text(&work.join("deb").join(file), "made up\n")?;
    }
    let control = format!(
        "Package: {ENGINE_NAME}\nVersion: {version}\nArchitecture: amd64\nMaintainer: {}\nDescription: {}\n",
        product.publisher, product.summary
    );
    write_text(&work.join("deb/DEBIAN/control"), &control)?;
    let mut build = Command::new("dpkg-deb");
    build.current_dir(folder);
    build.args(["--root-owner-group", "--build", "work/deb", &deb]);
    run_builder(&mut build, "made-up .deb")?;

    let spec = format!(
        "Name: {ENGINE_NAME}\nVersion: {version}\nRelease: 1\nSummary: {}\nLicense: {}\nAutoReq: no\n\
         %description\n%{{summary}}\n\
         %install\ninstall -D -m 755 {} %{{buildroot}}/usr/bin/{ENGINE_NAME}\n\
         %files\n/usr/bin/{ENGINE_NAME}\n",
        product.summary,
        product.licence,
        work.join(ENGINE_NAME).display(),
    );
    write_text(&work.join("made-up.spec"), &spec)?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--target", "x86_64-linux"]);
    build
        .arg("--define")
        .arg(format!("_topdir {}/rpm", work.display()));
    build.arg(work.join("made-up.spec"));
    run_builder(&mut build, "made-up .rpm")?;
    let built = work.join(format!(
        "rpm/RPMS/x86_64/{ENGINE_NAME}-{version}-1.x86_64.rpm"
    ));
    std::fs::copy(&built, folder.join(&rpm))
        .map_err(|e| Failure::file_error("copy", &built, &e))?;

    for package in [&deb, &rpm] {
        write_checksum(folder, package)?;
    }
    std::fs::remove_dir_all(&work).map_err(|e| Failure::file_error("remove", &work, &e))
}

fn run_builder(builder: &mut Command, what: &str) -> Result<(), Failure> {
    let what = format!("The {what} could not be built.");
    command::run_command(builder, &what, "Read the message above.")
}
