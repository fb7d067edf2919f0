//! The agents that can be connected, as `agents.toml` lists them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use protocol::UserError;
use protocol::connection::{AgentGap, AgentInterface};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::servers::ServerDialect;

/// An agent that can be connected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectableAgent {
    /// Name on the command line.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// What can be put in front of its calls.
    pub interfaces: Vec<AgentInterface>,
    /// What it can still do without being judged.
    #[serde(default)]
    pub gaps: Vec<AgentGap>,
    /// The version that its connection was tried with; `None` if it was tried with none.
    pub checked_with: Option<String>,
    /// Names of its own program on PATH.
    pub programs: Vec<String>,
    #[serde(default)]
    program_files: Vec<String>,
    config: String,
    #[serde(default)]
    variables: Vec<ConfigVariable>,
    pub(super) format: ConfigFormat,
    #[serde(default)]
    pub(super) start: Map<String, Value>,
    #[serde(default)]
    pub(super) hooks: Map<String, Value>,
    #[serde(default)]
    pub(super) switches: Vec<HookSwitch>,
    pub(super) check: HookCheck,
    /// How it is started to speak the Agent Client Protocol; `None` if it cannot.
    pub acp: Option<AcpStart>,
    /// Where it keeps its servers of tools; `None` if that is not known.
    pub(super) servers: Option<AgentServers>,
}

/// Where an agent keeps its servers of tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentServers {
    /// Files below the home folder; the first one that is there counts.
    config: Vec<String>,
    #[serde(default)]
    variables: Vec<ConfigVariable>,
    /// Paths of the objects whose members are servers. A step `*` stands for every member.
    pub(super) sections: Vec<Vec<String>>,
    pub(super) dialect: ServerDialect,
}

impl AgentServers {
    /// Returns the files, with these variables of the environment.
    pub(super) fn config_files(
        &self,
        home: &Path,
        variables: &BTreeMap<String, PathBuf>,
    ) -> Vec<PathBuf> {
        let moved: Vec<PathBuf> = moved_files(&self.variables, variables).collect();
        match moved.is_empty() {
            true => self.config.iter().map(|file| home.join(file)).collect(),
            false => moved,
        }
    }
}

/// Returns the files whose folders these variables of the environment name.
fn moved_files<'a>(
    moves: &'a [ConfigVariable],
    variables: &'a BTreeMap<String, PathBuf>,
) -> impl Iterator<Item = PathBuf> + 'a {
    moves.iter().filter_map(|moves| {
        let folder = variables.get(&moves.name)?;
        folder.is_absolute().then(|| folder.join(&moves.file))
    })
}

/// How an agent is started to speak the Agent Client Protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcpStart {
    /// Names of its program on PATH.
    pub programs: Vec<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that it is started with.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Names of variables that it inherits beside those of every command: where its model is, and the key for it.
    #[serde(default)]
    pub passed: Vec<String>,
    /// Its mode in which it asks before it changes anything.
    pub mode: Option<String>,
    /// Command that installs the program.
    pub install: String,
    /// How it takes hooks for one session; `None` if it cannot.
    pub hooks: Option<SessionHooks>,
    /// Hosts of its model's service.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Where it keeps its login and its sessions.
    pub state: AgentState,
}

/// Folders in which an agent keeps what it must find again: its login, its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentState {
    /// The folders, below the home folder.
    pub folders: Vec<PathBuf>,
    /// Variables that move them, each with the part of the home folder that it stands for.
    #[serde(default)]
    pub moved_by: BTreeMap<String, PathBuf>,
}

impl AgentState {
    /// Returns the folders, in this home or where variables say instead, whose values `value` returns.
    pub fn find_folders(
        &self,
        home: &Path,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let place = |folder: &PathBuf| {
            let mut moved = self.moved_by.iter().filter_map(|(variable, part)| {
                let moved = PathBuf::from(value(variable)?);
                let below = folder.strip_prefix(part).ok()?;
                moved.is_absolute().then(|| moved.join(below))
            });
            moved.next().unwrap_or_else(|| home.join(folder))
        };
        self.folders.iter().map(place).collect()
    }

