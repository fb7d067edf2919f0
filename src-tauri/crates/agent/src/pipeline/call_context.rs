//! One call on its way through the pipeline.

use std::sync::Arc;

use protocol::ToolCall;
use serde_json::{Map, Value};

use crate::pipeline::hooks::HookContext;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

/// One call with its session, its tool and its arguments: what every step is given.
pub(crate) struct CallContext<'a> {
    pub session: &'a Arc<Session>,
    /// The call as the model made it.
    pub call: &'a ToolCall,
    pub tool: ResolvedTool<'a>,
    /// The arguments that the call would run with: validated, and with what tool and host put in.
    pub arguments: Map<String, Value>,
    /// The arguments that the person wrote in place of the agent's; none if the agent's stand.
    pub edited: Option<Map<String, Value>>,
    /// What the hooks were told of the call, for those that are told of its updates and its end.
    pub hooked: &'a mut HookContext,
}

impl CallContext<'_> {
    /// The arguments as they were written, by the person or else by the agent.
    pub fn given_arguments(&self) -> &Map<String, Value> {
        self.edited.as_ref().unwrap_or(&self.call.arguments)
    }
}
