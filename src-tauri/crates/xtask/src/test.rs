//! `cargo xtask test`: runs every check, and prints one final line with the number that passed.

use std::process::{Child, Command, ExitCode, Stdio};

use crate::check_runner::CheckRunner;
use crate::command;
use crate::docs;
use crate::failure::Failure;
use crate::gallery;
use crate::linting_compiler::LintingCompiler;
use crate::other_agents;
use crate::other_systems;
use crate::paths;
use crate::peer_servers;
use crate::progress::Progress;
use crate::run;
use crate::system_packages::{self, PackagePurpose};
use crate::ui;

/// A part of the tests that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestPart {
    /// Svelte's types, lint and unit tests, and the pictures of the gallery.
    Ui,
    /// Formatting, clippy, and the links of comments.
    Lint,
    /// Every Rust test that needs no window.
    Engine,
    /// The real app in a real window.
    Window,
}

/// What is tested.
#[derive(Debug, PartialEq, Eq)]
struct TestOptions {
    /// The part that is run alone, if any.
    only: Option<TestPart>,
    /// Whether to test with external servers.
    with_peers: bool,
    /// Whether to test with external agents.
    with_agents: bool,
}

/// Arguments that select the same packages in every cargo command: with others, cargo would choose other features and
/// build twice.
const PACKAGE_ARGUMENTS: [&str; 4] = ["--workspace", "--exclude", "bench", "--locked"];

/// Runs all parts, or the one after `--only`.
pub fn run_tests(own: &[String], passed_on: &[String]) -> Result<ExitCode, Failure> {
    let TestOptions {
        only,
        with_peers,
        with_agents,
    } = parse_options(own)?;
    let wanted = |part| only.is_none_or(|only| only == part);
    let progress = Progress::start();
    let compiler = LintingCompiler::install()?;
    prepare(&progress, only, &compiler)?;
    let mut checks = CheckRunner::new(progress);
    // The build compiles one crate after the other for much of its time, which leaves a core for the UI.
    let build = only.is_none().then(|| start_build(&compiler));
    if wanted(TestPart::Ui) {
        check_ui(&mut checks, only.is_some(), passed_on);
    }
    if let Some(Ok(mut build)) = build {
        let _ = build.wait();
    }
    if wanted(TestPart::Lint) {
        check_lint(&mut checks, &compiler);
    }
    if wanted(TestPart::Engine) {
        check_engine(&mut checks, &compiler, passed_on);
    }
    if with_peers && wanted(TestPart::Engine) {
        check_peers(&mut checks, &compiler, passed_on);
    }
    if with_agents && wanted(TestPart::Engine) {
        check_other_agents(&mut checks, &compiler, passed_on);
    }
    if wanted(TestPart::Window) {
        check_window(&mut checks, &compiler, passed_on);
    }
    Ok(checks.conclude())
}

fn parse_options(own: &[String]) -> Result<TestOptions, Failure> {
    let words = own.iter().map(String::as_str);
    let (others, words): (Vec<&str>, Vec<&str>) =
        words.partition(|word| ["--peers", "--agents"].contains(word));
    Ok(TestOptions {
        only: parse_part(&words)?,
        with_peers: others.contains(&"--peers"),
        with_agents: others.contains(&"--agents"),
    })
}

fn parse_part(words: &[&str]) -> Result<Option<TestPart>, Failure> {
    match words[..] {
        [] => Ok(None),
        ["--only", "ui"] => Ok(Some(TestPart::Ui)),
        ["--only", "lint"] => Ok(Some(TestPart::Lint)),
        ["--only", "engine"] => Ok(Some(TestPart::Engine)),
        ["--only", "window"] => Ok(Some(TestPart::Window)),
        _ => Err(Failure::new(
            format!("`cargo xtask test {}` is not understood.", words.join(" ")),
            "Use `--only` with engine, ui, window or lint; what the test runners are to get goes after `--`.",
        )),
    }
}

/// Installs and builds the prerequisites of the tests. Without them no check has a meaning, so a failure ends the run.
fn prepare(
    progress: &Progress,
    only: Option<TestPart>,
    compiler: &LintingCompiler,
) -> Result<(), Failure> {
    let ui_alone = only == Some(TestPart::Ui);
    if !ui_alone {
        progress.stage("system packages", || {
            system_packages::ensure_packages(PackagePurpose::Tests)
        })?;
    }
    progress.stage("UI packages", ui::install_packages)?;
    if matches!(only, None | Some(TestPart::Ui)) {
        progress.stage("packages of the documentation", docs::install_packages)?;
    }
    if !ui_alone {
        // The app compiles the built UI into itself.
        progress.stage("UI build", ui::build_ui)?;
    }
    if matches!(only, None | Some(TestPart::Engine)) {
        progress.stage("model endpoint", || {
            ui::install_packages_in(&paths::endpoint_dir())
        })?;
    }
    // The engine's tests build it anyhow.
    if only == Some(TestPart::Window) {
        progress.stage("sandbox", || run::build_sandbox(compiler.cargo_command()))?;
    }
    Ok(())
}

