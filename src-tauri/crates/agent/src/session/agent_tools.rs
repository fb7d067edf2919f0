//! Tools of the agent that makes a session's calls itself: they join the session's tools when the agent first uses them.

use std::sync::Arc;

use parking_lot::Mutex;
use tools::{Registry, Tool};

/// Tools of an agent, and the session's tools together with them.
#[derive(Default)]
pub(crate) struct AgentTools(Mutex<AgentToolList>);

#[derive(Default)]
struct AgentToolList {
    tools: Vec<Arc<dyn Tool>>,
    /// The registry that the tools were last joined to, and the result.
    joined: Option<[Arc<Registry>; 2]>,
}

impl AgentTools {
    /// Adds a tool.
    pub fn add(&self, tool: Arc<dyn Tool>) {
        let mut list = self.0.lock();
        list.tools.push(tool);
        list.joined = None;
    }

    /// Returns a registry together with these tools. A tool that cannot join is not found when it is called.
    pub fn join(&self, registry: Arc<Registry>) -> Arc<Registry> {
        let mut list = self.0.lock();
        if list.tools.is_empty() {
            return registry;
        }
        if let Some([base, joined]) = &list.joined
            && Arc::ptr_eq(base, &registry)
        {
            return joined.clone();
        }
        let (joined, faults) = registry.with_tools(list.tools.clone());
        for fault in faults {
            tracing::warn!(%fault, "a tool of an agent cannot join");
        }
        let joined = Arc::new(joined);
        list.joined = Some([registry, joined.clone()]);
        joined
    }
}
