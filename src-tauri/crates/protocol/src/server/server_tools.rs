//! Settings for the tools of servers that run as you, as stored in `settings.toml`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Settings for the tools of servers that are programs of this machine: such programs are not confined in any way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ServerToolsSettings {
    /// Whether a snapshot of the workspace is taken before each call, by which the call's changes are found, shown and
    /// undone.
    pub snapshot: bool,
    /// Tools that you know to change nothing, by id, `files__read_file`, or family, `files__read_*`: no
    /// snapshot is taken for them. A server's own claims about its tools are not trusted.
    pub read_only: Vec<String>,
}

impl Default for ServerToolsSettings {
    fn default() -> Self {
        Self {
            snapshot: true,
            read_only: Vec::new(),
        }
    }
}

impl ServerToolsSettings {
    /// Whether all settings have their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the person declared that this tool changes nothing.
    pub fn is_read_only(&self, tool: &str) -> bool {
        self.read_only
            .iter()
            .any(|name| match name.strip_suffix('*') {
                Some(family) => tool.starts_with(family),
                None => name == tool,
            })
    }

    /// Whether a snapshot of the workspace is taken before a call of this tool.
    pub fn requires_snapshot(&self, tool: &str) -> bool {
        self.snapshot && !self.is_read_only(tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_taken_but_for_what_the_person_named() {
        let settings = ServerToolsSettings {
            read_only: vec!["files__read_*".to_owned(), "git__status".to_owned()],
            ..ServerToolsSettings::default()
        };
        for (tool, snapshots) in [
            ("files__read_file", false),
            ("files__write_file", true),
            ("git__status", false),
            ("git__status_x", true),
        ] {
            assert_eq!(settings.requires_snapshot(tool), snapshots, "{tool}");
        }
        let off = ServerToolsSettings {
            snapshot: false,
            ..ServerToolsSettings::default()
        };
        assert!(!off.requires_snapshot("files__write_file"));
        assert!(!off.is_default());
    }
}
