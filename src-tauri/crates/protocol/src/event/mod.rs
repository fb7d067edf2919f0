//! Events in the order in which they happened: the one log from which everything else is made.

pub mod call_event;
mod event_json;
pub mod fold;
pub mod masked_event;
pub mod message_event;
pub(crate) mod notice;
pub mod session_event;
pub mod session_options;
pub(crate) mod session_state;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::event::call_event::{CallChange, CallProposal};
pub use crate::event::message_event::MessageChange;
pub use crate::event::notice::{Notice, NoticeLevel};
pub use crate::event::session_event::SessionEvent;
pub use crate::event::session_options::{
    AgentManifestFile, ClientInfo, Enclosure, FormerAgentSession, PlanningActor, SessionOptions,
};
pub use crate::event::session_state::SessionState;
pub use crate::session::answer_check::AnswerCheck;
pub use crate::session::grant::{Grant, GrantReach};
pub use crate::session::parent_call::ParentCall;
pub use crate::session::state_location::StateLocation;
use crate::{At, CallId, MessageId, SessionId};

/// Names the variants of a group of events as its JSON does.
macro_rules! name_events {
    ($group:ident { $($variant:ident: $name:literal,)+ }) => {
        impl $group {
            /// The `type` of each event of the group.
            pub(crate) const NAMES: &[&str] = &[$($name),+];

            /// Returns the name under which the event is stored: the `type` of its JSON.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)+
                }
            }
        }
    };
}
use name_events;

/// One recorded fact. The event is in the record before anybody is notified of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Event {
    /// Position in the log of this data folder, from 1, without gaps.
    pub seq: u64,
    /// The session that the event belongs to.
    pub session: SessionId,
    /// When the event happened.
    pub at: At,
    /// The fact itself.
    pub body: EventBody,
}

/// The facts that an event can record, in groups by what they are about. The JSON is flat: a `type`, the fields, and the
/// message or call.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(untagged)]
pub enum EventBody {
    /// An event about the session as a whole.
    Session(#[ts(inline)] SessionEvent),
    /// A message began or changed.
    Message {
        /// The change.
        #[serde(flatten)]
        change: MessageChange,
        /// The message.
        message: MessageId,
    },
    /// The model asked for a call.
    Proposal(#[ts(inline)] CallProposal),
    /// A call that was proposed changed.
    Call {
        /// The change.
        #[serde(flatten)]
        change: CallChange,
        /// The call.
        call: CallId,
    },
}

impl From<SessionEvent> for EventBody {
    fn from(event: SessionEvent) -> Self {
        Self::Session(event)
    }
}

impl EventBody {
    /// Returns a change of a call.
    pub fn for_call(call: &CallId, change: CallChange) -> Self {
        Self::Call {
            change,
            call: call.clone(),
        }
    }

    /// Returns a change of a message.
    pub fn for_message(message: &MessageId, change: MessageChange) -> Self {
        Self::Message {
            change,
            message: message.clone(),
        }
    }

    /// Returns a notice to the person.
    pub fn notice(level: NoticeLevel, fault: crate::UserError) -> Self {
        let notice = Notice { level, fault };
        Self::Session(SessionEvent::NoticeAdded { notice })
    }

    /// Returns the name under which the event is stored: the `type` of its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Session(event) => event.name(),
            Self::Message { change, .. } => change.name(),
            Self::Proposal(_) => CallProposal::NAME,
            Self::Call { change, .. } => change.name(),
        }
    }
}
