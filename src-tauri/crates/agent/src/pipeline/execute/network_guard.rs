//! The hosts that a tool may reach while it runs: those that its call was judged on. A redirect to another host is
//! judged like a call of its own.

use std::net::IpAddr;
use std::sync::Arc;

use policy::CallFacts;
use policy::patterns::host;
use protocol::text::display_text::to_single_line;
use protocol::{CallId, Capability, ResolvedAccess, Verdict};
use runtime::NetworkPolicy;
use tools::ToolContext;

use crate::limits::HOST_CHARS_MAX;
use crate::permissions::egress;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::evaluate;
use crate::pipeline::prepare::PreparedCall;
use crate::session::Session;

/// Returns the tool context of an approved call: the files, commands and hosts that were judged, and no others.
pub(crate) fn guard_network(cx: &CallContext<'_>, prepared: &PreparedCall) -> ToolContext {
    let guard = Arc::new(CallNetworkGuard::new(cx, &prepared.facts));
    ToolContext {
        net: prepared.tool_context.net.with_policy(guard),
        ..prepared.tool_context.clone()
    }
}

/// Lets one call reach the hosts that it was approved with.
struct CallNetworkGuard {
    session: Arc<Session>,
    call: CallId,
    tool: String,
    approved_hosts: Vec<String>,
}

impl CallNetworkGuard {
    /// Returns the guard of a call that was approved with these facts.
    fn new(cx: &CallContext<'_>, facts: &CallFacts) -> Self {
        let hosts = facts
            .all()
            .iter()
            .filter(|fact| fact.capability == Capability::NetFetch && !fact.derived);
        Self {
            session: cx.session.clone(),
            call: cx.call.id.clone(),
            tool: cx.tool.id().to_owned(),
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
        let judged = evaluate::evaluate_host(&self.session, &self.call, &self.tool, fact)?;
        match judged.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(format!(
                "it leads to another host, `{}`. {}",
                to_single_line(&host.real, HOST_CHARS_MAX),
                judged.reason
            )),
        }
    }

    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        let now = self.session.engine.now();
        let real = host::resolve_host(url).real;
        match self.session.rules().opens_host(&self.tool, &real, now) {
            true => Ok(()),
            false => egress::check_public_ip(ip),
        }
    }
}
