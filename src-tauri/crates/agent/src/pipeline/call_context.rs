//! One call on its way through the pipeline.

use std::sync::Arc;

use protocol::ToolCall;
use serde_json::{Map, Value};

use crate::pipeline::hooks::HookContext;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;
use crate::session::delegates::Delegate;

/// One call with its session, tool and arguments: the context of every step.
pub(crate) struct CallContext<'a> {
    pub session: &'a Arc<Session>,
    /// The call as the model made it.
    pub call: &'a ToolCall,
    pub tool: ResolvedTool<'a>,
    /// Validated arguments that the call would run with, including those that the tool and the host supply.
    pub arguments: Map<String, Value>,
    /// Arguments that the person wrote in place of the agent's; none if the agent's are used.
    pub edited: Option<Map<String, Value>>,
    /// Description of the call that the hooks received, for the hooks of its updates and its end.
    pub hooked: &'a mut HookContext,
}

impl CallContext<'_> {
    /// Returns the side of the program that runs the call itself, if the call is delegated.
    pub fn delegate(&self) -> Option<Arc<Delegate>> {
        self.session.delegates.get(&self.call.id)
    }

    /// Whether what runs is what was approved, to the byte. A command that its program runs itself may do something else
    /// than it did in its dry run.
    pub fn is_held(&self) -> bool {
        let runs_elsewhere = self.delegate().is_some_and(|delegate| !delegate.can_fetch);
        !runs_elsewhere || self.edited.is_some()
    }

    /// Returns the arguments as written by the person, or else by the agent.
    pub fn given_arguments(&self) -> &Map<String, Value> {
        self.edited.as_ref().unwrap_or(&self.call.arguments)
    }
}