fn check_ui(checks: &mut CheckRunner, alone: bool, passed_on: &[String]) {
    checks.run_check("svelte-check", "`npm run check` in ui/ repeats it.", || {
        npm_script(&["check"])
    });
    checks.run_check("UI lint", "`npm run lint` in ui/ repeats it.", || {
        npm_script(&["--if-present", "lint"])
    });
    checks.run_check(
        "documentation",
        "`cargo xtask docs` repeats it.",
        docs::build_command,
    );
    checks.run_tests("UI tests", "`npm test` in ui/ repeats them.", || {
        let mut npm = npm_script(&["test", "--"]);
        // With the other parts, what comes after `--` is for Rust's test runner.
        if alone {
            npm.args(passed_on);
        }
        npm
    });
    // Whoever selects tests of the UI gets those alone.
    if !alone || passed_on.is_empty() {
        check_gallery(checks);
    }
}

fn check_gallery(checks: &mut CheckRunner) {
    if let Some(why) = gallery::find_obstacle() {
        checks.skip(&why);
        return;
    }
    let next = format!(
        "Look at {}; where a page is right as it is, `cargo xtask gallery --accept` makes it the reference.",
        gallery::index_file().display()
    );
    checks.run_tests(
        "pictures of the gallery",
        &next,
        gallery::comparison_command,
    );
}

