//! The settings on disk: read with errors that name the line, written completely or not at all.

pub mod file;

use std::path::{Path, PathBuf};

use protocol::settings::VariableName;
use protocol::{Settings, UserError};
use provider::Providers;
use runtime::{InheritedEnv, SandboxOptions};

use crate::pipeline::hooks;
use crate::session::engine_state::EngineState;
use crate::toolset::web_search;

/// Returns the path of the settings file.
pub fn settings_path(data_dir: &Path) -> PathBuf {
    data_dir.join("settings.toml")
}

/// Loads the settings. If they cannot be read, returns the strict settings and the reason; the file is left as it is.
/// If only hooks are invalid, all other settings apply and every call asks.
pub fn load_settings(data_dir: &Path) -> (Settings, Option<UserError>) {
    let path = settings_path(data_dir);
    let text = match runtime::read_text(&path) {
        Ok(None) => return (Settings::default(), None),
        Ok(Some(text)) => text,
        Err(error) => return (Settings::strict(), Some(error.into())),
    };
    let mut settings = match parse_settings(&path, &text) {
        Ok(settings) => settings,
        Err(fault) => {
            let hint = "Correct the line, or remove the file. Until then every call asks.";
            let fault = UserError::new(fault.message, hint);
            return (Settings::strict(), Some(fault));
        }
    };
    let wrong = hooks::check_hooks(&settings.hooks).into_iter().next();
    let fault = wrong.map(|fault| {
        settings.ask_for_everything = true;
        UserError::new(
            format!("{}: {}", path.display(), fault.message),
            format!("{} Until then every call asks.", fault.hint),
        )
    });
    (settings, fault)
}

/// Parses the settings from the text of a file.
///
/// # Errors
/// The text is not valid settings; the error names the line.
pub fn parse_settings(path: &Path, text: &str) -> Result<Settings, UserError> {
    let parsed: Result<Settings, _> = toml::from_str(text);
    parsed
        .map(Settings::with_posture_of_earlier_settings)
        .map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text[..span.start.min(text.len())].matches('\n').count() + 1
            });
            let message = error.message().trim_end().replace('\n', ", ");
            UserError::new(
                format!("{}, line {line}: {message}.", path.display()),
                "Correct the line.",
            )
        })
}

/// Writes the settings.
pub fn save_settings(data_dir: &Path, settings: &Settings) -> Result<(), UserError> {
    let text = toml::to_string_pretty(settings).map_err(|error| {
        UserError::new("The settings cannot be written.", "Report this.").with_source(&error)
    })?;
    Ok(runtime::write_atomic(
        &settings_path(data_dir),
        text.as_bytes(),
        0o600,
    )?)
}

/// Sets the environment variables that started programs inherit, by the settings. A provider's key is withheld under
/// whatever name it is stored, unless that very name is passed.
pub(crate) fn set_inherited_variables(inherited: &InheritedEnv, settings: &Settings) {
    let variables = &settings.variables;
    let withheld = variables.withheld.iter().map(VariableName::as_str);
    let passed = || variables.passed.iter().map(VariableName::as_str);
    let models = settings.providers.iter().map(|one| &one.key_env);
    let searches = settings.web_search.providers.iter().map(|one| &one.key_env);
    let keys = models
        .chain(searches)
        .filter_map(|key| key.as_deref())
        .filter(|key| !passed().any(|name| name.eq_ignore_ascii_case(key)));
    inherited.set_choice(withheld.chain(keys), passed());
}

/// Applies the settings to the sandbox options.
pub(crate) fn apply_sandbox_options(options: &SandboxOptions, settings: &Settings) {
    let chosen = &settings.sandbox;
    let closed = chosen.closed.iter().map(|path| path.as_str().into());
    let memory = chosen.memory_mib.map(|mib| u64::from(mib.get()) << 20);
    options.set_choice(closed.collect(), memory);
}

/// Returns the sandbox options from the settings.
pub(crate) fn sandbox_options(settings: &Settings) -> SandboxOptions {
    let options = SandboxOptions::default();
    apply_sandbox_options(&options, settings);
    options
}

impl EngineState {
    /// Puts new settings in force and saves them to disk.
    pub fn set_settings(&self, settings: Settings) -> Result<(), UserError> {
        let (tools, mut tool_faults) = self.default_tools().with_settings(&settings.tools);
        if !tool_faults.is_empty() {
            return Err(tool_faults.remove(0));
        }
        let mut wrong = web_search::check_settings(&settings.web_search);
        wrong.extend(lsp::settings::validate_settings(&settings.language_servers));
        wrong.extend(hooks::check_hooks(&settings.hooks));
        if let Some(fault) = wrong.into_iter().next() {
            return Err(fault);
        }
        save_settings(&self.config.data_dir, &settings)?;
        set_inherited_variables(&self.inherited_variables, &settings);
        apply_sandbox_options(&self.sandbox_options, &settings);
        self.languages.apply_settings(&settings.language_servers);
        self.tools.set_builtin(tools);
        let providers = Providers::new(&settings.providers, self.keys.clone());
        self.replace_settings(settings, providers);
        self.current_errors.set_settings_errors(None, Vec::new());
        Ok(())
    }
}
