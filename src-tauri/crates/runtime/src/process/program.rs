//! Runs one program with input on its standard input: its standard output is the answer, its standard error is for
//! people.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command as Starter};
use tokio_util::sync::CancellationToken;

use super::{Exit, Group, Pipe, exit_of, reap_until};
use crate::limits::{LEFTOVER_GRACE, TELL_BYTES_MAX};
use crate::{FileError, Workspace};

/// One program to run, without a shell.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its file: absolute, and executable.
    pub file: PathBuf,
    /// The command that a call names it by.
    pub named: String,
    /// The workspace whose root it runs in.
    pub workspace: Workspace,
    /// What it reads.
    pub input: Vec<u8>,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u64,
    /// How much it may answer, in bytes.
    pub output_bytes_max: u64,
}

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output, at most `output_bytes_max` bytes.
    pub output: Vec<u8>,
    /// Whether it wanted to write more; it was ended then.
    pub too_long: bool,
    /// The beginning of its standard error, as text.
    pub told: String,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

/// Runs a program to its end, with the variables that its workspace lets it inherit. `on_told` gets its standard error in pieces; beyond 1 MiB it is dropped.
///
/// The program is the head of its own process group. When it ends, is cancelled, runs out of time, answers too much, or
/// the future is dropped, the whole group ends with it.
///
/// # Errors
/// When it could not be started. A failing program is no error.
pub async fn run_program(
    program: &Program,
    mut on_told: impl FnMut(&str) + Send,
    cancel: &CancellationToken,
) -> Result<Answered, FileError> {
    let started = Instant::now();
    let mut heard = Heard::new(program.output_bytes_max, &mut on_told);
    if cancel.is_cancelled() {
        return Ok(heard.into_answered(Exit::Cancelled, started.elapsed()));
    }
    program.workspace.admit_command(&program.named)?;
    let failed = |error: io::Error| FileError::from_io(program.file.display().to_string(), &error);
    let (mut child, mut output, mut told) = start_when_written(program).await.map_err(failed)?;
    let mut group = Group::of(&child);

    let time_is_up = tokio::time::sleep(Duration::from_millis(program.timeout_ms));
    let feed = feed(child.stdin.take(), &program.input);
    tokio::pin!(time_is_up, feed);
    let (mut fed, mut output_open, mut told_open) = (false, true, true);
    let exit = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break Exit::Cancelled,
            () = &mut time_is_up => break Exit::TimedOut,
            () = &mut feed, if !fed => fed = true,
            ended = child.wait() => {
                let ended = ended.map_err(failed)?;
                // What still holds the pipes may say its last words, no more.
                let rest = async {
                    while output_open || told_open {
                        tokio::select! {
                            piece = output.next(), if output_open => output_open = heard.answer(piece),
                            piece = told.next(), if told_open => told_open = heard.tell(piece),
                        }
                    }
                };
                let _ = tokio::time::timeout(LEFTOVER_GRACE, rest).await;
                break exit_of(ended);
            }
            piece = output.next(), if output_open => {
                output_open = heard.answer(piece);
                if heard.too_long {
                    break Exit::Cancelled;
                }
            }
            piece = told.next(), if told_open => told_open = heard.tell(piece),
        }
    };
    reap_until(&mut child, group.end()).await;
    Ok(heard.into_answered(exit, started.elapsed()))
}

/// Gives the program its input and closes it. A program that does not read it all has its reasons.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

/// A file that somebody still has open for writing cannot be started; it mostly can a moment later.
async fn start_when_written(program: &Program) -> io::Result<(Child, Pipe, Pipe)> {
    for pause_ms in [5, 20, 80, 320] {
        match start(program) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
            other => return other,
        }
    }
    start(program)
}

fn start(program: &Program) -> io::Result<(Child, Pipe, Pipe)> {
    let (output, output_end) = std::io::pipe()?;
    let (told, told_end) = std::io::pipe()?;
    let root = program.workspace.root();
    let mut starter = Starter::new(&program.file);
    starter
        .current_dir(
            program
                .workspace
                .dir()
                .steady_path()
                .unwrap_or_else(|| root.to_owned()),
        )
        .env_clear()
        .envs(program.workspace.inherited())
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
    Ok((child, Pipe::new(output)?, Pipe::new(told)?))
}

struct Heard<'a> {
    output: Vec<u8>,
    output_bytes_max: usize,
    too_long: bool,
    told: Vec<u8>,
    on_told: &'a mut (dyn FnMut(&str) + Send),
}