    /// Returns the variables that stand for exactly one of the folders. An agent that is given them keeps nothing beside it.
    pub fn folder_variables<'a>(
        &'a self,
        found: &'a [PathBuf],
    ) -> impl Iterator<Item = (String, String)> + 'a {
        self.moved_by.iter().filter_map(|(variable, part)| {
            let at = self.folders.iter().position(|folder| folder == part)?;
            let folder = found.get(at)?.to_str()?;
            Some((variable.clone(), folder.to_owned()))
        })
    }
}

/// How an agent takes hooks for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionHooks {
    /// Claude Code: in settings that come with the session.
    ClaudeSettings,
    /// opencode: by a plugin that a variable names.
    OpencodePlugin,
}

impl AcpStart {
    /// Returns the file of the program, if it is on this machine.
    pub fn find_program(&self) -> Option<PathBuf> {
        let mut names = self.programs.iter();
        names.find_map(|name| runtime::find_program(name))
    }
}

/// Format of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConfigFormat {
    /// JSON with comments.
    Json,
    /// TOML.
    Toml,
    /// A file of our own in a folder of plugins.
    Plugin,
}

/// A place that switches hooks off if it has this value, or a list with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookSwitch {
    pub(super) place: String,
    pub(super) value: Value,
}

/// A made-up event, and how the answer to it is understood.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookCheck {
    pub(super) event: Map<String, Value>,
    pub(super) decision: String,
    pub(super) decisions: Vec<String>,
    #[serde(default)]
    pub(super) may_be_empty: bool,
}

impl HookCheck {
    /// Returns the name of the event.
    pub(super) fn event_name(&self) -> &str {
        let name = self.event.get("hook_event_name").and_then(Value::as_str);
        name.unwrap_or_default()
    }
}

/// A variable that names the folder of a configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigVariable {
    name: String,
    file: String,
}

/// The format of `agents.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    agent: Vec<ConnectableAgent>,
}

/// Returns every agent that can be connected; none at all if `agents.toml` cannot be read.
pub fn list_agents() -> &'static [ConnectableAgent] {
    static LOADED: OnceLock<Vec<ConnectableAgent>> = OnceLock::new();
    LOADED.get_or_init(|| {
        let table: Result<AgentTable, _> = toml_edit::de::from_str(include_str!("agents.toml"));
        table.map(|table| table.agent).unwrap_or_default()
    })
}

/// Returns the agent with this name.
///
/// # Errors
/// There is none.
pub fn find_agent(id: &str) -> Result<&'static ConnectableAgent, UserError> {
    let found = list_agents().iter().find(|agent| agent.id == id);
    found.ok_or_else(|| {
        let known: Vec<&str> = list_agents()
            .iter()
            .map(|agent| agent.id.as_str())
            .collect();
        UserError::new(
            format!("`{id}` is no agent that can be connected."),
            format!("Name one of these: {}.", known.join(", ")),
        )
    })
}

impl ConnectableAgent {
    /// Returns the file of its program, if it is on this machine.
    pub(super) fn find_program(&self, home: &Path) -> Option<PathBuf> {
        let files = self.program_files.iter().map(|file| home.join(file));
        let files = files.filter_map(|file| file.to_str().map(str::to_owned));
        let mut names = self.programs.iter().cloned().chain(files);
        names.find_map(|name| runtime::find_program(&name))
    }

    /// Returns the file that its hooks are written into, with these variables of the environment.
    pub(super) fn config_file(
        &self,
        home: &Path,
        variables: &BTreeMap<String, PathBuf>,
    ) -> PathBuf {
        let mut moved = moved_files(&self.variables, variables);
        moved.next().unwrap_or_else(|| home.join(&self.config))
    }
}
