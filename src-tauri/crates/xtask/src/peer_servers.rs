//! External tool servers for the tests that talk to them: those from npm and those from PyPI.

use std::path::PathBuf;
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::ui;

/// Returns the folder of the servers from PyPI, with a Python of their own.
pub fn python_home() -> PathBuf {
    paths::target_dir().join("peers")
}

/// Installs all servers as locked. Returns whether there was work to do.
pub fn install_peers() -> Result<bool, Failure> {
    let npm = ui::install_packages_in(&paths::peers_dir())?;
    Ok(install_python()? || npm)
}

fn install_python() -> Result<bool, Failure> {
    let listed = paths::peers_dir().join("requirements.txt");
    let wanted =
        std::fs::read_to_string(&listed).map_err(|e| Failure::file_error("read", &listed, &e))?;
    let home = python_home();
    let stamp = home.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(false);
    }
    command::run_command(
        Command::new("python3").args(["-m", "venv"]).arg(&home),
        "No place for Python's packages could be made.",
        "Install Python 3.11 or newer with its `venv` (Debian: python3-venv), then run the same command again.",
    )?;
    command::run_command(
        Command::new(home.join("bin").join("python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(&listed),
        "The Python packages could not be installed.",
        "Check that PyPI can be reached, then run the same command again.",
    )?;
    std::fs::write(&stamp, wanted).map_err(|e| Failure::file_error("write", &stamp, &e))?;
    Ok(true)
}

/// Returns the reason why the servers cannot be installed from here at all, if so: then their tests are skipped, and
/// that is reported.
pub fn unreachable_reason() -> Option<&'static str> {
    let npm = command::read_output(command::npm_command().arg("ping"));
    let python = python_home().join("bin").join("python");
    let pypi = command::read_output(
        Command::new(python).args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--dest",
            &std::env::temp_dir()
                .join("countersign-reach")
                .display()
                .to_string(),
            "six==1.17.0",
        ]),
    );
    match (npm, pypi) {
        (None, _) => Some(
            "the registry of npm cannot be reached, so nobody talked to the servers of others.",
        ),
        (_, None) => Some("PyPI cannot be reached, so nobody talked to the servers of others."),
        (Some(_), Some(_)) => None,
    }
}
