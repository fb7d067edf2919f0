//! Which hosts a tool reaches while it runs: those that its call was judged on. Where it is redirected to another one, that
//! is judged like a call of its own.

use std::net::IpAddr;
use std::sync::Arc;

use policy::Facts;
use policy::host;
use protocol::shown::in_a_sentence;
use protocol::{CallId, Capability, Fact, ToolCall, Verdict};
use runtime::Doorkeeper;
use tools::Hands;

use crate::limits::HOST_CHARS_MAX;
use crate::session::Session;
use crate::stages::found::Called;
use crate::stages::judged;
use crate::stages::prepared::Ready;
use crate::way_out;

/// What the tool of an approved call is given: files, commands and hosts that were judged, and no others.
pub(crate) fn opened(
    session: &Arc<Session>,
    call: &ToolCall,
    called: &Called<'_>,
    facts: &Facts,
    ready: &Ready,
) -> Hands {
    let door = Arc::new(Door::new(session, call, called.id(), facts));
    Hands {
        net: ready.hands.net.kept_by(door),
        ..ready.hands.clone()
    }
}

/// Stands at the door of one call.
struct Door {
    session: Arc<Session>,
    call: CallId,
    tool: String,
    judged: Vec<String>,
}

impl Door {
    /// The door of a call that was approved with these facts.
    fn new(session: &Arc<Session>, call: &ToolCall, tool: &str, facts: &Facts) -> Self {
        let hosts = facts
            .all()
            .iter()
            .filter(|fact| fact.capability == Capability::NetFetch && !fact.derived);
        Self {
            session: session.clone(),
            call: call.id.clone(),
            tool: tool.to_owned(),
            judged: hosts.map(|fact| fact.real.clone()).collect(),
        }
    }
}

impl Doorkeeper for Door {
    fn admits(&self, url: &str) -> Result<(), String> {
        let host = host::resolve(url);
        if let Some(why) = host.unresolved {
            return Err(why);
        }
        if self.judged.contains(&host.real) {
            return Ok(());
        }
        let mut fact = Fact::inside(Capability::NetFetch, url);
        fact.real.clone_from(&host.real);
        let (verdict, why) = judged::on_the_way(&self.session, &self.call, &self.tool, fact)?;
        match verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(format!(
                "it leads to another host, `{}`. {why}",
                in_a_sentence(&host.real, HOST_CHARS_MAX)
            )),
        }
    }

    fn admits_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        let now = self.session.shared.config.clock.now();
        let real = host::resolve(url).real;
        match self.session.rules().opens_host(&self.tool, &real, now) {
            true => Ok(()),
            false => way_out::admits_far(ip),
        }
    }
}
