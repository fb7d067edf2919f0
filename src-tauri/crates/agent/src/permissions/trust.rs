//! Which projects' rules files the person trusts: kept with the person's own things, where no project reaches.

use std::path::{Path, PathBuf};

use policy::trust::{self, TrustedFile};
use protocol::text::display_text::to_spans;
use protocol::{Digest, ProjectRules, UserError};
use runtime::Workspace;

use crate::limits::CONFIG_BYTES_MAX;

/// The project's rules, relative to the workspace root.
pub(crate) const PROJECT_FILE: &str = ".countersign/rules.toml";

/// Texts of project files that the person trusted, in the data folder.
const TRUSTED_FILE: &str = "trusted.json";

/// The project's rules file, with what changed since it was trusted; none if there is none.
///
/// # Errors
/// It, or the list of what is trusted, cannot be read.
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

/// Trusts the file as it was looked at; gives the workspace root.
///
/// # Errors
/// There is none, it is not what was looked at, or it is no file of rules: that is trusted by nobody.
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

/// Trusts it no more; gives the workspace root.
///
/// # Errors
/// The list cannot be read or written.
pub fn revoke_trust(data_dir: &Path, folder: &Path) -> Result<PathBuf, UserError> {
    let workspace = &Workspace::open(folder)?;
    let root = workspace.root().to_string_lossy();
    update_trusted(data_dir, &root, |_| {})?;
    Ok(workspace.root().to_owned())
}

/// One text is trusted for a workspace at most.
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

/// The texts of project files that the person trusted.
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

/// The text of the project's rules file; none if there is none.
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
