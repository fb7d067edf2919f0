//! The person's settings, as `settings.toml` holds them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::server::language_servers::LanguageServer;
use crate::server::server_tools::ServerToolsSettings;
use crate::{ModelChoice, RunLimits, ToolMode};

pub use programs::{HookPoint, HookSettings, WatchdogSettings};
pub use sandbox::{DeniedPath, SandboxSettings};

pub mod limit;
mod programs;
mod sandbox;

/// Everything a person can set. A file that cannot be read gives the strict settings ([`Settings::strict`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Drop the mode defaults: every call asks (M02).
    pub ask_for_everything: bool,
    /// Light, dark, or as the system has it.
    pub theme: Theme,
    /// How a difference is laid out.
    pub diff: DiffLayout,
    /// Tell the person when a card lands while the window has no focus.
    pub notify: bool,
    /// After how many minutes a waiting call or question expires; 0: never.
    pub expire_after_min: u32,
    /// For how many days copies for undo are kept.
    pub undo_keep_days: u32,
    /// How many bytes copies for undo may take together.
    pub undo_bytes_max: u64,
    /// For how many days the whole text of long outputs is kept; their beginning stays on record.
    pub outputs_keep_days: u32,
    /// How many bytes long outputs may take together, packed as they are when they are a day old.
    pub outputs_bytes_max: u64,
    /// The model that a new session starts with.
    pub model: Option<ModelChoice>,
    /// How the calls of one model turn are run; holds for sessions that are opened from now on (`S001-27`).
    pub strategy: Strategy,
    /// How much one run may use before it stops.
    pub limits: RunLimits,
    /// Whether a command runs in a sealed copy before anybody is asked about it (M22).
    pub dry_run: DryRunMode,
    /// What holds for what a command did there.
    pub effects: EffectsSettings,
    /// Which variables of the app's own environment commands and programs get.
    pub variables: VariablesSettings,
    /// What holds in the sealed rooms that commands run in.
    #[serde(skip_serializing_if = "SandboxSettings::is_default")]
    #[ts(optional, as = "Option<SandboxSettings>")]
    pub rooms: SandboxSettings,
    /// Where skills are found beside those of the project and of the person's home.
    pub skills: SkillsSettings,
    /// Who searches the web for agents, and how often.
    pub web_search: WebSearchSettings,
    /// Programs that know languages, each off until the person switches it on.
    pub language_servers: Vec<LanguageServer>,
    /// Programs that are asked before every call, beside the built-in checks.
    pub watchdogs: Vec<WatchdogSettings>,
    /// Programs that hear of every call around its run, and may keep it from running.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<HookSettings>>")]
    pub hooks: Vec<HookSettings>,
    /// Providers beyond the built-in ones.
    pub providers: Vec<ProviderSettings>,
    /// What holds for single tools, by their ids.
    pub tools: BTreeMap<String, ToolSettings>,
    /// What holds for tools of servers that run as the person.
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
            dry_run: DryRunMode::default(),
            effects: EffectsSettings::default(),
            variables: VariablesSettings::default(),
            rooms: SandboxSettings::default(),
            skills: SkillsSettings::default(),
            web_search: WebSearchSettings::default(),
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
    /// What holds when the file cannot be read: defaults, but every call asks.
    pub fn strict() -> Self {
        Self {
            ask_for_everything: true,
            ..Self::default()
        }
    }
}

/// How the calls of one model turn are run (`S001-28` to `S001-34`). Whatever it is, a call that is not proven safe
/// beside others runs alone, and results reach the model in call order (M08).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Together what is safe together.
    #[default]
    Parallel,
    /// One after the other.
    Sequential,
    /// So many at a time.
    Batched {
        /// How many, at least one.
        #[ts(type = "number")]
        size: NonZeroU32,
    },
}

/// When a command runs in a sealed copy, where nothing real changes. A call that is denied never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DryRunMode {
    /// When the person says so on its card.
    #[default]
    Ask,
    /// Before the person is asked, so that the card shows what it did.
    Auto,
}

