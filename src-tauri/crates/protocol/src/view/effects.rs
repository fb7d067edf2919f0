//! Effects of a command's dry run: captured before any real file changes, shown to a person, judged like a call's
//! accesses, and carried out exactly as captured.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Digest;
use crate::text::display_text::DisplaySpan;
use crate::view::exact_name::ExactName;
use crate::view::preview::FileDiff;

/// Level of protection that the machine can give a command, established by one probe and never guessed from versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// No preview: a command runs directly, and its changes cannot be undone.
    GateOnly,
    /// A command runs for real inside the sandbox, and its changes in the workspace can be undone completely.
    Snapshot,
    /// Nothing real changes before it was shown and approved.
    Speculative,
}

/// The effects of a command that ran for real or in a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Effects {
    /// Assurance in force when the command ran.
    pub assurance: Assurance,
    /// The command's exit code; none if a signal or a limit ended it.
    pub exit_code: Option<i32>,
    /// How the command ended where there is no exit code: `signal 9`, `time limit`; empty otherwise.
    pub ended: String,
    /// Head of the command's output, standard error included, hidden characters named.
    pub output: Vec<DisplaySpan>,
    /// Length of the whole output in bytes.
    pub output_bytes: u64,
    /// All changed paths, in order of the paths. Nothing is left out.
    pub changes: Vec<Effect>,
    /// Attempts of the command that the sandbox refused.
    pub refused: Vec<Refusal>,
    /// Hosts that the command was allowed to reach, in order of host and port. Data sent there is out, whether or not
    /// the changes are carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<NetworkContact>>", optional)]
    pub reached: Vec<NetworkContact>,
    /// Files and folders of the person's own that the command read outside of the workspace, by their absolute paths;
    /// bytes that are not text are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub outside_reads: Vec<String>,
    /// Remarks on this run that a person should know: a file has other names, a process was left behind.
    pub notes: Vec<String>,
    /// Digest of every path before and after, to the byte. An approval is bound to this digest.
    pub digest: Digest,
}

impl Effects {
    /// Returns the secret files to which the sandbox refused access.
    pub fn refused_secrets(&self) -> Vec<String> {
        let secrets = self
            .refused
            .iter()
            .filter(|one| one.kind == RefusalKind::Secret);
        secrets.map(|one| one.target.clone()).collect()
    }

    /// Returns a line for each file and folder that the command read outside of the workspace.
    pub fn outside_read_lines(&self) -> impl Iterator<Item = String> {
        let paths = self.outside_reads.iter();
        paths.map(|path| format!("read {path}, outside of the workspace"))
    }

    /// Returns whether nothing changed, nothing was refused, nothing was sent anywhere, and nothing of the person's own
    /// was read elsewhere.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.refused.is_empty()
            && self.reached.is_empty()
            && self.outside_reads.is_empty()
    }
}

/// One path that a command changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Effect {
    /// Number of the effect, from 0, by which a partial acceptance names it.
    pub id: u32,
    /// Path relative to the workspace root; hidden characters and bytes that are not text are named.
    pub path: String,
    /// The exact path, where `path` differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path_exact: Option<ExactName>,
    /// Kind of change.
    pub kind: EffectKind,
    /// State of the path before; none if nothing was there.
    pub before: Option<PathInfo>,
    /// State of the path after; none if nothing is there.
    pub after: Option<PathInfo>,
    /// Previous path; only for a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// The exact previous path, where `from` differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from_exact: Option<ExactName>,
    /// The difference of a text file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<FileDiff>,
    /// Why there is no `diff`: "binary", "too large to be compared".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undiffed: Option<String>,
}

impl fmt::Display for Effect {
    /// Writes the effect in one line, without its difference: `changed src/a.rs`, `renamed old -> new`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.kind {
            EffectKind::Added => write!(f, "added {path}"),
            EffectKind::Changed => write!(f, "changed {path}"),
            EffectKind::Deleted => write!(f, "deleted {path}"),
            EffectKind::Renamed => {
                let from = self.from.as_deref().unwrap_or_default();
                write!(f, "renamed {from} -> {path}")
            }
            EffectKind::Mode => {
                let mode = |standing: &Option<PathInfo>| standing.as_ref().map_or(0, |it| it.mode);
                let (before, after) = (mode(&self.before), mode(&self.after));
                write!(f, "mode {before:o} -> {after:o} {path}")
            }
            EffectKind::Link => {
                let target = self.after.as_ref().and_then(|it| it.target.as_deref());
                write!(f, "link {path} -> {}", target.unwrap_or_default())
            }
            EffectKind::Special => write!(f, "special {path}"),
        }
    }
}

/// Kind of change to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// The path was created.
    Added,
    /// The content or the type of the path changed.
    Changed,
    /// The path was removed, with everything below it.
    Deleted,
    /// The path was moved; the content is the same.
    Renamed,
    /// Only the permission bits changed.
    Mode,
    /// A link was created, or its target changed.
    Link,
    /// A pipe, a socket or a device: reported and never carried out.
    Special,
}

/// State of a path, as shown to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathInfo {
    /// Type of the path.
    pub what: PathType,
    /// Length in bytes; 0 for a type that has no length.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Target of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target: Option<String>,
    /// The exact target of a link, where `target` differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target_exact: Option<ExactName>,
}

/// Type of a file system entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PathType {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// Assurance that this machine gives commands in a workspace, as established by a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AssuranceReport {
    /// Level of assurance.
    pub assurance: Assurance,
    /// Whether commands have no network access.
    pub net_off: bool,
    /// Whether commands cannot reach sockets of other programs on this machine.
    pub unix_sockets_off: bool,
    /// Whether no process that a command started outlives the command.
    pub kill_tree: bool,
    /// Whether a command can run for real in the sandbox, over a snapshot of the workspace from which its changes are
    /// undone.
    #[serde(default)]
    pub in_place: bool,
    /// Findings of the probe, and why the assurance is no higher, in plain sentences.
    pub reasons: Vec<String>,
}

/// A host and port that a command reached through the egress of its sandbox.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct NetworkContact {
    /// Host as the command named it: a name in lower case, or a numeric address.
    pub host: String,
    /// Port number.
    pub port: u16,
    /// Number of connections made to this host and port.
    pub connections: u32,
    /// Bytes that the command sent there, encryption overhead included.
    pub sent: u64,
    /// Bytes received from there.
    pub received: u64,
}

impl fmt::Display for NetworkContact {
    /// Writes `reached registry.example:443`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reached {}", format_host_port(&self.host, self.port))
    }
}

/// Formats a host and port as `registry.example:443`; an address with colons is put in brackets.
pub fn format_host_port(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// An attempt of a command that the sandbox refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct Refusal {
    /// Kind of attempt.
    pub kind: RefusalKind,
    /// Target of the attempt: a host, a path, a system call.
    pub target: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused {} {}", self.kind.as_str(), self.target)
    }
}

/// Kind of attempt that a sandbox refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// Network access.
    Network,
    /// A connection to a socket of another program on this machine, or listening on a socket.
    Socket,
    /// A change outside of the workspace, or to a read-only part of it.
    Write,
    /// Access to a file whose content is masked.
    Secret,
    /// A limit that the command exceeded.
    Limit,
}

impl RefusalKind {
    /// Returns the kind as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Socket => "socket",
            Self::Write => "write",
            Self::Secret => "secret",
            Self::Limit => "limit",
        }
    }
}
