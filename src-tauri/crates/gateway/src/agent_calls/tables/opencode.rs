//! Tools of opencode.

use super::Meaning::{Internal, Special, Tool};
use super::Row;
use crate::agent_calls::argument_rule::ArgumentRule::{
    Command, Folder, Glob, Ignored, Lines, Path, Questions, Same, SearchFolder, Timeout, Todos,
};
use crate::agent_calls::special_calls::{translate_edit, translate_patch};

pub(super) const TOOLS: &[Row] = &[
    ("apply_patch", Special(translate_patch)),
    (
        "bash",
        Tool(
            "bash",
            &[
                Command("command"),
                Folder("workdir"),
                Timeout("timeout"),
                Same("description", "description"),
            ],
        ),
    ),
    ("edit", Special(translate_edit)),
    (
        "glob",
        Tool("glob", &[Glob("pattern"), SearchFolder("path")]),
    ),
    (
        "grep",
        Tool(
            "grep",
            &[
                Same("pattern", "pattern"),
                SearchFolder("path"),
                Same("include", "include"),
            ],
        ),
    ),
    ("question", Tool("question", &[Questions("questions")])),
    (
        "read",
        Tool(
            "read",
            &[
                Path("filePath", "path"),
                Lines("offset", "offset"),
                Lines("limit", "limit"),
            ],
        ),
    ),
    ("skill", Tool("skill", &[Same("name", "name")])),
    (
        "task",
        Tool(
            "task",
            &[
                Same("subagent_type", "subagent_type"),
                Same("prompt", "prompt"),
                Same("description", "description"),
                Ignored("command"),
                Ignored("task_id"),
            ],
        ),
    ),
    ("todowrite", Tool("todo", &[Todos("todos", "content")])),
    (
        "webfetch",
        Tool(
            "web_fetch",
            &[Same("url", "url"), Ignored("format"), Ignored("timeout")],
        ),
    ),
    (
        "write",
        Tool(
            "write",
            &[Path("filePath", "path"), Same("content", "content")],
        ),
    ),
    ("todoread", Internal),
];
