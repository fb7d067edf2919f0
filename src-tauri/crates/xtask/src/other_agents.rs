//! Agents that other people wrote, for the tests that connect them: from npm, in the versions that `package.json` pins.

use std::path::PathBuf;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// Returns the folder that the agents are installed in.
pub fn agents_home() -> PathBuf {
    paths::target_dir().join("other_agents")
}

/// Installs all agents as pinned. Returns whether there was work to do.
pub fn install_agents() -> Result<bool, Failure> {
    let pinned = paths::repo_root().join("tests/other_agents/package.json");
    let wanted =
        std::fs::read_to_string(&pinned).map_err(|e| Failure::file_error("read", &pinned, &e))?;
    let home = agents_home();
    let stamp = home.join("installed.json");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(false);
    }
    let write = |path: PathBuf| {
        std::fs::write(&path, &wanted).map_err(|e| Failure::file_error("write", &path, &e))
    };
    std::fs::create_dir_all(&home).map_err(|e| Failure::file_error("create", &home, &e))?;
    write(home.join("package.json"))?;
    // A lock file names no program for other systems than the one that wrote it. Claude Code is a program of its own, and
    // wants a newer Node only for its installation.
    command::run_command(
        command::npm_command().current_dir(&home).args([
            "install",
            "--no-package-lock",
            "--no-progress",
            "--loglevel=error",
        ]),
        "The agents of others could not be installed.",
        "Check that the npm registry can be reached, then run the same command again.",
    )?;
    write(stamp)?;
    Ok(true)
}

/// Returns the reason why the agents cannot be installed from here at all, if so: then their tests are skipped, and that
/// is reported.
pub fn unreachable_reason() -> Option<&'static str> {
    match command::read_output(command::npm_command().arg("ping")) {
        None => Some("the registry of npm cannot be reached, so no agent of others was connected."),
        Some(_) => None,
    }
}
