//! Tests of path resolution, and of the paths that are refused.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use crate::fs::workspace::*;

mod forbidden;
mod race;
mod reading;

struct Fixture {
    home: TempDir,
    workspace: Workspace,
}

impl Fixture {
    /// A workspace `ws` beside a folder `outside`, with links of every kind.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        fs::create_dir_all(at("ws/src/deep")).unwrap();
        fs::create_dir_all(at("outside/in")).unwrap();
        fs::write(at("ws/src/a.txt"), "hello\nworld").unwrap();
        fs::write(at("ws/bin"), b"\x00\xff\n").unwrap();
        fs::write(at("outside/secret"), "secret").unwrap();
        let root = at("ws").canonicalize().unwrap();
        let links = [
            ("ws/inner", "src/a.txt"),
            ("ws/folder", "src"),
            ("ws/src/up", "../bin"),
            ("ws/out", "../outside/secret"),
            ("ws/outdir", "../outside"),
            ("ws/chain", "inner"),
            ("ws/dangling", "src/new.txt"),
            ("ws/dangling-out", "../outside/new"),
            ("ws/self", "self"),
            ("ws/there-and-back", "../outside/home/src/a.txt"),
        ];
        for (link, to) in links {
            symlink(to, at(link)).unwrap();
        }
        symlink(&root, at("outside/home")).unwrap();
        symlink(root.join("src/a.txt"), at("ws/absolute")).unwrap();
        symlink(at("outside"), at("ws/absolute-out")).unwrap();
        Self {
            workspace: Workspace::open(&root).unwrap(),
            home,
        }
    }

    fn real(&self, path: &str) -> String {
        let home = self.home.path().canonicalize().unwrap();
        home.join(path).display().to_string()
    }

    fn fact(&self, capability: Capability, target: &str) -> (String, bool) {
        let fact = self.workspace.resolve(&Access::new(capability, target));
        assert_eq!(
            (fact.capability, fact.target.as_str()),
            (capability, target)
        );
        assert_eq!(fact.unresolved, None, "{target}");
        (fact.real, fact.inside)
    }
}

#[test]
fn where_paths_lead() {
    let fixture = Fixture::new();
    let absolute = fixture.real("ws/src/../src/a.txt");
    let inside = [
        ("src/a.txt", "src/a.txt"),
        ("./src//a.txt", "src/a.txt"),
        ("src/deep/../a.txt", "src/a.txt"),
        (absolute.as_str(), "src/a.txt"),
        ("", ""),
        (".", ""),
        ("inner", "src/a.txt"),
        ("chain", "src/a.txt"),
        ("absolute", "src/a.txt"),
        ("folder/up", "bin"),
        ("folder/../bin", "bin"),
        ("there-and-back", "src/a.txt"),
        ("outdir/home/bin", "bin"),
        ("dangling", "src/new.txt"),
        ("src/no/such/file", "src/no/such/file"),
        ("folder/no/../new", "src/new"),
        ("src/a.txt/below", "src/a.txt/below"),
        ("../ws/bin", "bin"),
    ];
    for (target, real) in inside {
        for capability in [Capability::FsRead, Capability::FsWrite] {
            assert_eq!(
                fixture.fact(capability, target),
                (real.into(), true),
                "{target}"
            );
        }
    }
    let outside = [
        ("..", ""),
        ("../outside/secret", "outside/secret"),
        ("out", "outside/secret"),
        ("outdir/in/new", "outside/in/new"),
        ("absolute-out/secret", "outside/secret"),
        ("dangling-out", "outside/new"),
        ("src/../../outside/x", "outside/x"),
        ("../ws-not", "ws-not"),
    ];
    for (target, real) in outside {
        let real = fixture.real(real).trim_end_matches('/').to_owned();
        assert_eq!(
            fixture.fact(Capability::FsWrite, target),
            (real, false),
            "{target}"
        );
    }
    assert_eq!(
        fixture.fact(Capability::FsRead, "/etc/passwd"),
        ("/etc/passwd".into(), false)
    );
}

