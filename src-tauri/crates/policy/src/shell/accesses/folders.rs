//! The folders in which a command may run: relative paths begin there.

use crate::shell::expand::unknown_text::UNKNOWN_TEXT;

/// The folders in which a command may run, from the workspace on: "" is the workspace.
#[derive(Debug, Clone)]
pub(in crate::shell) struct WorkingFolders {
    /// Where it may run if no `cd` is followed.
    pub starts: Vec<String>,
    /// Where it may run behind a `cd` of which it is not certain that it ran.
    pub entered: Vec<String>,
}

impl Default for WorkingFolders {
    fn default() -> Self {
        Self {
            starts: vec![String::new()],
            entered: Vec::new(),
        }
    }
}

impl WorkingFolders {
    /// Every folder in which the command may run.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.starts.iter().chain(&self.entered)
    }

    /// Follows a `cd`.
    pub fn enter(&mut self, path: &str) {
        let from = match self.entered.is_empty() {
            true => &self.starts,
            false => &self.entered,
        };
        self.entered = from.iter().map(|folder| join(folder, path)).collect();
    }
}

/// Returns the path that another path leads to from a folder.
pub(in crate::shell) fn join(folder: &str, path: &str) -> String {
    match folder.is_empty() || !is_relative_path(path) {
        true => path.to_owned(),
        false => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}

/// Whether a path begins where the command runs. One that begins with a text that is not known may begin anywhere.
pub(in crate::shell) fn is_relative_path(text: &str) -> bool {
    !text.starts_with(['/', '~', '$', UNKNOWN_TEXT])
}
