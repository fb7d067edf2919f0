//! Tests of the search for closed files: its results, its cache, and its limits.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ClosedFiles;
use crate::dry_run::secrets::closed_files::*;

#[test]
fn a_folder_is_looked_into_again_only_after_it_changed() {
    let home = tempfile::tempdir().unwrap();
    let sub = home.path().join("a/b");
    fs::create_dir_all(&sub).unwrap();
    for name in ["one.key", "notes", "a/b/two.key", "a/b/more"] {
        fs::write(home.path().join(name), "").unwrap();
    }
    let (asked, rules) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Mutex::new(Arc::new(".key"))),
    );
    let (counted, by) = (asked.clone(), rules.clone());
    let ends = rules.clone();
    let closed = ClosedFiles::new(move |path| {
        counted.fetch_add(1, Ordering::Relaxed);
        path.ends_with(**ends.lock().unwrap())
    })
    .with_source(move || Some(by.lock().unwrap().clone()));
    let workspace = Workspace::open(home.path())
        .unwrap()
        .with_closed_files(closed);
    let secrets = ClosedFileFinder {
        steady_ns: -1,
        ..ClosedFileFinder::default()
    };
    let found = || {
        asked.store(0, Ordering::Relaxed);
        let found = secrets.search_from_root(&workspace);
        assert!(found.is_complete);
        let mut names: Vec<_> = found
            .paths
            .iter()
            .map(|path| display_path(path.strip_prefix(workspace.root()).unwrap()))
            .collect();
        names.sort();
        (names, asked.load(Ordering::Relaxed))
    };
    let both = || vec!["a/b/two.key".to_owned(), "one.key".to_owned()];
    assert_eq!(found(), (both(), 4));
    assert_eq!(found(), (both(), 0));

    // One more name, until the clock of the file system has seen it.
    let before = FileStamp::read(&sub).unwrap();
    let mut more = 0;
    while FileStamp::read(&sub).unwrap() == before {
        more += 1;
        fs::write(sub.join(format!("{more}.key")), "").unwrap();
    }
    let (names, looks) = found();
    assert_eq!((names.len(), looks), (2 + more, 2 + more));

    *rules.lock().unwrap() = Arc::new("notes");
    assert_eq!(found(), (vec!["notes".to_owned()], 4 + more));
}

/// Folders beyond the limit are not looked at, and the remembered part of a folder is not looked at again.
#[test]
fn a_folder_that_is_looked_into_in_part_is_remembered_in_part() {
    let home = tempfile::tempdir().unwrap();
    let add = |folder: &str, files: usize| {
        let folder = home.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        for number in 0..files {
            fs::write(folder.join(format!("{number}.key")), "").unwrap();
        }
    };
    add("one", 4);
    let asked = Arc::new(AtomicUsize::new(0));
    let (counted, by) = (asked.clone(), Arc::new(()));
    let closed = ClosedFiles::new(move |path| {
        counted.fetch_add(1, Ordering::Relaxed);
        path.ends_with(".key")
    });
    let workspace = Workspace::open(home.path())
        .unwrap()
        .with_closed_files(closed.with_source(move || Some(by.clone())));
    let mut secrets = ClosedFileFinder {
        steady_ns: -1,
        ..ClosedFileFinder::default()
    };
    // How many names are looked at, how many secrets that finds, whether that is all, and how many names were asked about.
    for (names_max, found, are_all, looks) in [
        (4, 3, false, 3),
        (4, 3, false, 0),
        (3, 2, false, 2),
        (3, 2, false, 0),
        (6, 4, true, 4),
        (6, 4, true, 0),
        // As many as there are: whether there are more is not known.
        (5, 4, false, 0),
        (4, 3, false, 3),
    ] {
        (secrets.names_max, secrets.quiet) = (names_max, FolderWatch::default());
        asked.store(0, Ordering::Relaxed);
        let seen = secrets.search_from_root(&workspace);
        let seen = (
            seen.paths.len(),
            seen.is_complete,
            asked.load(Ordering::Relaxed),
        );
        assert_eq!(seen, (found, are_all, looks), "{names_max}");
    }
    // One more name in a folder of which a part is remembered, until the clock of the file system has seen it.
    let (part, before) = (
        home.path().join("one"),
        FileStamp::read(&home.path().join("one")),
    );
    for number in 4.. {
        fs::write(part.join(format!("{number}.key")), "").unwrap();
        if FileStamp::read(&part) != before {
            break;
        }
    }
    asked.store(0, Ordering::Relaxed);
    assert_eq!(secrets.search_from_root(&workspace).paths.len(), 3);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[test]
fn what_changed_a_moment_ago_is_not_remembered() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("one.key"), "").unwrap();
    let closed = ClosedFiles::new(|path| path.ends_with(".key")).with_source(|| Some(Arc::new(())));
    let workspace = Workspace::open(home.path())
        .unwrap()
        .with_closed_files(closed);
    let secrets = ClosedFileFinder::default();
    assert_eq!(secrets.search_from_root(&workspace).paths.len(), 1);
    assert!(secrets.folders.lock().unwrap().is_empty());
}

/// An incomplete list would leave some closed files open.
#[test]
fn a_workspace_that_cannot_be_looked_through_has_no_sandbox() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..6 {
        fs::write(home.path().join(format!("{n}.key")), "").unwrap();
    }
    let workspace = Workspace::open(home.path()).unwrap();
    let workspace = workspace.with_closed_files(ClosedFiles::new(|path| path.ends_with(".key")));
    for (names_max, secrets_max, is_found) in [(7, 6, true), (6, 6, false), (7, 5, false)] {
        let secrets = ClosedFileFinder {
            names_max,
            secrets_max,
            ..ClosedFileFinder::default()
        };
        let found = secrets
            .find_closed_files(&workspace)
            .map(|found| found.paths.len());
        match is_found {
            true => assert_eq!(found.unwrap(), 6),
            false => assert!(
                matches!(&found, Err(FileError::SandboxUnavailable { reason }) if reason.contains("too many")),
                "{found:?}"
            ),
        }
    }
}

/// Files that only look like secrets push none off the list, and neither does a tree that is searched last.
#[test]
fn decoys_uncover_no_secret() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..600 {
        fs::write(home.path().join(format!("{n}.pem")), "").unwrap();
    }
    for folder in ["z", "node_modules/a/b", ".git/x", "target/debug"] {
        fs::create_dir_all(home.path().join(folder)).unwrap();
        for n in 0..100 {
            fs::write(home.path().join(folder).join(format!("{n}.txt")), "").unwrap();
        }
        fs::write(home.path().join(folder).join(".env"), "").unwrap();
    }
    let closed = ClosedFiles::new(|path| path.ends_with(".env") || path.ends_with(".pem"));
    let workspace = Workspace::open(home.path())
        .unwrap()
        .with_closed_files(closed);
    let found = ClosedFileFinder::default()
        .find_closed_files(&workspace)
        .unwrap();
    assert_eq!(found.paths.len(), 604);
}
