//! Paths of the checkout, its target folder and the UI.

use std::path::{Path, PathBuf};

/// Returns the checkout's root: three folders above this crate.
pub fn repo_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

/// Returns cargo's target folder: the one from the environment, or `target/`.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => repo_root().join(dir),
        None => repo_root().join("target"),
    }
}

/// Returns the folder of programs that our commands install for themselves.
pub fn tools_dir() -> PathBuf {
    target_dir().join("tools")
}

/// Returns the UI's folder.
pub fn ui_dir() -> PathBuf {
    repo_root().join("ui")
}

/// Returns the folder of the documentation.
pub fn docs_dir() -> PathBuf {
    repo_root().join("docs")
}

/// Returns the folder of the model endpoint that answers the providers' tests.
pub fn endpoint_dir() -> PathBuf {
    repo_root().join("tests").join("aimock")
}

/// Returns the folder with the definitions of the external tool servers.
pub fn peers_dir() -> PathBuf {
    repo_root().join("tests").join("peers")
}

/// Returns the path of a program that cargo built, by profile folder (`debug`, `release`) and name.
pub fn built_program(profile: &str, name: &str) -> PathBuf {
    target_dir()
        .join(profile)
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the full path of a program on `PATH`, if there is one.
pub fn find_on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(&name))
        .find(|candidate| candidate.is_file())
}
