//! Commands that do not want to end, keepers that do, and workspaces that lie where writing is odd.
#![allow(
    unsafe_code,
    reason = "a program is started with something that it must cope with"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sandbox::DenialKind::Write;
use sandbox::{
    CommandEnd, Denial, ReadPaths, SandboxLimits, SandboxReport, SandboxSpec, read_report,
};

use crate::lifecycle::{Place, path, refused};
use crate::runner::{SANDBOX_PROGRAM, has_sandbox, run_by};
use crate::system_calls;

/// A sandbox whose command has said that it began.
struct Begun {
    spec: SandboxSpec,
    program: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

fn begin(spec: SandboxSpec) -> Begun {
    let mut program = Command::new(SANDBOX_PROGRAM)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(&spec).unwrap()).unwrap();
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    Begun {
        spec,
        program,
        input: Some(input),
        output,
    }
}

impl Begun {
    /// Nobody wants it any more.
    fn unwanted(mut self) -> Option<SandboxReport> {
        self.input = None;
        self.ended()
    }

    /// Waits until nobody is left who could write, and gives what was told.
    fn ended(mut self) -> Option<SandboxReport> {
        self.program.wait().unwrap();
        self.output.read_to_end(&mut Vec::new()).unwrap();
        read_report(&self.spec.told).unwrap()
    }
}

fn crowded(place: &Place, command: &str) -> SandboxSpec {
    let limits = SandboxLimits {
        processes: 400,
        tmp_bytes: 1_000_000,
        ..SandboxLimits::default()
    };
    SandboxSpec {
        limits,
        ..place.spec(command)
    }
}

fn end(told: &Option<SandboxReport>) -> Option<CommandEnd> {
    match told {
        Some(SandboxReport::Ended { end, .. }) => Some(*end),
        Some(SandboxReport::NotEntered { .. }) | None => None,
    }
}

#[test]
fn whatever_does_not_want_to_end_ends_with_the_sandbox() {
    if !has_sandbox() {
        return;
    }
    for command in [
        // Forks forever.
        "echo begun; f() { f | f & f; }; f",
        "echo begun; while :; do (while :; do sleep 1000 & done) & done",
        // Goes into the background and leaves everything behind.
        "(setsid sh -c 'trap \"\" HUP TERM INT; cd /; echo begun; exec sleep 1000' &); sleep 1000",
        // Does not listen.
        "trap '' HUP TERM INT QUIT; echo begun; while :; do :; done",
        // Stops itself, and all that would hear of it.
        "echo begun; kill -STOP 0 $$",
        // Fills what there is.
        "echo begun; while :; do cat /dev/zero > /tmp/x; done",
    ] {
        let place = Place::new();
        let told = begin(crowded(&place, command)).unwanted();
        assert_eq!(end(&told), Some(CommandEnd::Stopped), "{command}");
    }
}

#[test]
fn what_was_refused_until_then_is_told_of_a_sandbox_that_was_ended() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    let command = "echo x > ../outside; echo begun; sleep 1000";
    let told = begin(place.spec(command)).unwanted();
    let expected = SandboxReport::Ended {
        end: CommandEnd::Stopped,
        refused: vec![Denial {
            kind: Write,
            target: path(&outside).to_owned(),
        }],
        more: false,
        reads: ReadPaths::default(),
        watched: true,
    };
    assert_eq!(told, Some(expected));
}

/// Without its keeper nothing hangs and nothing opens: it takes everything with it.
#[test]
fn a_sandbox_whose_keeper_dies_ends() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    // All the time somebody waits for the keeper to let a call pass.
    let begun = begin(place.spec("echo begun; while :; do echo x > a; done"));
    let door = begun.program.id();
    let children = fs::read_to_string(format!("/proc/{door}/task/{door}/children")).unwrap();
    let killed = Command::new("kill").args(["-9", children.trim()]).status();
    assert!(killed.unwrap().success());
    assert_eq!(end(&begun.ended()), Some(CommandEnd::Stopped));
}

#[test]
fn a_command_cannot_end_or_hold_its_keeper() {
    if !has_sandbox() {
        return;
    }
    for command in [
        "kill -9 1",
        "kill -STOP 1",
        "kill -9 -1",
        "kill -CHLD 1",
        "exec >&-; kill -INT 1",
    ] {
        let place = Place::new();
        let told = place.runs(&format!("({command}) 2>/dev/null; exit 7")).0;
        assert!(
            matches!(
                end(&told),
                Some(CommandEnd::Exit(7) | CommandEnd::Signal(9))
            ),
            "{command}: {told:?}"
        );
    }
}

