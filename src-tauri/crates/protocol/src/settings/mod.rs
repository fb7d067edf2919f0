//! The person's settings, as stored in `settings.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::server::language_servers::LanguageServer;
use crate::server::server_tools::ServerToolsSettings;
use crate::text::define_checked_text;
use crate::{ModelChoice, RunLimits, ToolMode};

pub use desktop::{DesktopSettings, GlobalShortcut};
pub use editor::{EditorSettings, EditorView};
pub use programs::{HookPoint, HookSettings, WatchdogSettings};
pub use sandbox::{DeniedPath, SandboxSettings};
pub use updates::{UpdateMode, UpdateSettings};

mod desktop;
mod editor;
pub mod limit;
mod programs;
mod sandbox;
mod updates;

/// All your settings. A file that cannot be read gives the strict settings ([`Settings::strict`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether to drop the defaults of the modes, so that every call asks (M02).
    pub ask_for_everything: bool,
    /// Light, dark, or as the system has it.
    pub theme: Theme,
    /// Layout of differences.
    pub diff: DiffLayout,
    /// Whether to notify you when a card arrives while the window has no focus.
    pub notify: bool,
    /// Time after which a waiting call or question expires, in minutes; 0: never.
    pub expire_after_min: u32,
    /// How long copies for undo are kept, in days.
    pub undo_keep_days: u32,
    /// The most space that copies for undo may take together, in bytes.
    pub undo_bytes_max: u64,
    /// How long the whole text of long outputs is kept, in days; their beginning stays in the record.
    pub outputs_keep_days: u32,
    /// The most space that long outputs may take together, in bytes; an output counts compressed once it is a day old.
    pub outputs_bytes_max: u64,
    /// The model that a new session starts with.
    pub model: Option<ModelChoice>,
    /// Scheduling of the calls of one model turn; holds for sessions that are opened from now on (`S001-27`).
    pub strategy: Strategy,
    /// Limits of one run, at which the run stops.
    pub limits: RunLimits,
    /// What asks, in every folder that has no posture of its own (M24). Without one, you have not chosen yet, and
    /// it is [`Posture::AskFirst`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub posture: Option<Posture>,
    /// What asks in single folders: their postures, by absolute path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<BTreeMap<String, Posture>>")]
    pub folder_postures: BTreeMap<String, Posture>,
    /// Part of the posture in files of earlier versions: read, and not written.
    #[serde(rename = "dry_run", skip_serializing)]
    #[ts(skip)]
    pub earlier_dry_run: EarlierDryRun,
    /// Part of the posture in files of earlier versions: read, and not written.
    #[serde(rename = "effects", skip_serializing)]
    #[ts(skip)]
    pub earlier_effects: EarlierEffects,
    /// Variables of the app's own environment that commands and programs get.
    pub variables: VariablesSettings,
    /// Settings of the sandbox that commands run in.
    #[serde(alias = "rooms", skip_serializing_if = "SandboxSettings::is_default")]
    #[ts(optional, as = "Option<SandboxSettings>")]
    pub sandbox: SandboxSettings,
    /// Folders with skills, beside those of the project and of your home folder.
    pub skills: SkillsSettings,
    /// Web search providers for agents, and how often agents may search.
    pub web_search: WebSearchSettings,
    /// Keys of the window's commands that you changed, by command: `find_in_session = "Ctrl+Shift+F"`. An empty text takes the
    /// keys from a command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<BTreeMap<String, String>>")]
    pub keys: BTreeMap<String, String>,
    /// How the app is reached from the rest of your desktop.
    #[serde(skip_serializing_if = "DesktopSettings::is_default")]
    #[ts(optional, as = "Option<DesktopSettings>")]
    pub desktop: DesktopSettings,
    /// What the app does about new versions of itself.
    #[serde(skip_serializing_if = "UpdateSettings::is_default")]
    #[ts(optional, as = "Option<UpdateSettings>")]
    pub updates: UpdateSettings,
    /// The program that files are opened in.
    #[serde(skip_serializing_if = "EditorSettings::is_default")]
    #[ts(optional, as = "Option<EditorSettings>")]
    pub editor: EditorSettings,
    /// Language servers, each off until you switch it on.
    pub language_servers: Vec<LanguageServer>,
    /// Watchdogs: programs that are asked before every call, beside the built-in checks.
    pub watchdogs: Vec<WatchdogSettings>,
    /// Hooks: programs that are told of every call around its run, and may keep the call from running.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<HookSettings>>")]
    pub hooks: Vec<HookSettings>,
    /// Providers beyond the built-in ones.
    pub providers: Vec<ProviderSettings>,
    /// Settings of single tools, by their ids.
    pub tools: BTreeMap<String, ToolSettings>,
    /// Settings for the tools of servers that run as you.
    #[serde(skip_serializing_if = "ServerToolsSettings::is_default")]
    #[ts(optional, as = "Option<ServerToolsSettings>")]
    pub server_tools: ServerToolsSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ask_for_everything: false,
            theme: Theme::System,
            diff: DiffLayout::Unified,
            notify: true,
            expire_after_min: 0,
            undo_keep_days: 30,
            undo_bytes_max: 2 * 1024 * 1024 * 1024,
            outputs_keep_days: 30,
            outputs_bytes_max: 1024 * 1024 * 1024,
            model: None,
            strategy: Strategy::default(),
            limits: RunLimits::default(),
            posture: None,
            folder_postures: BTreeMap::new(),
            earlier_dry_run: EarlierDryRun::default(),
            earlier_effects: EarlierEffects::default(),
            variables: VariablesSettings::default(),
            sandbox: SandboxSettings::default(),
            skills: SkillsSettings::default(),
            web_search: WebSearchSettings::default(),
            keys: BTreeMap::new(),
            desktop: DesktopSettings::default(),
            updates: UpdateSettings::default(),
            editor: EditorSettings::default(),
            language_servers: Vec::new(),
            watchdogs: Vec::new(),
            hooks: Vec::new(),
            providers: Vec::new(),
            tools: BTreeMap::new(),
            server_tools: ServerToolsSettings::default(),
        }
    }
}