#[test]
fn a_deletion_means_the_link_and_not_what_it_points_to() {
    let fixture = Fixture::new();
    for (target, real) in [("out", "out"), ("inner/", "inner"), ("folder/up", "src/up")] {
        assert_eq!(
            fixture.fact(Capability::FsDelete, target),
            (real.into(), true),
            "{target}"
        );
    }
    let through = fixture.fact(Capability::FsDelete, "outdir/secret");
    assert_eq!(through, (fixture.real("outside/secret"), false));
}

#[test]
fn commands_and_hosts_pass_through() {
    let fixture = Fixture::new();
    for (capability, target) in [
        (Capability::ShellRun, "rm -rf /"),
        (Capability::NetFetch, "example.org"),
    ] {
        assert_eq!(fixture.fact(capability, target), (target.into(), true));
    }
}

#[test]
fn what_cannot_be_resolved_is_outside() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    symlink(odd, fixture.workspace.root().join("to-odd")).unwrap();
    let long = "x/".repeat(3_000);
    let cases = [
        ("self", "links"),
        ("a\0b", "NUL"),
        ("to-odd", "UTF-8"),
        (long.as_str(), "4096"),
    ];
    for (target, why) in cases {
        let fact = fixture
            .workspace
            .resolve(&Access::new(Capability::FsRead, target));
        assert!(!fact.inside, "{target}");
        let reason = fact.unresolved.unwrap();
        assert!(reason.contains(why), "{target}: {reason}");
    }
}

#[test]
fn a_readable_folder_is_for_reading_only() {
    let fixture = Fixture::new();
    let wider = fixture
        .workspace
        .with_readable(&fixture.home.path().join("outside"))
        .unwrap();
    let secret = fixture.real("outside/secret");
    let fact = |capability, target: &str| {
        let fact = wider.resolve(&Access::new(capability, target));
        (fact.real, fact.inside)
    };
    assert_eq!(fact(Capability::FsRead, &secret), (secret.clone(), true));
    assert_eq!(fact(Capability::FsRead, "out"), (secret.clone(), true));
    assert_eq!(fact(Capability::FsWrite, &secret), (secret.clone(), false));
    assert_eq!(fact(Capability::FsDelete, &secret), (secret.clone(), false));
    assert_eq!(wider.read_whole(&secret, 99), Ok(Some(b"secret".to_vec())));
    let refused = FileError::Outside {
        path: secret.clone(),
        real: secret.clone(),
    };
    assert_eq!(fixture.workspace.read_whole(&secret, 99), Err(refused));
}

#[test]
fn a_bad_root_is_told_with_the_next_step() {
    let fixture = Fixture::new();
    for (path, why) in [
        ("nowhere", "does not exist"),
        ("outside/secret", "is not a folder"),
    ] {
        let fault = Workspace::open(&fixture.home.path().join(path)).unwrap_err();
        assert!(
            fault.message.contains(why) && fault.message.contains(path),
            "{fault}"
        );
        assert!(!fault.hint.is_empty());
    }
}

/// A caller that swaps a folder for a link between resolving and opening gets a refusal, not a file from outside.
#[test]
fn a_swap_after_the_look_leads_nowhere() {
    let fixture = Fixture::new();
    let place = fixture
        .workspace
        .resolve_readable("src/a.txt", true, PathUse::Read)
        .unwrap();
    fs::rename(
        fixture.workspace.root().join("src"),
        fixture.workspace.root().join("was"),
    )
    .unwrap();
    fs::write(fixture.home.path().join("outside/a.txt"), "stolen").unwrap();
    symlink("../outside", fixture.workspace.root().join("src")).unwrap();
    let error = place.root.dir.open_file(&place.rel).unwrap_err();
    assert!(
        error::is_link_refused(&error) || crate::fs::dir::is_not_found(&error),
        "{error}"
    );
    let refused = fixture.workspace.read("src/a.txt", 0, 9).unwrap_err();
    assert!(matches!(refused, FileError::Outside { .. }), "{refused:?}");
}
