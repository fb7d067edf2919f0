//! The manifest of the agent that works in a session: read when the session is opened, and in force for as long as it lives.

use std::path::Path;

use policy::Manifest;
use protocol::Fault;
use protocol::event::{AgentFile, Asked};
use serde_json::{Value, json};
use tools::Registry;

use crate::limits::MANIFEST_BYTES_MAX;

/// Reads the manifest of a file, and gives what its session is asked. Tools that are not there are an error: an agent that
/// was meant to have one is not let loose without it.
///
/// # Errors
/// No such file, one that is too long, or anything in it that is not as it must be.
pub(crate) fn asked(file: &str, tools: &Registry, asked: Asked) -> Result<Asked, Fault> {
    let text = text(file)?;
    let manifest = policy::manifest::read(&text, file)?;
    let named = manifest.tools.as_ref().map(|names| {
        names
            .iter()
            .map(|name| match tools.find(name) {
                Ok(found) => Ok(found.interface.id().to_owned()),
                Err(error) => Err(Fault::new(
                    format!("The agent's manifest {file} names a tool that is not there. {error}"),
                    "Correct the name, or register the tool first.",
                )),
            })
            .collect::<Result<Vec<String>, Fault>>()
    });
    Ok(Asked {
        tools: named.transpose()?,
        instructions: manifest.prompt,
        agent: Some(AgentFile {
            file: file.to_owned(),
            text,
        }),
        ..asked
    })
}

/// The manifest in a file.
///
/// # Errors
/// As [`asked`].
pub(crate) fn read(file: &Path) -> Result<Manifest, Fault> {
    let file = file.display().to_string();
    policy::manifest::read(&text(&file)?, &file)
}

/// A manifest as a watchdog reads it (`S002-87`): every key of its file, with what each was understood to say.
pub(crate) fn told(manifest: &Manifest) -> Value {
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

fn text(file: &str) -> Result<String, Fault> {
    let text = runtime::read_text(Path::new(file))?.ok_or_else(|| {
        Fault::new(
            format!("There is no agent's manifest {file}."),
            "Check the path.",
        )
    })?;
    match text.len() > MANIFEST_BYTES_MAX {
        true => Err(Fault::new(
            format!("The agent's manifest {file} is longer than {MANIFEST_BYTES_MAX} bytes."),
            "Shorten it.",
        )),
        false => Ok(text),
    }
}

/// The manifest that is in force for a session.
///
/// # Errors
/// One that cannot be read any more: its session is not opened, because nobody knows what it forbids.
pub(crate) fn in_force(asked: &Asked) -> Result<Option<Manifest>, Fault> {
    asked.agent.as_ref().map(of).transpose()
}

/// The manifests of those that work was given to since, one below the other.
///
/// # Errors
/// As [`in_force`].
pub(crate) fn below(asked: &Asked) -> Result<Vec<Manifest>, Fault> {
    asked.below.iter().map(of).collect()
}

fn of(agent: &AgentFile) -> Result<Manifest, Fault> {
    policy::manifest::read(&agent.text, &agent.file)
}