impl Settings {
    /// Names of settings in files of earlier versions, each with the present name. Such a file is read as before.
    pub const EARLIER_NAMES: [(&str, &str); 1] = [("rooms", "sandbox")];

    /// Returns the settings that hold when the file cannot be read: the defaults, except that every call asks.
    pub fn strict() -> Self {
        Self {
            ask_for_everything: true,
            ..Self::default()
        }
    }

    /// Returns the posture in a folder: its own, else the one for all folders.
    pub fn posture_for(&self, folder: &Path) -> Posture {
        let own = folder
            .to_str()
            .and_then(|path| self.folder_postures.get(path));
        own.or(self.posture.as_ref()).copied().unwrap_or_default()
    }

    /// Takes the posture over from the settings that earlier versions had in its place: both of them had to be set for
    /// a command to pass by its effects.
    #[must_use]
    pub fn with_posture_of_earlier_settings(mut self) -> Self {
        let judged_effects = self.earlier_dry_run == EarlierDryRun::Auto
            && self.earlier_effects.none == EarlierNoEffects::Allow;
        if judged_effects && self.posture.is_none() {
            self.posture = Some(Posture::AskAboutEffects);
        }
        (self.earlier_dry_run, self.earlier_effects) = Default::default();
        self
    }
}

/// What asks you, and when (M24). Denials hold in every posture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// A command asks before it runs, as the specifications say.
    #[default]
    AskFirst,
    /// A command runs in a dry run first, and its effects are judged as if a file tool had made them: what changes
    /// nothing, or only files of the workspace and can be undone, passes.
    AskAboutEffects,
    /// As [`Self::AskAboutEffects`], and what would still ask is denied.
    Unattended,
}

impl Posture {
    /// All postures, from the one that asks most to the one that asks nothing.
    pub const ALL: [Self; 3] = [Self::AskFirst, Self::AskAboutEffects, Self::Unattended];

    /// The posture as settings and the command line write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AskFirst => "ask_first",
            Self::AskAboutEffects => "ask_about_effects",
            Self::Unattended => "unattended",
        }
    }

    /// Whether a command is judged by its effects in a dry run, before anybody is asked.
    pub fn judges_effects(self) -> bool {
        match self {
            Self::AskFirst => false,
            Self::AskAboutEffects | Self::Unattended => true,
        }
    }
}

/// Scheduling of the calls of one model turn (`S001-28` to `S001-34`). With any strategy, a call that is not proven
/// safe to run concurrently runs alone, and results reach the model in call order (M08).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Runs calls concurrently where that is safe.
    #[default]
    Parallel,
    /// Runs one call after the other.
    Sequential,
    /// Runs a limited number of calls at a time.
    Batched {
        /// The number of calls at a time, at least one.
        #[ts(type = "number")]
        size: NonZeroU32,
    },
}

/// When a command ran in a dry run, in files of earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlierDryRun {
    /// When the person requested it.
    #[default]
    Ask,
    /// Before the person was asked.
    Auto,
}

/// Treatment of effects, in files of earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EarlierEffects {
    /// Treatment of a command without effects.
    pub none: EarlierNoEffects,
}

/// Treatment of a command without effects, in files of earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlierNoEffects {
    /// It asked like any other.
    #[default]
    Ask,
    /// It ran without a question.
    Allow,
}