/// Starts the build that [`check_lint`] repeats: what it reports is shown there, and so is a cargo that does not start.
fn start_build(compiler: &LintingCompiler) -> std::io::Result<Child> {
    test_build_command(compiler)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn check_lint(checks: &mut CheckRunner, compiler: &LintingCompiler) {
    checks.run_check("cargo fmt", "`cargo fmt` puts it right.", || {
        let mut fmt = command::cargo_command();
        fmt.args(["fmt", "--all", "--check"]);
        fmt
    });
    checks.run_check(
        "build, clippy and the links of comments",
        "Read the reasons above; `clippy.toml` says what the walls are for.",
        || test_build_command(compiler),
    );
    checks.run_check(
        "the same for the tests that are run by name",
        "cargo leaves out tests with `test = false`; these need a display, or servers or agents of others.",
        || {
            let mut build = test_build_command(compiler);
            build.args(["--test", "window", "--test", "peers"]);
            build.args(["--test", "other_agents"]);
            build
        },
    );
    // S001-56
    checks.run_check(
        "the same without OpenAPI",
        "The feature `openapi` can be left out; what needs it stands behind it.",
        || {
            // All packages, and examples with what only tests depend on: with less, cargo would choose other features of
            // the libraries and build most of them again.
            let mut build = cargo_command(compiler, "build");
            build.args(["--no-default-features", "--lib", "--bins", "--examples"]);
            build
        },
    );
    check_other_systems(checks);
}

/// Compiles the engine for the systems that this machine is not, and says which of them it cannot be compiled for here.
fn check_other_systems(checks: &mut CheckRunner) {
    for system in other_systems::list_other_systems() {
        match system.check_command() {
            Ok(check) => {
                let name = format!("the engine for {}", system.title);
                let next = "It is compiled for that system and not run there; read the compiler's message above.";
                checks.run_check(&name, next, || check);
            }
            Err(why) => checks.skip(&why),
        }
    }
}

fn check_engine(checks: &mut CheckRunner, compiler: &LintingCompiler, passed_on: &[String]) {
    let next = "`cargo test -p CRATE NAME` repeats one.";
    checks.run_tests_with_retry("engine tests", next, |names| {
        let mut cargo = cargo_command(compiler, "test");
        cargo.args(["--no-fail-fast", "--"]);
        add_selection(&mut cargo, names, passed_on);
        cargo
    });
}

/// Tests with external servers. Their authors change them, and their registries may be unreachable: that is reported
/// and does not count as a pass.
fn check_peers(checks: &mut CheckRunner, compiler: &LintingCompiler, passed_on: &[String]) {
    let installed = checks
        .progress()
        .stage("servers of others", peer_servers::install_peers);
    if let Err(failure) = installed {
        report_not_installed(checks, failure, peer_servers::unreachable_reason());
        return;
    }
    let next = "`cargo xtask test --peers --only engine -- NAME` repeats one.";
    checks.run_tests_with_retry("tests with the servers of others", next, |names| {
        let mut cargo = cargo_command(compiler, "test");
        cargo.args(["--no-fail-fast", "--test", "peers", "--"]);
        add_selection(&mut cargo, names, passed_on);
        cargo.env("COUNTERSIGN_PEERS", peer_servers::python_home());
        cargo
    });
}

/// Tests with external agents, of which the same holds as of external servers.
fn check_other_agents(checks: &mut CheckRunner, compiler: &LintingCompiler, passed_on: &[String]) {
    if !cfg!(target_os = "linux") {
        checks.skip("the agents of others are connected on Linux only, where their commands run in a sandbox.");
        return;
    }
    let installed = checks
        .progress()
        .stage("agents of others", other_agents::install_agents);
    if let Err(failure) = installed {
        report_not_installed(checks, failure, other_agents::unreachable_reason());
        return;
    }
    let next = "`cargo xtask test --agents --only engine -- NAME` repeats one.";
    checks.run_tests_with_retry("tests with the agents of others", next, |names| {
        let mut cargo = cargo_command(compiler, "test");
        cargo.args(["--no-fail-fast", "--test", "other_agents", "--"]);
        add_selection(&mut cargo, names, passed_on);
        cargo.env("COUNTERSIGN_AGENTS", other_agents::agents_home());
        cargo
    });
}

/// Records that programs of others could not be installed: skipped if their registry cannot be reached, failed otherwise.
fn report_not_installed(checks: &mut CheckRunner, failure: Failure, unreachable: Option<&str>) {
    match unreachable {
        Some(why) => checks.skip(why),
        None => checks.fail(failure),
    }
}

fn check_window(checks: &mut CheckRunner, compiler: &LintingCompiler, passed_on: &[String]) {
    if !cfg!(target_os = "linux") {
        checks.skip("the window tests run on Linux only; macOS has no driver for its web view.");
        return;
    }
    checks.run_check(
        "the engine of the window",
        "Read the compiler's message above.",
        || {
            // With an example cargo chooses the features that the tests have, and builds nothing twice.
            let mut build = cargo_command(compiler, "build");
            build.args(["--bin", run::ENGINE_NAME, "--example", "empty-window"]);
            build
        },
    );
    let next = "Pictures are in target/window-shots; `cargo xtask test --only window -- NAME` repeats one.";
    // Each test brings its own display and bus, so nothing is put around cargo here.
    checks.run_tests_with_retry("window tests", next, |names| {
        let mut cargo = cargo_command(compiler, "test");
        cargo.args(["--no-fail-fast", "--test", "window", "--"]);
        // Two windows keep two cores busy; with more, keys and clicks are slow to arrive.
        cargo.arg("--test-threads=2");
        add_selection(&mut cargo, names, passed_on);
        cargo
    });
}

/// Selects the named tests, or where none is named, those that the person selects.
fn add_selection(cargo: &mut Command, names: &[String], passed_on: &[String]) {
    match names {
        [] => cargo.args(passed_on),
        names => cargo.arg("--exact").args(names),
    };
}

/// Returns the command that builds the tests without running them.
fn test_build_command(compiler: &LintingCompiler) -> Command {
    let mut build = cargo_command(compiler, "test");
    build.arg("--no-run");
    build
}

fn npm_script(script: &[&str]) -> Command {
    let mut npm = command::npm_command();
    npm.args(["run", "--silent"]).args(script);
    npm
}

fn cargo_command(compiler: &LintingCompiler, verb: &str) -> Command {
    let mut cargo = compiler.cargo_command();
    cargo.arg(verb).args(PACKAGE_ARGUMENTS);
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
            ("--only ui", Some(Some(TestPart::Ui))),
            ("--only lint", Some(Some(TestPart::Lint))),
            ("--only engine", Some(Some(TestPart::Engine))),
            ("--only window", Some(Some(TestPart::Window))),
            ("--only", None),
            ("--only all", None),
            ("ui", None),
        ];
        for (line, expected) in table {
            for (others, with_peers, with_agents) in [
                ("", false, false),
                ("--peers", true, false),
                ("--agents", false, true),
                ("--peers --agents", true, true),
            ] {
                let line = format!("{others} {line}");
                let options = expected.map(|only| TestOptions {
                    only,
                    with_peers,
                    with_agents,
                });
                assert_eq!(parse_options(&words(&line)).ok(), options, "{line}");
            }
        }
    }
}
