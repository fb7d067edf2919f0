//! `cargo xtask`: the project's own commands, so that a fresh machine needs one command line and no reading.
//!
//! **Knows nothing of the product's crates**: it depends on no crate at all, so that it compiles in a few seconds on a
//! machine that has only Rust. Start reading at [`test::run_tests`] or [`run::run_app`].

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program's whole job is to start other programs, to touch files and to print"
)]

mod archive;
mod audit;
mod cargo_tools;
mod check_runner;
mod command;
mod debian_package;
mod dist;
mod docs;
mod failed_tests;
mod failure;
mod film;
mod gallery;
mod in_display;
mod linting_compiler;
mod man_and_completions;
mod other_agents;
mod other_systems;
mod package_check;
mod paths;
mod peer_servers;
mod progress;
mod publish;
mod run;
mod sbom;
mod screenshots;
mod system_packages;
mod tauri_cli;
mod test;
mod test_tally;
mod ui;
mod update_source;
mod virtual_display;

use std::process::ExitCode;

use failure::Failure;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  run [--screenshot DIR] [-- ARGS]      build the app and open it; with DIR, play the demo unseen and save pictures
  run --film FILE.webm                  play the demo unseen and film it
  test [--only PART] [-- ARGS]          everything that must hold; PART is engine, ui, window or lint
  test --peers [--only engine]          the same, and the servers of tools that other people wrote
  test --agents [--only engine]         the same, and the agents that other people wrote
  gallery [--accept] [-- -t NAME]       photograph every component and screen, compare; --accept writes the references
  dist [--bundles KINDS] [--check]      write installers, or `archive`, the command line alone; --check installs the .deb,
                                        starts it and removes it
  dist --bundles KINDS --updates-from URL --updates-key KEY
                                        installers that replace themselves by newer versions, signed
  publish --from DIR --out DIR …        package repositories and manifests of a release; --check tries out a made-up one
  sbom --out DIR                        bills of materials of the programs and the interface, in CycloneDX
  docs                                  build the documentation as a site, target/docs-site; a dead link fails
  bindings                              write the TypeScript types of the protocol to ui/src/ipc/bindings
  audit                                 licences, duplicates and known vulnerabilities of all dependencies
  bench [-- ARGS]                       the measurements, in release mode
";

fn main() -> ExitCode {
    if let Some(code) = linting_compiler::run_as_compiler() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Splits the command line at `--` and runs the named command.
fn dispatch(arguments: &[String]) -> Result<ExitCode, Failure> {
    let Some((verb, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(ExitCode::FAILURE);
    };
    let (own, passed_on) = match rest.iter().position(|a| a == "--") {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    match verb.as_str() {
        "run" => run::run_app(own, passed_on).map(|()| ExitCode::SUCCESS),
        "test" => test::run_tests(own, passed_on),
        "gallery" => gallery::run_gallery(own, passed_on).map(|()| ExitCode::SUCCESS),
        "dist" => dist::run_dist(own).map(|()| ExitCode::SUCCESS),
        "publish" => publish::run_publish(own).map(|()| ExitCode::SUCCESS),
        "sbom" => sbom::run_sbom(own).map(|()| ExitCode::SUCCESS),
        "docs" => docs::run_docs(own).map(|()| ExitCode::SUCCESS),
        "audit" => audit::run_audit(own).map(|()| ExitCode::SUCCESS),
        "bindings" => write_bindings().map(|()| ExitCode::SUCCESS),
        "bench" => run_bench(passed_on).map(|()| ExitCode::SUCCESS),
        // Not for people.
        "in-display" => in_display::run_inside_display(own).map(|()| ExitCode::SUCCESS),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Failure::new(
            format!("There is no command `{other}`."),
            "Type `cargo xtask help` to see all commands.",
        )),
    }
}

/// Writes the TypeScript types that the UI shares with the engine.
fn write_bindings() -> Result<(), Failure> {
    let mut cargo = command::cargo_command();
    cargo.args([
        "run",
        "--quiet",
        "--package",
        "protocol",
        "--example",
        "bindings",
    ]);
    command::run_command(
        &mut cargo,
        "The bindings could not be written.",
        "Read the compiler's message above; the generator is src-tauri/crates/protocol/examples/bindings.rs.",
    )
}

/// Runs the measurements.
fn run_bench(passed_on: &[String]) -> Result<(), Failure> {
    let mut cargo = command::cargo_command();
    cargo
        .args(["run", "--release", "--package", "bench", "--"])
        .args(passed_on);
    command::run_command(
        &mut cargo,
        "The measurements did not finish.",
        "Read the message above; `cargo xtask bench -- --help` lists what can be measured.",
    )
}