/// What holds for what a command did in a sealed copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct EffectsSettings {
    /// What becomes of a command that changed nothing and was refused nothing.
    pub none: NoEffectsPolicy,
}

/// What becomes of a command that changed nothing and was refused nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoEffectsPolicy {
    /// It asks like any other.
    #[default]
    Ask,
    /// It needs no question.
    Allow,
}

/// Which variables of the app's own environment programs get, beside those that are known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct VariablesSettings {
    /// They never get these, in capitals or not.
    pub withheld: Vec<VariableName>,
    /// They get these, whatever they are called; unless withheld.
    pub passed: Vec<VariableName>,
}

/// Where skills are found beside those of the project and of the home folder. Holds for sessions opened from now on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsSettings {
    /// Folders that hold a folder for each skill, absolute.
    pub folders: Vec<String>,
}

/// Who searches the web for agents, and how often (`S002-43` to `S002-46`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct WebSearchSettings {
    /// How often one session may search.
    pub calls_max: u32,
    /// How long one search may take, in milliseconds.
    pub timeout_ms: u32,
    /// Who is asked; a session asks one of them, always the same.
    pub providers: Vec<SearchProviderSettings>,
    /// Operations of services that are asked as well, each like a provider.
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

/// An operation of a service (by its OpenAPI document) that searches. What is left out is found by itself where it goes by a
/// name that is usual.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SearchOperation {
    /// Which, as it is listed among the tools: `service__operation`.
    pub operation: String,
    /// The argument that takes the query, or its place in the arguments as a JSON pointer: `q`, `/body/query`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub query: Option<String>,
    /// JSON pointer to the list of results in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub results: Option<String>,
    /// JSON pointer to the title in one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// JSON pointer to the address in one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// JSON pointer to a few words in one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub snippet: Option<String>,
    /// What it gets beside the query.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(optional, type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
}

/// Somebody who searches the web. Its key stands in the keychain as `web_search/` and its id, unless a variable holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SearchProviderSettings {
    /// A short id of the person's choice.
    pub id: String,
    /// What it speaks.
    pub wire: SearchApi,
    /// Where it is reached, if not where its maker says; a SearXNG instance has no other place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds its key; else the keychain is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
}

impl SearchProviderSettings {
    /// The name under which the keychain has its key.
    pub fn keychain_name(&self) -> String {
        format!("web_search/{}", self.id)
    }
}

/// What somebody who searches the web speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SearchApi {
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// Exa.
    Exa,
    /// An instance of SearXNG that gives JSON.
    Searxng,
}

/// The name of a variable of an environment: neither empty nor with a `=`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct VariableName(String);

impl VariableName {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<VariableName> for String {
    fn from(name: VariableName) -> Self {
        name.0
    }
}

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let is_name = !name.is_empty()
            && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control());
        match is_name {
            true => Ok(Self(name)),
            false => Err(format!(
                "`{}` is no name of a variable",
                name.escape_debug()
            )),
        }
    }
}

/// What a person set for one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Whether it can be used; one that is off is neither listed to a model nor callable (`S003-18`).
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

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// How a difference is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLayout {
    /// One column.
    #[default]
    Unified,
    /// Before and after side by side.
    Split,
}

/// Which wire format a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WireFormat {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions and everything compatible.
    Openai,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

/// A provider that the person added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    /// A short id of the person's choice.
    pub id: String,
    /// Its name.
    pub title: String,
    /// The wire format.
    pub wire: WireFormat,
    /// Where it is reached: `http://127.0.0.1:1234/v1/`.
    pub base_url: String,
    /// The environment variable that holds its key; else the keychain is asked.
    #[serde(default)]
    pub key_env: Option<String>,
    /// US dollars for a million tokens read; none when not known.
    #[serde(default)]
    pub input_usd_per_mtok: Option<f64>,
    /// US dollars for a million tokens written; none when not known.
    #[serde(default)]
    pub output_usd_per_mtok: Option<f64>,
}
