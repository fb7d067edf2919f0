//! Exit and output of a command.

use std::path::PathBuf;

/// Exit of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandExit {
    /// The command exited with this code; 127 when the shell found no such program.
    Code(i32),
    /// This signal ended the command.
    Signal(i32),
    /// The command was stopped after its time limit.
    TimedOut,
    /// The command was stopped on request.
    Cancelled,
}

/// Exit and output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    /// Exit of the command.
    pub exit: CommandExit,
    /// Standard output and error together, in the order written, up to the requested number of bytes.
    pub head: Vec<u8>,
    /// The file with the whole output from byte 0, when it was longer than the head.
    pub spilled: Option<PathBuf>,
    /// Why the spill file is missing or shorter than the output, if it is.
    pub spill_note: Option<String>,
    /// Length of the whole output as kept, in bytes.
    pub bytes: u64,
    /// Number of secrets masked in the output.
    pub secrets_masked: u32,
    /// Duration from start to end, in milliseconds.
    pub duration_ms: u64,
}

impl CommandRun {
    /// Returns the run of a command with this exit, no output and zero duration.
    pub fn without_output(exit: CommandExit) -> Self {
        Self {
            exit,
            head: Vec::new(),
            spilled: None,
            spill_note: None,
            bytes: 0,
            secrets_masked: 0,
            duration_ms: 0,
        }
    }
}

/// What a command wrote to each of its streams, byte for byte, and how it ended: for a program that takes the place of
/// the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStreams {
    /// Exit of the command.
    pub exit: CommandExit,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Whether one of the streams was longer than what is kept of it.
    pub is_truncated: bool,
}
