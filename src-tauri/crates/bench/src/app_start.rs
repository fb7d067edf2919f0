//! Measures the app's cold start and memory beside an empty window of the same Tauri: the time from the start of the
//! process until the final screen content, and the memory of the whole process tree afterwards.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::BenchResult;
use crate::paired_timing::median;
use crate::process_tree::{format_mebibytes, measure_memory_kib};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};
use crate::virtual_screen::VirtualScreen;

/// Number of starts per program.
const ROUNDS: usize = 7;
/// Environment variable that makes a web view paint without OpenGL, as the app chooses by itself where there is no
/// graphics processor.
const NO_OPENGL_VARIABLE: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Measurements of one start, or their medians.
pub struct StartMeasurement {
    /// From the start of the process until the picture that stays.
    pub drawn: Duration,
    /// Memory of the whole process tree once that picture stands, in KiB.
    pub memory_kib: u64,
}

/// Starts both programs in alternation and prints the measurements.
pub fn run() -> BenchResult<()> {
    let app = build_app()?;
    let empty = build_program(&["--example", "empty-window"], "examples/empty-window")?;
    let sides = [
        (&app, None),
        (&empty, None),
        (&empty, Some(NO_OPENGL_VARIABLE)),
    ];
    let screen = VirtualScreen::start()?;
    let mut seen: [Vec<StartMeasurement>; 3] = Default::default();
    // The first round fills the system's caches and does not count.
    for round in 0..=ROUNDS {
        for ((program, painting), seen) in sides.iter().zip(&mut seen) {
            let start = measure_start(&screen, program, *painting)?;
            if round > 0 {
                seen.push(start);
            }
        }
    }
    let [drawn, theirs_drawn, plain_drawn] = seen.each_ref().map(|seen| median_draw_time(seen));
    let [memory, theirs_memory, plain_memory] = seen.each_ref().map(|seen| median_memory(seen));
    // The aims are beside an empty window as Tauri makes it.
    let drawn_beside = |theirs, what: &str, aim| TableRow {
        what: what.to_owned(),
        ours: format_time(drawn),
        theirs: format_time(theirs),
        ratio: format_ratio(drawn, theirs),
        aim,
    };
    let memory_beside = |theirs, what: &str, aim| TableRow {
        what: what.to_owned(),
        ours: format_mebibytes(memory),
        theirs: format_mebibytes(theirs),
        ratio: format_ratio(Duration::from_millis(memory), Duration::from_millis(theirs)),
        aim,
    };
    print_table(
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

/// Starts a built program several times, each with an empty home; returns the medians.
pub fn measure_starts(program: &Path) -> BenchResult<StartMeasurement> {
    let screen = VirtualScreen::start()?;
    let mut seen = Vec::new();
    // The first round fills the system's caches and does not count.
    for round in 0..=ROUNDS {
        let start = measure_start(&screen, program, None)?;
        if round > 0 {
            seen.push(start);
        }
    }
    Ok(StartMeasurement {
        drawn: median_draw_time(&seen),
        memory_kib: median_memory(&seen),
    })
}

/// Builds the app as it is shipped, with the command line beside it, which is its engine, and the program that sets up
/// sandboxes; returns the app's path.
pub fn build_app() -> BenchResult<PathBuf> {
    build_release(&["--package", "cli"], "countersign")?;
    build_release(&["--package", "sandbox"], "countersign-sandbox")?;
    build_program(&["--bin", "countersign-desktop"], "countersign-desktop")
}

/// Builds a program of the desktop package as it is shipped; returns its path.
pub fn build_program(what: &[&str], program: &str) -> BenchResult<PathBuf> {
    let package = [
        "--package",
        "countersign-desktop",
        "--features",
        "custom-protocol",
    ];
    build_release(&[&package, what].concat(), program)
}

fn build_release(what: &[&str], program: &str) -> BenchResult<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release"])
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

/// Measures one start with an empty home, until the screen content is stable; `painting` is an environment variable to
/// set for the program.
fn measure_start(
    screen: &VirtualScreen,
    program: &Path,
    painting: Option<&str>,
) -> BenchResult<StartMeasurement> {
    screen.wait_until_cleared()?;
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
    let mut child = screen.attach(&mut command).spawn()?;
    let seen = screen.wait_until_drawn(began).and_then(|drawn| {
        let memory_kib = measure_memory_kib(child.id())?;
        Ok(StartMeasurement { drawn, memory_kib })
    });
    stop_process(&mut child)?;
    seen.map_err(|error| format!("{}: {error}", program.display()).into())
}

/// Ends the program; its child processes end with it.
fn stop_process(child: &mut Child) -> BenchResult<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn median_draw_time(seen: &[StartMeasurement]) -> Duration {
    median(seen.iter().map(|seen| seen.drawn).collect())
}

fn median_memory(seen: &[StartMeasurement]) -> u64 {
    let mut all: Vec<u64> = seen.iter().map(|seen| seen.memory_kib).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
