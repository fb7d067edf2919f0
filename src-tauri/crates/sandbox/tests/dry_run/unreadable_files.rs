//! Commands of an ordinary person over a folder with files and folders in it that the person may not read, though they are the
//! person's own.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command as Starter;

use protocol::Plan;
use runtime::{ClosedFiles, FileError, ShellCommand};

use crate::fixture::{DISK, Stage, told};

/// Runs a test of this file as somebody who is not root; gives whether that is who runs it now.
fn is_ordinary(test: &str) -> bool {
    if !rustix::process::getuid().is_root() {
        return true;
    }
    let programs = tempfile::tempdir_in(DISK).unwrap();
    let home = programs.path().join("home");
    fs::create_dir(&home).unwrap();
    let anybody = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    anybody(programs.path(), 0o755);
    anybody(&home, 0o777);
    let copy = programs.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let ran = Starter::new("setpriv")
        .args(["--reuid=1000", "--regid=1000", "--clear-groups"])
        .arg(&copy)
        .args([
            "--exact",
            "--nocapture",
            &format!("unreadable_files::{test}"),
        ])
        .env("HOME", &home)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    false
}

/// A file and a folder that nobody may read, one that may be listed and not entered, and one file that anybody may.
fn furnished() -> Option<Stage> {
    let stage = Stage::new();
    if !stage.works() {
        return None;
    }
    let root = stage.root();
    for (file, text) in [
        ("plain", "plain\n"),
        ("shut", "shut\n"),
        ("locked/.env", "TOKEN=one-secret\n"),
        ("listed/.env", "TOKEN=one-secret\n"),
        ("listed/deep/.env", "TOKEN=one-secret\n"),
    ] {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), text).unwrap();
    }
    for (path, mode) in [("shut", 0o000), ("locked", 0o000), ("listed", 0o600)] {
        set_mode(&root.join(path), mode);
    }
    Some(stage)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// So that what was locked can be removed with the rest.
fn unlock(stage: &Stage) {
    for folder in ["locked", "listed"] {
        set_mode(&stage.root().join(folder), 0o700);
    }
}

fn command(stage: &Stage, line: &str) -> ShellCommand {
    let closes = ClosedFiles::new(|path| path.ends_with(".env"));
    ShellCommand {
        workspace: stage.workspace.with_closed_files(closes),
        ..stage.command(line)
    }
}

#[test]
fn what_cannot_be_read_is_named_and_left_as_it_is() {
    if !is_ordinary("what_cannot_be_read_is_named_and_left_as_it_is") {
        return;
    }
    let Some(mut stage) = furnished() else { return };
    let root = stage.root();
    for line in [
        "ls -la; rm -f shut; echo more >> plain",
        "chmod 600 shut; echo more >> shut",
    ] {
        let refused = stage.try_rehearse(&command(&stage, line));
        let Err(FileError::SandboxUnavailable { reason }) = refused else {
            panic!("{line}: {refused:?}");
        };
        assert!(reason.contains("`shut`"), "{reason}");
        assert!(reason.contains("chmod u+rX"), "{reason}");
        assert_eq!(mode(&root.join("shut")), 0, "{line}");
        assert_eq!(stage.layers(), [] as [std::path::PathBuf; 0], "{line}");
    }

    // A file beside it can be changed and restored.
    let rehearsed = stage.try_rehearse(&command(&stage, "ls -la; echo more >> plain"));
    let rehearsed = rehearsed.unwrap();
    assert_eq!(told(&rehearsed.effects.changes), ["Changed plain"]);
    let undo = stage.commit(&rehearsed.plan);
    let plain = || fs::read_to_string(root.join("plain")).unwrap();
    assert_eq!(plain(), "plain\nmore\n");
    stage.take_back(&undo);
    assert_eq!(plain(), "plain\n");
    for (path, expected) in [("shut", 0), ("locked", 0), ("listed", 0o600)] {
        assert_eq!(mode(&root.join(path)), expected, "{path}");
    }
    unlock(&stage);
}

/// The owner of a folder may open it: so may a command in a sandbox.
#[test]
fn secrets_in_a_folder_that_is_locked_stay_closed() {
    if !is_ordinary("secrets_in_a_folder_that_is_locked_stay_closed") {
        return;
    }
    let Some(stage) = furnished() else { return };
    for folder in ["locked", "listed"] {
        let line =
            format!("chmod 700 {folder}; cat {folder}/.env {folder}/deep/.env; rm -rf {folder}");
        let rehearsed = stage.try_rehearse(&command(&stage, &line)).unwrap();
        let output = String::from_utf8_lossy(&rehearsed.command.head);
        assert!(!output.contains("one-secret"), "{output}");
        let path = stage.root().join(folder).display().to_string();
        let refused = rehearsed.effects.refused_secrets();
        assert!(refused.contains(&path), "{refused:?}");
        assert_eq!(rehearsed.plan, Plan::None, "{folder}");
    }
    unlock(&stage);
}
