//! The files of a release, each with the checksum that was attached beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::product::Product;
use crate::archive;
use crate::failure::Failure;

/// A file whose checksum was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFile {
    /// The file's name.
    pub name: String,
    /// The file here.
    pub path: PathBuf,
    /// The address that people download it from.
    pub url: String,
    /// Its SHA-256 in small hexadecimal letters.
    pub sha256: String,
}

/// The files that repositories and manifests lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Address of the repository that the release is in, without a slash at its end.
    pub repository: String,
    /// The app for Debian and Ubuntu.
    pub deb: ReleaseFile,
    /// The app for Fedora and its relatives.
    pub rpm: ReleaseFile,
    /// The app for Macs with Apple's processors.
    pub dmg_arm: ReleaseFile,
    /// The app for Macs with Intel's processors.
    pub dmg_intel: ReleaseFile,
    /// The app for all users of a Windows machine.
    pub msi: ReleaseFile,
    /// The app for one user of a Windows machine.
    pub setup: ReleaseFile,
    /// The command line for Linux.
    pub archive_linux: ReleaseFile,
    /// The command line for Macs with Apple's processors.
    pub archive_mac_arm: ReleaseFile,
    /// The command line for Macs with Intel's processors.
    pub archive_mac_intel: ReleaseFile,
    /// The command line for Windows.
    pub archive_windows: ReleaseFile,
}

impl Release {
    /// Finds the files in a folder and compares each with its checksum. A file or checksum that is missing or wrong is
    /// refused by name. `repository` is the address of the repository.
    pub fn read(folder: &Path, product: &Product, repository: &str) -> Result<Self, Failure> {
        let repository = repository.trim_end_matches('/').to_owned();
        let downloads = downloads_address(&repository, product);
        let [
            deb,
            rpm,
            dmg_arm,
            dmg_intel,
            msi,
            setup,
            archive_linux,
            archive_mac_arm,
            archive_mac_intel,
            archive_windows,
        ] = file_names(product).map(|name| read_file(folder, &downloads, name));
        Ok(Self {
            deb: deb?,
            rpm: rpm?,
            dmg_arm: dmg_arm?,
            dmg_intel: dmg_intel?,
            msi: msi?,
            setup: setup?,
            archive_linux: archive_linux?,
            archive_mac_arm: archive_mac_arm?,
            archive_mac_intel: archive_mac_intel?,
            archive_windows: archive_windows?,
            repository,
        })
    }
}

/// Returns the names of a release's files, in the order of [`Release`]: as Tauri names the installers, and we the archives.
pub fn file_names(product: &Product) -> [String; 10] {
    let Product { name, version, .. } = product;
    let archive = |target| archive::archive_name(version, target);
    [
        format!("{name}_{version}_amd64.deb"),
        format!("{name}-{version}-1.x86_64.rpm"),
        format!("{name}_{version}_aarch64.dmg"),
        format!("{name}_{version}_x64.dmg"),
        format!("{name}_{version}_x64_en-US.msi"),
        format!("{name}_{version}_x64-setup.exe"),
        archive("x86_64-unknown-linux-gnu"),
        archive("aarch64-apple-darwin"),
        archive("x86_64-apple-darwin"),
        archive("x86_64-pc-windows-msvc"),
    ]
}

/// Returns the address that the files of the release are below.
pub fn downloads_address(repository: &str, product: &Product) -> String {
    let repository = repository.trim_end_matches('/');
    format!("{repository}/releases/download/v{}", product.version)
}

/// Finds one file; `downloads` is the address that the release's files are below.
pub fn read_file(folder: &Path, downloads: &str, name: String) -> Result<ReleaseFile, Failure> {
    let path = folder.join(&name);
    if !path.is_file() {
        return Err(Failure::new(
            format!("The release has no {name}."),
            format!(
                "Put it into {}, with its checksum beside it.",
                folder.display()
            ),
        ));
    }
    let sha256 = compute_sha256(&path)?;
    match read_stated_sha256(&path) {
        Some(stated) if stated == sha256 => Ok(ReleaseFile {
            url: format!("{downloads}/{name}"),
            name,
            path,
            sha256,
        }),
        Some(_) => Err(Failure::new(
            format!("{name} is not the file that {name}.sha256 states the checksum of."),
            "Download both again.",
        )),
        None => Err(Failure::new(
            format!("There is no checksum of {name}: {name}.sha256 is missing, or states none."),
            "Download it from the release, which has one beside each file.",
        )),
    }
}

/// Computes the SHA-256 of a file, in small hexadecimal letters.
fn compute_sha256(file: &Path) -> Result<String, Failure> {
    // A name on the command line may put a backslash before the checksum; one on standard input is never written.
    let opened = std::fs::File::open(file).map_err(|e| Failure::file_error("read", file, &e))?;
    let output = Command::new("sha256sum").stdin(opened).output();
    let output = output.ok().filter(|output| output.status.success());
    output
        .and_then(|output| parse_sha256(&String::from_utf8_lossy(&output.stdout)))
        .ok_or_else(|| {
            Failure::new(
                format!("`sha256sum` computed no checksum of {}.", file.display()),
                "Install GNU's coreutils, which bring it.",
            )
        })
}

/// Returns the checksum that the file beside this one states.
fn read_stated_sha256(file: &Path) -> Option<String> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".sha256");
    parse_sha256(&std::fs::read_to_string(beside).ok()?)
}

/// Returns the checksum at the beginning of a line of `sha256sum`.
fn parse_sha256(line: &str) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let is_checksum = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_checksum.then(|| word.to_ascii_lowercase())
}
