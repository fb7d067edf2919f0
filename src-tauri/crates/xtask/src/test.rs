//! `cargo xtask test`: everything that must hold, and one line at the end that says how much of it does.

use std::process::{Command, ExitCode};

use crate::checks::Checks;
use crate::command;
use crate::driver;
use crate::failure::Failure;
use crate::peers;
use crate::place;
use crate::progress::Progress;
use crate::run;
use crate::system::{self, Purpose};
use crate::ui;

/// A part of the whole that can be asked for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Svelte's types, lint and unit tests.
    Ui,
    /// Formatting and clippy.
    Lint,
    /// Every Rust test that needs no window.
    Engine,
    /// The real app in a real window.
    Window,
}

/// The same packages in every cargo command: with others, cargo would choose other features and build twice.
const PACKAGES: [&str; 4] = ["--workspace", "--exclude", "bench", "--locked"];

/// Runs all parts, or the one after `--only`.
pub fn test(own: &[String], passed_on: &[String]) -> Result<ExitCode, Failure> {
    let (only, with_peers) = asked(own)?;
    let wanted = |part| only.is_none_or(|only| only == part);
    let progress = Progress::start();
    prepare(&progress, only)?;
    let mut checks = Checks::new(progress);
    if wanted(Part::Ui) {
        check_ui(&mut checks, only.is_some(), passed_on);
    }
    if wanted(Part::Lint) {
        check_lint(&mut checks);
    }
    if wanted(Part::Engine) {
        check_engine(&mut checks, passed_on);
    }
    if with_peers && wanted(Part::Engine) {
        check_peers(&mut checks, passed_on);
    }
    if wanted(Part::Window) {
        check_window(&mut checks, passed_on);
    }
    Ok(checks.conclude())
}

/// Which part alone, and whether with the servers of others.
fn asked(own: &[String]) -> Result<(Option<Part>, bool), Failure> {
    let words = own.iter().map(String::as_str);
    let (peers, words): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == "--peers");
    Ok((part(&words)?, !peers.is_empty()))
}

fn part(words: &[&str]) -> Result<Option<Part>, Failure> {
    match words[..] {
        [] => Ok(None),
        ["--only", "ui"] => Ok(Some(Part::Ui)),
        ["--only", "lint"] => Ok(Some(Part::Lint)),
        ["--only", "engine"] => Ok(Some(Part::Engine)),
        ["--only", "window"] => Ok(Some(Part::Window)),
        _ => Err(Failure::new(
            format!("`cargo xtask test {}` is not understood.", words.join(" ")),
            "Use `--only` with engine, ui, window or lint; what the test runners are to get goes after `--`.",
        )),
    }
}

/// Installs and builds what the tests stand on. Without it no check has a meaning, so a failure ends the run.
fn prepare(progress: &Progress, only: Option<Part>) -> Result<(), Failure> {
    let ui_alone = only == Some(Part::Ui);
    if !ui_alone {
        progress.stage("system packages", || system::ensure(Purpose::Tests))?;
    }
    progress.stage("UI packages", ui::install)?;
    if !ui_alone {
        // The app compiles the built UI into itself.
        progress.stage("UI build", ui::build)?;
    }
    if matches!(only, None | Some(Part::Engine)) {
        progress.stage("model endpoint", || ui::install_in(&place::endpoint()))?;
    }
    // The engine's tests build it anyhow.
    if only == Some(Part::Window) {
        progress.stage("room", run::build_room)?;
    }
    if cfg!(target_os = "linux") && matches!(only, None | Some(Part::Window)) {
        progress.stage("tauri-driver", driver::ensure)?;
    }
    Ok(())
}

fn check_ui(checks: &mut Checks, alone: bool, passed_on: &[String]) {
    checks.pass("svelte-check", "`npm run check` in ui/ repeats it.", || {
        npm(&["check"])
    });
    checks.pass("UI lint", "`npm run lint` in ui/ repeats it.", || {
        npm(&["--if-present", "lint"])
    });
    checks.count("UI tests", "`npm test` in ui/ repeats them.", || {
        let mut npm = npm(&["test", "--"]);
        // With the other parts, what comes after `--` is for Rust's test runner.
        if alone {
            npm.args(passed_on);
        }
        npm
    });
}

