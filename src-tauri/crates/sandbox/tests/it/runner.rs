//! Runs a command in a sandbox, as the runtime does.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sandbox::{CommandEnd, SandboxReport, SandboxSpec, UNPRIVILEGED_ARG, read_report};

use tempfile::TempDir;

use crate::lifecycle::Place;

/// Where tests make their folders: a disk, and not in `/tmp`, which a sandbox has of its own.
pub const DISK: &str = "/var/tmp";

/// The programs of this suite where anybody can run them, in a sandbox too, wherever they were built.
pub struct Programs {
    _folder: TempDir,
    pub sandbox: PathBuf,
    pub attempt: PathBuf,
}

impl Programs {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(DISK).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let copied = |program: &Path, name: &str| {
            let copy = folder.path().join(name);
            fs::copy(program, &copy).unwrap();
            copy
        };
        Self {
            sandbox: copied(Path::new(SANDBOX_PROGRAM), "sandbox"),
            attempt: copied(&std::env::current_exe().unwrap(), "attempt"),
            _folder: folder,
        }
    }
}

/// The program where it was built.
pub const SANDBOX_PROGRAM: &str = env!("CARGO_BIN_EXE_countersign-sandbox");

/// Report and output of a run.
pub struct Ran {
    pub told: Option<SandboxReport>,
    /// Standard output.
    pub said: String,
}

/// Whether this machine lets a sandbox be entered at all; where it does not, says why. Where the tests must not be
/// passed by, as in continuous integration, that is a failure.
pub fn has_sandbox() -> bool {
    let told = Place::new().runs("true").0;
    let works = matches!(
        told,
        Some(SandboxReport::Ended {
            end: CommandEnd::Exit(0),
            ..
        })
    );
    assert!(works || std::env::var_os("CI").is_none(), "{told:?}");
    if !works {
        println!("left out, because this system does not allow a sandbox: {told:?}");
    }
    works
}

/// Runs it to its end.
pub fn run(spec: &SandboxSpec) -> Ran {
    run_by(Path::new(SANDBOX_PROGRAM), spec, |_| ())
}

/// The same by another copy of the program; `prepare` may change how it is started.
pub fn run_by(program: &Path, spec: &SandboxSpec, prepare: impl FnOnce(&mut Command)) -> Ran {
    let mut program = Command::new(program);
    program
        .args(spec.bare.is_some().then_some(UNPRIVILEGED_ARG))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    prepare(&mut program);
    let mut running = program.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(spec).unwrap()).unwrap();
    let mut said = Vec::new();
    let mut output = running.stdout.take().unwrap();
    output.read_to_end(&mut said).unwrap();
    running.wait().unwrap();
    drop(input);
    Ran {
        told: read_report(&spec.told).unwrap(),
        said: String::from_utf8_lossy(&said).into_owned(),
    }
}
