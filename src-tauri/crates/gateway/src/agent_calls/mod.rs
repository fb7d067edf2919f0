//! Calls of other agents, translated into calls of our tools, so that one policy judges them all.
//!
//! **What is not in the tables is unknown**: a tool, or an argument of a known tool, that none of them names may do
//! anything, and whoever judges it asks. Nothing is read from disk: a call is translated from what the agent says of it.
//!
//! Start reading at [`translate_call`], then `tables/`.

mod agent;
mod argument_rule;
mod delegated;
mod places;
mod server_tools;
mod special_calls;
mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::{Map, Value};

pub use crate::agent_calls::agent::ExternalAgent;
pub use crate::agent_calls::delegated::to_delegated_calls;
pub(crate) use crate::agent_calls::server_tools::is_tool_of_server;

use crate::agent_calls::places::CallPlace;
use crate::agent_calls::tables::{Meaning, find_row};

/// A call as another agent makes it.
#[derive(Debug, Clone, Copy)]
pub struct AgentCall<'a> {
    /// Agent that makes the call.
    pub agent: ExternalAgent,
    /// The tool's name, as the agent says it.
    pub tool: &'a str,
    /// Arguments, as the agent says them.
    pub input: &'a Map<String, Value>,
    /// Folder that the agent works in at this moment, absolute.
    pub folder: &'a Path,
    /// Workspace in which the call is judged, absolute.
    pub workspace: &'a Path,
    /// Names of the agent's MCP servers, as far as they are known. Gemini CLI and opencode join the names of server and
    /// tool with `_`, which both may contain: without this list their servers' tools are unknown.
    pub servers: &'a [String],
}

/// What a call of another agent means here.
#[derive(Debug, Clone, PartialEq)]
pub enum TranslatedCall {
    /// Calls of our tools that together do what the call does, in this order. There is at least one; the call may pass
    /// where all of them may.
    Tools(Vec<OwnCall>),
    /// A call of a tool of an MCP server.
    Server(OwnCall),
    /// The call is about the agent's own state alone: it reaches no file, no host, and no process but its own.
    Internal,
    /// The call may do anything.
    Unknown {
        /// Why it is unknown, as a sentence for a person.
        reason: String,
    },
}

/// A call by the names that it has here.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct OwnCall {
    /// Id of the tool.
    pub tool: String,
    /// Arguments, by our names.
    pub arguments: Map<String, Value>,
}

/// Translates a call of another agent.
pub fn translate_call(call: &AgentCall<'_>) -> TranslatedCall {
    let Some(meaning) = find_row(call.agent, call.tool) else {
        return match server_tools::find_server_tool(call) {
            Some(tool) => TranslatedCall::Server(OwnCall {
                tool,
                arguments: call.input.clone(),
            }),
            None => TranslatedCall::Unknown {
                reason: format!(
                    "`{}` is not a tool of {} that is known.",
                    call.tool,
                    call.agent.name()
                ),
            },
        };
    };
    let translated = match meaning {
        Meaning::Tool(ours, rules) => translate_by_rules(call, ours, rules),
        Meaning::Special(translate) => translate(call),
        Meaning::Internal => return TranslatedCall::Internal,
    };
    match translated {
        Ok(calls) => TranslatedCall::Tools(calls),
        Err(reason) => TranslatedCall::Unknown { reason },
    }
}

/// Translates a call whose arguments have only other names.
fn translate_by_rules(
    call: &AgentCall<'_>,
    ours: &str,
    rules: &[argument_rule::ArgumentRule],
) -> Result<Vec<OwnCall>, String> {
    let place = CallPlace::of_call(call, rules)?;
    let arguments = argument_rule::translate_arguments(call.input, rules, &place)?;
    Ok(vec![OwnCall {
        tool: ours.to_owned(),
        arguments,
    }])
}
