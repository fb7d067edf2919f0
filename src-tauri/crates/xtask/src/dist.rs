//! `cargo xtask dist`: builds the installers, and verifies that they exist.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::archive;
use crate::command;
use crate::debian_package;
use crate::failure::Failure;
use crate::man_and_completions;
use crate::package_check;
use crate::paths;
use crate::progress::Progress;
use crate::publish::metainfo::{self, MetainfoOptions};
use crate::publish::product::Product;
use crate::run::{ENGINE_NAME, ENGINE_PACKAGE, SANDBOX_PACKAGE};
use crate::system_packages::{self, PackagePurpose};
use crate::tauri_cli;
use crate::ui;
use crate::update_source::{self, UpdateSource};

/// Bundles that are built by default: those that this system can build without further downloads.
const BUNDLES: &str = if cfg!(target_os = "macos") {
    "dmg"
} else if cfg!(windows) {
    "msi,nsis"
} else {
    "deb,rpm"
};

/// The kind of bundle that is no installer: the command line alone.
const ARCHIVE: &str = "archive";

/// Puts the engine's program beside the app on Windows. It stands in no configuration file: the app's build script reads
/// those, and would want the program before it is built.
const WINDOWS_CONFIG: &str =
    r#"{"bundle":{"resources":{"target/release/countersign.exe":"countersign.exe"}}}"#;

/// Builds the installers, or tests an existing one.
pub fn run_dist(own: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    match words[..] {
        [] => write_installers(BUNDLES, None),
        ["--bundles", bundles] => write_installers(bundles, None),
        [
            "--bundles",
            bundles,
            "--updates-from",
            endpoint,
            "--updates-key",
            key,
        ] => write_installers(bundles, Some(&UpdateSource { endpoint, key })),
        ["--check"] => package_check::check_package(&find_newest_deb()?),
        _ => Err(Failure::new(
            format!("`cargo xtask dist {}` is not understood.", words.join(" ")),
            "Use `--bundles deb,rpm,archive`, with `--updates-from URL --updates-key KEY` where there is a key, or `--check`.",
        )),
    }
}

fn write_installers(bundles: &str, updates: Option<&UpdateSource>) -> Result<(), Failure> {
    let progress = Progress::start();
    let began = SystemTime::now();
    let kinds: Vec<&str> = bundles.split(',').collect();
    let (archives, installers): (Vec<&str>, Vec<&str>) =
        kinds.iter().partition(|kind| **kind == ARCHIVE);
    let purpose = match installers[..] {
        [] => PackagePurpose::CommandLine,
        _ => PackagePurpose::App,
    };
    progress.stage("system packages", || {
        system_packages::ensure_packages(purpose)
    })?;
    build_engine(&progress)?;
    if !archives.is_empty() {
        progress.stage("archive of the command line", || {
            archive::write_archive().map(|_| true)
        })?;
    }
    if !installers.is_empty() {
        bundle_app(&progress, &installers.join(","), updates)?;
    }
    for (deb, _) in find_bundles_since("deb", began)? {
        progress.stage("Debian's package with xz", || {
            debian_package::recompress_package(&deb)
        })?;
    }
    for kind in kinds {
        let files = find_bundles_since(kind, began)?;
        // The bundler also ends well when it has written nothing.
        if files.is_empty() {
            return Err(Failure::new(
                format!("The bundler ended well but wrote no {kind}."),
                "Ask only for what this system can build: deb and rpm on Linux, dmg on macOS, msi and nsis on Windows.",
            ));
        }
        for (file, bytes) in files {
            println!("{}  {:.1} MB", file.display(), bytes as f64 / 1e6);
        }
    }
    Ok(())
}

/// Builds the programs that every bundle contains.
fn build_engine(progress: &Progress) -> Result<(), Failure> {
    progress.stage("command line and sandbox program", || {
        let arguments = [&["--release"], &ENGINE_PACKAGE[..], &SANDBOX_PACKAGE[..]];
        let what = "The command line and the sandbox program could not be built.";
        command::build_programs(command::cargo_command(), &arguments.concat(), what)
    })
}

