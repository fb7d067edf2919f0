//! The plugin that stands in an agent's folder of plugins, where hooks are no programs.

use serde_json::Value;

use super::agents::ConnectableAgent;
use super::hook_command::HookTarget;

const PLUGIN: &str = include_str!("opencode_plugin.js");
/// The line of the plugin that names the program, around its path as JSON.
const PROGRAM_LINE: &str = "const PROGRAM = ";
/// The line of the plugin with the words that follow the program.
const ARGUMENTS_LINE: &str = "const ARGUMENTS = ";

/// Returns the plugin that calls a program; `None` if the program's path is no text.
pub(super) fn format_plugin(target: &HookTarget, agent: &ConnectableAgent) -> Option<String> {
    fill_plugin(&target.words(&agent.id)?, agent)
}

/// Returns the plugin that calls its hook with these words; `None` if there are none.
pub(super) fn fill_plugin(hook: &[&str], agent: &ConnectableAgent) -> Option<String> {
    let (program, arguments) = hook.split_first()?;
    let plugin = PLUGIN.replace("AGENT", &agent.id);
    let plugin = plugin.replace("\"HOOK_PROGRAM\"", &Value::from(*program).to_string());
    Some(plugin.replace("\"HOOK_ARGUMENTS\"", &Value::from(arguments).to_string()))
}

/// Returns what a plugin of ours calls; `None` for somebody else's.
pub(super) fn parse_target(text: &str, agent: &ConnectableAgent) -> Option<HookTarget> {
    let (first, _) = PLUGIN.split_once(" connect ")?;
    let rest = text.strip_prefix(first)?;
    let value = |name: &str| {
        let value = rest.lines().find_map(|line| line.strip_prefix(name))?;
        serde_json::from_str::<Value>(value).ok()
    };
    let program = value(PROGRAM_LINE)?.as_str()?.to_owned();
    let arguments: Vec<String> = serde_json::from_value(value(ARGUMENTS_LINE)?).ok()?;
    let words: Vec<String> = std::iter::once(program).chain(arguments).collect();
    HookTarget::from_words(&words, &agent.id)
}