impl<'a> Heard<'a> {
    fn new(output_bytes_max: u64, on_told: &'a mut (dyn FnMut(&str) + Send)) -> Self {
        Self {
            output: Vec::new(),
            output_bytes_max: usize::try_from(output_bytes_max).unwrap_or(usize::MAX),
            too_long: false,
            told: Vec::new(),
            on_told,
        }
    }

    /// Takes a piece of the answer. False at its end.
    fn answer(&mut self, piece: Option<Vec<u8>>) -> bool {
        let Some(piece) = piece else { return false };
        let room = self.output_bytes_max - self.output.len();
        self.too_long |= piece.len() > room;
        self.output
            .extend_from_slice(&piece[..room.min(piece.len())]);
        true
    }

    /// Takes a piece of what is for people. False at its end.
    fn tell(&mut self, piece: Option<Vec<u8>>) -> bool {
        let Some(piece) = piece else { return false };
        let room = TELL_BYTES_MAX - self.told.len();
        if room > 0 {
            let kept = &piece[..room.min(piece.len())];
            self.told.extend_from_slice(kept);
            (self.on_told)(&String::from_utf8_lossy(kept));
        }
        true
    }

    fn into_answered(self, exit: Exit, duration: Duration) -> Answered {
        Answered {
            exit,
            output: self.output,
            too_long: self.too_long,
            told: String::from_utf8_lossy(&self.told).into_owned(),
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
    use crate::Inherited;

    struct Room(tempfile::TempDir);

    impl Room {
        fn program(&self, script: &str, input: &str) -> Program {
            let file = self.0.path().canonicalize().unwrap().join("program");
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            Program {
                file,
                named: "program".to_owned(),
                workspace: Workspace::open(self.0.path()).unwrap(),
                input: input.as_bytes().to_vec(),
                timeout_ms: 60_000,
                output_bytes_max: 1_000,
            }
        }
    }

    async fn ran(program: &Program) -> (Exit, String, bool, String) {
        let answered = run_program(program, |_| {}, &CancellationToken::new())
            .await
            .unwrap();
        let output = String::from_utf8(answered.output).unwrap();
        (answered.exit, output, answered.too_long, answered.told)
    }

    #[tokio::test]
    async fn a_program_reads_answers_and_tells() {
        let room = Room(tempfile::tempdir().unwrap());
        let long = "x".repeat(200_000);
        for (script, input, exit, output, told) in [
            (
                "cat; echo working >&2",
                "{\"a\":1}",
                Exit::Code(0),
                "{\"a\":1}",
                "working\n",
            ),
            (
                "echo '{}'; exit 3",
                long.as_str(),
                Exit::Code(3),
                "{}\n",
                "",
            ),
            ("kill -9 $$", "", Exit::Signal(9), "", ""),
            (
                "wc -c | tr -d ' '",
                long.as_str(),
                Exit::Code(0),
                "200000\n",
                "",
            ),
        ] {
            let program = room.program(script, input);
            assert_eq!(
                ran(&program).await,
                (exit, output.to_owned(), false, told.to_owned()),
                "{script}"
            );
        }
    }

    /// Cargo names the package that it tests, which stands here for a variable of the app.
    #[tokio::test]
    async fn a_program_inherits_what_is_not_withheld() {
        let room = Room(tempfile::tempdir().unwrap());
        let inherited = Inherited::default();
        let mut program = room.program("echo \"${CARGO_PKG_NAME-nothing} $PAGER\"", "");
        program.workspace = program.workspace.inheriting(inherited.clone());
        assert_eq!(ran(&program).await.1, "runtime cat\n");
        inherited.choose(["CARGO_PKG_NAME"], []);
        assert_eq!(ran(&program).await.1, "nothing cat\n");
    }

    /// What prints without end is ended at the limit, and what hangs at its time.
    #[tokio::test]
    async fn a_program_that_does_not_end_is_ended() {
        let room = Room(tempfile::tempdir().unwrap());
        let (_, output, too_long, _) = ran(&room.program("yes", "")).await;
        assert_eq!((output.len(), too_long), (1_000, true));
        let hangs = Program {
            timeout_ms: 1,
            ..room.program("sleep 1000", "")
        };
        assert_eq!(ran(&hangs).await.0, Exit::TimedOut);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let never = run_program(&hangs, |_| {}, &cancel).await.unwrap();
        assert_eq!(never.exit, Exit::Cancelled);
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let room = Room(tempfile::tempdir().unwrap());
        let program = room.program("true", "");
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
