//! What a sandbox reports of the files that a command reads outside of its workspace.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use sandbox::{ReadPaths, SandboxReport, SandboxSpec, WatchedReads};

use crate::lifecycle::Place;
use crate::runner::{has_sandbox, run};

/// Runs a command whose workspace lies in a watched folder with files of its owner; returns what it read there, without
/// that folder.
fn reads_of(command: &str) -> Vec<String> {
    let place = Place::new();
    let home = place.folder.path();
    for folder in ["other", "tools", ".config", "locked"] {
        fs::create_dir(home.join(folder)).unwrap();
    }
    for file in ["notes", "other/notes", "tools/lib", ".config/tool"] {
        fs::write(home.join(file), "x\n").unwrap();
    }
    let unreadable = home.join("locked/notes");
    fs::write(&unreadable, "x\n").unwrap();
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o0)).unwrap();
    symlink(home.join("notes"), place.workspace.join("link")).unwrap();
    let mut spec = SandboxSpec {
        watched_reads: WatchedReads {
            folders: vec![home.to_owned()],
            except: vec![home.join("tools")],
        },
        ..place.spec(command)
    };
    spec.environment
        .push(("OUT".into(), home.display().to_string()));
    let told = run(&spec).told;
    let Some(SandboxReport::Ended { reads, .. }) = told else {
        panic!("{command}: {told:?}");
    };
    let ReadPaths { paths, more: false } = reads else {
        panic!("{command}: {reads:?}");
    };
    let below = |path: &String| PathBuf::from(path).strip_prefix(home).map(PathBuf::from);
    let below = paths.iter().map(|path| below(path).unwrap());
    below.map(|path| path.display().to_string()).collect()
}

#[test]
fn what_is_read_of_somebodys_own_is_reported_however_it_is_named() {
    if !has_sandbox() {
        return;
    }
    for (command, expected) in [
        ("cat ../notes", &["notes"][..]),
        ("cat $(printf '%s/no%s' \"$OUT\" tes)", &["notes"]),
        (
            "cd / && cat \"$OUT/notes\" /proc/self/cwd/\"$OUT\"/notes",
            &["notes"],
        ),
        ("cat link", &["notes"]),
        (
            "cd ..; cat notes; cat notes; cat other/notes",
            &["notes", "other/notes"],
        ),
        ("cat 3<../notes <&3", &["notes"]),
        ("echo x 1<>../notes", &[]),
        ("ls ../other", &["other"]),
    ] {
        assert_eq!(reads_of(command), expected, "{command}");
    }
}

#[test]
fn what_programs_and_the_workspace_need_is_not_reported() {
    if !has_sandbox() {
        return;
    }
    for command in [
        "cat a folder/b; ls . folder; cat ./../workspace/a",
        "cat /usr/bin/env /etc/passwd > /dev/null; echo x > /tmp/x; cat /tmp/x /dev/null /proc/self/status",
        "cat ../tools/lib ../.config/tool",
        "cat ../missing; echo x > ../notes; stat ../notes; test -r ../notes; cat ../locked/notes",
        "ls ..",
    ] {
        assert_eq!(reads_of(command), Vec::<String>::new(), "{command}");
    }
}
