//! Environment of a command in a sandbox, how it ends, and what is left of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sandbox::{
    CommandEnd, Denial, DenialKind, ReadPaths, SandboxLimits, SandboxReport, SandboxSpec,
    WatchedReads, WorkspaceLayers,
};

use crate::runner::{DISK, SANDBOX_PROGRAM, has_sandbox, run};

/// A workspace with two files, and where a sandbox keeps its things.
pub struct Place {
    pub state: tempfile::TempDir,
    pub folder: tempfile::TempDir,
    pub workspace: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        Self::named(Path::new(DISK), "workspace")
    }

    fn named(parent: &Path, name: &str) -> Self {
        let folder = tempfile::tempdir_in(parent).unwrap();
        let workspace = folder.path().join(name);
        fs::create_dir_all(workspace.join("folder")).unwrap();
        fs::write(workspace.join("a"), "a\n").unwrap();
        fs::write(workspace.join("folder/b"), "b\n").unwrap();
        // A layer lies on a disk, wherever the workspace is.
        let state = tempfile::tempdir_in(DISK).unwrap();
        for made in ["upper", "work"] {
            fs::create_dir(state.path().join(made)).unwrap();
        }
        Self {
            state,
            folder,
            workspace,
        }
    }

    pub fn spec(&self, command: &str) -> SandboxSpec {
        SandboxSpec {
            workspace: self.workspace.clone(),
            folder: self.workspace.clone(),
            layers: Some(WorkspaceLayers {
                upper: self.state.path().join("upper"),
                work: Some(self.state.path().join("work")),
            }),
            bare: None,
            private: Vec::new(),
            read_only: Vec::new(),
            masked: Vec::new(),
            readable_by_git: Vec::new(),
            watched_reads: WatchedReads::default(),
            limits: SandboxLimits::default(),
            proxy: false,
            input: false,
            command: vec!["/bin/bash".into(), "-c".into(), command.into()],
            environment: vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())],
            told: self.state.path().join("told"),
        }
    }

    pub fn runs(&self, command: &str) -> (Option<SandboxReport>, String) {
        let ran = run(&self.spec(command));
        (ran.told, ran.said)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The kernel leaves a folder that nobody may enter.
        let work = self.state.path().join("work").join("work");
        let _ = fs::set_permissions(work, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    }
}

fn exit(code: i32) -> Option<SandboxReport> {
    ended(CommandEnd::Exit(code))
}

/// It ended so, and was refused nothing.
fn ended(end: CommandEnd) -> Option<SandboxReport> {
    with(end, &[])
}

/// It ended by itself, with this code, and was refused this.
pub fn refused(code: i32, refused: &[(DenialKind, &str)]) -> Option<SandboxReport> {
    with(CommandEnd::Exit(code), refused)
}

pub fn with(end: CommandEnd, refused: &[(DenialKind, &str)]) -> Option<SandboxReport> {
    let refused = refused.iter().map(|(kind, target)| Denial {
        kind: *kind,
        target: (*target).to_owned(),
    });
    Some(SandboxReport::Ended {
        end,
        refused: refused.collect(),
        more: false,
        reads: ReadPaths::default(),
        watched: true,
    })
}

pub fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn text(file: impl AsRef<Path>) -> String {
    fs::read_to_string(file).unwrap()
}

#[test]
fn what_a_command_does_stays_in_the_layer() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let (told, said) = place.runs("cat a; echo new > n; rm a; echo more >> folder/b; pwd");
    assert_eq!(told, exit(0));
    assert_eq!(said, format!("a\n{}\n", place.workspace.display()));
    // Outside nothing happened.
    assert_eq!(text(place.workspace.join("a")), "a\n");
    assert_eq!(text(place.workspace.join("folder/b")), "b\n");
    assert!(!place.workspace.join("n").exists());
    // The layer has all of it.
    let upper = place.state.path().join("upper");
    assert_eq!(text(upper.join("n")), "new\n");
    assert_eq!(text(upper.join("folder/b")), "b\nmore\n");
    let gone = fs::symlink_metadata(upper.join("a")).unwrap();
    assert!(gone.file_type().is_char_device() && gone.rdev() == 0);
}

