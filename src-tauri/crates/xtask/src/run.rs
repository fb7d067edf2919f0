//! `cargo xtask run`: from a bare checkout to the open app, or to the best that a machine without a display can show.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::display;
use crate::failure::Failure;
use crate::frames;
use crate::place;
use crate::progress::Progress;
use crate::system::{self, Purpose};
use crate::ui;

/// The app's package and program.
pub const APP: &str = "countersign-desktop";

/// Builds the app and opens it, plays the demo unseen with `--screenshot DIR`, or, without a display, in the terminal.
pub fn run(own: &[String], passed_on: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    match words[..] {
        [] if display::is_there() => open(passed_on),
        [] => {
            println!(
                "There is no display here, so the demo plays in the terminal. \
                 `cargo xtask run --screenshot DIR` plays it in a virtual display and saves pictures."
            );
            play_in_terminal(passed_on)
        }
        ["--screenshot", dir] => pictures(Path::new(dir)),
        _ => Err(Failure::new(
            format!("`cargo xtask run {}` is not understood.", words.join(" ")),
            "Use `--screenshot DIR` or nothing; what the app is to get goes after `--`.",
        )),
    }
}

fn open(passed_on: &[String]) -> Result<(), Failure> {
    let app = build_app(Purpose::App)?;
    println!("Opening {}", app.display());
    command::run(
        Command::new(&app)
            .args(passed_on)
            .current_dir(place::root()),
        "The app ended with an error.",
        "Read its message above; `RUST_LOG=debug cargo xtask run` says more.",
    )
}

fn play_in_terminal(passed_on: &[String]) -> Result<(), Failure> {
    let progress = Progress::start();
    progress.stage("system packages", || system::ensure(Purpose::CommandLine))?;
    let program = "countersign";
    progress.stage("command line", || {
        let mut cargo = command::cargo();
        cargo.args(["build", "--locked", "--package", "cli", "--bin", program]);
        cargo.args(ROOM);
        command::run(
            &mut cargo,
            "The command line could not be built.",
            "Read the compiler's message above.",
        )
        .map(|()| true)
    })?;
    println!();
    command::run(
        Command::new(place::built("debug", program))
            .arg("demo")
            .args(passed_on),
        "The demo ended with an error.",
        "Read its message above; `countersign demo --help` explains the verb.",
    )
}

fn pictures(dir: &Path) -> Result<(), Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::new(
            "Pictures are taken in a virtual display, which exists on Linux only.",
            "Use `cargo xtask run` and your system's own screenshots.",
        ));
    }
    // The app starts in the root; a relative folder means the one the person is in.
    let dir = std::path::absolute(dir).map_err(|e| Failure::file("find", dir, &e))?;
    std::fs::create_dir_all(&dir).map_err(|e| Failure::file("make", &dir, &e))?;
    let app = build_app(Purpose::Pictures)?;
    frames::take(&app, &dir)
}

/// The program that commands are sealed in is found beside the one that seals them.
const ROOM: [&str; 4] = ["--package", "sandbox", "--bin", "countersign-room"];

/// Builds it: one that an earlier state left there would not understand the app.
pub fn build_room() -> Result<bool, Failure> {
    let mut cargo = command::cargo();
    cargo.args(["build", "--locked"]).args(ROOM);
    let what = "The program of the sealed room could not be built.";
    command::run(&mut cargo, what, "Read the compiler's message above.").map(|()| true)
}

/// Everything up to the app's program in `target/debug`.
fn build_app(purpose: Purpose) -> Result<PathBuf, Failure> {
    let progress = Progress::start();
    progress.stage("system packages", || system::ensure(purpose))?;
    progress.stage("UI packages", ui::install)?;
    progress.stage("UI build", ui::build)?;
    progress.stage("app", || {
        let mut cargo = command::cargo();
        cargo.args(["build", "--locked", "--package", APP, "--bin", APP]);
        cargo.args(ROOM);
        command::run(
            &mut cargo,
            "The app could not be built.",
            "Read the compiler's message above.",
        )
        .map(|()| true)
    })?;
    Ok(place::built("debug", APP))
}
