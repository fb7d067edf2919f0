//! The vocabulary of Countersign: the data that agent, engine, record and interface exchange.
//!
//! Calls and their results, the interfaces that tools publish, the accesses of a call, rules and verdicts, previews,
//! the events of a session and the ops that a person sends.
//!
//! **The crate knows no file, no process, no window, no database, no clock and no model provider.** It holds data, the
//! pure projections of that data, and nothing that can fail at run time except parsing.
//!
//! Start reading at [`event::EventBody`]: the life of a session in one enum. The folded form that a person reads is
//! [`Entry`].
//!
//! ```
//! use protocol::event::MessageChange;
//! use protocol::event::fold::fold_entry;
//! use protocol::{EntryBody, Event, EventBody, MessageId, SessionId};
//!
//! let event = Event {
//!     seq: 1,
//!     session: SessionId::from("ses_1"),
//!     at: 0,
//!     body: EventBody::Message {
//!         message: MessageId::from("msg_1"),
//!         change: MessageChange::PersonSaid {
//!             text: "Tidy up.".to_owned(),
//!             images: Vec::new(),
//!             steering: false,
//!         },
//!     },
//! };
//! let entry = fold_entry(None, &event).unwrap();
//! assert!(matches!(entry.body, EntryBody::Person { text, .. } if text == "Tidy up."));
//! ```

pub mod account;
pub mod answer;
pub mod call;
pub mod connection;
pub mod engine_process;
pub mod event;
pub mod history;
pub mod ids;
pub mod interface;
pub mod mappers;
pub mod model;
pub mod op;
pub mod query;
pub mod rule;
pub mod server;
pub mod session;
pub mod settings;
pub mod text;
pub mod update;
pub mod user_error;
pub mod view;

pub use crate::call::access::{Access, Capability, ResolvedAccess};
pub use crate::call::captured_effects::{CapturedEffects, EffectStep};
pub use crate::call::command_run::{CommandExit, CommandRun};
pub use crate::call::content::{Content, detect_image_type};
pub use crate::call::mode::{ToolKind, ToolMode};
pub use crate::call::outcome::{CallState, FailureClass, Outcome};
pub use crate::call::plan::{FileChange, Plan};
pub use crate::call::result::{PartialResult, ToolError, ToolOutput, ToolResult};
pub use crate::interface::requirements::RequirementSet;
pub use crate::rule::verdict::{Gate, Trail, TrailStep, Verdict};
pub use crate::server::elicitation::{
    ServerAnswer, ServerRequest, ServerRequestKind, ServerRequestView,
};
pub use crate::settings::limit::{Limit, RunLimits};
pub use crate::view::effects::{Assurance, Effect, Effects};
pub use crate::view::entry::{CallView, Entry, EntryBody};
pub use crate::view::exact_name::ExactName;
pub use crate::view::preview::Preview;
pub use call::ToolCall;
pub use event::{Event, EventBody, Notice, NoticeLevel, SessionState};
pub use history::{Node, UndoDirection, UndoEntry, UndoState};
pub use ids::{CallId, Digest, GrantId, LoopId, MessageId, ServerRequestId, SessionId, UndoId};
pub use interface::ToolInterface;
pub use model::{ContextUse, Message, ModelChoice, Usage};
pub use op::{Decision, Op};
pub use rule::{ProjectRules, Rule, RuleAction, RuleScope, Trust};
pub use settings::{Settings, Strategy};
pub use user_error::{FaultCause, UserError};

/// Milliseconds since the Unix epoch, UTC.
pub type At = i64;
