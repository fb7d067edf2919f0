//! The masks of a session's events: no secret that a call sends out is recorded, so none is ever shown.

use std::collections::HashMap;
use std::sync::Arc;

use policy::watchdogs::SecretMask;
use protocol::event::{CallChange, CallProposal};
use protocol::{CallId, EventBody, ToolCall};

/// Masks of what a session records.
#[derive(Default)]
pub(crate) struct SecretMasks {
    /// Secrets that the session was opened with, by the call that it works for.
    pub inherited: SecretMask,
    /// Secrets of each call that goes on.
    calls: HashMap<CallId, SecretMask>,
}

impl SecretMasks {
    /// Adds secrets of a call.
    pub fn add(&mut self, call: &CallId, mask: &SecretMask) {
        if !mask.is_empty() {
            self.calls.entry(call.clone()).or_default().add(mask);
        }
    }

    /// Returns the mask of everything that is about a call.
    pub fn mask_of(&self, call: &CallId) -> SecretMask {
        let mut mask = self.inherited.clone();
        if let Some(own) = self.calls.get(call) {
            mask.add(own);
        }
        mask
    }

    /// Returns an event without the secrets; none if it would no longer be one. The mask of a call ends with the call.
    pub fn mask_event(&mut self, body: EventBody) -> Option<EventBody> {
        if self.inherited.is_empty() && self.calls.is_empty() {
            return Some(body);
        }
        Some(match body {
            EventBody::Session(event) => self.inherited.mask_value(&event)?.into(),
            EventBody::Message { change, message } => EventBody::Message {
                change: self.inherited.mask_value(&change)?,
                message,
            },
            EventBody::Proposal(proposal) => {
                let mask = self.mask_of(&proposal.call.id);
                EventBody::Proposal(mask_proposal(&mask, proposal))
            }
            EventBody::Call { change, call } => {
                let mask = self.mask_of(&call);
                if matches!(change, CallChange::Ended { .. }) {
                    self.calls.remove(&call);
                }
                let change = match mask.is_empty() {
                    true => change,
                    false => mask_change(&mask, change)?,
                };
                EventBody::Call { change, call }
            }
        })
    }
}

fn mask_proposal(mask: &SecretMask, proposal: CallProposal) -> CallProposal {
    let ToolCall {
        id,
        name,
        arguments,
    } = proposal.call;
    let masked = mask.mask_arguments(&arguments);
    CallProposal {
        is_masked: masked != arguments,
        call: ToolCall {
            id,
            name: mask.mask_text(&name),
            arguments: masked,
        },
        message: proposal.message,
        reasoning: proposal.reasoning.map(|text| mask.mask_text(&text)),
    }
}

fn mask_change(mask: &SecretMask, change: CallChange) -> Option<CallChange> {
    Some(match change {
        CallChange::Judged {
            tool,
            title,
            target,
            mode,
            kind,
            trail,
            preview,
            undo,
            evidence,
        } => CallChange::Judged {
            tool,
            title: mask.mask_text(&title),
            target: mask.mask_target(&target),
            mode,
            kind,
            trail: Arc::new(mask.mask_trail(&trail)),
            preview: mask.mask_preview(&preview),
            undo: mask.mask_value(&undo)?,
            evidence: evidence.and_then(|evidence| mask.mask_whole(&evidence)),
        },
        CallChange::Edited { arguments, .. } => {
            let masked = mask.mask_arguments(&arguments);
            CallChange::Edited {
                is_masked: masked != arguments,
                arguments: masked,
            }
        }
        CallChange::Waiting {
            digest,
            grants,
            refreshed,
            expires_at,
        } => CallChange::Waiting {
            digest,
            grants: mask.mask_value(&grants)?,
            refreshed: refreshed.map(|text| mask.mask_text(&text)),
            expires_at,
        },
        CallChange::Decided { decision, digest } => CallChange::Decided {
            decision: mask.mask_value(&decision)?,
            digest,
        },
        other => mask.mask_value(&other)?,
    })
}
