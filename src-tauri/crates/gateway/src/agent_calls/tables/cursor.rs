//! Tools of Cursor, as the documentation of its hooks has them; no version of it was at hand.

use super::Meaning::{Special, Tool};
use super::Row;
use crate::agent_calls::argument_rule::ArgumentRule::{
    Command, Folder, Ignored, Lines, Path, Same, SearchFolder, Timeout,
};
use crate::agent_calls::special_calls::translate_edits;

pub(super) const TOOLS: &[Row] = &[
    (
        "Delete",
        Tool(
            "delete_path",
            &[Path("file_path", "path"), Path("path", "path")],
        ),
    ),
    ("Edit", Special(translate_edits)),
    (
        "Grep",
        Tool(
            "grep",
            &[
                Same("pattern", "pattern"),
                SearchFolder("path"),
                Same("glob", "include"),
                Ignored("output_mode"),
            ],
        ),
    ),
    (
        "Read",
        Tool(
            "read",
            &[
                Path("file_path", "path"),
                Path("path", "path"),
                Lines("offset", "offset"),
                Lines("limit", "limit"),
                Ignored("attachments"),
                Ignored("content"),
            ],
        ),
    ),
    (
        "Shell",
        Tool(
            "bash",
            &[
                Command("command"),
                Folder("cwd"),
                Folder("working_directory"),
                Timeout("timeout"),
                Same("description", "description"),
                Ignored("sandbox"),
            ],
        ),
    ),
    (
        "Task",
        Tool(
            "task",
            &[
                Same("subagent_type", "subagent_type"),
                Same("prompt", "prompt"),
                Same("description", "description"),
                Ignored("model"),
            ],
        ),
    ),
    (
        "Write",
        Tool(
            "write",
            &[
                Path("file_path", "path"),
                Path("path", "path"),
                Same("content", "content"),
                Same("contents", "content"),
            ],
        ),
    ),
];
