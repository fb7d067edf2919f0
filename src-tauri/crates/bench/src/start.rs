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

/// What one start showed.
struct Seen {
    drawn: Duration,
    memory_kib: u64,
}

/// Starts both in alternation and prints what was seen.
pub fn run() -> Outcome<()> {
    let programs = [
        build(&["--bin", "countersign-desktop"], "countersign-desktop")?,
        build(&["--example", "empty-window"], "examples/empty-window")?,
    ];
    let screen = Screen::start()?;
    let mut seen: [Vec<Seen>; 2] = [Vec::new(), Vec::new()];
    // The first round fills the system's caches and does not count.
    for round in 0..=ROUNDS {
        for (program, seen) in programs.iter().zip(&mut seen) {
            let start = once(&screen, program)?;
            if round > 0 {
                seen.push(start);
            }
        }
    }
    let [ours, theirs] = &seen;
    let (drawn, theirs_drawn) = (middle_drawn(ours), middle_drawn(theirs));
    let (memory, theirs_memory) = (middle_memory(ours), middle_memory(theirs));
    print(
        "Start (theirs: an empty window of Tauri)",
        &[
            Line {
                what: "start to the picture that stays, empty data folder".to_owned(),
                ours: time(drawn),
                theirs: time(theirs_drawn),
                ratio: times(drawn, theirs_drawn),
                aim: "1.5×",
            },
            Line {
                what: "memory of the whole process tree (PSS)".to_owned(),
                ours: mebibytes(memory),
                theirs: mebibytes(theirs_memory),
                ratio: times(
                    Duration::from_millis(memory),
                    Duration::from_millis(theirs_memory),
                ),
                aim: "1.5×",
            },
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

/// One start with an empty home, until the picture stays.
fn once(screen: &Screen, program: &Path) -> Outcome<Seen> {
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
