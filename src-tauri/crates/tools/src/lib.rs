//! What an agent can ask for: the registry, the built-in tools, and the differences that a person reads.
//!
//! **It knows no rule, no verdict, no session state and no event.** A tool declares what a call would touch and never
//! judges it; it shows what it would do and then does exactly that, with the approval that the one pipeline made. Disk
//! and processes are reached through `runtime` only.
//!
//! Start reading at [`tool::Tool`], then [`registry::Registry`].

mod admission;
pub mod agents;
pub mod alias;
pub mod asks;
mod builtin;
mod close_names;
pub mod diff;
pub mod front_matter;
mod gathered;
pub mod internal;
pub mod kept;
pub mod languages;
pub mod limits;
pub mod mentions;
mod patch;
pub mod progress;
pub mod refs;
pub mod registry;
pub mod schema;
pub mod schema_first;
pub mod search;
pub mod searching;
mod sentence;
pub mod skills;
pub mod sub_agent;
pub mod text;
pub mod todo;
pub mod tool;
mod web;

pub use asks::Asks;
pub use builtin::{
    HEADLESS_REFUSAL, LSP, LSP_RENAME, LoadSkill, Lsp, LspRename, PLAN, PLAN_EXIT, TOOL_SEARCH,
    Task, ToolSearch, WEB_SEARCH, WebSearch, commit_error,
};
pub use mentions::Mentions;
pub use registry::{Checked, Found, LOCKED, Offer, Registry};
pub use schema::{Schema, lift_meta, validate};
pub use sub_agent::SubAgentTool;
pub use todo::TodoList;
pub use tool::{
    Delegates, Errand, Hands, OutputFn, Prepared, ProgressFn, Rehearsal, Tool, ToolContext,
};
