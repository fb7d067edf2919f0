//! The report of a sandbox by its program: lines of JSON in a file that the command cannot reach. Each is written as
//! soon as it is known, so that a sandbox that is ended from outside has still reported its refusals until then.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The outcome of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxReport {
    /// The sandbox could not be closed, so the command did not run.
    NotEntered {
        /// The wall that failed: `namespaces`, `overlay`, `proc`, …
        step: String,
        /// The system's error.
        error: String,
    },
    /// The command ran, and has ended.
    Ended {
        /// How the command ended.
        end: CommandEnd,
        /// Accesses that the command tried and was refused, each one once, in the order in which they were first tried.
        /// At most [`DENIALS_MAX`] of each kind.
        refused: Vec<Denial>,
        /// Whether there were more refusals than are listed.
        more: bool,
        /// Files and folders that the command read in the [watched places](crate::WatchedReads).
        reads: ReadPaths,
        /// Whether the sandbox could observe refusals and reads. Where the system does not permit that, empty lists
        /// say nothing.
        watched: bool,
    },
}

/// Files and folders that a command read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPaths {
    /// The paths, each one once, in the order in which they were first read: at most [`READS_MAX`], each of at most
    /// [`TARGET_BYTES_MAX`]; bytes that are no text are `\xNN`.
    pub paths: Vec<String>,
    /// Whether there were more than are listed.
    pub more: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    /// The command exited by itself, with this code.
    Exit(i32),
    /// The command was ended by this signal.
    Signal(i32),
    /// The command ended with the sandbox, which was ended from outside: its caller no longer wanted it, or a limit of
    /// the caller was met.
    Stopped,
}

/// An access that a command tried in the sandbox and was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// Kind of the refused access.
    pub kind: DenialKind,
    /// Target of the access, see [`DenialKind`]. At most [`TARGET_BYTES_MAX`]; bytes that are no text are `\xNN`.
    pub target: String,
}

/// The kinds of access that a sandbox refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialKind {
    /// Network access: a host name that was looked up, or an address with its port.
    Network,
    /// A socket of another program on this machine, or one to listen at: its path or name. A socket of another family
    /// that is closed: its name, `AF_VSOCK`.
    Socket,
    /// A change outside of the workspace, or of a read-only path in it: the path.
    Write,
    /// A masked file or folder: its path. The command tried to read or change it, or something in it.
    Secret,
    /// A limit that was met: `processes`, `file size`, or the place that is full.
    Limit,
}

/// Most denials of one kind that are listed.
pub const DENIALS_MAX: usize = 100;

/// Most reads that are listed.
pub const READS_MAX: usize = 1_000;

/// Length of a denial's target, and of a path that was read, in bytes.
pub const TARGET_BYTES_MAX: usize = 512;

/// One line of the report file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ReportLine {
    /// The sandbox could not be closed. The only line then.
    NotEntered { step: String, error: String },
    /// The command runs.
    Began { watched: bool },
    /// The command was refused an access.
    Refused(Denial),
    /// The command was refused more than is listed.
    More,
    /// The command reads a file or folder in a watched place.
    Read(String),
    /// The command reads more than is listed.
    MoreReads,
    /// The command ended.
    Ended(CommandEnd),
}

impl ReportLine {
    /// Writes the line, whole or, if the sandbox is ended meanwhile, without its end.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn write_to(&self, mut file: &std::fs::File) -> io::Result<()> {
        use std::io::Write as _;
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        file.write_all(&line)
    }
}

/// Reads a report; `None` if the program was ended before the command began.
///
/// # Errors
/// The file cannot be read, or its content is malformed.
pub fn read_report(file: &Path) -> io::Result<Option<SandboxReport>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut refused, mut more, mut began, mut ended) =
        (Vec::new(), false, None, CommandEnd::Stopped);
    let mut reads = ReadPaths::default();
    // The last line has no end if the sandbox was ended while it was written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.lines() {
        match serde_json::from_str(line)? {
            ReportLine::NotEntered { step, error } => {
                return Ok(Some(SandboxReport::NotEntered { step, error }));
            }
            ReportLine::Began { watched } => began = Some(watched),
            ReportLine::Refused(one) => refused.push(one),
            ReportLine::More => more = true,
            ReportLine::Read(path) => reads.paths.push(path),
            ReportLine::MoreReads => reads.more = true,
            ReportLine::Ended(end) => ended = end,
        }
    }
    Ok(began.map(|watched| SandboxReport::Ended {
        end: ended,
        refused,
        more,
        reads,
        watched,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_report(text: &str) -> io::Result<Option<SandboxReport>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_report(file.path())
    }

    #[test]
    fn lines_become_what_is_told() {
        let write = Denial {
            kind: DenialKind::Write,
            target: "/etc/passwd".into(),
        };
        let ended = |end, more| {
            Some(SandboxReport::Ended {
                end,
                refused: vec![write.clone()],
                more,
                reads: ReadPaths::default(),
                watched: true,
            })
        };
        let began = r#"{"began":{"watched":true}}"#;
        let refused = r#"{"refused":{"kind":"write","target":"/etc/passwd"}}"#;
        for (lines, told) in [
            (String::new(), None),
            (
                r#"{"not_entered":{"step":"proc","error":"no"}}"#.to_owned() + "\n",
                Some(SandboxReport::NotEntered {
                    step: "proc".into(),
                    error: "no".into(),
                }),
            ),
            (
                format!("{began}\n{refused}\n{{\"ended\":{{\"exit\":7}}}}\n"),
                ended(CommandEnd::Exit(7), false),
            ),
            // Ended from outside, the second time in the middle of a word.
            (
                format!("{began}\n{refused}\n\"more\"\n"),
                ended(CommandEnd::Stopped, true),
            ),
            (
                format!("{began}\n{refused}\n{{\"ended\":{{\"ex"),
                ended(CommandEnd::Stopped, false),
            ),
        ] {
            assert_eq!(parse_report(&lines).unwrap(), told, "{lines}");
        }
    }

    #[test]
    fn what_is_no_line_is_an_error() {
        for text in ["x\n", "{}\n", "{\"began\":{\"watched\":true,\"y\":1}}\n"] {
            assert!(parse_report(text).is_err(), "{text}");
        }
    }
}
