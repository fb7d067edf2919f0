//! The settings file as its text, for whoever edits it by hand or by key: where it is, whether it holds, and writing it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Digest, Fault, Settings};
use provider::{MemoryKeys, Providers};

use crate::{hooks, seeks, settings};

/// Where the settings are.
pub fn path(data_dir: &Path) -> PathBuf {
    settings::file(data_dir)
}

/// The text of the file; empty where there is none.
///
/// # Errors
/// The file cannot be read.
pub fn read(data_dir: &Path) -> Result<String, Fault> {
    Ok(runtime::read_text(&path(data_dir))?.unwrap_or_default())
}

/// The settings that a text holds.
///
/// # Errors
/// It is no TOML, a setting is not known or has a wrong value, or a provider, server or hook in it cannot be used. The fault
/// names the line where there is one.
pub fn check(data_dir: &Path, text: &str) -> Result<Settings, Fault> {
    let settings: Settings = settings::parse(&path(data_dir), text)?;
    let providers = Providers::new(&settings.providers, Arc::new(MemoryKeys::new()));
    let mut wrong = providers.faults().to_vec();
    wrong.extend(seeks::wrong(&settings.web_search));
    wrong.extend(lsp::settings::wrong(&settings.language_servers));
    wrong.extend(hooks::wrong(&settings.hooks));
    match wrong.into_iter().next() {
        Some(fault) => Err(fault),
        None => Ok(settings),
    }
}

/// Puts a text in the place of the file, whole or not at all.
///
/// # Errors
/// As [`check`]; the file is not what `base` was any more; or it cannot be written.
pub fn write(data_dir: &Path, text: &str, base: &str) -> Result<(), Fault> {
    check(data_dir, text)?;
    runtime::private_folder(data_dir)?;
    if Digest::of(read(data_dir)?.as_bytes()) != Digest::of(base.as_bytes()) {
        return Err(Fault::new(
            "The settings changed meanwhile, so nothing was written.",
            "Look at them again, then repeat the change.",
        ));
    }
    Ok(runtime::write_atomic(
        &path(data_dir),
        text.as_bytes(),
        0o600,
    )?)
}
