//! The settings of git that hold for a person in every repository, with the files that they include.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gix_config::file::includes::conditional;
use gix_config::file::{Metadata, includes, init};
use gix_config::path::interpolate;
use gix_config::{File, Source};

use super::settings::Settings;

/// Variables that may lead git to another repository, or to other settings.
const UNKNOWN_VARIABLES: &[&str] = &[
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_NAMESPACE",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_WORK_TREE",
];

/// The files with the person's and the system's settings, of which not all exist; none where others may hold. `value`
/// returns the values of variables.
pub(super) fn find_personal_files(
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<Vec<PathBuf>> {
    let variable = |name: &str| value(name).filter(|value| !value.is_empty());
    if UNKNOWN_VARIABLES
        .iter()
        .any(|name| variable(name).is_some())
    {
        return None;
    }
    let path = |name: &str| variable(name).map(PathBuf::from);
    let home = path("HOME")?;
    let settings = path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let system = path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let global = match path("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => vec![settings.join("git/config"), home.join(".gitconfig")],
    };
    Some([vec![system], global].concat())
}

/// Reads the person's settings with the files that they include; none if one of them cannot be read.
pub(super) fn read_personal_settings(files: &[PathBuf], git_dir: &Path) -> Option<Settings> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let interpolate = interpolate::Context {
        home_dir: home.as_deref(),
        home_for_user: Some(interpolate::home_for_user),
        ..interpolate::Context::default()
    };
    let conditional = conditional::Context {
        git_dir: Some(git_dir),
        branch_name: None,
    };
    let options = init::Options {
        includes: includes::Options::follow(interpolate, conditional),
        ..init::Options::default()
    };
    let mut files = files
        .iter()
        .map(|file| Metadata::from(Source::User).at(file));
    let read = File::from_paths_metadata_buf(&mut files, &mut Vec::new(), false, options).ok()?;
    Some(read.map_or(Settings(Vec::new()), |file| Settings::from_file(&file)))
}
