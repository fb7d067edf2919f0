//! Where things are: the checkout, its target folder and the UI.

use std::path::{Path, PathBuf};

/// The checkout's root: three folders above this crate.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

/// Cargo's target folder: the one from the environment, or `target/`.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Programs that our commands install for themselves.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// The web half.
pub fn ui() -> PathBuf {
    root().join("ui")
}

/// The model endpoint that answers the providers' tests.
pub fn endpoint() -> PathBuf {
    root().join("tests").join("aimock")
}

/// What is known of the servers of tools that other people wrote.
pub fn peers() -> PathBuf {
    root().join("tests").join("peers")
}

/// A program that cargo built, by profile folder (`debug`, `release`) and name.
pub fn built(profile: &str, name: &str) -> PathBuf {
    target()
        .join(profile)
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The full path of a program on `PATH`, if there is one.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(&name))
        .find(|candidate| candidate.is_file())
}
