//! The program that files are opened in.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Your editor. Without a program it is the first of the known editors that is installed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct EditorSettings {
    /// The program: its name, as on `PATH`, or its file, absolute; empty for the first known one.
    pub program: String,
    /// Its arguments, in which `{file}` stands for the file and `{line}` for the line, from 1; empty for those of the
    /// known editor of that name, else the file alone.
    pub args: Vec<String>,
}

impl EditorSettings {
    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An editor that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct EditorView {
    /// Name of the editor: "Zed".
    pub title: String,
    /// The program's name, for [`EditorSettings::program`].
    pub program: String,
}
