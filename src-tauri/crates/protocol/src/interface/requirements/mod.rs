//! Requirements of a tool on the machine, published at registration (`S002-07`, `S002-47` to `S002-55`).

mod compiled;

pub use crate::interface::requirements::compiled::{
    CompiledRequirements, ExpandedRequirements, PathVariable, VariableValues,
};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Capability;

/// The surface that a tool may touch; the strictest is the empty one. Paths and hosts are patterns, which may contain
/// the variables of `S002-56` to `S002-58`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RequirementSet {
    /// Files and folders.
    #[serde(default, skip_serializing_if = "FsRequirement::is_empty")]
    #[ts(as = "Option<FsRequirement>", optional)]
    pub fs: FsRequirement,
    /// Hosts.
    #[serde(default, skip_serializing_if = "NetRequirement::is_empty")]
    #[ts(as = "Option<NetRequirement>", optional)]
    pub net: NetRequirement,
    /// Commands (`S002-50`). Each call is judged separately within them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shell: Vec<ShellRunRequirement>,
    /// Other capabilities, by name (`S002-51`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
}

/// Files and folders, relative to the workspace root.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct FsRequirement {
    /// Patterns of the paths that may be read (`S002-47`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Patterns of the paths that may be created, changed or removed (`S002-48`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

/// Network hosts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct NetRequirement {
    /// Patterns of hosts that may be reached (`S002-49`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// A command that may be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ShellRunRequirement {
    /// The executable's name; `*` for any.
    pub cmd: String,
    /// Patterns of the command's arguments, in order, from `argv[1]` on. Any arguments if left out; none at all if
    /// empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<ArgPattern>>,
}

/// Pattern of one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum ArgPattern {
    /// Exactly this text (`S002-52`).
    Exact(String),
    /// Any text, as one argument (`S002-53`).
    Wildcard(Wildcard),
    /// Any text with this prefix (`S002-54`).
    Prefix(Prefix),
}

/// Matches any one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, try_from = "bool_member::RawWildcard")]
pub struct Wildcard {
    /// Always true.
    #[ts(type = "true")]
    pub wildcard: bool,
}

/// Matches an argument by its prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// The prefix.
    pub prefix: String,
}

mod bool_member {
    //! Rejects `{"wildcard": false}`, which has no meaning.

    /// A wildcard as written, before validation.
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct RawWildcard {
        wildcard: bool,
    }

    impl TryFrom<RawWildcard> for super::Wildcard {
        type Error = &'static str;

        fn try_from(raw: RawWildcard) -> Result<Self, Self::Error> {
            match raw.wildcard {
                true => Ok(Self { wildcard: true }),
                false => Err("`wildcard` can only be true"),
            }
        }
    }
}

impl FsRequirement {
    /// Whether no file access is required.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

impl NetRequirement {
    /// Whether no host is required.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

impl RequirementSet {
    /// Returns the empty set, which requires nothing of the machine.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a pattern of paths to read.
    #[must_use]
    pub fn with_read(mut self, pattern: &str) -> Self {
        self.fs.read.push(pattern.to_owned());
        self
    }

    /// Adds a pattern of paths to write.
    #[must_use]
    pub fn with_write(mut self, pattern: &str) -> Self {
        self.fs.write.push(pattern.to_owned());
        self
    }

    /// Adds a pattern of hosts to reach.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> Self {
        self.net.hosts.push(host.to_owned());
        self
    }

    /// Adds a command with any arguments.
    #[must_use]
    pub fn with_command(mut self, cmd: &str) -> Self {
        self.shell.push(ShellRunRequirement {
            cmd: cmd.to_owned(),
            args: None,
        });
        self
    }

    /// Whether nothing is required.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the names of the required capabilities, as rules name them, then the other names.
    pub fn capability_names(&self) -> Vec<String> {
        [
            (Capability::FsRead, self.fs.read.is_empty()),
            (Capability::FsWrite, self.fs.write.is_empty()),
            (Capability::NetFetch, self.net.is_empty()),
            (Capability::ShellRun, self.shell.is_empty()),
        ]
        .into_iter()
        .filter(|(_, empty)| !empty)
        .map(|(capability, _)| capability.as_str().to_owned())
        .chain(self.capabilities.iter().cloned())
        .collect()
    }

    /// Returns the union of all given sets, each requirement once (`S002-09`).
    pub fn union<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        fn push_missing<T: Clone + PartialEq>(into: &mut Vec<T>, from: &[T]) {
            for item in from {
                if !into.contains(item) {
                    into.push(item.clone());
                }
            }
        }
        all.into_iter().fold(Self::default(), |mut union, one| {
            push_missing(&mut union.fs.read, &one.fs.read);
            push_missing(&mut union.fs.write, &one.fs.write);
            push_missing(&mut union.net.hosts, &one.net.hosts);
            push_missing(&mut union.shell, &one.shell);
            push_missing(&mut union.capabilities, &one.capabilities);
            union
        })
    }

    /// Whether every host and every command in the set is spelled out, without a wildcard (`S003-56`).
    pub fn is_scoped(&self) -> bool {
        let hosts = !self.net.hosts.iter().any(|host| host.contains(['*', '?']));
        let shell = self.shell.iter().all(|run| {
            let fixed = |arg: &ArgPattern| matches!(arg, ArgPattern::Exact(_));
            run.cmd != "*" && run.args.iter().flatten().all(fixed) && run.args.is_some()
        });
        !(self.net.is_empty() && self.shell.is_empty()) && hosts && shell
    }
}

impl ShellRunRequirement {
    /// Whether this requirement covers a command, given as its words. The arguments are matched in order; one too many
    /// or too few does not match (`S002-55`).
    pub fn covers(&self, argv: &[&str]) -> bool {
        let Some((cmd, argument)) = argv.split_first() else {
            return false;
        };
        let args = self.args.as_ref().is_none_or(|args| {
            args.len() == argument.len()
                && args
                    .iter()
                    .zip(argument)
                    .all(|(arg, argument)| arg.covers(argument))
        });
        (self.cmd == "*" || self.cmd == *cmd) && args
    }
}

impl ArgPattern {
    fn covers(&self, argument: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == argument,
            Self::Wildcard(_) => true,
            Self::Prefix(Prefix { prefix }) => argument.starts_with(prefix.as_str()),
        }
    }
}
