//! The command line alone, as an archive: for package managers, containers, and machines without a desktop.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::run::{ENGINE_NAME, SANDBOX_NAME};

/// Files of the checkout that an archive contains.
const LICENCE_FILES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Returns the name of the archive of a version for a target, such as `x86_64-unknown-linux-gnu`.
pub fn archive_name(version: &str, target: &str) -> String {
    let ending = match target.contains("windows") {
        true => "zip",
        false => "tar.gz",
    };
    format!("{ENGINE_NAME}-{version}-{target}.{ending}")
}

/// Returns the folder that everything in an archive is in: its name without the ending.
pub fn folder_name(archive: &str) -> &str {
    let without = archive.strip_suffix(".tar.gz");
    without
        .or_else(|| archive.strip_suffix(".zip"))
        .unwrap_or(archive)
}

/// Packs the programs that were built in release mode, with their licences. Returns the archive.
pub fn write_archive() -> Result<PathBuf, Failure> {
    let name = archive_name(env!("CARGO_PKG_VERSION"), &host_target());
    let home = paths::target_dir().join("release/bundle/archive");
    let mut files: Vec<PathBuf> = LICENCE_FILES
        .iter()
        .map(|file| paths::repo_root().join(file))
        .collect();
    files.push(paths::built_program("release", ENGINE_NAME));
    // On Windows there is no sandbox to enter.
    if !cfg!(windows) {
        files.push(paths::built_program("release", SANDBOX_NAME));
    }
    pack_files(&files, &home, &name)
}

/// Packs files into a new archive in `home`, below the folder that an archive of this name has.
fn pack_files(files: &[PathBuf], home: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = home.join(folder_name(name));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| Failure::file_error("remove", &folder, &e))?;
    }
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file_error("make", &folder, &e))?;
    for file in files {
        let copy = folder.join(file.file_name().unwrap_or_default());
        std::fs::copy(file, &copy).map_err(|e| Failure::file_error("copy", file, &e))?;
    }
    let mut tar = Command::new(tar_program());
    // Without it, the one of macOS puts a file with attributes beside each.
    tar.env("COPYFILE_DISABLE", "1").current_dir(home).args([
        "--auto-compress",
        "-cf",
        name,
        folder_name(name),
    ]);
    let next = "Read the message of `tar` above.";
    command::run_command(&mut tar, "The archive could not be packed.", next)?;
    std::fs::remove_dir_all(&folder).map_err(|e| Failure::file_error("remove", &folder, &e))?;
    Ok(home.join(name))
}

/// Returns the `tar` of the system. On Windows another one may come first on PATH that cannot write `.zip`.
fn tar_program() -> PathBuf {
    match std::env::var_os("SystemRoot") {
        Some(windows) if cfg!(windows) => PathBuf::from(windows).join("System32").join("tar.exe"),
        _ => "tar".into(),
    }
}

/// Returns the target that programs are built for here.
fn host_target() -> String {
    let system = match std::env::consts::OS {
        "macos" => "apple-darwin",
        "windows" => "pc-windows-msvc",
        _ => "unknown-linux-gnu",
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_named_after_version_and_target() {
        let linux = archive_name("1.2.0", "x86_64-unknown-linux-gnu");
        assert_eq!(linux, "countersign-1.2.0-x86_64-unknown-linux-gnu.tar.gz");
        let windows = archive_name("1.2.0", "x86_64-pc-windows-msvc");
        assert_eq!(windows, "countersign-1.2.0-x86_64-pc-windows-msvc.zip");
        assert_eq!(
            folder_name(&windows),
            "countersign-1.2.0-x86_64-pc-windows-msvc"
        );
    }

    /// What `cargo binstall` computes from its settings is what is packed here.
    #[test]
    fn binstall_looks_for_what_is_packed() {
        let manifest = paths::repo_root().join("src-tauri/crates/cli/Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        let urls: Vec<&str> = manifest
            .lines()
            .filter_map(|line| {
                line.strip_prefix("pkg-url = \"{ repo }/releases/download/v{ version }/")
            })
            .map(|line| line.trim_end_matches('"'))
            .collect();
        let targets = ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc"];
        assert_eq!(urls.len(), targets.len());
        for (url, target) in urls.into_iter().zip(targets) {
            let name = url
                .replace("{ version }", "1.2.0")
                .replace("{ target }", target);
            assert_eq!(name, archive_name("1.2.0", target));
        }
        let folder = folder_name("countersign-{ version }-{ target }.tar.gz");
        let bin_dir = format!("bin-dir = \"{folder}/{{ bin }}{{ binary-ext }}\"");
        assert!(manifest.contains(&bin_dir), "{bin_dir}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_packed_is_below_one_folder() {
        let home = paths::target_dir().join(format!("archive-{}", std::process::id()));
        let file = paths::repo_root().join("LICENSE-MIT");
        std::fs::create_dir_all(&home).unwrap();
        let archive = pack_files(&[file], &home, "countersign-1.2.0-here.tar.gz").unwrap();
        let list = command::read_output(Command::new("tar").arg("-tzf").arg(&archive)).unwrap();
        let left: Vec<_> = std::fs::read_dir(&home).unwrap().collect();
        assert_eq!(left.len(), 1, "only the archive is left");
        std::fs::remove_dir_all(&home).unwrap();
        assert_eq!(
            list,
            "countersign-1.2.0-here/\ncountersign-1.2.0-here/LICENSE-MIT\n"
        );
    }
}