/// Variables of the app's own environment that programs get, beside those that are known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct VariablesSettings {
    /// Variables that programs never get, compared without regard to case.
    pub withheld: Vec<VariableName>,
    /// Variables that programs get, whatever their names; unless withheld.
    pub passed: Vec<VariableName>,
}

/// Folders with skills, beside those of the project and of the home folder. Holds for sessions opened from now on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsSettings {
    /// Folders with one subfolder for each skill, absolute.
    pub folders: Vec<String>,
}

/// Web search providers for agents, and limits of their use (`S002-43` to `S002-46`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct WebSearchSettings {
    /// Number of searches that one session may make.
    pub calls_max: u32,
    /// Time limit of one search, in milliseconds.
    pub timeout_ms: u32,
    /// The providers; a session uses one of them, always the same.
    pub providers: Vec<SearchProviderSettings>,
    /// Operations of services that are used for searching as well, each like a provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SearchOperation>>")]
    pub operations: Vec<SearchOperation>,
}

impl Default for WebSearchSettings {
    fn default() -> Self {
        Self {
            calls_max: 25,
            timeout_ms: 15_000,
            providers: Vec::new(),
            operations: Vec::new(),
        }
    }
}

/// An operation of a service (by its OpenAPI document) that searches the web. Parts that are left out are detected
/// where they have one of the usual names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SearchOperation {
    /// The operation, as listed among the tools: `service__operation`.
    pub operation: String,
    /// The argument that takes the query, or its place in the arguments as a JSON pointer: `q`, `/body/query`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub query: Option<String>,
    /// JSON pointer to the list of results in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub results: Option<String>,
    /// JSON pointer to the title in a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// JSON pointer to the address in a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// JSON pointer to a short excerpt in a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub snippet: Option<String>,
    /// Arguments that the operation gets in addition to the query.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
}

/// A web search provider. Its key is stored in the keychain as `web_search/` and the provider's id, unless a variable
/// holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SearchProviderSettings {
    /// A short id of your choice.
    pub id: String,
    /// The API that the provider speaks.
    pub wire: SearchApi,
    /// Base address of the provider, if not the usual one; a SearXNG instance has no usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the provider's key; if not given, the key is read from the keychain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
}

impl SearchProviderSettings {
    /// Returns the name under which the keychain stores the provider's key.
    pub fn keychain_name(&self) -> String {
        format!("web_search/{}", self.id)
    }
}

/// API of a web search provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SearchApi {
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// Exa.
    Exa,
    /// An instance of SearXNG that returns JSON.
    Searxng,
}

/// The name of an environment variable: not empty, and without a `=`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct VariableName(String);

define_checked_text!(VariableName, |name| {
    let is_name = !name.is_empty()
        && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control());
    match is_name {
        true => Ok(()),
        false => Err(format!("`{}` is not a variable name", name.escape_debug())),
    }
});

/// Your settings for one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Whether the tool can be used; a tool that is off is neither listed to a model nor callable (`S003-18`).
    pub enabled: bool,
    /// A mode at least as strict as the tool's own; none for its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolMode>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: None,
        }
    }
}

/// Colour theme of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// The theme of the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Layout of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLayout {
    /// One column.
    #[default]
    Unified,
    /// Before and after side by side.
    Split,
}

/// Wire format of a provider's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WireFormat {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions and everything compatible with them.
    Openai,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

/// A provider that you added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    /// A short id of your choice.
    pub id: String,
    /// The provider's name.
    pub title: String,
    /// The wire format.
    pub wire: WireFormat,
    /// Base address of the provider: `http://127.0.0.1:1234/v1/`.
    pub base_url: String,
    /// The environment variable that holds the provider's key; if not given, the key is read from the keychain.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Price of a million input tokens, in US dollars; none when not known.
    #[serde(default)]
    pub input_usd_per_mtok: Option<f64>,
    /// Price of a million output tokens, in US dollars; none when not known.
    #[serde(default)]
    pub output_usd_per_mtok: Option<f64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_earlier_versions_are_read_as_the_present_ones() {
        let value = json!({ "closed": ["/keys"], "memory_mib": 512 });
        for (earlier, present) in Settings::EARLIER_NAMES {
            let read = |name: &str| {
                serde_json::from_value::<Settings>(json!({ name: value.clone() })).unwrap()
            };
            assert_eq!(read(earlier), read(present), "{earlier}");
            assert_ne!(read(earlier), Settings::default(), "{earlier}");
            let written = serde_json::to_value(read(earlier)).unwrap();
            assert_eq!(written[present], value, "{earlier}");
        }
    }
}
