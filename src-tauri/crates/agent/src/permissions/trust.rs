//! The projects' rules files that the person trusts: stored with the person's own files, out of reach of any project.

use std::path::{Path, PathBuf};

use policy::trust::{self, TrustedFile};
use protocol::text::display_text::to_spans;
use protocol::{Digest, ProjectRules, UserError};
use runtime::Workspace;

use crate::limits::CONFIG_BYTES_MAX;

/// Path of the project's rules file, relative to the workspace root.
pub(crate) const PROJECT_FILE: &str = ".countersign/rules.toml";

/// File of the trusted texts of project files, in the data folder.
const TRUSTED_FILE: &str = "trusted.json";

/// Returns the project's rules file, with the changes since it was trusted; none if there is none.
///
/// # Errors
/// The file, or the list of trusted texts, cannot be read.
pub fn project_rules_view(
    data_dir: &Path,
    folder: &Path,
) -> Result<Option<ProjectRules>, UserError> {
    let workspace = &Workspace::open(folder)?;
    let Some(text) = read_project_rules(workspace)? else {
        return Ok(None);
    };
    let root = workspace.root().to_string_lossy();
    let known = load_trusted(data_dir)?;
    Ok(Some(ProjectRules {
        file: PROJECT_FILE.to_owned(),
        digest: trust::text_digest(&text),
        trust: trust::check_trust(&root, &text, &known),
        changes: to_spans(&trust::diff_since_trusted(&root, &text, &known)),
        text: to_spans(&text),
    }))
}

/// Trusts the file as it was shown, and returns the workspace root.
///
/// # Errors
/// There is no file, it changed since it was shown, or it is not a valid rules file, which cannot be trusted.
pub fn trust_project(
    data_dir: &Path,
    folder: &Path,
    digest: &Digest,
) -> Result<PathBuf, UserError> {
    let workspace = &Workspace::open(folder)?;
    let text = read_project_rules(workspace)?.ok_or_else(|| {
        UserError::new(
            format!("There is no {PROJECT_FILE}."),
            "Open the project's folder.",
        )
    })?;
    if trust::text_digest(&text) != *digest {
        return Err(UserError::new(
            format!("{PROJECT_FILE} changed since you looked."),
            "Look again, then decide.",
        ));
    }
    let source =
        policy::rules_file::RulesFileSource::new(PROJECT_FILE, protocol::RuleScope::Project);
    policy::rules_file::parse_rules_file(&text, &source)?;
    let root = workspace.root().to_string_lossy().into_owned();
    update_trusted(data_dir, &root, |known| {
        known.push(TrustedFile {
            workspace: root.clone(),
            digest: digest.clone(),
            text,
        });
    })?;
    Ok(workspace.root().to_owned())
}

/// Revokes the trust in the file, and returns the workspace root.
///
/// # Errors
/// The list cannot be read or written.
pub fn revoke_trust(data_dir: &Path, folder: &Path) -> Result<PathBuf, UserError> {
    let workspace = &Workspace::open(folder)?;
    let root = workspace.root().to_string_lossy();
    update_trusted(data_dir, &root, |_| {})?;
    Ok(workspace.root().to_owned())
}

/// Replaces the trusted text of a workspace; at most one is trusted.
fn update_trusted(
    data_dir: &Path,
    root: &str,
    add: impl FnOnce(&mut Vec<TrustedFile>),
) -> Result<(), UserError> {
    let _lock = runtime::lock_file(&data_dir.join("trusted.lock"))?;
    let mut known = load_trusted(data_dir)?;
    known.retain(|one| one.workspace != root);
    add(&mut known);
    let text = serde_json::to_vec_pretty(&known).map_err(|error| {
        UserError::new("What you trust cannot be written.", "Report this.").with_source(&error)
    })?;
    Ok(runtime::write_atomic(
        &data_dir.join(TRUSTED_FILE),
        &text,
        0o600,
    )?)
}

/// Returns the texts of project files that the person trusted.
pub(crate) fn load_trusted(data_dir: &Path) -> Result<Vec<TrustedFile>, UserError> {
    let file = data_dir.join(TRUSTED_FILE);
    let Some(text) = runtime::read_text(&file)? else {
        return Ok(Vec::new());
    };
    serde_json::from_str(&text).map_err(|error| {
        UserError::new(
            format!("{} cannot be read: {error}.", file.display()),
            "Remove it. Until then no project's rules may loosen anything.",
        )
    })
}

/// Returns the text of the project's rules file; none if there is none.
pub(crate) fn read_project_rules(workspace: &Workspace) -> Result<Option<String>, UserError> {
    let unreadable = |what: String| {
        UserError::new(
            format!("{PROJECT_FILE} cannot be read: {what}"),
            "Correct or remove it. Until then every call asks.",
        )
    };
    match workspace.read_whole(PROJECT_FILE, CONFIG_BYTES_MAX) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| unreadable("it is not UTF-8 text.".into())),
        Err(error) => Err(unreadable(error.to_string())),
    }
}
