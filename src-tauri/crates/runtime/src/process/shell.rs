//! Starts the shell of a command: chooses the shell, its folder and its environment.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command as Starter;

use super::{OutputPipe, ShellCommand, StartedCommand};
use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;
use crate::fs::workspace::join_path;

/// Starts a command's shell, and returns it with the reading end of the pipe that it and its children write to.
pub(super) fn start_shell(command: &ShellCommand) -> Result<StartedCommand, FileError> {
    let folder = if command.folder.is_empty() {
        "."
    } else {
        command.folder.as_str()
    };
    command.workspace.check_command(&command.line)?;
    let rel = command.workspace.resolve_in_root(folder, true)?;
    let dir: Dir = command.workspace.dir().open_folder(&rel).at(folder)?;
    let real = join_path(command.workspace.root(), &rel);

    let no_shell = |error: std::io::Error| FileError::from_io(shell_name(), &error);
    let (reader, writer) = std::io::pipe().map_err(no_shell)?;
    let mut starter = shell_command(&command.line);
    // By the handle, so that it is the folder that was looked at and not what now has its name.
    starter.current_dir(dir.handle_path().unwrap_or_else(|| real.clone()));
    starter
        .env_clear()
        .envs(command.workspace.inherited_variables())
        .envs(command_env(command, &real))
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(no_shell)?)
        .stderr(match &command.errors {
            Some(errors) => errors.try_clone().map_err(no_shell)?,
            None => writer,
        });
    #[cfg(unix)]
    starter.process_group(0);
    let child = starter.spawn().map_err(no_shell)?;
    // The starter holds the writing end: while it lives, the pipe does not end.
    drop(starter);
    Ok(StartedCommand {
        child,
        pipe: OutputPipe::new(reader).map_err(no_shell)?,
        stop_on_drop: None,
    })
}

/// Returns the variables that a command gets in addition to those that it inherits.
pub(crate) fn command_env(command: &ShellCommand, folder: &Path) -> Vec<(String, OsString)> {
    let mut around = vec![
        ("PWD".to_owned(), folder.as_os_str().to_owned()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".into()),
        ("PAGER".to_owned(), "cat".into()),
        // Nobody wants to be told of a newer npm here, and it would ask the network and write to the home folder.
        ("NO_UPDATE_NOTIFIER".to_owned(), "1".into()),
        ("npm_config_update_notifier".to_owned(), "false".into()),
        ("npm_config_logs_max".to_owned(), "0".into()),
        // A command of git that only looks writes nothing.
        ("GIT_OPTIONAL_LOCKS".to_owned(), "0".into()),
    ];
    let own = command.env.iter();
    around.extend(own.map(|(name, value)| (name.clone(), value.into())));
    around
}

#[cfg(unix)]
fn shell_command(line: &str) -> Starter {
    let mut starter = Starter::new(shell_name());
    starter.arg("-c").arg(line);
    starter
}

#[cfg(windows)]
fn shell_command(line: &str) -> Starter {
    let mut starter = Starter::new(shell_name());
    // cmd reads its line raw; quoting it as programs expect would change it.
    starter.arg("/C").raw_arg(line);
    starter
}

#[cfg(unix)]
pub(crate) fn shell_name() -> &'static str {
    static SHELL: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    SHELL.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/bin", "/usr/bin", "/usr/local/bin"].map(std::path::PathBuf::from))
            .map(|folder| folder.join("bash"))
            .find(|bash| bash.is_absolute() && bash.is_file())
            .map_or_else(|| "sh".to_owned(), |bash| bash.display().to_string())
    })
}

#[cfg(windows)]
fn shell_name() -> &'static str {
    "cmd"
}
