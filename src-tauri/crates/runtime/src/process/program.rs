//! Runs one program with input on its standard input: its standard output is the answer, its standard error is for
//! people.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command as Starter};
use tokio_util::sync::CancellationToken;

use super::{CommandExit, OutputPipe, ProcessGroup, exit_from_status, reap_child_until};
use crate::fs::at_path::AtPath as _;
use crate::limits::{LEFTOVER_GRACE, STDERR_BYTES_MAX};
use crate::{FileError, Workspace};

/// One program to run, without a shell.
#[derive(Debug, Clone)]
pub struct ProgramCommand {
    /// File of the program: absolute, and executable.
    pub file: PathBuf,
    /// The command name by which a call refers to the program.
    pub command_name: String,
    /// The workspace in whose root the program runs.
    pub workspace: Workspace,
    /// Standard input of the program.
    pub input: Vec<u8>,
    /// How long the program may run, in milliseconds.
    pub timeout_ms: u64,
    /// Limit on the answer, in bytes.
    pub output_bytes_max: u64,
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramResult {
    /// How the program ended.
    pub exit: CommandExit,
    /// Standard output of the program, at most `output_bytes_max` bytes.
    pub output: Vec<u8>,
    /// Whether the program wrote more; it was ended then.
    pub is_truncated: bool,
    /// The beginning of the program's standard error, as text.
    pub errors: String,
    /// Time from start to end, in milliseconds.
    pub duration_ms: u64,
}

/// Runs a program to its end, with the variables that its workspace lets it inherit. `on_told` gets its standard error
/// in pieces; beyond 1 MiB it is dropped.
///
/// The program is the leader of its own process group. When it ends, is cancelled, runs out of time, answers too much,
/// or the future is dropped, the whole group ends with it.
///
/// # Errors
/// When the program could not be started. A failing program is no error.
pub async fn run_program(
    program: &ProgramCommand,
    mut on_told: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<ProgramResult, FileError> {
    let started = Instant::now();
    let mut captured = ProgramOutput::new(program.output_bytes_max, &mut on_told);
    if cancel.is_cancelled() {
        return Ok(captured.into_result(CommandExit::Cancelled, started.elapsed()));
    }
    program.workspace.check_command(&program.command_name)?;
    let (mut child, mut output, mut told) = start_with_retry(program).await.at(&program.file)?;
    let mut group = ProcessGroup::from_child(&child);

    let time_is_up = tokio::time::sleep(Duration::from_millis(program.timeout_ms));
    let feed = write_input(child.stdin.take(), &program.input);
    tokio::pin!(time_is_up, feed);
    let (mut fed, mut output_open, mut told_open) = (false, true, true);
    let exit = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break CommandExit::Cancelled,
            () = &mut time_is_up => break CommandExit::TimedOut,
            () = &mut feed, if !fed => fed = true,
            ended = child.wait() => {
                let ended = ended.at(&program.file)?;
                // Processes that still hold the pipes may write their last words, no more.
                let rest = async {
                    while output_open || told_open {
                        tokio::select! {
                            piece = output.next_piece(), if output_open => output_open = captured.push_answer(piece),
                            piece = told.next_piece(), if told_open => told_open = captured.push_errors(piece),
                        }
                    }
                };
                let _ = tokio::time::timeout(LEFTOVER_GRACE, rest).await;
                break exit_from_status(ended);
            }
            piece = output.next_piece(), if output_open => {
                output_open = captured.push_answer(piece);
                if captured.too_long {
                    break CommandExit::Cancelled;
                }
            }
            piece = told.next_piece(), if told_open => told_open = captured.push_errors(piece),
        }
    };
    reap_child_until(&mut child, group.terminate()).await;
    Ok(captured.into_result(exit, started.elapsed()))
}

/// Writes the program's input and closes it. A program that does not read all of it is no error.
async fn write_input(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

/// Starts the program, and retries while its file is still open for writing elsewhere, which mostly ends a moment
/// later.
async fn start_with_retry(program: &ProgramCommand) -> io::Result<(Child, OutputPipe, OutputPipe)> {
    for pause_ms in [5, 20, 80, 320] {
        match start_program(program) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
            other => return other,
        }
    }
    start_program(program)
}

fn start_program(program: &ProgramCommand) -> io::Result<(Child, OutputPipe, OutputPipe)> {
    let (output, output_end) = std::io::pipe()?;
    let (told, told_end) = std::io::pipe()?;
    let root = program.workspace.root();
    let mut starter = Starter::new(&program.file);
    starter
        .current_dir(
            program
                .workspace
                .dir()
                .handle_path()
                .unwrap_or_else(|| root.to_owned()),
        )
        .env_clear()
        .envs(program.workspace.inherited_variables())
        .env("PWD", root)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("PAGER", "cat")
        .stdin(Stdio::piped())
        .stdout(output_end)
        .stderr(told_end);
    #[cfg(unix)]
    starter.process_group(0);
    let child = starter.spawn()?;
    // The starter holds the writing ends: while it lives, the pipes do not end.
    drop(starter);
    Ok((child, OutputPipe::new(output)?, OutputPipe::new(told)?))
}

