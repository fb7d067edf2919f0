//! 000: each call as a span of its session's trace. Facts about a call beside its three members are in the attributes
//! of its span, and never in the call (`S000-07`).

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::account::CallAccount;
use crate::event::{CallChange, CallProposal, SessionEvent, fold};
use crate::text::timestamp::format_timestamp;
use crate::{At, CallId, Event, EventBody, Outcome, SessionId};

/// A call that has ended, as a span. Names are those of OpenTelemetry where it has one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceSpan {
    /// The session.
    pub trace_id: SessionId,
    /// The call.
    pub span_id: CallId,
    /// The call that the session works for; none if a person began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<CallId>,
    /// `execute_tool`, and the tool's id.
    pub name: String,
    /// When the model asked for the call.
    pub start_time: String,
    /// When the call ended.
    pub end_time: String,
    /// Whether the call did what was requested.
    pub status: SpanStatus,
    /// Facts about the call beside id, name and arguments: `authorised.mode`, `executed.duration_ms` and so on, as in
    /// its [`CallAccount`]. Unknown facts are left out.
    pub attrs: Map<String, Value>,
}

/// How a span ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanStatus {
    /// The call did what was requested.
    Ok,
    /// The call did not do what was requested.
    Error,
}

/// Maps a session's events to the spans of its calls, each with the event that ends it.
#[derive(Debug, Clone, Default)]
pub struct SpanMapper {
    parent: Option<CallId>,
    open: HashMap<CallId, SpanOpenCall>,
}

/// A call without a result.
#[derive(Debug, Clone)]
struct SpanOpenCall {
    began: At,
    account: Option<CallAccount>,
    attrs: Map<String, Value>,
}

impl SpanMapper {
    /// Returns the spans that end with an event: one at most.
    pub fn map(&mut self, event: &Event) -> Vec<TraceSpan> {
        match &event.body {
            EventBody::Session(SessionEvent::Opened { parent, .. }) => {
                self.parent = parent.as_ref().map(|parent| parent.call.clone());
            }
            EventBody::Proposal(CallProposal {
                call,
                message,
                reasoning,
                ..
            }) => {
                let mut attrs = Map::new();
                attrs.insert("message".to_owned(), message.0.as_str().into());
                if let Some(reasoning) = reasoning {
                    attrs.insert("reasoning".to_owned(), reasoning.as_str().into());
                }
                let open = SpanOpenCall {
                    began: event.at,
                    account: None,
                    attrs,
                };
                self.open.entry(call.id.clone()).or_insert(open);
            }
            _ => {}
        }
        let Some(call) = fold::entry_id(event).map(|id| CallId(id.into_owned())) else {
            return Vec::new();
        };
        let Some(open) = self.open.get_mut(&call) else {
            return Vec::new();
        };
        CallAccount::add_event(&mut open.account, &call, event);
        let EventBody::Call {
            change: CallChange::Ended { outcome, .. },
            ..
        } = &event.body
        else {
            return Vec::new();
        };
        let ended = self.open.remove(&call);
        let span = ended.and_then(|open| self.build_span(call, open, event, outcome));
        span.into_iter().collect()
    }

    fn build_span(
        &self,
        call: CallId,
        open: SpanOpenCall,
        event: &Event,
        outcome: &Outcome,
    ) -> Option<TraceSpan> {
        let account = open.account?;
        let mut attrs = open.attrs;
        let name = format!("execute_tool {}", account.tool);
        insert_account(&account, &mut attrs);
        if let Some(class) = outcome.class {
            insert_attribute("class", to_value(&class), &mut attrs);
        }
        if let Some(child) = &outcome.child {
            insert_attribute("child_session", child.0.as_str().into(), &mut attrs);
        }
        if outcome.secrets_masked > 0 {
            insert_attribute("secrets_masked", outcome.secrets_masked.into(), &mut attrs);
        }
        Some(TraceSpan {
            trace_id: event.session.clone(),
            span_id: call,
            parent_span_id: self.parent.clone(),
            name,
            start_time: format_timestamp(open.began),
            end_time: format_timestamp(event.at),
            status: match outcome.is_success() {
                true => SpanStatus::Ok,
                false => SpanStatus::Error,
            },
            attrs,
        })
    }
}

/// Inserts all facts of an account, by part and member. The trail is reduced to its verdict and reason, a decision to
/// its type: both contain more than belongs to a call's description.
fn insert_account(account: &CallAccount, attrs: &mut Map<String, Value>) {
    let Value::Object(mut parts) = to_value(account) else {
        return;
    };
    for already_told in ["call", "audited"] {
        parts.remove(already_told);
    }
    if let Some(Value::Object(authorised)) = parts.get_mut("authorised") {
        authorised.remove("trail");
        if let Some(trail) = &account.authorised.trail {
            authorised.insert("verdict".to_owned(), to_value(&trail.verdict));
            authorised.insert("lead".to_owned(), trail.lead.as_str().into());
        }
        if let Some(decision) = authorised.get_mut("decision") {
            *decision = decision.get("type").cloned().unwrap_or_default();
        }
    }
    for (part, value) in parts {
        insert_attribute(&part, value, attrs);
    }
}

/// Inserts a value under its name; the members of an object each under a name of their own.
fn insert_attribute(name: &str, value: Value, attrs: &mut Map<String, Value>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                insert_attribute(&format!("{name}.{member}"), value, attrs);
            }
        }
        Value::Null => {}
        Value::Array(items) if items.is_empty() => {}
        value => {
            attrs.insert(name.to_owned(), value);
        }
    }
}

fn to_value(of: &impl Serialize) -> Value {
    // The value consists of texts, numbers and JSON, so serialisation cannot fail.
    serde_json::to_value(of).unwrap_or_default()
}