/// Runs a sandbox in a world that a script has prepared, which knows the workspace as `WS` and a folder beside it as
/// `BESIDE`.
fn in_a_world(place: &Place, script: &str, spec: &SandboxSpec) -> (Option<SandboxReport>, String) {
    let beside = place.folder.path().join("beside");
    for made in ["upper", "work"] {
        fs::create_dir_all(beside.join(made)).unwrap();
    }
    let ran = run_by(Path::new("unshare"), spec, |program| {
        program
            .args(["--map-root-user", "--mount", "sh", "-c"])
            .arg(format!("{script} && exec \"$SANDBOX_PROGRAM\""))
            .envs([
                ("SANDBOX_PROGRAM", Path::new(SANDBOX_PROGRAM)),
                ("WS", &place.workspace),
                ("BESIDE", &beside),
            ]);
    });
    (ran.told, ran.said)
}

const READ_ONLY: &str = "mount --bind $WS $WS && mount -o remount,bind,ro $WS";
const ON_OVERLAY: &str = "mount -t overlay -o \
    lowerdir=$WS,upperdir=$BESIDE/upper,workdir=$BESIDE/work,userxattr none $WS";

#[test]
fn workspaces_on_other_mounts() {
    if !has_sandbox() {
        return;
    }
    for script in [READ_ONLY, ON_OVERLAY] {
        let place = Place::new();
        let spec = place.spec("cat folder/b && echo changed > a && rm -r folder && cat a");
        let (told, said) = in_a_world(&place, script, &spec);
        assert_eq!(
            (told, said.as_str()),
            (refused(0, &[]), "b\nchanged\n"),
            "{script}"
        );
        assert_eq!(
            fs::read_to_string(place.workspace.join("a")).unwrap(),
            "a\n"
        );
        let layer = place.state.path().join("upper");
        assert_eq!(fs::read_to_string(layer.join("a")).unwrap(), "changed\n");
    }
}

#[test]
fn a_workspace_that_cannot_be_written_is_not_written_without_a_layer() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = SandboxSpec {
        layers: None,
        ..place.spec("cat a; echo changed > a")
    };
    let (told, said) = in_a_world(&place, READ_ONLY, &spec);
    let a = place.workspace.join("a");
    assert_eq!(
        (told, said.as_str()),
        (refused(1, &[(Write, path(&a))]), "a\n")
    );
}

/// As it is in many containers: whoever asks for the sandbox has to keep the layer elsewhere then, in memory.
#[test]
fn a_layer_on_an_overlay_is_no_layer() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = SandboxSpec {
        told: place.folder.path().join("told"),
        ..place.spec("echo changed > a; cat a")
    };
    let state = path(place.state.path());
    let script = format!(
        "mount -t overlay -o lowerdir={state},upperdir=$BESIDE/upper,workdir=$BESIDE/work,userxattr none {state}"
    );
    let (told, _) = in_a_world(&place, &script, &spec);
    assert!(
        matches!(told, Some(SandboxReport::NotEntered { ref step, .. }) if step == "overlay"),
        "{told:?}"
    );
    let in_memory = format!("mount -t tmpfs none {state} && mkdir {state}/upper {state}/work");
    let (told, said) = in_a_world(&place, &in_memory, &spec);
    assert_eq!((told, said.as_str()), (refused(0, &[]), "changed\n"));
}

#[test]
fn where_nobody_may_look_the_walls_stand_and_it_is_said() {
    if !has_sandbox() {
        return;
    }
    let ways: [fn() -> std::io::Result<()>; 2] = [listened_to_already, illegible];
    for prepared in ways {
        let place = Place::new();
        let spec = place.spec("cat a; echo x > ../outside");
        let ran = run_by(Path::new(SANDBOX_PROGRAM), &spec, |program| {
            // SAFETY: it calls nothing but the kernel.
            unsafe { program.pre_exec(prepared) };
        });
        let expected = SandboxReport::Ended {
            end: CommandEnd::Exit(1),
            refused: Vec::new(),
            more: false,
            reads: ReadPaths::default(),
            watched: false,
        };
        assert_eq!((ran.told, ran.said.as_str()), (Some(expected), "a\n"));
        assert!(!place.folder.path().join("outside").exists());
    }
}

/// As in containers that have the only place for looking taken already.
fn listened_to_already() -> std::io::Result<()> {
    let listener = system_calls::listener_of_its_own();
    // SAFETY: nobody else has it; it stays open in the program, so that its place is taken.
    match unsafe { libc::fcntl(listener, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// As in containers where no process reads another's memory.
fn illegible() -> std::io::Result<()> {
    match system_calls::refuse(libc::SYS_process_vm_readv) {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
