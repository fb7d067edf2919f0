//! A home folder that is made for one test. A process has one home, so the test runs in a process of its own.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Says to the process of a test that its home is made for it.
const MARK: &str = "COUNTERSIGN_TEST_HAS_HOME";

/// The home that was made for this test; `None` in the process that makes it, runs the test again there, and finds that
/// nothing in it changed.
pub(super) fn own_home(module: &str, test: &str, files: &[(&str, &str)]) -> Option<PathBuf> {
    let given = given_home();
    if given.is_none() {
        let home = run_with_home(module, test, files);
        for (path, text) in files {
            let after = std::fs::read_to_string(home.path().join(path));
            assert_eq!(&after.unwrap(), text, "{path}");
        }
        assert_eq!(list_files(home.path()).len(), files.len());
    }
    given
}

/// The home that was made for the test that runs in this process; `None` in the process that makes it.
pub(super) fn given_home() -> Option<PathBuf> {
    std::env::var_os(MARK)?;
    std::env::var_os("HOME").map(PathBuf::from)
}

/// Runs a test again, in a process with a home that has these files.
pub(super) fn run_with_home(module: &str, test: &str, files: &[(&str, &str)]) -> TempDir {
    // Not in `/tmp`, of which a sandbox has its own.
    let home = tempfile::tempdir_in("/var/tmp").unwrap();
    for (path, text) in files {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
    }
    let mut folders = vec![home.path().join("tools")];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = format!("{}::{test}", module.split_once("::").unwrap().1);
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &path, "--nocapture"]);
    again.env("PIP_CACHE_DIR", home.path().join("pip-cache"));
    again.env("PATH", std::env::join_paths(folders).unwrap());
    again
        .env_remove("npm_config_cache")
        .env_remove("NPM_CONFIG_CACHE");
    let ran = again.env("HOME", home.path()).env(MARK, "1").output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    home
}

pub(super) fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => list_files(&path),
            false => vec![path],
        })
        .collect()
}
