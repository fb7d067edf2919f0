//! Events about a call: its proposal, and everything that changes it until it ends and after.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::rule::evidence::Evidence;
use crate::server::elicitation::{SamplingResult, ServerAnswer, ServerRequest};
use crate::session::grant::Grant;
use crate::session::state_location::StateLocation;
use crate::view::masked_call::MaskedCall;
use crate::view::preview::UndoAvailability;
use crate::{
    At, Decision, Digest, MessageId, Outcome, PartialResult, Preview, ServerRequestId, SessionId,
    ToolCall, ToolKind, ToolMode, Trail, UndoEntry, UndoId,
};

/// The model asked for a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename = "call_proposed")]
pub struct CallProposal {
    /// The call.
    pub call: ToolCall,
    /// The message that asked for the call.
    pub message: MessageId,
    /// The agent's own reason for the call, if it gave one.
    pub reasoning: Option<String>,
    /// Whether a secret in the arguments is masked: the call cannot be run from the log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub is_masked: bool,
}

impl CallProposal {
    /// The `type` of the event's JSON.
    pub(crate) const NAME: &str = "call_proposed";
}

/// A change of a call that was proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type")]
pub enum CallChange {
    /// The gates gave their verdict on the call. Comes again when arguments or files changed while the call waited.
    #[serde(rename = "call_judged")]
    Judged {
        /// The tool's id; the called name if there is no such tool.
        tool: String,
        /// Name on the card.
        title: String,
        /// Target of the call: a path, a command, a host.
        target: String,
        /// Mode of the call; none if nothing defines it (M21).
        mode: Option<ToolMode>,
        /// Kind of the call.
        kind: ToolKind,
        /// The gates and their results.
        trail: Arc<Trail>,
        /// Preview shown on the card.
        preview: Preview,
        /// Whether the call's effects could be undone.
        undo: UndoAvailability,
        /// Evidence for the verdict, apart from the rules; none if the call was not examined, or if the evidence is too
        /// long.
        #[serde(default, alias = "grounds", skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        evidence: Option<Box<Evidence>>,
    },
    /// The call was made in another session, of which this one has the story: it is not judged, counted, or undone here.
    #[serde(rename = "call_imported")]
    Imported {
        /// The session that this one was forked from; none if the call was read from the transcript of another agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        forked_from: Option<SessionId>,
        /// The tool's id; the agent's name of the tool if it is none of ours.
        tool: String,
        /// Name of the tool for people.
        title: String,
        /// Target of the call: a path, a command, a host.
        target: String,
        /// Mode of the tool; none if nothing defines it (M21).
        mode: Option<ToolMode>,
        /// Kind of the call.
        kind: ToolKind,
        /// Whether the effects of such a call could be undone here.
        undo: UndoAvailability,
        /// Evidence for a verdict by rules that are tried; none if the call could not be examined, or if the evidence is
        /// too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        evidence: Option<Box<Evidence>>,
    },
    /// The call waits for a decision.
    #[serde(rename = "call_waiting")]
    Waiting {
        /// Digest that a decision must name.
        digest: Digest,
        /// Grants offered, one for each answer.
        grants: Vec<Grant>,
        /// Description of the change; set when the card's content changed after the person may have looked at it.
        refreshed: Option<String>,
        /// When the wait expires, if it does.
        expires_at: Option<At>,
    },
    /// A person decided on the call.
    #[serde(rename = "call_decided")]
    Decided {
        /// The decision.
        decision: Decision,
        /// Digest of the content that was decided on.
        digest: Digest,
    },
    /// The person changed the call's arguments.
    #[serde(rename = "call_edited")]
    Edited {
        /// The person's arguments.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
        /// Whether a secret in the arguments is masked: the call cannot be run from the log.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(optional, as = "Option<bool>")]
        is_masked: bool,
    },
    /// A host's hook was asked whether the call may begin, and answered (`S001-60`).
    #[serde(rename = "hook_answered")]
    HookAnswered {
        /// Name of the hook: "the audit log".
        hook: String,
        /// Why the call does not run, as the model reads it; none if the hook allowed the call (`S001-61`).
        refused: Option<String>,
    },
    /// A copy for undo was taken before the call changes anything.
    #[serde(rename = "undo_prepared")]
    UndoPrepared {
        /// The undo entry.
        entry: UndoEntry,
    },
    /// The call began to run.
    #[serde(rename = "call_started")]
    Started,
    /// A piece of live output; for people, never for the model (`S001-12`).
    #[serde(rename = "call_output")]
    Output {
        /// The piece.
        text: String,
    },
    /// A piece of the result of the running call; for people, never for the model (`S001-12`).
    #[serde(rename = "call_update")]
    Update {
        /// The piece.
        #[serde(flatten)]
        partial: PartialResult,
    },
    /// A progress message of the running call; for people, never for the model (`S001-13`).
    #[serde(rename = "call_progress")]
    Progress {
        /// The tool's id.
        tool: String,
        /// The message.
        #[serde(alias = "message")]
        text: String,
    },
    /// The server of the running call sent a request to the person: the call waits until the request is answered.
    #[serde(rename = "server_request_received")]
    ServerRequestReceived {
        /// Id that an answer must name.
        #[serde(alias = "ask")]
        request_id: ServerRequestId,
        /// The request.
        #[serde(alias = "asked")]
        request: Box<ServerRequest>,
        /// When the request expires, if it does.
        expires_at: Option<At>,
    },
    /// A server's request was answered, and the call goes on.
    #[serde(rename = "server_request_answered")]
    ServerRequestAnswered {
        /// The request.
        #[serde(alias = "ask")]
        request_id: ServerRequestId,
        /// The answer, with everything that looks like a secret removed.
        answer: ServerAnswer,
        /// Why the answer was given without the person; none if the person gave it.
        why: Option<String>,
    },
    /// A model sampled a completion for a server, as the person allowed, or failed to.
    #[serde(rename = "sampling_finished")]
    SamplingFinished {
        /// The request.
        #[serde(alias = "ask")]
        request_id: ServerRequestId,
        /// Result of the sampling.
        #[serde(alias = "said")]
        result: Box<SamplingResult>,
    },
    /// The call's output was written to the session's state, for later calls to read (`S004-12`, `S004-48`).
    #[serde(rename = "state_written")]
    StateWritten {
        /// Location of the output.
        #[serde(flatten)]
        place: StateLocation,
        /// The output.
        #[ts(type = "unknown")]
        value: Value,
    },
    /// The call ended.
    #[serde(rename = "call_ended")]
    Ended {
        /// Outcome of the call.
        outcome: Box<Outcome>,
        /// View of the call from now on; set if the call's arguments hold a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        masked: Option<Box<MaskedCall>>,
    },
    /// The call's effects were undone.
    #[serde(rename = "undo_applied")]
    UndoApplied {
        /// The undo entry.
        entry: UndoId,
        /// Number of paths restored.
        paths: u64,
        /// The undo entry that records the person's undo.
        #[serde(default, alias = "act", skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        action: Option<UndoId>,
    },
    /// The call's effects were redone.
    #[serde(rename = "redo_applied")]
    RedoApplied {
        /// The undo entry.
        entry: UndoId,
        /// Number of paths written.
        paths: u64,
        /// The undo entry that records the person's redo.
        #[serde(default, alias = "act", skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        action: Option<UndoId>,
    },
}

super::name_events!(CallChange {
    Judged: "call_judged",
    Imported: "call_imported",
    Waiting: "call_waiting",
    Decided: "call_decided",
    Edited: "call_edited",
    HookAnswered: "hook_answered",
    UndoPrepared: "undo_prepared",
    Started: "call_started",
    Output: "call_output",
    Update: "call_update",
    Progress: "call_progress",
    ServerRequestReceived: "server_request_received",
    ServerRequestAnswered: "server_request_answered",
    SamplingFinished: "sampling_finished",
    StateWritten: "state_written",
    Ended: "call_ended",
    UndoApplied: "undo_applied",
    RedoApplied: "redo_applied",
});
