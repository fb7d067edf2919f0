//! Tools of Codex. Its hooks call the shell `Bash`.

use super::Meaning::{Internal, Special, Tool};
use super::Row;
use crate::agent_calls::argument_rule::ArgumentRule::{Ignored, Path, Questions, Same, Todos};
use crate::agent_calls::special_calls::{translate_patch, translate_process};

pub(super) const TOOLS: &[Row] = &[
    ("Bash", Special(translate_process)),
    ("apply_patch", Special(translate_patch)),
    ("exec_command", Special(translate_process)),
    ("local_shell", Special(translate_process)),
    (
        "request_user_input",
        Tool("question", &[Questions("questions")]),
    ),
    ("shell", Special(translate_process)),
    ("shell_command", Special(translate_process)),
    (
        "update_plan",
        Tool("todo", &[Todos("plan", "step"), Ignored("explanation")]),
    ),
    ("view_image", Tool("read", &[Path("path", "path")])),
    ("web_search", Tool("web_search", &[Same("query", "query")])),
    ("create_goal", Internal),
    ("get_goal", Internal),
    ("tool_search", Internal),
    ("update_goal", Internal),
    ("wait_agent", Internal),
];
