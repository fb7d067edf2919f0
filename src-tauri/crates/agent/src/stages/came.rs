//! Between a tool's work and its model: what came from a host that a rule asks about stands on the desk before it is read.

use std::sync::Arc;

use policy::Facts;
use protocol::preview::CamePreview;
use protocol::shown::shown;
use protocol::{Capability, Plan, Preview, ToolError, ToolOutput, redact};
use serde_json::Value;
use tools::{Prepared, Rehearsal};

use super::again::Again;
use super::consent::Said;
use super::execute;
use super::finish::Ran;
use super::found::Called;
use super::prepared::Ready;
use super::rehearsed::Rehearsed;
use crate::session::Session;

/// What the call walks with once more, if something came of it that is shown first: a file was another one when it ran, or a
/// rule speaks of what came. An error is no answer; the words that came with it are kept back.
pub(crate) fn again(
    session: &Session,
    called: &Called<'_>,
    (facts, ready, tried): (&Facts, &Ready, &Option<Rehearsed>),
    ran: &mut Ran,
    said: &Said,
) -> Option<Again> {
    if let Some(what) = execute::files_changed(ran) {
        return Some(Again::changed(what));
    }
    if tried.is_some() || ready.plan != Plan::None {
        return None;
    }
    let hosts = hosts(facts, ran);
    let (rules, now) = (session.rules(), session.shared.config.clock.now());
    if !policy::effects::asks_about(&rules, called.id(), &hosts, now) {
        return None;
    }
    let output = match &mut ran.result {
        Ok(output) => std::mem::replace(output, ToolOutput::new("", "")),
        Err(error) => {
            keep_back(error);
            return None;
        }
    };
    let text = redact::text(output.empty.as_deref().unwrap_or(&output.text))
        .0
        .into_owned();
    let rehearsal = Rehearsal {
        prepared: Prepared {
            preview: Preview::Came(CamePreview {
                hosts: hosts.clone(),
                text: shown(&text),
            }),
            plan: Plan::None,
        },
        refused: 0,
        secrets: Vec::new(),
        reached: hosts,
        output,
        kept: Arc::new(()),
    };
    let came = Rehearsed::came(rehearsal, said.clone(), ran.duration_ms);
    Some(Again::tried(came))
}

/// The hosts that the call was judged on, and the one that it was led to.
fn hosts(facts: &Facts, ran: &Ran) -> Vec<String> {
    let declared = facts.all().iter();
    let declared = declared.filter(|fact| fact.capability == Capability::NetFetch && !fact.derived);
    let mut hosts: Vec<String> = declared.map(|fact| fact.real.clone()).collect();
    let data = ran
        .result
        .as_ref()
        .ok()
        .and_then(|output| output.data.as_ref());
    let led_to = data
        .and_then(|data| data.get("url"))
        .and_then(Value::as_str);
    let led_to = led_to
        .map(policy::host::resolve)
        .filter(|host| host.unresolved.is_none());
    hosts.extend(led_to.map(|host| host.real).filter(|_| !hosts.is_empty()));
    hosts.retain(|host| !host.is_empty());
    hosts.sort();
    hosts.dedup();
    hosts
}

/// Of an error its own first line is left.
fn keep_back(error: &mut ToolError) {
    match error {
        ToolError::Failed(text) | ToolError::TimedOut(text) => {
            if let Some((first, _)) = text.split_once('\n') {
                *text = format!(
                    "{first} What came with it is kept back, because a rule speaks of what comes from there."
                );
            }
        }
        ToolError::NotFound(_)
        | ToolError::InvalidArgs(_)
        | ToolError::Cancelled
        | ToolError::Stale(_) => {}
    }
}
