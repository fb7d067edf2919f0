//! The settings by their shape: switches, numbers, and known words as they are; of every text only that it is set, and of
//! every list how long it is.
//!
//! Each type of the settings is taken apart field by field, so that a new field does not compile until it is decided here
//! what of it is told.

use std::path::Path;

use protocol::server::server_tools::ServerToolsSettings;
use protocol::settings::{
    DesktopSettings, DiffLayout, EditorSettings, Posture, SandboxSettings, SkillsSettings,
    Strategy, Theme, ToolSettings, UpdateMode, UpdateSettings, VariablesSettings,
    WebSearchSettings,
};
use protocol::{ModelChoice, RunLimits, Settings};
use serde::Serialize;

use super::program_shapes::{
    LanguageServerShape, ProgramShape, ProviderName, ProviderShape, SearchProviderShape,
    shape_hook, shape_language_server, shape_provider, shape_search_provider, shape_watchdog,
};
use super::text::Presence;
use crate::engine::settings::{load_settings, settings_path};

/// The settings.
#[derive(Debug, Serialize)]
pub(super) struct SettingsReport {
    state: SettingsState,
    /// The settings in force.
    in_force: SettingsShape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum SettingsState {
    /// There is no file: every setting has its default.
    Default,
    Readable,
    /// The file cannot be read, or says something that is not possible: every call asks.
    Unreadable,
}

impl SettingsReport {
    pub(super) fn read(data_dir: &Path) -> Self {
        let (settings, fault) = load_settings(data_dir);
        let state = match (fault, runtime::read_text(&settings_path(data_dir))) {
            (None, Ok(None)) => SettingsState::Default,
            (None, Ok(Some(_))) => SettingsState::Readable,
            (Some(_), _) | (_, Err(_)) => SettingsState::Unreadable,
        };
        Self {
            state,
            in_force: SettingsShape::from(settings),
        }
    }
}

#[derive(Debug, Serialize)]
struct SettingsShape {
    ask_for_everything: bool,
    theme: Theme,
    diff: DiffLayout,
    notify: bool,
    expire_after_min: u32,
    undo_keep_days: u32,
    undo_bytes_max: u64,
    outputs_keep_days: u32,
    outputs_bytes_max: u64,
    model: Option<ModelShape>,
    strategy: Strategy,
    limits: LimitsShape,
    posture: Option<Posture>,
    folder_postures: Vec<Posture>,
    variables_withheld: usize,
    variables_passed: usize,
    sandbox_closed: usize,
    sandbox_memory_mib: Option<u32>,
    skill_folders: usize,
    web_search: WebSearchShape,
    keys_changed: usize,
    start_at_login: bool,
    global_shortcut: bool,
    updates: UpdateMode,
    editor: Presence,
    editor_args: usize,
    language_servers: Vec<LanguageServerShape>,
    watchdogs: Vec<ProgramShape>,
    hooks: Vec<ProgramShape>,
    providers: Vec<ProviderShape>,
    tools_off: usize,
    tools_with_own_mode: usize,
    server_tools_snapshot: bool,
    server_tools_read_only: usize,
}

#[derive(Debug, Serialize)]
struct ModelShape {
    provider: ProviderName,
    model: Presence,
}

#[derive(Debug, Serialize)]
struct LimitsShape {
    turns: u32,
    calls: u32,
    tokens: u64,
    cost_usd: f64,
    minutes: u32,
    repeats: u32,
}

#[derive(Debug, Serialize)]
struct WebSearchShape {
    calls_max: u32,
    timeout_ms: u32,
    providers: Vec<SearchProviderShape>,
    operations: usize,
}

impl From<Settings> for SettingsShape {
    fn from(settings: Settings) -> Self {
        let Settings {
            ask_for_everything,
            theme,
            diff,
            notify,
            expire_after_min,
            undo_keep_days,
            undo_bytes_max,
            outputs_keep_days,
            outputs_bytes_max,
            model,
            strategy,
            limits,
            posture,
            folder_postures,
            earlier_dry_run: _,
            earlier_effects: _,
            variables: VariablesSettings { withheld, passed },
            sandbox: SandboxSettings { closed, memory_mib },
            skills: SkillsSettings { folders },
            web_search,
            keys,
            desktop:
                DesktopSettings {
                    start_at_login,
                    shortcut,
                },
            updates: UpdateSettings { mode: updates },
            editor: EditorSettings { program, args },
            language_servers,
            watchdogs,
            hooks,
            providers,
            tools,
            server_tools:
                ServerToolsSettings {
                    snapshot,
                    read_only,
                },
        } = settings;
        let tools: Vec<ToolSettings> = tools.into_values().collect();
        Self {
            ask_for_everything,
            theme,
            diff,
            notify,
            expire_after_min,
            undo_keep_days,
            undo_bytes_max,
            outputs_keep_days,
            outputs_bytes_max,
            model: model.map(|ModelChoice { provider, model }| ModelShape {
                provider: ProviderName::of(&provider, &providers),
                model: Presence::of(Some(&model)),
            }),
            strategy,
            limits: LimitsShape::from(limits),
            posture,
            folder_postures: folder_postures.into_values().collect(),
            variables_withheld: withheld.len(),
            variables_passed: passed.len(),
            sandbox_closed: closed.len(),
            sandbox_memory_mib: memory_mib.map(u32::from),
            skill_folders: folders.len(),
            web_search: WebSearchShape::from(web_search),
            keys_changed: keys.len(),
            start_at_login,
            global_shortcut: shortcut.is_some(),
            updates,
            editor: Presence::of(Some(&program)),
            editor_args: args.len(),
            language_servers: language_servers
                .into_iter()
                .enumerate()
                .map(|(index, settings)| shape_language_server(index, settings))
                .collect(),
            watchdogs: watchdogs
                .into_iter()
                .enumerate()
                .map(|(index, settings)| shape_watchdog(index, settings))
                .collect(),
            hooks: hooks
                .into_iter()
                .enumerate()
                .map(|(index, settings)| shape_hook(index, settings))
                .collect(),
            providers: providers
                .iter()
                .map(|settings| shape_provider(settings, &providers))
                .collect(),
            tools_off: tools.iter().filter(|tool| !tool.enabled).count(),
            tools_with_own_mode: tools.iter().filter(|tool| tool.mode.is_some()).count(),
            server_tools_snapshot: snapshot,
            server_tools_read_only: read_only.len(),
        }
    }
}

impl From<RunLimits> for LimitsShape {
    fn from(limits: RunLimits) -> Self {
        let RunLimits {
            turns,
            calls,
            tokens,
            cost_usd,
            minutes,
            repeats,
        } = limits;
        Self {
            turns,
            calls,
            tokens,
            cost_usd,
            minutes,
            repeats,
        }
    }
}

impl From<WebSearchSettings> for WebSearchShape {
    fn from(settings: WebSearchSettings) -> Self {
        let WebSearchSettings {
            calls_max,
            timeout_ms,
            providers,
            operations,
        } = settings;
        Self {
            calls_max,
            timeout_ms,
            providers: providers.into_iter().map(shape_search_provider).collect(),
            operations: operations.len(),
        }
    }
}
