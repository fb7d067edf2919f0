//! Events about a session as a whole.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::event::session_options::{PlanningActor, SessionOptions};
use crate::event::{Notice, SessionState};
use crate::model::Effort;
use crate::session::agent_options::AgentOption;
use crate::session::deletion::DeletionHost;
use crate::session::list_place::ListPlace;
use crate::session::parent_call::ParentCall;
use crate::session::skipped_asks::AsksResumption;
use crate::{At, ContextUse, Limit, ModelChoice};

/// An event about a session as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type")]
pub enum SessionEvent {
    /// A session began.
    #[serde(rename = "session_opened")]
    Opened {
        /// A short title; the first message's first line, until renamed.
        title: String,
        /// The workspace root, absolute.
        workspace: String,
        /// The model that answers.
        model: ModelChoice,
        /// The call that opened the session, if a call did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        parent: Option<ParentCall>,
        /// Options of the session beyond the person's messages.
        #[serde(default, alias = "asked", skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        options: Option<Box<SessionOptions>>,
    },
    /// A session got another title.
    #[serde(rename = "session_renamed")]
    Renamed {
        /// The title.
        title: String,
    },
    /// The person moved a session in the list of sessions.
    #[serde(rename = "session_placed")]
    Placed {
        /// Where the session stands from now on.
        place: ListPlace,
    },
    /// The person deleted the session. All its earlier events are erased; this one is kept.
    #[serde(rename = "session_deleted")]
    Deleted {
        /// Host in which the person deleted it.
        host: DeletionHost,
        /// Number of calls that it had.
        calls: u64,
    },
    /// The state of a session changed.
    #[serde(rename = "session_changed")]
    Changed {
        /// The new state.
        state: SessionState,
    },
    /// Planning was switched on or off. While it is on, nothing that could change anything is in reach.
    #[serde(rename = "planning_set")]
    PlanningSet {
        /// Whether the session plans from now on.
        on: bool,
        /// The actor that switched planning on or off.
        by: PlanningActor,
    },
    /// The person chose another model, or another effort of it. It answers from the next turn on.
    #[serde(rename = "model_changed")]
    ModelChanged {
        /// The model.
        model: ModelChoice,
        /// Its reasoning effort; none for the default of the model's name or provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        effort: Option<Effort>,
    },
    /// The person skips asks for a while (M32); a notice says so.
    #[serde(rename = "asks_skipped")]
    AsksSkipped {
        /// When calls ask again; none for the end of the session.
        until: Option<At>,
    },
    /// Calls ask again; a notice says so.
    #[serde(rename = "asks_resumed")]
    AsksResumed {
        /// Why.
        cause: AsksResumption,
    },
    /// What the session's agent lets a person choose changed, or a value of it.
    #[serde(rename = "agent_options_changed")]
    AgentOptionsChanged {
        /// All its options, with their values.
        options: Vec<AgentOption>,
    },
    /// The agent in the session told how much of its model's context is in use.
    #[serde(rename = "agent_context_changed")]
    AgentContextChanged {
        /// The use.
        context: ContextUse,
    },
    /// The run reached one of its limits and stops; a notice states the consequences.
    #[serde(rename = "limit_reached")]
    LimitReached {
        /// The limit.
        limit: Limit,
        /// Amount used, in the limit's unit.
        used: f64,
        /// Amount allowed, in the limit's unit.
        max: f64,
    },
    /// There is something that a person should know.
    #[serde(rename = "notice_added")]
    NoticeAdded {
        /// The notice.
        notice: Notice,
    },
}

super::name_events!(SessionEvent {
    Opened: "session_opened",
    Renamed: "session_renamed",
    Placed: "session_placed",
    Deleted: "session_deleted",
    Changed: "session_changed",
    PlanningSet: "planning_set",
    ModelChanged: "model_changed",
    AsksSkipped: "asks_skipped",
    AsksResumed: "asks_resumed",
    AgentOptionsChanged: "agent_options_changed",
    AgentContextChanged: "agent_context_changed",
    LimitReached: "limit_reached",
    NoticeAdded: "notice_added",
});
