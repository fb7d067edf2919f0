//! Calls of another agent as they are judged here: as calls of our tools, or of a tool of its own that nobody vouches for.

use agent::{AgentToolReach, DelegatedCall, DelegatedTool};

use crate::agent_calls::{AgentCall, OwnCall, TranslatedCall, translate_call};

/// Returns the calls that a call of an agent is judged as; at least one. `can_fetch` says whether the agent can be told
/// to fetch what a command printed, in place of running it.
pub fn to_delegated_calls(call: &AgentCall<'_>, can_fetch: bool) -> Vec<DelegatedCall> {
    let own_tool = |reach| DelegatedCall {
        tool: DelegatedTool::Foreign {
            namespace: call.agent.id().to_owned(),
            name: call.tool.to_owned(),
            reach,
        },
        arguments: call.input.clone(),
        can_fetch,
    };
    match translate_call(call) {
        TranslatedCall::Tools(calls) if calls.iter().any(is_agents_own_matter) => {
            vec![own_tool(AgentToolReach::Agent)]
        }
        TranslatedCall::Tools(calls) => {
            let calls = calls.into_iter();
            calls.map(|call| judged_as_own(call, can_fetch)).collect()
        }
        TranslatedCall::Server(call) => vec![judged_as_server_tool(call, can_fetch)],
        TranslatedCall::Internal => vec![own_tool(AgentToolReach::Agent)],
        TranslatedCall::Unknown { .. } => vec![own_tool(AgentToolReach::Unknown)],
    }
}

/// Whether a call is between the agent, its person and its sub-agents, whose own calls are asked about one by one.
fn is_agents_own_matter(call: &OwnCall) -> bool {
    ["task", "question", "todo", "skill", "tool_search"].contains(&call.tool.as_str())
}

fn judged_as_own(call: OwnCall, can_fetch: bool) -> DelegatedCall {
    DelegatedCall {
        tool: DelegatedTool::Own(call.tool),
        arguments: call.arguments,
        can_fetch,
    }
}

/// Returns a call of a server's tool, whose id is `server__tool`.
fn judged_as_server_tool(call: OwnCall, can_fetch: bool) -> DelegatedCall {
    let (server, tool) = call.tool.split_once("__").unwrap_or(("mcp", &call.tool));
    DelegatedCall {
        tool: DelegatedTool::Foreign {
            namespace: server.to_owned(),
            name: tool.to_owned(),
            reach: AgentToolReach::Unknown,
        },
        arguments: call.arguments,
        can_fetch,
    }
}
