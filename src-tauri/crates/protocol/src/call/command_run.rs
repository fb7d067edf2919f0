//! How a command ended and what it left.

use std::path::PathBuf;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandExit {
    /// By itself, with this code; 127 when the shell found no such program.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was stopped after its time.
    TimedOut,
    /// It was stopped on request.
    Cancelled,
}

/// What a command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    /// How it ended.
    pub exit: CommandExit,
    /// Standard output and error together in the order they came: as many bytes as were asked for.
    pub head: Vec<u8>,
    /// The file with the whole output from byte 0, when it was longer than the head.
    pub spilled: Option<PathBuf>,
    /// Why the spill file is missing or shorter than the output, if it is.
    pub spill_note: Option<String>,
    /// Length of the whole output as it is kept, in bytes.
    pub bytes: u64,
    /// How many secrets were masked in it.
    pub secrets_masked: u32,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

impl CommandRun {
    /// A command that ended so and printed nothing, in no time.
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
