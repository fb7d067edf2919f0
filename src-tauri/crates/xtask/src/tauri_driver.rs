//! tauri-driver, with which a test controls the window: found where cargo installs programs, or installed into target/.

use std::path::PathBuf;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// The version that the window tests were written with.
const TAURI_DRIVER_VERSION: &str = "2.1.0";

/// Returns the path of tauri-driver, if it is installed already.
pub fn find_driver() -> Option<PathBuf> {
    let name = format!("tauri-driver{}", std::env::consts::EXE_SUFFIX);
    let own = paths::tools_dir().join("bin").join(&name);
    if own.is_file() {
        return Some(own);
    }
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        #[allow(deprecated, reason = "the one thing it was deprecated for, HOME on Windows, was repaired in Rust 1.85")]
        std::env::home_dir().map(|home| home.join(".cargo"))
    })?;
    let shared = cargo_home.join("bin").join(name);
    shared.is_file().then_some(shared)
}

/// Ensures that tauri-driver is installed. Returns whether it had to be installed.
pub fn ensure_driver() -> Result<bool, Failure> {
    if find_driver().is_some() {
        return Ok(false);
    }
    let mut cargo = command::cargo_command();
    cargo.args([
        "install",
        "--quiet",
        "--locked",
        &format!("tauri-driver@{TAURI_DRIVER_VERSION}"),
        "--root",
    ]);
    command::run_command(
        cargo.arg(paths::tools_dir()),
        "tauri-driver, which the window tests need, could not be installed.",
        &format!(
            "Check that the crate registry can be reached; by hand: `cargo install --locked tauri-driver@{TAURI_DRIVER_VERSION}`."
        ),
    )?;
    Ok(true)
}
