//! Accesses of a call: declared by the tool, resolved by the runtime, judged by policy.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A kind of access to the machine, as rules and requirements name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub enum Capability {
    /// Read a file or list a folder.
    #[serde(rename = "fs.read")]
    FsRead,
    /// Create or change a file.
    #[serde(rename = "fs.write")]
    FsWrite,
    /// Remove a file or folder.
    #[serde(rename = "fs.delete")]
    FsDelete,
    /// Reach a host.
    #[serde(rename = "net.fetch")]
    NetFetch,
    /// Run a command.
    #[serde(rename = "shell.run")]
    ShellRun,
}

impl Capability {
    /// Every capability, for parsing and for lists.
    pub const ALL: [Self; 5] = [
        Self::FsRead,
        Self::FsWrite,
        Self::FsDelete,
        Self::NetFetch,
        Self::ShellRun,
    ];

    /// Returns the name as rules write it: `fs.write`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FsRead => "fs.read",
            Self::FsWrite => "fs.write",
            Self::FsDelete => "fs.delete",
            Self::NetFetch => "net.fetch",
            Self::ShellRun => "shell.run",
        }
    }
}

/// One access that a call declares, in the words of its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Access {
    /// Kind of access.
    pub capability: Capability,
    /// A path (absolute, or relative to the workspace), a command, or a host.
    pub target: String,
}

impl Access {
    /// Returns an access of `capability` to `target`.
    pub fn new(capability: Capability, target: impl Into<String>) -> Self {
        Self {
            capability,
            target: target.into(),
        }
    }
}

/// An access whose target the runtime resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct ResolvedAccess {
    /// Kind of access.
    pub capability: Capability,
    /// The target as the call declared it.
    pub target: String,
    /// The resolved target: for a path inside the workspace, relative to its root with `/` and without `.`, `..` or
    /// links; for one outside, the absolute real path; else the target itself.
    pub real: String,
    /// Whether the path lies in a granted root. Always true for commands and hosts, which other gates judge.
    pub inside: bool,
    /// Why the path could not be resolved, if it could not. Such a path is judged as outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<String>,
    /// Why no rule may allow the access although its target is resolved: a hidden character in its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Whether the access was derived from a command, or from the arguments of a tool that declares nothing. A derived
    /// access can make a verdict stricter and never looser.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

impl ResolvedAccess {
    /// Returns an access inside a granted root, with `target` taken as already resolved.
    pub fn new_inside(capability: Capability, target: impl Into<String>) -> Self {
        let target = target.into();
        Self {
            capability,
            real: target.clone(),
            target,
            inside: true,
            unresolved: None,
            doubt: None,
            derived: false,
        }
    }
}
