//! Hooks for a session of ours alone: nothing is written into the agent's own configuration.

use std::path::Path;

use protocol::UserError;
use serde_json::{Map, Value, json};

use super::agents::{ConnectableAgent, SessionHooks};
use super::hook_entries::session_entries;
use super::plugin::fill_plugin;
use crate::limits::SESSION_HOOK_WAIT;

/// Name of the file with opencode's plugin.
const PLUGIN_FILE: &str = "opencode-session.js";

/// What an agent is given when it starts, so that it calls our hooks in this session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HookSetup {
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// Members of `_meta` in the request that opens its session.
    pub meta: Map<String, Value>,
}

/// Returns what an agent is given so that it calls this program's hooks, `program` being the words before the subcommand;
/// `None` if it takes no hooks for one session. Files for it are written into `folder`.
///
/// # Errors
/// A file cannot be written, or the program's path cannot stand in a command.
pub(crate) fn set_up_session_hooks(
    agent: &ConnectableAgent,
    program: &[String],
    folder: &Path,
) -> Result<Option<HookSetup>, UserError> {
    let Some(form) = agent.acp.as_ref().and_then(|start| start.hooks) else {
        return Ok(None);
    };
    let wait = SESSION_HOOK_WAIT.as_secs();
    let seconds = wait.to_string();
    let words = program.iter().map(String::as_str);
    let hook: Vec<&str> = words
        .chain(["hook", &agent.id, "--wait", &seconds])
        .collect();
    let setup = match form {
        SessionHooks::ClaudeSettings => session_entries(agent, &hook, wait).map(|hooks| {
            // Each event has a list of entries.
            let hooks: Map<String, Value> = hooks
                .into_iter()
                .map(|(event, entry)| (event, json!([entry])))
                .collect();
            let options = json!({ "options": { "settings": { "hooks": hooks } } });
            HookSetup {
                env: Vec::new(),
                meta: Map::from_iter([("claudeCode".to_owned(), options)]),
            }
        }),
        SessionHooks::OpencodePlugin => match fill_plugin(&hook, agent) {
            Some(plugin) => {
                let file = folder.join(PLUGIN_FILE);
                runtime::write_atomic(&file, plugin.as_bytes(), 0o600).map_err(|error| {
                    UserError::new(
                        "The plugin for this session cannot be written.",
                        "Look whether the data folder can be written.",
                    )
                    .with_source(&error)
                })?;
                let config = json!({ "plugin": [format!("file://{}", file.display())] });
                Some(HookSetup {
                    env: vec![("OPENCODE_CONFIG_CONTENT".to_owned(), config.to_string())],
                    meta: Map::new(),
                })
            }
            None => None,
        },
    };
    setup.map(Some).ok_or_else(|| {
        UserError::new(
            "The path of Countersign's own program cannot stand in a command.",
            "Move the program to another folder.",
        )
    })
}