struct ProgramOutput<'a> {
    output: Vec<u8>,
    output_bytes_max: usize,
    too_long: bool,
    told: Vec<u8>,
    on_told: &'a mut (dyn FnMut(&str) + Send),
}

impl<'a> ProgramOutput<'a> {
    fn new(output_bytes_max: u64, on_told: &'a mut (dyn FnMut(&str) + Send)) -> Self {
        Self {
            output: Vec::new(),
            output_bytes_max: usize::try_from(output_bytes_max).unwrap_or(usize::MAX),
            too_long: false,
            told: Vec::new(),
            on_told,
        }
    }

    /// Takes a piece of the answer. Returns `false` at its end.
    fn push_answer(&mut self, piece: Option<Vec<u8>>) -> bool {
        let Some(piece) = piece else { return false };
        let room = self.output_bytes_max - self.output.len();
        self.too_long |= piece.len() > room;
        self.output
            .extend_from_slice(&piece[..room.min(piece.len())]);
        true
    }

    /// Takes a piece of standard error. Returns `false` at its end.
    fn push_errors(&mut self, piece: Option<Vec<u8>>) -> bool {
        let Some(piece) = piece else { return false };
        let room = STDERR_BYTES_MAX - self.told.len();
        if room > 0 {
            let kept = &piece[..room.min(piece.len())];
            self.told.extend_from_slice(kept);
            (self.on_told)(&String::from_utf8_lossy(kept));
        }
        true
    }

    fn into_result(self, exit: CommandExit, duration: Duration) -> ProgramResult {
        ProgramResult {
            exit,
            output: self.output,
            is_truncated: self.too_long,
            errors: String::from_utf8_lossy(&self.told).into_owned(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::InheritedEnv;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn program(&self, script: &str, input: &str) -> ProgramCommand {
            let file = self.0.path().canonicalize().unwrap().join("program");
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            ProgramCommand {
                file,
                command_name: "program".to_owned(),
                workspace: Workspace::open(self.0.path()).unwrap(),
                input: input.as_bytes().to_vec(),
                timeout_ms: 60_000,
                output_bytes_max: 1_000,
            }
        }
    }

    async fn ran(program: &ProgramCommand) -> (CommandExit, String, bool, String) {
        let answered = run_program(program, |_| {}, &CancellationToken::new())
            .await
            .unwrap();
        let output = String::from_utf8(answered.output).unwrap();
        (
            answered.exit,
            output,
            answered.is_truncated,
            answered.errors,
        )
    }

    #[tokio::test]
    async fn a_program_reads_answers_and_tells() {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        let long = "x".repeat(200_000);
        for (script, input, exit, output, told) in [
            (
                "cat; echo working >&2",
                "{\"a\":1}",
                CommandExit::Code(0),
                "{\"a\":1}",
                "working\n",
            ),
            (
                "echo '{}'; exit 3",
                long.as_str(),
                CommandExit::Code(3),
                "{}\n",
                "",
            ),
            ("kill -9 $$", "", CommandExit::Signal(9), "", ""),
            (
                "wc -c | tr -d ' '",
                long.as_str(),
                CommandExit::Code(0),
                "200000\n",
                "",
            ),
        ] {
            let program = fixture.program(script, input);
            assert_eq!(
                ran(&program).await,
                (exit, output.to_owned(), false, told.to_owned()),
                "{script}"
            );
        }
    }

    /// Cargo sets the name of the package under test, which stands here for a variable of the app.
    #[tokio::test]
    async fn a_program_inherits_what_is_not_withheld() {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        let inherited = InheritedEnv::default();
        let mut program = fixture.program("echo \"${CARGO_PKG_NAME-nothing} $PAGER\"", "");
        program.workspace = program.workspace.with_inherited_env(inherited.clone());
        assert_eq!(ran(&program).await.1, "runtime cat\n");
        inherited.set_choice(["CARGO_PKG_NAME"], []);
        assert_eq!(ran(&program).await.1, "nothing cat\n");
    }

    /// A program that prints without end is ended at the limit, and one that hangs at its timeout.
    #[tokio::test]
    async fn a_program_that_does_not_end_is_ended() {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        let (_, output, too_long, _) = ran(&fixture.program("yes", "")).await;
        assert_eq!((output.len(), too_long), (1_000, true));
        let hangs = ProgramCommand {
            timeout_ms: 1,
            ..fixture.program("sleep 1000", "")
        };
        assert_eq!(ran(&hangs).await.0, CommandExit::TimedOut);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let never = run_program(&hangs, |_| {}, &cancel).await.unwrap();
        assert_eq!(never.exit, CommandExit::Cancelled);
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        let program = fixture.program("true", "");
        fs::set_permissions(&program.file, fs::Permissions::from_mode(0o644)).unwrap();
        let start = run_program(&program, |_| {}, &CancellationToken::new()).await;
        assert!(
            matches!(start, Err(FileError::NoPermission { .. })),
            "{start:?}"
        );
        fs::remove_file(&program.file).unwrap();
        let start = run_program(&program, |_| {}, &CancellationToken::new()).await;
        assert!(
            matches!(start, Err(FileError::NotFound { .. })),
            "{start:?}"
        );
    }
}
