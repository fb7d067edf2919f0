//! Runs a companion program for as long as a caller talks to it: piped on all three sides, ended with its whole process
//! group when its lifetime is dropped.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command as Starter};

use super::InheritedEnv;
use super::lifetime::{ProcessLifetime, supervise};
use crate::FileError;

/// A companion program to start.
#[derive(Debug, Clone)]
pub struct CompanionCommand {
    /// A name that is looked up in `PATH`, or a path.
    pub program: String,
    /// Arguments of the program, each passed as it is: there is no shell.
    pub args: Vec<String>,
    /// The folder that the program starts in, absolute.
    pub folder: PathBuf,
    /// Variables of the app's environment that the program inherits.
    pub inherited: InheritedEnv,
    /// Further variables, which replace inherited ones of the same name.
    pub env: Vec<(String, String)>,
}

/// A running companion program.
#[derive(Debug)]
pub struct Companion {
    /// Standard input of the program.
    pub input: ChildStdin,
    /// Standard output of the program.
    pub output: ChildStdout,
    /// Standard error of the program, for people.
    pub errors: ChildStderr,
    /// Lifetime of the program. Dropping it ends the program, with everything that the program started.
    pub lifetime: ProcessLifetime,
}

/// Returns the program as the system finds it.
#[cfg(not(windows))]
fn program_path(command: &CompanionCommand) -> &str {
    &command.program
}

/// Returns the program as the system finds it, which by itself looks only for names that end in `.exe`.
#[cfg(windows)]
fn program_path(command: &CompanionCommand) -> PathBuf {
    let inherited = command.inherited.inherited_variables().into_iter();
    let inherited = inherited
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let variables: Vec<(String, String)> = inherited.chain(command.env.iter().cloned()).collect();
    let found = super::path_extensions::find_with_extension(
        &command.program,
        &variables,
        std::path::Path::is_file,
    );
    found.unwrap_or_else(|| PathBuf::from(&command.program))
}

/// Starts a program as the leader of its own process group.
///
/// It ends when its [`ProcessLifetime`] is dropped, and processes that it left running end with it.
///
/// # Errors
/// When the program could not be started.
pub fn start_companion(command: &CompanionCommand) -> Result<Companion, FileError> {
    let failed = |error: std::io::Error| FileError::from_io(command.program.as_str(), &error);
    let mut starter = Starter::new(program_path(command));
    starter
        .args(&command.args)
        .current_dir(&command.folder)
        .env_clear()
        .envs(command.inherited.inherited_variables())
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    starter.process_group(0);
    let mut child = starter.spawn().map_err(failed)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(errors)) = pipes else {
        return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
    };
    Ok(Companion {
        input,
        output,
        errors,
        lifetime: supervise(child, None),
    })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::CommandExit;

    fn sh(script: &str) -> CompanionCommand {
        CompanionCommand {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            folder: std::env::temp_dir(),
            inherited: InheritedEnv::default(),
            env: vec![("OWN".to_owned(), "its own".to_owned())],
        }
    }

    #[tokio::test]
    async fn it_is_talked_to_and_ends_with_its_input() {
        let mut companion =
            start_companion(&sh("read line; echo \"$OWN $line\"; echo told >&2; cat")).unwrap();
        companion.input.write_all(b"hello\n").await.unwrap();
        drop(companion.input);
        let (mut said, mut told) = (String::new(), String::new());
        companion.output.read_to_string(&mut said).await.unwrap();
        companion.errors.read_to_string(&mut told).await.unwrap();
        assert_eq!(
            (said.as_str(), told.as_str()),
            ("its own hello\n", "told\n")
        );
        let mut ended = companion.lifetime.subscribe();
        let exit = ended.wait_for(Option::is_some).await.unwrap();
        assert_eq!(*exit, Some(CommandExit::Code(0)));
    }

    /// The program and its children hold the pipe open until all are gone.
    #[tokio::test]
    async fn let_go_of_it_ends_with_all_that_it_started() {
        let mut companion =
            start_companion(&sh("sleep 1000 & trap '' HUP; echo up; sleep 1000")).unwrap();
        let mut up = [0; 3];
        companion.output.read_exact(&mut up).await.unwrap();
        let mut ended = companion.lifetime.subscribe();
        drop(companion.lifetime);
        let exit = *ended.wait_for(Option::is_some).await.unwrap();
        assert_eq!(exit, Some(CommandExit::Cancelled));
        let mut rest = Vec::new();
        companion.output.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"");
    }

    #[tokio::test]
    async fn what_it_left_running_ends_with_it() {
        let mut companion = start_companion(&sh("sleep 1000 & echo gone")).unwrap();
        let mut said = String::new();
        companion.output.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "gone\n");
    }

    #[tokio::test]
    async fn what_is_no_program_is_an_error() {
        let none = CompanionCommand {
            program: "countersign-no-such-program".to_owned(),
            ..sh("")
        };
        assert!(matches!(
            start_companion(&none),
            Err(FileError::NotFound { .. })
        ));
    }
}