/// Builds the app and lets Tauri write its installers.
fn bundle_app(
    progress: &Progress,
    bundles: &str,
    updates: Option<&UpdateSource>,
) -> Result<(), Failure> {
    let bundles = match updates {
        Some(_) => update_source::kinds_with_updates(bundles),
        None => bundles.to_owned(),
    };
    progress.stage("UI packages", ui::install_packages)?;
    progress.stage("UI build", ui::build_ui)?;
    progress.stage("Tauri command line", tauri_cli::ensure_tauri_cli)?;
    if cfg!(target_os = "linux") {
        progress.stage("manual, completions and metainfo", || {
            let countersign = paths::built_program("release", ENGINE_NAME);
            let folder = man_and_completions::documents_folder();
            man_and_completions::write_documents(&countersign, &folder)?;
            write_metainfo(&folder).map(|()| true)
        })?;
    }
    progress.stage("app and installers", || {
        let mut tauri = Command::new(tauri_cli::tauri_cli_path());
        tauri.current_dir(paths::repo_root()).args(["build", "--ci", "--bundles", &bundles]);
        if cfg!(windows) {
            tauri.args(["--config", WINDOWS_CONFIG]);
        }
        if let Some(updates) = updates {
            tauri.args(["--config", &updates.config()]);
        }
        let next = "Read the message above; an AppImage needs a download, dmg needs macOS, msi and nsis need Windows.";
        command::run_command(&mut tauri, "The installers could not be written.", next).map(|()| true)
    })?;
    match updates.is_some() && cfg!(target_os = "macos") {
        true => update_source::name_mac_archive(&Product::read()?),
        false => Ok(()),
    }
}

/// Writes the AppStream metainfo that the packages for Linux contain.
fn write_metainfo(folder: &Path) -> Result<(), Failure> {
    let product = Product::read()?;
    let options = MetainfoOptions {
        identifier: &product.identifier,
        // The one that Tauri writes.
        desktop_file: &format!("{}.desktop", product.name),
        repository: None,
    };
    let text = metainfo::metainfo_text(&product, &options)?;
    let file = folder.join(format!("{}.metainfo.xml", product.identifier));
    std::fs::write(&file, text).map_err(|e| Failure::file_error("write", &file, &e))
}

/// Returns the extension of the files of one kind of bundle.
fn bundle_extension(kind: &str) -> &str {
    match kind {
        "appimage" => "AppImage",
        "nsis" => "exe",
        ARCHIVE if cfg!(windows) => "zip",
        ARCHIVE => "gz",
        other => other,
    }
}

/// Returns the installers of one kind that were written since `began`, with their size in bytes.
fn find_bundles_since(kind: &str, began: SystemTime) -> Result<Vec<(PathBuf, u64)>, Failure> {
    let dir = paths::target_dir()
        .join("release")
        .join("bundle")
        .join(kind);
    let Ok(entries) = std::fs::read_dir(&dir) else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Failure::file_error("read", &dir, &e))?;
        let data = entry
            .metadata()
            .map_err(|e| Failure::file_error("read", &entry.path(), &e))?;
        let fresh = data.modified().is_ok_and(|written| written >= began);
        if data.is_file() && fresh && has_extension(&entry.path(), bundle_extension(kind)) {
            files.push((entry.path(), data.len()));
        }
    }
    files.sort();
    Ok(files)
}

fn find_newest_deb() -> Result<PathBuf, Failure> {
    let files = find_bundles_since("deb", SystemTime::UNIX_EPOCH)?;
    let written = |file: &PathBuf| {
        std::fs::metadata(file)
            .and_then(|data| data.modified())
            .ok()
    };
    files
        .into_iter()
        .map(|(file, _)| file)
        .max_by_key(written)
        .ok_or_else(|| {
            Failure::new(
                "There is no .deb to try out.",
                "Run `cargo xtask dist` first.",
            )
        })
}

fn has_extension(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|e| e == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_known_by_their_endings() {
        let table = [
            ("deb", "Countersign_0.1.0_amd64.deb", true),
            ("rpm", "Countersign-0.1.0-1.x86_64.rpm", true),
            ("appimage", "Countersign_0.1.0_amd64.AppImage", true),
            ("nsis", "Countersign_0.1.0_x64-setup.exe", true),
            ("msi", "Countersign_0.1.0_x64_en-US.msi", true),
            ("dmg", "Countersign_0.1.0_aarch64.dmg", true),
            (
                ARCHIVE,
                &archive::archive_name("0.1.0", "here"),
                cfg!(not(windows)),
            ),
            ("deb", "control", false),
            ("deb", "Countersign_0.1.0_amd64.deb.tmp", false),
        ];
        for (kind, file, is) in table {
            assert_eq!(
                has_extension(Path::new(file), bundle_extension(kind)),
                is,
                "{kind} {file}"
            );
        }
    }
}
