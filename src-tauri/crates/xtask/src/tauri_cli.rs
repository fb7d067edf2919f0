//! The Tauri command line, which builds the installers: npm installs it into target/.
//!
//! It is no dependency of the UI: its packages for other systems are not available from every registry, and a lockfile
//! that names them would then fail where nobody builds installers.

use std::path::PathBuf;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// The version that the installers were tested with.
const TAURI_CLI_VERSION: &str = "2.12.5";

/// Returns the path of the installed program.
pub fn tauri_cli_path() -> PathBuf {
    let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
    install_folder()
        .join("node_modules")
        .join(".bin")
        .join(name)
}

/// Ensures that the program is installed. Returns whether it had to be installed.
pub fn ensure_tauri_cli() -> Result<bool, Failure> {
    if tauri_cli_path().is_file() {
        return Ok(false);
    }
    let folder = install_folder();
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file_error("make", &folder, &e))?;
    let mut npm = command::npm_command();
    npm.current_dir(&folder)
        .args(["install", "--silent", "--no-save", "--prefix", "."]);
    command::run_command(
        npm.arg(format!("@tauri-apps/cli@{TAURI_CLI_VERSION}")),
        "The Tauri command line, which writes the installers, could not be installed.",
        "Check that the npm registry can be reached, then run the same command again.",
    )?;
    Ok(true)
}

/// Returns the install folder; each version has its own, so that a new version is a new installation.
fn install_folder() -> PathBuf {
    paths::tools_dir().join(format!("tauri-cli-{TAURI_CLI_VERSION}"))
}