#[test]
fn without_a_layer_the_workspace_itself_changes() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = SandboxSpec {
        layers: None,
        ..place.spec("echo new > n; echo x > ../outside")
    };
    let outside = place.folder.path().join("outside");
    assert_eq!(
        run(&spec).told,
        refused(1, &[(DenialKind::Write, path(&outside))])
    );
    assert_eq!(text(place.workspace.join("n")), "new\n");
    assert!(!outside.exists());
}

#[test]
fn workspaces_in_odd_places() {
    if !has_sandbox() {
        return;
    }
    for parent in ["/tmp", "/dev/shm", DISK] {
        for name in ["plain", "a:b", "with \\ and , and =", "new\nline", "ünï"] {
            let place = Place::named(Path::new(parent), name);
            let (told, said) = place.runs("cat folder/b && echo changed > a");
            assert_eq!((told, said.as_str()), (exit(0), "b\n"), "{parent} {name:?}");
            assert_eq!(text(place.workspace.join("a")), "a\n");
            assert_eq!(text(place.state.path().join("upper/a")), "changed\n");
        }
    }
}

#[test]
fn how_a_command_ends_is_told() {
    if !has_sandbox() {
        return;
    }
    for (command, end) in [
        ("exit 0", CommandEnd::Exit(0)),
        ("exit 7", CommandEnd::Exit(7)),
        ("kill -9 $$", CommandEnd::Signal(9)),
        ("kill -TERM $$", CommandEnd::Signal(15)),
        ("no-such-program", CommandEnd::Exit(127)),
        // A background process does not delay its end.
        ("sleep 1000 & exit 3", CommandEnd::Exit(3)),
    ] {
        let told = Place::new().runs(command).0;
        assert_eq!(told, ended(end), "{command}");
    }
}

#[test]
fn a_sandbox_that_cannot_be_closed_is_not_entered() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let plain = place.spec("echo it ran");
    let in_workspace = |workspace: PathBuf| SandboxSpec {
        workspace,
        ..plain.clone()
    };
    let of = |command: &[&str]| SandboxSpec {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        ..plain.clone()
    };
    let no_layer = SandboxSpec {
        layers: Some(WorkspaceLayers {
            upper: place.state.path().join("nowhere"),
            work: Some(place.state.path().join("work")),
        }),
        ..plain.clone()
    };
    // A layer is used once.
    let other = Place::new();
    let nothing = SandboxSpec {
        command: Vec::new(),
        ..other.spec("")
    };
    for (spec, wall) in [
        (in_workspace("/".into()), "workspace"),
        (in_workspace("relative".into()), "workspace"),
        (in_workspace(place.workspace.join("missing")), "overlay"),
        (no_layer, "overlay"),
        (of(&["/no/such/program"]), "command"),
        (nothing, "command"),
    ] {
        let ran = run(&spec);
        let Some(SandboxReport::NotEntered { step, error }) = ran.told else {
            panic!("{wall}: {:?}", ran.told);
        };
        assert_eq!(step, wall, "{error}");
        assert!(!error.is_empty());
        assert_eq!(ran.said, "");
    }
}

#[test]
fn a_sandbox_that_nobody_wants_any_more_ends() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = place.spec("trap '' TERM HUP; echo begun; sleep 1000");
    let mut program = Command::new(SANDBOX_PROGRAM);
    let mut running = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = running.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(&spec).unwrap()).unwrap();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    drop(input);
    running.wait().unwrap();
    // The last one that could write has gone.
    assert_eq!(output.read_line(&mut line).unwrap(), 0);
}

