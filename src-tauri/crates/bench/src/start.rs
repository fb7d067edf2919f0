//! The app's cold start and memory beside an empty window of the same Tauri: from the start of the process until the
//! picture that stays, and the memory of the whole process tree once it stands.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::pairs::median;
use crate::screen::Screen;
use crate::table::{Line, print, time, times};

/// How often each is started.
const ROUNDS: usize = 7;
/// Has a web view painted without OpenGL, as the app chooses by itself where there is no graphics processor.
const NO_OPENGL: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// What one start showed.
struct Seen {
    drawn: Duration,
    memory_kib: u64,
}

/// Starts both in alternation and prints what was seen.
pub fn run() -> Outcome<()> {
    let app = build(&["--bin", "countersign-desktop"], "countersign-desktop")?;
    let empty = build(&["--example", "empty-window"], "examples/empty-window")?;
    let sides = [(&app, None), (&empty, None), (&empty, Some(NO_OPENGL))];
    let screen = Screen::start()?;
    let mut seen: [Vec<Seen>; 3] = Default::default();
    // The first round fills the system's caches and does not count.
    for round in 0..=ROUNDS {
        for ((program, painting), seen) in sides.iter().zip(&mut seen) {
            let start = once(&screen, program, *painting)?;
            if round > 0 {
                seen.push(start);
            }
        }
    }
    let [drawn, theirs_drawn, plain_drawn] = seen.each_ref().map(|seen| middle_drawn(seen));
    let [memory, theirs_memory, plain_memory] = seen.each_ref().map(|seen| middle_memory(seen));
    // The aims are beside an empty window as Tauri makes it.
    let drawn_beside = |theirs, what: &str, aim| Line {
        what: what.to_owned(),
        ours: time(drawn),
        theirs: time(theirs),
        ratio: times(drawn, theirs),
        aim,
    };
    let memory_beside = |theirs, what: &str, aim| Line {
        what: what.to_owned(),
        ours: mebibytes(memory),
        theirs: mebibytes(theirs),
        ratio: times(Duration::from_millis(memory), Duration::from_millis(theirs)),
        aim,
    };
    print(
        "Start (theirs: an empty window of Tauri)",
        &[
            drawn_beside(
                theirs_drawn,
                "start to the picture that stays, empty data folder",
                "1.5×",
            ),
            drawn_beside(
                plain_drawn,
                "start, the empty window without OpenGL too",
                "",
            ),
            memory_beside(
                theirs_memory,
                "memory of the whole process tree (PSS)",
                "1.5×",
            ),
            memory_beside(
                plain_memory,
                "memory, the empty window without OpenGL too",
                "",
            ),
        ],
    );
    Ok(())
}

/// Builds a program of the desktop package as it is shipped; gives where it is.
fn build(what: &[&str], program: &str) -> Outcome<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--package", "countersign-desktop"])
        .args(["--features", "custom-protocol"])
        .args(what)
        .status()?;
    if !built.success() {
        return Err(format!("{program} was not built").into());
    }
    // This program stands where cargo puts the others.
    let here = std::env::current_exe()?;
    let folder = here.parent().ok_or("this program has no folder")?;
    Ok(folder.join(program))
}

/// One start with an empty home, until the picture stays; `painting` is a variable that is set for it.
fn once(screen: &Screen, program: &Path, painting: Option<&str>) -> Outcome<Seen> {
    screen.cleared()?;
    let home = tempfile::tempdir()?;
    let mut command = Command::new(program);
    for name in [
        "HOME",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        command.env(name, home.path());
    }
    command
        .env("COUNTERSIGN_DATA_DIR", home.path().join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(name) = painting {
        command.env(name, "1");
    }
    let began = Instant::now();
    let mut child = screen.hold(&mut command).spawn()?;
    let seen = screen.drawn(began).and_then(|drawn| {
        let memory_kib = memory_kib(child.id())?;
        Ok(Seen { drawn, memory_kib })
    });
    end(&mut child)?;
    seen.map_err(|error| format!("{}: {error}", program.display()).into())
}

/// Ends the program; what it started ends with it.
fn end(child: &mut Child) -> Outcome<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// What a process and all that it started hold in memory, in KiB; what several share counts once.
fn memory_kib(pid: u32) -> Outcome<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let own = rollup
        .lines()
        .find_map(|line| line.strip_prefix("Pss:"))
        .and_then(|rest| rest.split_whitespace().next())
        .ok_or("the system does not say what a process holds")?
        .parse::<u64>()?;
    let mut sum = own;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let children = std::fs::read_to_string(task?.path().join("children"))?;
        for child in children.split_whitespace() {
            sum += memory_kib(child.parse()?)?;
        }
    }
    Ok(sum)
}

fn middle_drawn(seen: &[Seen]) -> Duration {
    median(seen.iter().map(|seen| seen.drawn).collect())
}

fn middle_memory(seen: &[Seen]) -> u64 {
    let mut all: Vec<u64> = seen.iter().map(|seen| seen.memory_kib).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn mebibytes(kib: u64) -> String {
    format!("{} MiB", kib / 1024)
}
