//! The sealed room: what it costs to enter beside a plain start and beside bubblewrap, over workspaces of any size, and what
//! carrying out costs beside `cp -a`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy::RuleSet;
use runtime::{Closed, Environment, Net, Workspace};
use sandbox::{End, Layers, Limits, Outside, Room, Told, read_told};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::history::{Place, copied, furnish};
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};

/// How often each side starts a command.
const STARTS: usize = 201;
/// How often each side carries out.
const ROUNDS: usize = 5;
/// Files of the workspaces that a room is entered over.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Files of one folder there.
const IN_A_FOLDER: usize = 1_000;

/// Measures and prints.
pub fn run() -> Outcome<()> {
    let program = build()?;
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    entered(&program, &tokio)?;
    sizes(&program, &tokio)?;
    carried_out(&program, &tokio)
}

/// Builds the program of the room as it is shipped; gives where it is.
fn build() -> Outcome<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--package", "sandbox", "--bins"])
        .status()?;
    if !built.success() {
        return Err("the program of the room was not built".into());
    }
    let here = std::env::current_exe()?;
    let folder = here.parent().ok_or("this program has no folder")?;
    Ok(folder.join("countersign-room"))
}

/// `true` in a room beside a plain start and beside bubblewrap, and a whole dry run of it.
fn entered(program: &Path, tokio: &Runtime) -> Outcome<()> {
    let place = Place::new()?;
    let folder = place.workspace.root();
    let environment = environment(program, &place)?;
    let mut sides = vec![
        Side::new("plain", || plain(&mut Command::new("true"))),
        Side::new("plain, by a shell", || {
            plain(Command::new("bash").args(["-c", "true"]))
        }),
        Side::new("room", || in_a_room(program, &place, Began::Now)),
        Side::new("room that stands ready", || {
            in_a_room(program, &place, Began::Ahead)
        }),
        Side::new("dry run", || {
            rehearsed(&environment, &place.workspace, "true", tokio)
        }),
    ];
    let has_peer = Command::new("bwrap")
        .arg("--version")
        .output()
        .is_ok_and(|said| said.status.success());
    if has_peer {
        sides.push(Side::new("bubblewrap", || plain(&mut bubblewrap(folder))));
    }
    let taken = medians(&mut sides, STARTS)?;
    let [bare, shell, room, ready, dry_run, peer @ ..] = taken.as_slice() else {
        return Err("a side is missing".into());
    };
    let over = |one: &Duration, other: &Duration| {
        let more = one.as_secs_f64() - other.as_secs_f64();
        format!("{:+.2} ms", more * 1e3)
    };
    let line = |what: &str, (ours, theirs): (&Duration, &Duration), ratio, aim| Line {
        what: what.to_owned(),
        ours: time(*ours),
        theirs: time(*theirs),
        ratio,
        aim,
    };
    let mut lines = vec![
        line(
            "`true` in the room that stands ready, beside a plain start",
            (ready, bare),
            over(ready, bare),
            "+2 ms",
        ),
        line(
            "`true` in a room from its start, beside a plain start",
            (room, bare),
            over(room, bare),
            "",
        ),
        line(
            "a dry run of `true`, from the call to its effects, beside a plain start by a shell",
            (dry_run, shell),
            over(dry_run, shell),
            "",
        ),
    ];
    match peer {
        [peer] => lines.push(line(
            "`true` in a room from its start, beside bubblewrap",
            (room, peer),
            times(*room, *peer),
            "1×",
        )),
        _ => println!("\nBubblewrap (`bwrap`) is not installed, so nothing stands beside it."),
    }
    print("Room", &lines);
    Ok(())
}

/// One start of a program, to its end.
fn plain(command: &mut Command) -> Outcome<Duration> {
    let began = Instant::now();
    let ended = command.stdin(Stdio::null()).output()?;
    match ended.status.success() {
        true => Ok(began.elapsed()),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned().into()),
    }
}

/// What comes closest to a room: names of its own, the world read-only, a writable workspace. It lays no layer over it.
fn bubblewrap(workspace: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command
        .args(["--unshare-all", "--die-with-parent", "--new-session"])
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--tmpfs", "/tmp", "--bind"])
        .args([workspace, workspace])
        .arg("--chdir")
        .arg(workspace)
        .arg("true");
    command
}

/// When the program of a room is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Began {
    /// When it is needed, as by the first command.
    Now,
    /// After the command before, as by every other one.
    Ahead,
}

/// Long enough for what a folder holds to be remembered.
const STEADY: Duration = Duration::from_secs(4);

/// Long enough for it to make what every room has.
const MADE_READY: Duration = Duration::from_millis(20);

/// One `true` in a room with a layer; without the folders that the layer takes, and with what the room says of its end.
fn in_a_room(program: &Path, place: &Place, start: Began) -> Outcome<Duration> {
    let state = tempfile::tempdir_in(place.home.path())?;
    let (upper, work) = (state.path().join("upper"), state.path().join("work"));
    std::fs::create_dir(&upper)?;
    std::fs::create_dir(&work)?;
    let workspace = place.workspace.root().to_owned();
    let room = Room {
        folder: workspace.clone(),
        workspace,
        layers: Some(Layers {
            upper,
            work: Some(work),
        }),
        read_only: Vec::new(),
        masked: Vec::new(),
        limits: Limits::default(),
        bare: None,
        proxy: false,
        input: false,
        command: vec!["/usr/bin/true".to_owned()],
        environment: Vec::new(),
        told: state.path().join("told"),
    };
    let (outside, inside) = Outside::pair()?;
    let mut began = Instant::now();
    let mut child = Command::new(program)
        .env_clear()
        .stdin(inside)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if start == Began::Ahead {
        std::thread::sleep(MADE_READY);
        began = Instant::now();
    }
    outside.ask(&room)?;
    child.wait()?;
    let told = read_told(&room.told)?;
    let took = began.elapsed();
    // As the app does it: by a thread of its own, which is waited for here, so that no round pays for another.
    std::thread::spawn(move || drop(outside))
        .join()
        .map_err(|_| "letting go of the room failed")?;
    match told {
        Some(Told::Ended {
            end: End::Exit(0), ..
        }) => {}
        told => return Err(format!("the room said {told:?}").into()),
    }
    // The kernel leaves a folder there that nobody may look into.
    let left = state.path().join("work/work");
    let _ = Command::new("chmod").arg("700").arg(left).status();
    Ok(took)
}

