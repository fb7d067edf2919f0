//! What goes with a message beside its text: images, and files of the workspace that it names.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What becomes of images in a message, by who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImageSupport {
    /// The model or the agent is shown them.
    Shown,
    /// The model is told in words that they are there.
    Described,
    /// The agent takes none: they are left out.
    LeftOut,
    /// The agent says so once it is started.
    Unknown,
}

/// A file that was dropped on the message box, as the window sees it: a window is not told where a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DroppedFile {
    /// Name of the file, without its folder.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: i64,
}

impl DroppedFile {
    /// Most files that are named for a dropped one.
    pub const CANDIDATES_MAX: usize = 100;
}
