//! Paths and folders of another agent, as our tools take them: relative to the workspace where they lie in it.

use std::path::{Path, PathBuf};

use crate::agent_calls::AgentCall;
use crate::agent_calls::argument_rule::{ArgumentRule, text_member};

/// Where a call works.
pub(super) struct CallPlace<'a> {
    workspace: &'a Path,
    folder: PathBuf,
}

impl<'a> CallPlace<'a> {
    /// Returns the place of a call: the agent's folder, or the one that an argument names.
    pub(super) fn of_call(call: &AgentCall<'a>, rules: &[ArgumentRule]) -> Result<Self, String> {
        let mut folder = call.folder.to_owned();
        for rule in rules {
            if let ArgumentRule::Folder(name) = rule
                && let Some(named) = text_member(call.input, name)?
            {
                folder.push(named);
            }
        }
        Ok(Self {
            workspace: call.workspace,
            folder,
        })
    }

    /// Returns a path that the agent named, relative to the workspace if it lies in it, else absolute.
    ///
    /// # Errors
    /// If it begins with `~`: some agents take that for the home folder, and others for a name.
    pub(super) fn path(&self, named: &str) -> Result<String, String> {
        match named.starts_with('~') {
            true => Err(format!("The path `{named}` may mean the home folder.")),
            false => Ok(self.relative(&self.folder.join(named))),
        }
    }

    /// Returns the path of the folder itself; none where it is the workspace.
    pub(super) fn folder(&self) -> Option<String> {
        let folder = self.relative(&self.folder);
        (folder != ".").then_some(folder)
    }

    /// Returns a line that runs a command in the folder. The line ends where it cannot go there.
    ///
    /// # Errors
    /// If no shell can be told the folder's name.
    pub(super) fn command(&self, command: &str) -> Result<String, String> {
        let Some(folder) = self.folder() else {
            return Ok(command.to_owned());
        };
        let folder = match folder.starts_with(['-', '~']) {
            true => format!("./{folder}"),
            false => folder,
        };
        let folder = shlex::try_quote(&folder).map_err(|error| error.to_string())?;
        Ok(format!("cd {folder} || exit\n{command}"))
    }

    fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(self.workspace) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}
