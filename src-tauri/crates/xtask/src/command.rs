//! Runs other programs: waits for them, reads their output, or follows it line by line.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::paths;

/// Returns a command for cargo, in the checkout's root, without the variables that an outer `cargo run` sets.
pub fn cargo_command() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let described = name.to_string_lossy();
        if described.starts_with("CARGO_PKG_") || described.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo.current_dir(paths::repo_root());
    cargo
}

/// Builds programs of the workspace with this cargo; `what` is the failure's sentence. Returns `true`: only cargo knows
/// what is fresh.
pub fn build_programs(mut cargo: Command, arguments: &[&str], what: &str) -> Result<bool, Failure> {
    cargo.args(["build", "--locked"]).args(arguments);
    run_command(&mut cargo, what, "Read the compiler's message above.").map(|()| true)
}

/// Returns a command for npm, in the UI's folder, without its advertising output.
pub fn npm_command() -> Command {
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.current_dir(paths::ui_dir()).envs([
        ("NPM_CONFIG_FUND", "false"),
        ("NPM_CONFIG_AUDIT", "false"),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ]);
    npm
}

/// Runs a program to its end, showing its output.
pub fn run_command(command: &mut Command, what: &str, next: &str) -> Result<(), Failure> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|e| missing_program(command, &e))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(what, next))
    }
}

/// Returns the output of a program, if the program could be started and succeeded.
pub fn read_output(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program to its end, showing its output and passing each line of its standard output to `each`.
///
/// Returns whether the program succeeded.
pub fn follow_lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool, Failure> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| missing_program(command, &e))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            each(text.trim_end());
            line.clear();
        }
    }
    let status = child.wait().map_err(|e| missing_program(command, &e))?;
    Ok(status.success())
}

fn missing_program(command: &Command, error: &std::io::Error) -> Failure {
    let program = PathBuf::from(command.get_program());
    Failure::new(
        format!("`{}` could not be started: {error}.", program.display()),
        "Install it, or put it on PATH, then run the same command again.",
    )
}
