//! `cargo xtask run`: from a bare checkout to the open app, or to the best alternative on a machine without a display.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::film;
use crate::paths;
use crate::progress::Progress;
use crate::screenshots;
use crate::system_packages::{self, PackagePurpose};
use crate::ui;
use crate::virtual_display;

/// Name of the app's package and program.
pub const APP_NAME: &str = "countersign-desktop";

/// Builds the app and opens it; plays the demo on a virtual display with `--screenshot DIR`, or, without a display, in
/// the terminal.
pub fn run_app(own: &[String], passed_on: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    match words[..] {
        [] if virtual_display::is_available() => open_app(passed_on),
        [] => {
            println!(
                "There is no display here, so the demo plays in the terminal. \
                 `cargo xtask run --screenshot DIR` plays it in a virtual display and saves pictures."
            );
            play_in_terminal(passed_on)
        }
        ["--screenshot", dir] => {
            let dir = prepare_output(Path::new(dir))?;
            std::fs::create_dir_all(&dir).map_err(|e| Failure::file_error("make", &dir, &e))?;
            screenshots::take_screenshots(&build_app(PackagePurpose::Pictures)?, &dir)
        }
        ["--film", file] => {
            let file = prepare_output(Path::new(file))?;
            film::take_film(&build_app(PackagePurpose::Film)?, &file)
        }
        _ => Err(Failure::new(
            format!("`cargo xtask run {}` is not understood.", words.join(" ")),
            "Use `--screenshot DIR`, `--film FILE`, or nothing; what the app is to get goes after `--`.",
        )),
    }
}

fn open_app(passed_on: &[String]) -> Result<(), Failure> {
    let app = build_app(PackagePurpose::App)?;
    println!("Opening {}", app.display());
    command::run_command(
        Command::new(&app)
            .args(passed_on)
            .current_dir(paths::repo_root()),
        "The app ended with an error.",
        "Read its message above; `RUST_LOG=debug cargo xtask run` says more.",
    )
}

fn play_in_terminal(passed_on: &[String]) -> Result<(), Failure> {
    let progress = Progress::start();
    progress.stage("system packages", || {
        system_packages::ensure_packages(PackagePurpose::CommandLine)
    })?;
    progress.stage("command line", || {
        let arguments = [&ENGINE_PACKAGE[..], &SANDBOX_PACKAGE[..]];
        let what = "The command line could not be built.";
        command::build_programs(command::cargo_command(), &arguments.concat(), what)
    })?;
    println!();
    command::run_command(
        Command::new(paths::built_program("debug", ENGINE_NAME))
            .arg("demo")
            .args(passed_on),
        "The demo ended with an error.",
        "Read its message above; `countersign demo --help` explains the verb.",
    )
}

/// Returns where pictures of the virtual display go, as an absolute path: the app starts in the root, and a relative path means
/// the folder that the person is in.
fn prepare_output(path: &Path) -> Result<PathBuf, Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::new(
            "Pictures are taken in a virtual display, which exists on Linux only.",
            "Use `cargo xtask run` and your system's own screenshots.",
        ));
    }
    std::path::absolute(path).map_err(|e| Failure::file_error("find", path, &e))
}

/// Name of the command line's program, which is the engine of the app too: the app looks for it beside itself.
pub const ENGINE_NAME: &str = "countersign";
/// Package of the command line.
pub const ENGINE_PACKAGE: [&str; 4] = ["--package", "cli", "--bin", ENGINE_NAME];
/// Name of the sandbox program, which the engine looks for beside itself.
pub const SANDBOX_NAME: &str = "countersign-sandbox";
/// Package of the sandbox program.
pub const SANDBOX_PACKAGE: [&str; 4] = ["--package", "sandbox", "--bin", SANDBOX_NAME];

/// Builds the sandbox program with this cargo: one from an earlier state of the code would not understand the app.
pub fn build_sandbox(cargo: Command) -> Result<bool, Failure> {
    let what = "The sandbox program could not be built.";
    command::build_programs(cargo, &SANDBOX_PACKAGE, what)
}

/// Builds everything up to the app's program in `target/debug`; returns its path.
fn build_app(purpose: PackagePurpose) -> Result<PathBuf, Failure> {
    let progress = Progress::start();
    progress.stage("system packages", || {
        system_packages::ensure_packages(purpose)
    })?;
    progress.stage("UI packages", ui::install_packages)?;
    progress.stage("UI build", ui::build_ui)?;
    progress.stage("app", || {
        let arguments = [
            &["--package", APP_NAME, "--bin", APP_NAME],
            &ENGINE_PACKAGE[..],
            &SANDBOX_PACKAGE[..],
        ];
        command::build_programs(
            command::cargo_command(),
            &arguments.concat(),
            "The app could not be built.",
        )
    })?;
    Ok(paths::built_program("debug", APP_NAME))
}
