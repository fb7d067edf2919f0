//! Step 9: showing the response of a host to the person, if a rule asks about that host, before the model reads it.

use std::sync::Arc;

use policy::CallFacts;
use protocol::text::display_text::to_spans;
use protocol::text::redact;
use protocol::view::preview::ResponsePreview;
use protocol::{Capability, Plan, Preview, ToolError, ToolOutput};
use serde_json::Value;
use tools::{PreviewedPlan, ToolDryRun};

use crate::pipeline::approval::UserFeedback;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::execute;
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;

/// Returns the next attempt if something must be shown first: a file had changed when the tool ran, or a rule asks
/// about the response. An error is not a response; any text that came with it is withheld.
pub(crate) fn review_response(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
    run: &mut ToolRun,
    feedback: &UserFeedback,
) -> Option<Attempt> {
    if let Some(what) = execute::changed_files_reason(run) {
        return Some(Attempt::after_change(what));
    }
    if prepared.dry_run.is_some() || prepared.plan != Plan::None {
        return None;
    }
    let hosts = responding_hosts(&prepared.facts, run);
    let rules = cx.session.rules();
    let now = cx.session.engine.now();
    if !policy::effects::requires_response_review(&rules, cx.tool.id(), &hosts, now) {
        return None;
    }
    let output = match &mut run.result {
        Ok(output) => std::mem::replace(output, ToolOutput::new("", "")),
        Err(error) => {
            withhold_details(error);
            return None;
        }
    };
    let text = redact::text(output.empty.as_deref().unwrap_or(&output.text))
        .0
        .into_owned();
    let response = ToolDryRun {
        prepared: PreviewedPlan {
            preview: Preview::Response(ResponsePreview {
                hosts: hosts.clone(),
                text: to_spans(&text),
            }),
            plan: Plan::None,
        },
        refusal_count: 0,
        secrets: Vec::new(),
        kept_caches: Vec::new(),
        hosts_reached: hosts,
        outside_reads: Vec::new(),
        output,
        capture: Arc::new(()),
    };
    let result = DryRunResult::from_response(response, feedback.clone(), run.duration_ms);
    Some(Attempt::after_dry_run(result))
}

/// Returns the hosts that the call was judged on, and the one that it was redirected to.
fn responding_hosts(facts: &CallFacts, run: &ToolRun) -> Vec<String> {
    let declared = facts.all().iter();
    let declared = declared.filter(|fact| fact.capability == Capability::NetFetch && !fact.derived);
    let mut hosts: Vec<String> = declared.map(|fact| fact.real.clone()).collect();
    let data = run
        .result
        .as_ref()
        .ok()
        .and_then(|output| output.data.as_ref());
    let led_to = data
        .and_then(|data| data.get("url"))
        .and_then(Value::as_str);
    let led_to = led_to
        .map(policy::patterns::host::resolve_host)
        .filter(|host| host.unresolved.is_none());
    hosts.extend(led_to.map(|host| host.real).filter(|_| !hosts.is_empty()));
    hosts.retain(|host| !host.is_empty());
    hosts.sort();
    hosts.dedup();
    hosts
}

/// Removes everything but the first line of an error.
fn withhold_details(error: &mut ToolError) {
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
