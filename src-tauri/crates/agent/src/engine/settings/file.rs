//! The settings file as text, to be edited by hand or by key: its path, validation and writing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Digest, Settings, UserError};
use provider::{MemoryKeyStore, Providers};

use crate::engine::settings;
use crate::pipeline::hooks;
use crate::toolset::web_search;

/// Returns the path of the settings file.
pub fn settings_path(data_dir: &Path) -> PathBuf {
    settings::settings_path(data_dir)
}

/// Returns the text of the file; empty if there is no file.
///
/// # Errors
/// The file cannot be read.
pub fn read_text(data_dir: &Path) -> Result<String, UserError> {
    Ok(runtime::read_text(&settings_path(data_dir))?.unwrap_or_default())
}

/// Parses and validates the text of the settings.
///
/// # Errors
/// The text is not valid TOML, a setting is unknown or has a wrong value, or a provider, server or hook in it cannot be
/// used. The error names the line if there is one.
pub fn check_text(data_dir: &Path, text: &str) -> Result<Settings, UserError> {
    let settings: Settings = settings::parse_settings(&settings_path(data_dir), text)?;
    let providers = Providers::new(&settings.providers, Arc::new(MemoryKeyStore::new()));
    let mut wrong = providers.errors().to_vec();
    wrong.extend(web_search::check_settings(&settings.web_search));
    wrong.extend(lsp::settings::validate_settings(&settings.language_servers));
    wrong.extend(hooks::check_hooks(&settings.hooks));
    match wrong.into_iter().next() {
        Some(fault) => Err(fault),
        None => Ok(settings),
    }
}

/// Replaces the text of the file, completely or not at all.
///
/// # Errors
/// The errors of [`check_text`]; the file no longer equals `base`; or it cannot be written.
pub fn write_text(data_dir: &Path, text: &str, base: &str) -> Result<(), UserError> {
    check_text(data_dir, text)?;
    runtime::create_private_folder(data_dir)?;
    if Digest::from_bytes(read_text(data_dir)?.as_bytes()) != Digest::from_bytes(base.as_bytes()) {
        return Err(UserError::new(
            "The settings changed meanwhile, so nothing was written.",
            "Look at them again, then repeat the change.",
        ));
    }
    Ok(runtime::write_atomic(
        &settings_path(data_dir),
        text.as_bytes(),
        0o600,
    )?)
}
