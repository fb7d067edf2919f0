//! How an agent is started: by its id, as `agents.toml` has it, or by a command line.

use std::collections::BTreeMap;
use std::path::Path;

use protocol::UserError;
use protocol::text::display_text::to_single_line;
use runtime::{CompanionCommand, InheritedEnv};

use crate::agent_calls::ExternalAgent;
use crate::connections::agents::{AcpStart, AgentState, ConnectableAgent, list_agents};

/// Programs that carry the streams of a command to another machine or into a container: paths and programs there are not
/// those of here.
const CARRIERS: [&str; 10] = [
    "ssh",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "lxc",
    "incus",
    "devcontainer",
    "wsl",
];
/// Longest command line that names where an agent works, in characters.
const ELSEWHERE_CHARS_MAX: usize = 200;

/// An agent, and how it is started.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentCommand {
    /// Name for people.
    pub title: String,
    /// Name under which tools of its own are on record.
    pub namespace: String,
    /// The agent, if its tools are known.
    pub agent: Option<ExternalAgent>,
    /// Mode of the agent in which it asks; none if it has always asked so far.
    pub asking_mode: Option<String>,
    /// Command line that leads to where the agent works; none if it works on this machine.
    pub elsewhere: Option<String>,
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    passed: Vec<String>,
    /// Hosts of its model's service.
    pub hosts: Vec<String>,
    /// Where it keeps its login and its sessions.
    pub state: AgentState,
}

impl AgentCommand {
    /// Resolves an agent: an id, or a command line as a shell reads it, without any expansion. `commands` has command
    /// lines for agents that are not started by their own program.
    ///
    /// # Errors
    /// The agent speaks no ACP, its program is not on this machine, or the command line cannot be read.
    pub fn resolve(agent: &str, commands: &BTreeMap<String, String>) -> Result<Self, UserError> {
        if let Some(known) = find_known(agent) {
            let Some(start) = &known.acp else {
                return Err(UserError::new(
                    format!("{} does not speak the Agent Client Protocol.", known.title),
                    format!("Use its hooks: `countersign connect {agent}`."),
                ));
            };
            let (program, args) = match commands.get(&known.id) {
                Some(command) => split_command(command)?,
                None => (find_program(&known.title, start)?, start.args.clone()),
            };
            let elsewhere = find_carrier(&program, &args);
            return Ok(Self {
                title: known.title.clone(),
                namespace: known.id.clone(),
                agent: ExternalAgent::from_id(&known.id).filter(|_| elsewhere.is_none()),
                asking_mode: start.mode.clone(),
                elsewhere,
                program,
                args,
                env: start.env.clone().into_iter().collect(),
                passed: start.passed.clone(),
                hosts: start.hosts.clone(),
                state: start.state.clone(),
            });
        }
        let (program, args) = split_command(agent)?;
        if runtime::find_program(&program).is_none() {
            return Err(UserError::new(
                format!("There is no agent and no program `{program}`."),
                format!(
                    "Name one of these agents, or a program that is on PATH: {}.",
                    agent_ids()
                ),
            ));
        }
        let name = Path::new(&program).file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(Self {
            title: name.clone(),
            namespace: name,
            agent: None,
            asking_mode: None,
            elsewhere: find_carrier(&program, &args),
            program,
            args,
            env: Vec::new(),
            passed: Vec::new(),
            hosts: Vec::new(),
            state: usual_state(),
        })
    }

    /// Returns the agent's part of `agents.toml`, if it has one.
    pub fn known(&self) -> Option<&'static ConnectableAgent> {
        self.agent.and_then(|agent| find_known(agent.id()))
    }

    /// Whether the agent is offered our files and terminals. Agents whose tools are known use their own: what they ask about
    /// is judged by its arguments, and asking again about the file would be asking twice. **One that works elsewhere gets
    /// nothing of this machine**: it may be somebody else's by now.
    pub fn uses_our_tools(&self) -> bool {
        self.agent.is_none() && self.elsewhere.is_none()
    }

    /// Returns the program to start in a folder. It gets the variables that commands get, and those that this agent needs
    /// to reach its model; and `env`.
    pub fn to_companion(
        &self,
        folder: &Path,
        passed: &[String],
        env: Vec<(String, String)>,
    ) -> CompanionCommand {
        let inherited = InheritedEnv::default();
        let passed = passed.iter().chain(&self.passed).map(String::as_str);
        inherited.set_choice([], passed);
        CompanionCommand {
            program: self.program.clone(),
            args: self.args.clone(),
            folder: folder.to_owned(),
            inherited,
            env: self.env.iter().cloned().chain(env).collect(),
        }
    }
}

/// Returns the agent with this id, or whose own program has this name.
fn find_known(agent: &str) -> Option<&'static ConnectableAgent> {
    let mut agents = list_agents().iter();
    agents.find(|known| known.id == agent || known.programs.iter().any(|name| name == agent))
}

/// Returns where programs keep their state by the XDG Base Directory Specification, for an agent of which nothing is known.
fn usual_state() -> AgentState {
    let usual = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
    ];
    AgentState {
        folders: usual.iter().map(|(_, folder)| folder.into()).collect(),
        moved_by: usual
            .iter()
            .map(|(variable, folder)| ((*variable).to_owned(), folder.into()))
            .collect(),
    }
}

/// Returns the ids of the agents that speak ACP.
fn agent_ids() -> String {
    let agents = list_agents().iter().filter(|agent| agent.acp.is_some());
    let ids: Vec<&str> = agents.map(|agent| agent.id.as_str()).collect();
    ids.join(", ")
}

/// Returns the command line in one line, if it leads to another machine or into a container.
fn find_carrier(program: &str, args: &[String]) -> Option<String> {
    let name = Path::new(program).file_stem()?.to_str()?;
    CARRIERS.contains(&name).then(|| {
        let words = std::iter::once(name).chain(args.iter().map(String::as_str));
        to_single_line(&words.collect::<Vec<_>>().join(" "), ELSEWHERE_CHARS_MAX)
    })
}

/// Returns program and arguments of a command line.
fn split_command(command: &str) -> Result<(String, Vec<String>), UserError> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let mut words = words.ok_or_else(|| unreadable_command(command))?;
    let program = words.remove(0);
    Ok((program, words))
}

/// Returns the file of an agent's program.
fn find_program(title: &str, start: &AcpStart) -> Result<String, UserError> {
    let program = start.find_program();
    let program = program.ok_or_else(|| missing_program(title, start))?;
    Ok(program.to_string_lossy().into_owned())
}

fn missing_program(title: &str, start: &AcpStart) -> UserError {
    UserError::new(
        format!(
            "{title} cannot be started: there is no program `{}`.",
            start.programs.join("` or `")
        ),
        format!("Install it: `{}`.", start.install),
    )
}

fn unreadable_command(agent: &str) -> UserError {
    UserError::new(
        format!("`{agent}` is no command line: a quote is open, or it is empty."),
        format!(
            "Name one of these agents, or a program with its arguments: {}.",
            agent_ids()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window leaves out what an agent elsewhere is not offered, by the same list.
    #[test]
    fn the_window_knows_the_programs_that_lead_elsewhere() {
        let shared = include_str!("../../../../../tests/golden/elsewhere.json");
        let shared: serde_json::Value = serde_json::from_str(shared).unwrap();
        assert_eq!(shared["carriers"], serde_json::json!(CARRIERS));
    }
}
