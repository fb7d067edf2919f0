//! What became of a room, as its program says it: lines of JSON in a file that the command cannot reach. Each is written as
//! soon as it is known, so that a room that is ended from outside has still said what was refused until then.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxReport {
    /// The room could not be closed, so the command did not run.
    NotEntered {
        /// Which wall: `namespaces`, `overlay`, `proc`, …
        step: String,
        /// What the system said.
        error: String,
    },
    /// The command ran, and does no more.
    Ended {
        /// How it ended.
        end: CommandEnd,
        /// What it tried and was refused, each thing once, in the order in which it was first tried. At most
        /// [`DENIALS_MAX`] of each kind.
        refused: Vec<Denial>,
        /// Whether it was refused more than is listed.
        more: bool,
        /// Whether the room saw what was refused. Where the system does not let it look, an empty list says nothing.
        watched: bool,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// With the room, which was ended from outside: nobody wanted it any more, or a limit of the caller was met.
    Stopped,
}

/// Something that a command tried in the room and was not let.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// What it tried.
    pub kind: DenialKind,
    /// What it is about, see [`DenialKind`]. At most [`TARGET_BYTES_MAX`]; bytes that are no text are `\xNN`.
    pub target: String,
}

/// What a room refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialKind {
    /// A way to the network: a host name that was asked for, or an address with its port.
    Network,
    /// A socket of another program on this machine, or one to listen at: its path or name. A socket of another family
    /// that is closed: its name, `AF_VSOCK`.
    Socket,
    /// A change outside of the workspace, or of what is only to be read in it: the path.
    Write,
    /// A file or folder that is masked: its path. It was to be read or changed, or something in it was.
    Secret,
    /// A limit that was met: `processes`, `file size`, or the place that is full.
    Limit,
}

/// How many things of one kind are listed.
pub const DENIALS_MAX: usize = 100;

/// How long what a refusal is about may be, in bytes.
pub const TARGET_BYTES_MAX: usize = 512;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ReportLine {
    /// The room could not be closed. The only line then.
    NotEntered { step: String, error: String },
    /// The command runs.
    Began { watched: bool },
    /// It was refused something.
    Refused(Denial),
    /// It was refused more than is listed.
    More,
    /// It ended.
    Ended(CommandEnd),
}

impl ReportLine {
    /// Writes it down, whole or, if the room is ended meanwhile, without its end.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn write_to(&self, mut told: &std::fs::File) -> io::Result<()> {
        use std::io::Write as _;
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        told.write_all(&line)
    }
}

/// Reads what was said; none if the program was ended before the command began.
///
/// # Errors
/// The file cannot be read, or something else stands in it.
pub fn read_report(file: &Path) -> io::Result<Option<SandboxReport>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut refused, mut more, mut began, mut ended) =
        (Vec::new(), false, None, CommandEnd::Stopped);
    // The last line has no end if the room was ended while it was written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.lines() {
        match serde_json::from_str(line)? {
            ReportLine::NotEntered { step, error } => {
                return Ok(Some(SandboxReport::NotEntered { step, error }));
            }
            ReportLine::Began { watched } => began = Some(watched),
            ReportLine::Refused(one) => refused.push(one),
            ReportLine::More => more = true,
            ReportLine::Ended(end) => ended = end,
        }
    }
    Ok(began.map(|watched| SandboxReport::Ended {
        end: ended,
        refused,
        more,
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