fn check_lint(checks: &mut Checks) {
    checks.pass("cargo fmt", "`cargo fmt` puts it right.", || {
        cargo(&["fmt", "--all", "--check"], &[])
    });
    checks.pass(
        "cargo clippy",
        "Read clippy's reasons above; `clippy.toml` says what the walls are for.",
        || {
            let mut clippy = cargo(&["clippy"], &PACKAGES);
            clippy.args([
                "--all-targets",
                "--test",
                "window",
                "--test",
                "peers",
                "--",
                "-D",
                "warnings",
            ]);
            clippy
        },
    );
    // S001-56
    checks.pass(
        "cargo clippy without OpenAPI",
        "The feature `openapi` can be left out; what needs it stands behind it.",
        || {
            let parts = ["--package", "agent", "--package", "cli", "--locked"];
            let mut clippy = cargo(&["clippy", "--no-default-features"], &parts);
            clippy.args(["--", "-D", "warnings"]);
            clippy
        },
    );
}

fn check_engine(checks: &mut Checks, passed_on: &[String]) {
    checks.count(
        "engine tests",
        "`cargo test -p CRATE NAME` repeats one.",
        || {
            let mut cargo = cargo(&["test", "--no-fail-fast"], &PACKAGES);
            cargo.arg("--").args(passed_on);
            cargo
        },
    );
}

/// Others change their servers, and what they are installed from may be out of reach: that is said and not taken for a pass.
fn check_peers(checks: &mut Checks, passed_on: &[String]) {
    let installed = checks.progress().stage("servers of others", peers::install);
    if let Err(failure) = installed {
        match peers::out_of_reach() {
            Some(why) => checks.skip(why),
            None => checks.fail(failure),
        }
        return;
    }
    let next = "`cargo xtask test --peers --only engine -- NAME` repeats one.";
    checks.count("tests with the servers of others", next, || {
        let mut cargo = cargo(&["test", "--no-fail-fast"], &PACKAGES);
        cargo.args(["--test", "peers", "--"]).args(passed_on);
        cargo.env("COUNTERSIGN_PEERS", peers::python_home());
        cargo
    });
}

fn check_window(checks: &mut Checks, passed_on: &[String]) {
    if !cfg!(target_os = "linux") {
        checks.skip("the window tests run on Linux only; macOS has no driver for its web view.");
        return;
    }
    let next = "Pictures are in target/window-shots; `cargo xtask test --only window -- NAME` repeats one.";
    // Each test brings its own display and bus, so nothing is put around cargo here.
    checks.count_with_repeat("window tests", next, |names| {
        let mut cargo = cargo(&["test", "--no-fail-fast"], &PACKAGES);
        // One window at a time: keys and clicks go through the X server, and two windows at once are slow to hear of them.
        cargo.args(["--test", "window", "--", "--test-threads=1"]);
        match names {
            [] => cargo.args(passed_on),
            names => cargo.arg("--exact").args(names),
        };
        if let Some(driver) = driver::find() {
            cargo.env("TAURI_DRIVER", driver);
        }
        cargo
    });
}

fn npm(script: &[&str]) -> Command {
    let mut npm = command::npm();
    npm.args(["run", "--silent"]).args(script);
    npm
}

fn cargo(verb: &[&str], packages: &[&str]) -> Command {
    let mut cargo = command::cargo();
    cargo.args(verb).args(packages);
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn only_the_four_parts_are_understood() {
        let table = [
            ("", Some(None)),
            ("--only ui", Some(Some(Part::Ui))),
            ("--only lint", Some(Some(Part::Lint))),
            ("--only engine", Some(Some(Part::Engine))),
            ("--only window", Some(Some(Part::Window))),
            ("--only", None),
            ("--only all", None),
            ("ui", None),
        ];
        for (line, expected) in table {
            let both = |peers| expected.map(|only| (only, peers));
            assert_eq!(asked(&words(line)).ok(), both(false), "{line}");
            let with_peers = asked(&words(&format!("--peers {line}")));
            assert_eq!(with_peers.ok(), both(true), "{line}");
        }
    }
}
