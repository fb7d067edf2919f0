//! What a command did in the sealed room, before it happens to anybody's files: shown to a person, judged like a call's
//! accesses, and carried out as it was captured.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Digest;
use crate::text::display_text::DisplaySpan;
use crate::view::exact_name::ExactName;
use crate::view::preview::FileDiff;

/// What the machine can promise of a command, found out by trying once and never guessed from versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// There is no preview: a command runs as it stands, and what it changes cannot be taken back.
    GateOnly,
    /// It runs for real inside the room, and what it changed in the workspace can be taken back whole.
    Snapshot,
    /// Nothing real changes before it was shown and agreed to.
    Speculative,
}

/// What a command did, or did for show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Effects {
    /// What held when it ran.
    pub assurance: Assurance,
    /// Its exit code; none if a signal or a limit ended it.
    pub exit_code: Option<i32>,
    /// How it ended where there is no exit code: `signal 9`, `time limit`; empty otherwise.
    pub ended: String,
    /// What it printed, standard error included, its head, hidden characters named.
    pub output: Vec<DisplaySpan>,
    /// What it printed altogether, in bytes.
    pub output_bytes: u64,
    /// All that it changed, in order of the paths. Nothing is left out.
    pub changes: Vec<Effect>,
    /// What it tried and was refused.
    pub refused: Vec<Refusal>,
    /// Where it was let reach on the network, in order of host and port. What it sent there is out, whatever becomes of its
    /// changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<NetworkContact>>", optional)]
    pub reached: Vec<NetworkContact>,
    /// What a person should know of this run: that a file has other names, that a process was left behind.
    pub notes: Vec<String>,
    /// Digest of every path before and after, to the byte: what an approval is bound to.
    pub digest: Digest,
}

impl Effects {
    /// The secrets that it was refused.
    pub fn refused_secrets(&self) -> Vec<String> {
        let secrets = self
            .refused
            .iter()
            .filter(|one| one.kind == RefusalKind::Secret);
        secrets.map(|one| one.target.clone()).collect()
    }

    /// Whether nothing changed, nothing was refused and nothing was sent anywhere.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.refused.is_empty() && self.reached.is_empty()
    }
}

/// One path that is different afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Effect {
    /// Its number, from 0: what a partial acceptance names.
    pub id: u32,
    /// Path relative to the workspace root, hidden characters and bytes that are no text named.
    pub path: String,
    /// The very path, where `path` is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path_exact: Option<ExactName>,
    /// What happened to it.
    pub kind: EffectKind,
    /// What stood there; none if nothing did.
    pub before: Option<PathInfo>,
    /// What stands there now; none if nothing does.
    pub after: Option<PathInfo>,
    /// Where it was before; for what was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// The very path where it was, where `from` is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from_exact: Option<ExactName>,
    /// The difference of a text file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<FileDiff>,
    /// Why there is none: "binary", "too large to be compared".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undiffed: Option<String>,
}

impl fmt::Display for Effect {
    /// One line without its difference: `changed src/a.rs`, `renamed old -> new`.
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

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// It came.
    Added,
    /// Its content, or what kind of thing it is, became another.
    Changed,
    /// It went, with all that was below it.
    Deleted,
    /// It stands at another place with the same content.
    Renamed,
    /// Only its permission bits became others.
    Mode,
    /// It is a link that came, or leads elsewhere.
    Link,
    /// It is a pipe, a socket or a device: it is told of and never carried out.
    Special,
}

/// What stands at a path, as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathInfo {
    /// What kind of thing.
    pub what: PathType,
    /// Length in bytes; 0 for what has none.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Where a link leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target: Option<String>,
    /// Where it leads to the byte, where `target` is not that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub target_exact: Option<ExactName>,
}

/// A kind of thing on a disk.
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

/// What this machine can promise of commands in a workspace, as a trial showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AssuranceReport {
    /// How much.
    pub assurance: Assurance,
    /// No way to any network.
    pub net_off: bool,
    /// No way to programs that listen on this machine.
    pub unix_sockets_off: bool,
    /// Nothing that a command started outlives it.
    pub kill_tree: bool,
    /// A command can run for real in a sealed room, over a picture of the workspace by which that is undone.
    #[serde(default)]
    pub in_place: bool,
    /// What was tried and why it is no more, in plain sentences.
    pub reasons: Vec<String>,
}

/// A place on the network that a command reached through the way out of its room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct NetworkContact {
    /// The host as the command named it: a name in lower case, or an address in figures.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How many connections were made to it.
    pub connections: u32,
    /// What the command sent there, in bytes, whatever kept it secret on the way included.
    pub sent: u64,
    /// What came back, in bytes.
    pub received: u64,
}

impl fmt::Display for NetworkContact {
    /// `reached registry.example:443`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reached {}", format_host_port(&self.host, self.port))
    }
}

/// `registry.example:443`; an address with colons stands in brackets.
pub fn format_host_port(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// Something that a command tried in the room and was not let.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct Refusal {
    /// What it tried.
    pub kind: RefusalKind,
    /// What it is about: a host, a path, a call of the system.
    pub target: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused {} {}", self.kind.as_str(), self.target)
    }
}

/// What a room refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// A way to the network.
    Network,
    /// A socket of another program on this machine, or one to listen at.
    Socket,
    /// A change outside of the workspace, or of what is only to be read in it.
    Write,
    /// A file whose content is masked.
    Secret,
    /// A limit that it met.
    Limit,
}

impl RefusalKind {
    /// In one word.
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
