//! Built-in tools that act on the session: plans, questions, todos, skills, sub-agent tasks and tool search.

pub(crate) mod plan;
pub(crate) mod question;
pub(crate) mod skill;
pub(crate) mod task;
pub(crate) mod todo;
pub(crate) mod tool_search;
