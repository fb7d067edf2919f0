//! Plans carried out, refused, and taken back.

use std::fs;
use std::path::Path;

use protocol::Plan;
use protocol::call::plan::{FileChange, Removal};
use tempfile::TempDir;

use crate::fs::apply::apply_plan;
use crate::fs::fault_injection::strike;
use crate::fs::fault_injection::strike::InjectedFault;
use crate::{FileError, TreeLimits, Workspace};

fn workspace_with(files: &[(&str, &str)]) -> (TempDir, Workspace) {
    let home = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let workspace = Workspace::open(home.path()).unwrap();
    (home, workspace)
}

fn change(path: &str, before: Option<&str>, after: &str) -> FileChange {
    FileChange {
        path: path.into(),
        before: before.map(Into::into),
        after: Some(after.into()),
        from: None,
    }
}

fn removal(workspace: &Workspace, path: &str) -> Plan {
    let tree = workspace.list_tree(path, TreeLimits::default()).unwrap();
    Plan::Remove(Removal {
        path: path.into(),
        listing: tree.digest,
        files: tree.files,
        bytes: tree.bytes,
    })
}

/// Every path below a folder with its text; folders end in `/`.
fn everything(root: &Path) -> Vec<(String, String)> {
    fn walk(at: &Path, root: &Path, all: &mut Vec<(String, String)>) {
        let mut entries: Vec<_> = fs::read_dir(at)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.symlink_metadata().unwrap().is_dir() {
                all.push((format!("{name}/"), String::new()));
                walk(&path, root, all);
            } else {
                all.push((name, fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    let mut all = Vec::new();
    walk(root, root, &mut all);
    all
}

fn listed(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter()
        .map(|(a, b)| ((*a).into(), (*b).into()))
        .collect()
}

#[test]
fn writes_several_files_and_makes_folders() {
    let (home, workspace) = workspace_with(&[("a.txt", "one")]);
    let plan = Plan::Write(vec![
        change("a.txt", Some("one"), "two"),
        change("new/deep/b.txt", None, "b"),
    ]);
    apply_plan(&workspace, &plan).unwrap();
    let after = [
        ("a.txt", "two"),
        ("new/", ""),
        ("new/deep/", ""),
        ("new/deep/b.txt", "b"),
    ];
    assert_eq!(everything(home.path()), listed(&after));
}

#[cfg(unix)]
#[test]
fn keeps_the_mode_and_the_link() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let (home, workspace) = workspace_with(&[("run.sh", "old")]);
    let real = home.path().join("run.sh");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o751)).unwrap();
    symlink("run.sh", home.path().join("link")).unwrap();
    let plan = Plan::Write(vec![change("link", Some("old"), "new")]);
    apply_plan(&workspace, &plan).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o751);
    assert!(home.path().join("link").is_symlink());
}

#[cfg(unix)]
#[test]
fn a_file_goes_and_one_moves_with_its_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let (home, workspace) = workspace_with(&[("run.sh", "old"), ("gone", "g")]);
    fs::set_permissions(
        home.path().join("run.sh"),
        fs::Permissions::from_mode(0o751),
    )
    .unwrap();
    let goes = |path: &str, before: &str| FileChange {
        after: None,
        ..change(path, Some(before), "")
    };
    let moves = FileChange {
        from: Some("run.sh".into()),
        ..change("bin/run.sh", None, "new")
    };
    let plan = Plan::Write(vec![goes("gone", "g"), goes("run.sh", "old"), moves]);
    apply_plan(&workspace, &plan).unwrap();
    assert_eq!(
        everything(home.path()),
        listed(&[("bin/", ""), ("bin/run.sh", "new")])
    );
    let moved = fs::metadata(home.path().join("bin/run.sh")).unwrap();
    assert_eq!(moved.mode() & 0o7777, 0o751);
}

#[test]
fn what_changed_since_is_refused_and_nothing_is_touched() {
    let gone = |path: &str, before: Option<&str>| FileChange {
        after: None,
        ..change(path, before, "")
    };
    let cases: [(&str, Vec<FileChange>); 8] = [
        (
            "to go, other content",
            vec![change("new", None, "x"), gone("a", Some("zero"))],
        ),
        (
            "to go, gone already",
            vec![change("new", None, "x"), gone("gone", Some("x"))],
        ),
        (
            "to go, said to be absent",
            vec![change("new", None, "x"), gone("a", None)],
        ),
        (
            "other content",
            vec![change("new", None, "x"), change("a", Some("zero"), "x")],
        ),
        (
            "longer now",
            vec![change("new", None, "x"), change("a", Some("o"), "x")],
        ),
        (
            "gone",
            vec![change("new", None, "x"), change("gone", Some(""), "x")],
        ),
        (
            "came up",
            vec![change("new", None, "x"), change("a", None, "x")],
        ),
        ("empty, not absent", vec![change("empty", None, "x")]),
    ];
    for (name, changes) in cases {
        let (home, workspace) = workspace_with(&[("a", "one"), ("empty", "")]);
        let before = everything(home.path());
        let error = apply_plan(&workspace, &Plan::Write(changes)).unwrap_err();
        assert!(
            matches!(error, FileError::Changed { .. }),
            "{name}: {error:?}"
        );
        assert_eq!(everything(home.path()), before, "{name}");
    }
}

