//! The plugin that stands in an agent's folder of plugins, where hooks are no programs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agents::ConnectableAgent;

const PLUGIN: &str = include_str!("opencode_plugin.js");
/// The line of the plugin that names the program, around its path as JSON.
const PROGRAM_LINE: &str = "const PROGRAM = ";

/// Returns the plugin that calls a program; `None` if the program's path is no text.
pub(super) fn format_plugin(program: &Path, agent: &ConnectableAgent) -> Option<String> {
    fill_plugin(&[program.to_str()?, "hook", &agent.id], agent)
}

/// Returns the plugin that calls its hook with these words; `None` if there are none.
pub(super) fn fill_plugin(hook: &[&str], agent: &ConnectableAgent) -> Option<String> {
    let (program, arguments) = hook.split_first()?;
    let plugin = PLUGIN.replace("AGENT", &agent.id);
    let plugin = plugin.replace("\"HOOK_PROGRAM\"", &Value::from(*program).to_string());
    Some(plugin.replace("\"HOOK_ARGUMENTS\"", &Value::from(arguments).to_string()))
}

/// Returns the program that a plugin of ours calls; `None` for somebody else's.
pub(super) fn parse_program(text: &str) -> Option<PathBuf> {
    let (first, _) = PLUGIN.split_once(" connect ")?;
    let rest = text.strip_prefix(first)?;
    let line = rest
        .lines()
        .find_map(|line| line.strip_prefix(PROGRAM_LINE))?;
    serde_json::from_str(line).ok()
}
