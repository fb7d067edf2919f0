//! The manifest of the agent that works in a session: read when the session is opened, and in force for the session's
//! lifetime.

use std::path::Path;

use policy::AgentManifest;
use protocol::UserError;
use protocol::event::{AgentManifestFile, SessionOptions};
use serde_json::{Value, json};
use tools::Registry;

use crate::limits::MANIFEST_BYTES_MAX;

/// Reads the manifest in a file, and returns its session's options. Missing tools are an error: an agent that was meant
/// to have a tool does not run without it.
///
/// # Errors
/// The file does not exist, is too long, or contains anything invalid.
pub(crate) fn apply_manifest(
    file: &str,
    tools: &Registry,
    options: SessionOptions,
) -> Result<SessionOptions, UserError> {
    let text = read_text(file)?;
    let manifest = policy::manifest::parse_manifest(&text, file)?;
    let named = manifest.tools.as_ref().map(|names| {
        names
            .iter()
            .map(|name| match tools.find(name) {
                Ok(found) => Ok(found.interface.id().to_owned()),
                Err(error) => Err(UserError::new(
                    format!("The agent's manifest {file} names a tool that is not there. {error}"),
                    "Correct the name, or register the tool first.",
                )),
            })
            .collect::<Result<Vec<String>, UserError>>()
    });
    Ok(SessionOptions {
        tools: named.transpose()?,
        instructions: manifest.prompt,
        agent: Some(AgentManifestFile {
            file: file.to_owned(),
            text,
        }),
        ..options
    })
}

/// Reads the manifest in a file.
///
/// # Errors
/// As [`apply_manifest`].
pub(crate) fn read_manifest(file: &Path) -> Result<AgentManifest, UserError> {
    let file = file.display().to_string();
    policy::manifest::parse_manifest(&read_text(&file)?, &file)
}

/// Returns a manifest in the form that a watchdog reads (`S002-87`): every key of its file, with the parsed value.
pub(crate) fn manifest_summary(manifest: &AgentManifest) -> Value {
    let rules = manifest.rules.rules.iter();
    json!({
        "name": manifest.name,
        "description": manifest.description,
        "prompt": manifest.prompt,
        "tools": manifest.tools,
        "provider": manifest.provider,
        "model": manifest.model,
        "roots": manifest.roots,
        "requires": manifest.requires,
        "default": manifest.rules.default,
        "rules": rules.map(|rule| &rule.rule).collect::<Vec<_>>(),
    })
}

fn read_text(file: &str) -> Result<String, UserError> {
    let text = runtime::read_text(Path::new(file))?.ok_or_else(|| {
        UserError::new(
            format!("There is no agent's manifest {file}."),
            "Check the path.",
        )
    })?;
    match text.len() > MANIFEST_BYTES_MAX {
        true => Err(UserError::new(
            format!("The agent's manifest {file} is longer than {MANIFEST_BYTES_MAX} bytes."),
            "Shorten it.",
        )),
        false => Ok(text),
    }
}

/// Returns the manifest in force for a session.
///
/// # Errors
/// The manifest can no longer be read: its session is not opened, because its restrictions are unknown.
pub(crate) fn active_manifest(
    options: &SessionOptions,
) -> Result<Option<AgentManifest>, UserError> {
    options.agent.as_ref().map(parse_manifest).transpose()
}

/// Returns the manifests of the sub-agents down to the session, outermost first.
///
/// # Errors
/// As [`active_manifest`].
pub(crate) fn parent_manifests(options: &SessionOptions) -> Result<Vec<AgentManifest>, UserError> {
    options.below.iter().map(parse_manifest).collect()
}

fn parse_manifest(agent: &AgentManifestFile) -> Result<AgentManifest, UserError> {
    policy::manifest::parse_manifest(&agent.text, &agent.file)
}
