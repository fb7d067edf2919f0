//! The nouns of Countersign: what is said between agent, engine, record and interface.
//!
//! Calls and their results, what a tool publishes about itself, what a call would touch, rules and verdicts,
//! previews, the events that tell a session's story and the ops that a person sends.
//!
//! **It knows no file, no process, no window, no database, no clock and no model provider.** It holds data, the pure
//! projections of that data, and nothing that can fail at run time except parsing.
//!
//! Start reading at [`event::EventBody`]: the life of a session in one enum. The folded form that a person reads is
//! [`entry::Entry`].

pub mod access;
pub mod account;
pub mod answer;
pub mod apis;
pub mod asked;
pub mod backtest;
pub mod briefing;
pub mod call;
pub mod captured;
pub mod content;
pub mod cut;
pub mod depth;
pub mod effects;
pub mod entry;
pub mod event;
pub mod exact;
pub mod fault;
pub mod fold;
pub mod grounds;
pub mod history;
pub mod ids;
pub mod import;
pub mod interface;
pub mod judge;
pub mod languages;
pub mod ledger;
pub mod limit;
pub mod mappers;
pub mod masked_call;
pub mod mode;
pub mod model;
mod notice;
pub mod op;
pub mod outcome;
pub mod plan;
pub mod preview;
pub mod query;
pub mod ran;
pub mod redact;
pub mod requires;
pub mod result;
pub mod rule;
pub mod rules_view;
pub mod search;
pub mod seekers;
pub mod sent;
pub mod server_asks;
pub mod server_has;
pub mod server_tools;
pub mod servers;
mod session_state;
pub mod settings;
pub mod shown;
mod shown_whole;

pub use access::{Access, Capability, Fact};
pub use call::ToolCall;
pub use captured::{Captured, EffectStep};
pub use content::{Content, image_type};
pub use effects::{Assurance, Effect, Effects};
pub use entry::{CallView, Entry, EntryBody};
pub use event::{Event, EventBody, Notice, NoticeLevel, SessionState};
pub use exact::Exact;
pub use fault::Fault;
pub use history::{Direction, Node, UndoEntry, UndoState};
pub use ids::{AskId, CallId, Digest, GrantId, LoopId, MessageId, SessionId, UndoId};
pub use interface::ToolInterface;
pub use judge::{Gate, Trail, TrailStep, Verdict};
pub use limit::{Limit, RunLimits};
pub use mode::{ToolKind, ToolMode};
pub use model::{Message, ModelChoice, Usage};
pub use op::{Decision, Op};
pub use outcome::{CallState, FailureClass, Outcome};
pub use plan::{FileChange, Plan};
pub use preview::Preview;
pub use ran::{Exit, Ran};
pub use requires::RequirementSet;
pub use result::{PartialResult, ToolError, ToolOutput, ToolResult};
pub use rule::{Action, ProjectRules, Rule, RuleScope, Trust};
pub use server_asks::{AskView, ServerAnswer, ServerAsk, ServerWants};
pub use settings::{Settings, Strategy};

/// Milliseconds since the Unix epoch, UTC.
pub type At = i64;
