//! Tools that an agent can call: the registry, the built-in tools, and the differences that a person reads.
//!
//! **This crate knows no rule, no verdict, no session state and no event.** A tool declares what a call would touch and
//! never judges it; the tool shows what the call would do and then does exactly that, with the approval made by the
//! pipeline. Disk and processes are reached through `runtime` only.
//!
//! Start reading at [`tool::Tool`], then [`registry::Registry`].
//!
//! ```
//! use serde_json::json;
//! use tools::Registry;
//!
//! let registry = Registry::builtin();
//! // A tool is found by its id or an alias; an alias may have its own names of the arguments.
//! let registered = registry.find("edit_file")?;
//! assert_eq!(registered.interface.id(), "edit");
//!
//! let arguments = json!({ "path": "a.txt", "old_text": "one", "new_text": "two" });
//! let validated = registered.validate_arguments(arguments.as_object().unwrap())?;
//! assert_eq!(validated.arguments["old_string"], "one");
//! assert_eq!(registered.tool.target(&validated.arguments), "a.txt");
//! # Ok::<(), protocol::ToolError>(())
//! ```

mod agent_tool;
pub mod agents;
pub mod alias;
mod builtin;
pub mod config_references;
pub mod config_table;
pub mod custom;
pub mod diff;
pub mod elicitation;
mod folder_items;
pub mod front_matter;
pub mod host_arguments;
pub mod language_service;
pub mod limits;
pub mod mentions;
mod name_suggestions;
mod patch;
pub mod progress_schema;
pub mod registry;
pub mod request_config;
pub mod schema;
mod schema_problem;
pub mod skills;
pub mod sources;
mod stream_slot;
pub mod sub_agent;
pub mod text;
pub mod todo_list;
pub mod tool;
pub mod tool_index;
pub mod validator;
mod web;
pub mod web_search;

pub use agent_tool::{AgentTool, AgentToolReach};
pub use builtin::{
    ENCLOSED_TURN, EnclosedTurn, EnclosedTurnTool, HEADLESS_REFUSAL, LSP, LSP_RENAME,
    LspRenameTool, LspTool, PLAN, PLAN_EXIT, SkillTool, TOOL_SEARCH, TaskTool, ToolSearchTool,
    WEB_SEARCH, WebSearchTool, commit_error,
};
pub use elicitation::ElicitationChannel;
pub use mentions::Mentions;
pub use registry::{LOCKED_TOOL_IDS, OfferedTool, RegisteredTool, Registry, ValidatedArguments};
pub use schema::{Schema, split_meta, validate_arguments};
pub use stream_slot::StreamSlot;
pub use sub_agent::SubAgentTool;
pub use todo_list::TodoList;
pub use tool::{
    ExecutionContext, OutputFn, PreviewedPlan, ProgressFn, SubAgentRequest, SubAgentSpawner, Tool,
    ToolContext, ToolDryRun,
};