fn environment(program: &Path, place: &Place) -> Outcome<Environment> {
    let rooms = place.home.path().join("rooms");
    Ok(Environment::open(
        Some(program.to_owned()),
        &rooms,
        Vec::new(),
    )?)
}

fn command(workspace: &Workspace, line: &str) -> runtime::Command {
    runtime::Command {
        line: line.to_owned(),
        workspace: workspace.clone(),
        folder: String::new(),
        env: Vec::new(),
        timeout_ms: 600_000,
        output_bytes_max: 1_000_000,
        spill: None,
        errors: None,
        masks: true,
    }
}

/// A dry run, until nothing is left of it.
fn rehearsed(
    environment: &Environment,
    workspace: &Workspace,
    line: &str,
    tokio: &Runtime,
) -> Outcome<Duration> {
    let began = Instant::now();
    drop(rehearse(environment, workspace, line, tokio)?);
    Ok(began.elapsed())
}

fn rehearse(
    environment: &Environment,
    workspace: &Workspace,
    line: &str,
    tokio: &Runtime,
) -> Outcome<runtime::Rehearsed> {
    let (command, never) = (command(workspace, line), CancellationToken::new());
    let net = Net::closed();
    let rehearsed = tokio.block_on(environment.rehearse(&command, &net, |_: &str| {}, &never))?;
    match rehearsed.effects.exit_code {
        Some(0) => Ok(rehearsed),
        _ => Err(String::from_utf8_lossy(&rehearsed.ran.head)
            .into_owned()
            .into()),
    }
}

/// The files that a session keeps from a command, as the built-in protections have them.
fn closed(rules: &Arc<RuleSet>) -> Closed {
    let (rules, by) = (rules.clone(), rules.clone());
    Closed::new(move |path| rules.closes(path, 0)).by(move || Some(by.clone()))
}

/// The same dry run, which changes one file, over workspaces of more and more files.
fn sizes(program: &Path, tokio: &Runtime) -> Outcome<()> {
    let rules = Arc::new(RuleSet::builtin());
    let mut places = Vec::new();
    for files in SIZES {
        let place = Place::new()?;
        for folder in 0..files / IN_A_FOLDER {
            let folder = place.workspace.root().join(format!("folder{folder}"));
            std::fs::create_dir(&folder)?;
            for file in 0..IN_A_FOLDER {
                std::fs::write(folder.join(format!("file{file}")), "")?;
            }
        }
        let environment = environment(program, &place)?;
        let workspace = place.workspace.clone().closing(closed(&rules));
        places.push((place, workspace, environment));
    }
    // What was made a moment ago is looked at anew each time; a person's workspace lies there for longer.
    std::thread::sleep(STEADY);
    const CHANGES: &str = "echo more >> folder0/file0";
    let side = |(_, workspace, environment): &(Place, Workspace, Environment)| {
        rehearsed(environment, workspace, CHANGES, tokio)
    };
    let mut sides: Vec<Side<'_>> = places
        .iter()
        .map(|place| Side::new("dry run", move || side(place)))
        .collect();
    let taken = medians(&mut sides, STARTS / 10)?;
    let least = taken.first().copied().unwrap_or_default();
    let lines = SIZES.iter().zip(&taken).map(|(files, took)| Line {
        what: format!("a dry run that changes one of {files} files"),
        ours: time(*took),
        theirs: time(least),
        ratio: times(*took, least),
        aim: "1×",
    });
    print(
        "Room by files (theirs: ours over 1,000 files)",
        &lines.collect::<Vec<_>>(),
    );
    Ok(())
}

/// What a command made of ten thousand files, carried out and taken back, beside `cp -a` of as many.
fn carried_out(program: &Path, tokio: &Runtime) -> Outcome<()> {
    let once = || -> Outcome<(Duration, Duration)> {
        let place = Place::new()?;
        furnish(place.workspace.root())?;
        let environment = environment(program, &place)?;
        let rehearsed = rehearse(&environment, &place.workspace, "cp -a tree copy", tokio)?;
        let took = place.carry_out(&rehearsed.plan, 1)?;
        Ok((took, place.undo()?))
    };
    let mut sides = [
        Side::new("cp -a", || copied(false)),
        Side::new("cp -a, and on disk", || copied(true)),
        Side::new("commit", || Ok(once()?.0)),
        Side::new("undo", || Ok(once()?.1)),
    ];
    let taken = medians(&mut sides, ROUNDS)?;
    let [cp, on_disk, commit, undo] = taken.as_slice() else {
        return Err("a side is missing".into());
    };
    let mut lines = Vec::new();
    for (what, took) in [("commit", commit), ("undo", undo)] {
        for (peer, theirs) in [("cp -a", cp), ("cp -a, and on disk", on_disk)] {
            lines.push(Line {
                what: format!("{what} of 10,000 new files, beside `{peer}`"),
                ours: time(*took),
                theirs: time(*theirs),
                ratio: times(*took, *theirs),
                aim: "3×",
            });
        }
    }
    print("Room, carried out", &lines);
    Ok(())
}
