//! Support for tests of accesses that the system forbids, which root cannot run: they run again as another user.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Whether the current user is subject to permissions. Root is not: for root the test of this name is run again, as
/// `nobody`, and must pass there.
pub(crate) fn is_ordinary_user(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let home = tempfile::tempdir().unwrap();
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(home.path(), mode(0o755)).unwrap();
    // The one that runs may lie where only root looks.
    let binary = home.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    fs::set_permissions(&binary, mode(0o755)).unwrap();
    let ended = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&binary)
        .args(["--exact", test, "--nocapture"])
        .env("HOME", home.path())
        .current_dir(home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}"
    );
    false
}
