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

/// Whether a tool, as an agent names it, is one of the server that it knows by this name.
pub(crate) fn is_tool_of_server(agent: ExternalAgent, tool: &str, server: &str) -> bool {
    let server = to_name(server);
    let start = match agent {
        ExternalAgent::ClaudeCode | ExternalAgent::Codex => format!("mcp__{server}__"),
        ExternalAgent::GeminiCli => format!("mcp_{server}_"),
        ExternalAgent::Opencode => format!("{server}_"),
        // It names the tool alone.
        ExternalAgent::Cursor => return false,
    };
    let name = tool.strip_prefix(&start);
    // Some agents put other words into the place of a tool's name.
    name.is_some_and(|name| !name.is_empty() && to_name(name) == name)
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
