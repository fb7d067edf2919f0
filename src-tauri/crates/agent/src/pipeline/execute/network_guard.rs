//! Which hosts a tool reaches while it runs: those that its call was judged on. Where it is redirected to another one, that
//! is judged like a call of its own.

use std::net::IpAddr;
use std::sync::Arc;

use policy::CallFacts;
use policy::patterns::host;
use protocol::view::display_text::to_single_line;
use protocol::{CallId, Capability, ResolvedAccess, ToolCall, Verdict};
use runtime::NetworkPolicy;
use tools::ToolContext;

use crate::limits::HOST_CHARS_MAX;
use crate::permissions::egress;
use crate::pipeline::evaluate;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

/// What the tool of an approved call is given: files, commands and hosts that were judged, and no others.
pub(crate) fn guard_network(
    session: &Arc<Session>,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    facts: &CallFacts,
    ready: &PreparedCall,
) -> ToolContext {
    let door = Arc::new(CallNetworkGuard::new(session, call, called.id(), facts));
    ToolContext {
        net: ready.tool_context.net.with_policy(door),
        ..ready.tool_context.clone()
    }
}

/// Stands at the door of one call.
struct CallNetworkGuard {
    session: Arc<Session>,
    call: CallId,
    tool: String,
    approved_hosts: Vec<String>,
}

impl CallNetworkGuard {
    /// The door of a call that was approved with these facts.
    fn new(session: &Arc<Session>, call: &ToolCall, tool: &str, facts: &CallFacts) -> Self {
        let hosts = facts
            .all()
            .iter()
            .filter(|fact| fact.capability == Capability::NetFetch && !fact.derived);
        Self {
            session: session.clone(),
            call: call.id.clone(),
            tool: tool.to_owned(),
            approved_hosts: hosts.map(|fact| fact.real.clone()).collect(),
        }
    }
}

impl NetworkPolicy for CallNetworkGuard {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        let host = host::resolve_host(url);
        if let Some(why) = host.unresolved {
            return Err(why);
        }
        if self.approved_hosts.contains(&host.real) {
            return Ok(());
        }
        let mut fact = ResolvedAccess::new_inside(Capability::NetFetch, url);
        fact.real.clone_from(&host.real);
        let (verdict, why) = evaluate::evaluate_host(&self.session, &self.call, &self.tool, fact)?;
        match verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(format!(
                "it leads to another host, `{}`. {why}",
                to_single_line(&host.real, HOST_CHARS_MAX)
            )),
        }
    }

    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        let now = self.session.engine.config.clock.now();
        let real = host::resolve_host(url).real;
        match self.session.rules().opens_host(&self.tool, &real, now) {
            true => Ok(()),
            false => egress::check_public_ip(ip),
        }
    }
}
