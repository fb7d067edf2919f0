//! Where agents keep their transcripts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use protocol::UserError;
use runtime::{GlobInclude, GlobQuery, Workspace};
use tokio_util::sync::CancellationToken;

use crate::agent_calls::ExternalAgent;
use crate::limits::{PROJECT_ROOT_BYTES_MAX, TRANSCRIPT_FILES_MAX};
use crate::transcripts::form::{TranscriptForm, find_form};

/// File in which Gemini CLI names the folder that a folder of transcripts is about.
const PROJECT_ROOT_FILE: &str = ".project_root";

/// A place with transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptPlace {
    /// The folder in which the agent keeps those of all sessions.
    Folder(PathBuf),
    /// One file.
    File(PathBuf),
}

impl TranscriptPlace {
    /// Returns the folder in which an agent keeps its transcripts, by the variables of the environment.
    ///
    /// # Errors
    /// The agent's transcripts have no form that is known.
    pub fn of_agent(
        agent: ExternalAgent,
        home: &Path,
        read_variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, UserError> {
        let form = find_form(agent)?;
        let named = form.variable.and_then(read_variable);
        let named = named.filter(|folder| !folder.is_empty());
        let folder = named.map_or_else(|| home.join(form.home_folder), PathBuf::from);
        Ok(Self::Folder(folder.join(form.folder)))
    }

    /// Opens the folder, and lists its transcripts.
    pub(super) fn open(
        &self,
        agent: ExternalAgent,
        form: &TranscriptForm,
    ) -> Result<(Workspace, Vec<String>), UserError> {
        match self {
            Self::Folder(folder) => {
                let root = open_folder(folder, agent)?;
                let files = list_files(&root, form.pattern)?;
                Ok((root, files))
            }
            Self::File(file) => {
                let name = file.file_name().unwrap_or_default();
                let folder = file.parent().unwrap_or(Path::new("/"));
                let is_gemini = agent == ExternalAgent::GeminiCli;
                match (folder.file_name(), folder.parent()) {
                    // The folder above says what the transcript is about.
                    (Some(chats), Some(project)) if is_gemini => Ok((
                        open_folder(project, agent)?,
                        vec![Path::new(chats).join(name).display().to_string()],
                    )),
                    _ => Ok((
                        open_folder(folder, agent)?,
                        vec![name.to_string_lossy().into_owned()],
                    )),
                }
            }
        }
    }
}

/// Returns the path of a workspace without links, by which agents name it.
///
/// # Errors
/// The folder cannot be opened.
pub fn resolve_workspace(folder: &Path) -> Result<PathBuf, UserError> {
    Ok(Workspace::open(folder)?.root().to_owned())
}

fn open_folder(folder: &Path, agent: ExternalAgent) -> Result<Workspace, UserError> {
    Workspace::open(folder).map_err(|error| {
        let message = format!(
            "There are no transcripts of {} in {}.",
            agent.name(),
            folder.display()
        );
        UserError::new(message, "Name a transcript, or check the agent's folder.")
            .with_source(&error)
    })
}

fn list_files(root: &Workspace, pattern: &str) -> Result<Vec<String>, UserError> {
    let query = GlobQuery {
        include: GlobInclude::Everything,
        ..GlobQuery::files_matching(pattern, TRANSCRIPT_FILES_MAX)
    };
    let cannot = |why: String| {
        let name = root.root().display();
        UserError::new(
            format!("{name} cannot be listed: {why}."),
            "Name a transcript.",
        )
    };
    let found = runtime::find_files(root, &query, &CancellationToken::new());
    let found = found.map_err(|error| cannot(error.to_string()))?;
    match found.more {
        true => Err(cannot(format!(
            "it has more than {TRANSCRIPT_FILES_MAX} files"
        ))),
        false => Ok(found.paths),
    }
}

/// Reads which folder a transcript is about, where a file beside it says so.
pub(super) fn find_project_root(root: &Workspace, file: &str) -> Option<PathBuf> {
    let project = Path::new(file)
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let named = project.with_file_name(PROJECT_ROOT_FILE);
    let text = root
        .read_whole(named.to_str()?, PROJECT_ROOT_BYTES_MAX)
        .ok()??;
    let text = String::from_utf8(text).ok()?;
    Some(PathBuf::from(text.trim_end_matches('\n')))
}