#[test]
fn a_plan_that_cannot_be_carried_out_names_the_path() {
    let (home, workspace) = workspace_with(&[("a", "one"), ("d/x", "")]);
    let cases = [
        (
            change("d", None, "x"),
            FileError::IsFolder { path: "d".into() },
        ),
        (
            change("a/b", None, "x"),
            FileError::NotAFolder { path: "a/b".into() },
        ),
        (
            change("", None, "x"),
            FileError::IsFolder { path: "".into() },
        ),
        (
            change("../x", None, "x"),
            FileError::Outside {
                path: "../x".into(),
                real: home
                    .path()
                    .canonicalize()
                    .unwrap()
                    .parent()
                    .unwrap()
                    .join("x")
                    .display()
                    .to_string(),
            },
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(
            apply_plan(&workspace, &Plan::Write(vec![change])),
            Err(expected)
        );
    }
    let twice = vec![
        change("a", Some("one"), "x"),
        change("./a", Some("one"), "y"),
    ];
    let error = apply_plan(&workspace, &Plan::Write(twice)).unwrap_err();
    assert!(error.to_string().contains("./a"), "{error}");
    assert_eq!(
        everything(home.path()),
        listed(&[("a", "one"), ("d/", ""), ("d/x", "")])
    );
}

#[test]
fn a_full_disk_at_any_step_leaves_everything_as_it_was() {
    let mut reached = 0;
    for at in 0.. {
        let (home, workspace) = workspace_with(&[("a", "one"), ("b", "two"), ("old/x", "x")]);
        let before = everything(home.path());
        let plan = Plan::Write(vec![
            change("a", Some("one"), "1"),
            change("new/deep/c", None, "3"),
            change("b", Some("two"), "2"),
            FileChange {
                after: None,
                ..change("old/x", Some("x"), "")
            },
            FileChange {
                from: Some("old/x".into()),
                ..change("moved", None, "x2")
            },
        ]);
        let (result, hit) =
            strike::after(at, InjectedFault::Full, || apply_plan(&workspace, &plan));
        if !hit {
            break;
        }
        reached += 1;
        let error = result.unwrap().unwrap_err();
        assert!(
            matches!(error, FileError::DiskFull { .. }),
            "step {at}: {error:?}"
        );
        assert_eq!(everything(home.path()), before, "step {at}");
    }
    assert_eq!(
        reached, 11,
        "two folders, four files staged, four placed, one taken away"
    );

    let (home, workspace) = workspace_with(&[("old/x", "x"), ("old/y/z", "z")]);
    let before = everything(home.path());
    let plan = removal(&workspace, "old");
    let (result, hit) = strike::after(0, InjectedFault::Full, || apply_plan(&workspace, &plan));
    assert!(hit && result.unwrap().is_err());
    assert_eq!(everything(home.path()), before);
}

#[test]
fn removes_a_whole_tree_a_file_and_a_link_only() {
    let (home, workspace) =
        workspace_with(&[("t/a", "1"), ("t/u/b", "2"), ("keep", "k"), ("file", "f")]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("keep", home.path().join("t/link")).unwrap();
        std::os::unix::fs::symlink(home.path(), home.path().join("all")).unwrap();
        apply_plan(&workspace, &removal(&workspace, "all")).unwrap();
    }
    apply_plan(&workspace, &removal(&workspace, "t")).unwrap();
    apply_plan(&workspace, &removal(&workspace, "file")).unwrap();
    assert_eq!(everything(home.path()), listed(&[("keep", "k")]));
}

#[test]
fn a_tree_that_changed_stays() {
    let (home, workspace) = workspace_with(&[("t/a", "1"), ("t/u/b", "2")]);
    let plan = removal(&workspace, "t");
    fs::write(home.path().join("t/u/c"), "new").unwrap();
    let before = everything(home.path());
    assert_eq!(
        apply_plan(&workspace, &plan),
        Err(FileError::Changed { path: "t".into() })
    );
    assert_eq!(everything(home.path()), before);
    let plan = Plan::Remove(Removal {
        path: ".".into(),
        listing: workspace
            .list_tree(".", TreeLimits::default())
            .unwrap()
            .digest,
        files: 0,
        bytes: 0,
    });
    let error = apply_plan(&workspace, &plan).unwrap_err();
    assert!(error.to_string().contains("workspace itself"), "{error}");
}