#[test]
fn limits_hold() {
    if !has_sandbox() {
        return;
    }
    let limits = SandboxLimits {
        processes: 400,
        file_bytes: 1_000_000,
        tmp_bytes: 2_000_000,
        open_files: 64,
        memory_bytes: 300_000_000,
        total_memory_bytes: 2_000_000_000,
    };
    for (command, said, met) in [
        // A thousand are wanted; the sandbox has no place for them.
        (
            "(for i in $(seq 1000); do sleep 1000 & done) 2>/dev/null; set -- /proc/[0-9]*; echo $(($# <= 400))",
            "1\n",
            &["processes"][..],
        ),
        (
            "head -c 2000000 /dev/zero > big; echo $?; stat -c %s big",
            "153\n1000000\n",
            &[],
        ),
        ("exec head -c 2000000 /dev/zero > big", "", &["file size"]),
        (
            "head -c 2000000 /dev/zero > big; exit $?",
            "",
            &["file size"],
        ),
        (
            "for i in 1 2 3; do head -c 900000 /dev/zero > /tmp/$i; done 2>/dev/null; \
             set -- $(du -bc /tmp/? | tail -1); echo $(($1 <= 2097152))",
            "1\n",
            &["/tmp"],
        ),
        ("ulimit -n", "64\n", &[]),
        ("ulimit -c", "0\n", &[]),
        ("head -c 1000000000 /dev/zero | tail | wc -c", "0\n", &[]),
    ] {
        let place = Place::new();
        let spec = SandboxSpec {
            limits,
            ..place.spec(command)
        };
        let ran = run(&spec);
        assert_eq!(ran.said, said, "{command} {:?}", ran.told);
        let met: Vec<_> = met
            .iter()
            .map(|limit| (DenialKind::Limit, *limit))
            .collect();
        let Some(SandboxReport::Ended { end, .. }) = ran.told else {
            panic!("{command} {:?}", ran.told);
        };
        assert_eq!(ran.told, with(end, &met), "{command}");
    }
}

#[test]
fn a_sandbox_has_what_programs_need() {
    if !has_sandbox() {
        return;
    }
    let me = format!("{}\n", rustix::process::getuid().as_raw());
    for (command, said) in [
        ("echo x > /tmp/x && cat /tmp/x", "x\n"),
        ("echo x > /dev/null && echo well", "well\n"),
        ("head -c 4 /dev/urandom | wc -c", "4\n"),
        ("cat <(echo x)", "x\n"),
        ("echo x > /dev/shm/x && cat /dev/shm/x", "x\n"),
        (
            "ls /proc/sys/net/ipv4/conf | grep -c -v -e all -e default",
            "1\n",
        ),
        // Programs of the sandbox reach each other.
        ("exec 3<>/dev/udp/127.0.0.1/9 && echo well", "well\n"),
        ("cat < /dev/stdin; echo ended", "ended\n"),
        ("id -u", &me),
        ("cat /proc/1/comm", "countersign-san\n"),
        (
            "script -qec 'test -t 0 && echo terminal' /dev/null | tr -d '\\r'",
            "terminal\n",
        ),
        // Nothing of the keeper's is left open, and no signal is held back.
        (
            "ls -l /proc/self/fd | grep -c -e anon_inode -e socket:",
            "0\n",
        ),
        // The three streams, and the folder that is listed.
        ("ls /proc/self/fd | wc -l", "4\n"),
        (
            "grep SigBlk /proc/self/status",
            "SigBlk:\t0000000000000000\n",
        ),
        // No sandbox in a sandbox; a program goes on without.
        ("unshare -r true 2>/dev/null; echo $?", "1\n"),
        // An orphan is adopted, and leaves no zombie.
        (
            "(true & true); while grep -q '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do :; done; echo none",
            "none\n",
        ),
    ] {
        assert_eq!(Place::new().runs(command).1, said, "{command}");
    }
}
