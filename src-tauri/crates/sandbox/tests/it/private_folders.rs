//! Folders outside the workspace that a command changes for itself alone.

use std::fs;
use std::path::PathBuf;

use sandbox::{CommandEnd, Denial, DenialKind, PrivateFolder, SandboxReport, SandboxSpec};
use tempfile::{TempDir, tempdir_in};

use crate::lifecycle::Place;
use crate::runner::{DISK, has_sandbox, run};

/// A folder with a private one in it, and the layer over that.
struct Beside {
    folder: TempDir,
    _layer: TempDir,
    cache: PrivateFolder,
}

impl Beside {
    fn new() -> Self {
        let (folder, layer) = (tempdir_in(DISK).unwrap(), tempdir_in(DISK).unwrap());
        let cache = PrivateFolder {
            path: folder.path().join("cache"),
            upper: layer.path().join("upper"),
            work: layer.path().join("work"),
        };
        for path in [&cache.path.join("bin"), &cache.upper, &cache.work] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(cache.path.join("old"), "old\n").unwrap();
        Self {
            folder,
            _layer: layer,
            cache,
        }
    }
}

/// Runs a command with this private folder, in which `bin` is read-only and `old` may be masked.
fn run_with(folder: &PrivateFolder, command: &str, masked: &[PathBuf]) -> (Vec<String>, String) {
    let place = Place::new();
    let spec = SandboxSpec {
        private: vec![folder.clone()],
        read_only: vec![folder.path.join("bin"), folder.path.join("missing")],
        masked: masked.to_vec(),
        environment: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("CACHE".into(), folder.path.display().to_string()),
        ],
        ..place.spec(command)
    };
    let ran = run(&spec);
    let Some(SandboxReport::Ended { end, refused, .. }) = ran.told else {
        panic!("{command}: {:?}", ran.told);
    };
    assert_eq!(end, CommandEnd::Exit(0), "{command}");
    let cache = folder.path.display().to_string();
    let told = |one: Denial| {
        let kind = match one.kind {
            DenialKind::Write => "write",
            DenialKind::Secret => "secret",
            DenialKind::Network | DenialKind::Socket | DenialKind::Limit => "other",
        };
        format!("{kind} {}", one.target.replace(&cache, "CACHE"))
    };
    (refused.into_iter().map(told).collect(), ran.said)
}

#[test]
fn what_a_command_changes_in_a_private_folder_is_its_own() {
    if !has_sandbox() {
        return;
    }
    let beside = Beside::new();
    let cache = &beside.cache;
    let (refused, said) = run_with(
        cache,
        "cat $CACHE/old; rm $CACHE/old; echo new > $CACHE/new; ls $CACHE; cat $CACHE/new",
        &[],
    );
    assert_eq!((refused, &*said), (vec![], "old\nbin\nnew\nnew\n"));
    assert_eq!(fs::read_to_string(cache.path.join("old")).unwrap(), "old\n");
    assert!(!cache.path.join("new").exists());
    assert_eq!(
        fs::read_to_string(cache.upper.join("new")).unwrap(),
        "new\n"
    );
}

#[test]
fn what_is_read_only_or_masked_in_a_private_folder_stays_so() {
    if !has_sandbox() {
        return;
    }
    for (command, expected) in [
        ("echo x > $CACHE/bin/x; true", "write CACHE/bin/x"),
        ("mv $CACHE/bin $CACHE/b; true", "write CACHE/bin"),
        ("echo x > $CACHE/../x; true", "write CACHE/../x"),
        ("cat $CACHE/old; true", "secret CACHE/old"),
        ("rm -f $CACHE/old; true", "secret CACHE/old"),
    ] {
        let beside = Beside::new();
        let cache = &beside.cache;
        let (refused, said) = run_with(cache, command, &[cache.path.join("old")]);
        let outside = beside.folder.path().join("x").display().to_string();
        let expected = expected.replace("CACHE/../x", &outside);
        assert_eq!((refused, &*said), (vec![expected], ""), "{command}");
    }
}

#[test]
fn a_folder_over_which_no_layer_can_lie_stays_read_only() {
    if !has_sandbox() {
        return;
    }
    let beside = Beside::new();
    let cache = &beside.cache;
    // The kernel refuses a layer without it.
    fs::remove_dir(&cache.work).unwrap();
    let (refused, said) = run_with(cache, "cat $CACHE/old; echo x > $CACHE/new; true", &[]);
    assert_eq!(refused, ["write CACHE/new"]);
    assert_eq!(said, "old\n");
}
