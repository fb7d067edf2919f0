//! Tools of MCP servers, by the names that each agent gives them.

use tools::sources::build_tool_id;

use crate::agent_calls::{AgentCall, ExternalAgent};

/// Returns our id of a server's tool; none where the name is not that of one, or does not tell for certain of which.
pub(super) fn find_server_tool(call: &AgentCall<'_>) -> Option<String> {
    let (server, tool) = match call.agent {
        ExternalAgent::ClaudeCode | ExternalAgent::Codex => {
            call.tool.strip_prefix("mcp__")?.split_once("__")?
        }
        ExternalAgent::GeminiCli => {
            split_by_servers(call.tool.strip_prefix("mcp_")?, call.servers)?
        }
        ExternalAgent::Opencode => split_by_servers(call.tool, call.servers)?,
        // It names the tool alone, as `MCP:tool`.
        ExternalAgent::Cursor => return None,
    };
    let is_named = !server.is_empty() && !tool.is_empty();
    is_named.then(|| build_tool_id(server, tool, &format!("{tool}\0{tool}")))
}

/// Splits `server_tool`, whose server is exactly one of these.
fn split_by_servers<'a>(name: &'a str, servers: &[String]) -> Option<(&'a str, &'a str)> {
    let mut splits = servers.iter().filter_map(|server| {
        let (start, tool) = name.split_at_checked(server.len())?;
        let is_this = to_name(start) == to_name(server);
        is_this.then_some((start, tool.strip_prefix('_')?))
    });
    let split = splits.next()?;
    splits.next().is_none().then_some(split)
}

/// Returns a server's name as agents write it within the names of its tools.
fn to_name(server: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    server.replace(|c| !is_kept(c), "_")
}
