//! The Tauri command line, which writes the installers: npm puts it into target/.
//!
//! It is no dependency of the UI: its packages for other systems are not to be had from every registry, and a
//! lockfile that names them would then fail where nobody bundles anything.

use std::path::PathBuf;

use crate::command;
use crate::failure::Failure;
use crate::place;

/// The version that the installers were tried out with.
const VERSION: &str = "2.12.5";

/// Where the program is once it is there.
pub fn path() -> PathBuf {
    let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
    folder().join("node_modules").join(".bin").join(name)
}

/// Sees to it that the program is there. Answers whether it had to be installed.
pub fn ensure() -> Result<bool, Failure> {
    if path().is_file() {
        return Ok(false);
    }
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file("make", &folder, &e))?;
    let mut npm = command::npm();
    npm.current_dir(&folder)
        .args(["install", "--silent", "--no-save", "--prefix", "."]);
    command::run(
        npm.arg(format!("@tauri-apps/cli@{VERSION}")),
        "The Tauri command line, which writes the installers, could not be installed.",
        "Check that the npm registry can be reached, then run the same command again.",
    )?;
    Ok(true)
}

/// One folder for each version, so that a new version is a new installation.
fn folder() -> PathBuf {
    place::tools().join(format!("tauri-cli-{VERSION}"))
}
