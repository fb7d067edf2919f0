//! Tools of Claude Code, with those of earlier versions that are still in transcripts.

use super::Meaning::{Internal, Special, Tool};
use super::Row;
use crate::agent_calls::argument_rule::ArgumentRule::{
    self, Command, Fixed, Glob, Ignored, Lines, Path, Questions, Same, SearchFolder, Timeout, Todos,
};
use crate::agent_calls::special_calls::{translate_edit, translate_edits};

/// Arguments of a call for a sub-agent.
const AGENT: &[ArgumentRule] = &[
    Same("subagent_type", "subagent_type"),
    Same("prompt", "prompt"),
    Same("description", "description"),
    Ignored("effort"),
    Ignored("isolation"),
    Ignored("model"),
    Ignored("name"),
    Ignored("run_in_background"),
];

pub(super) const TOOLS: &[Row] = &[
    ("Agent", Tool("task", AGENT)),
    ("Task", Tool("task", AGENT)),
    (
        "AskUserQuestion",
        Tool(
            "question",
            &[
                Questions("questions"),
                Ignored("answers"),
                Ignored("metadata"),
            ],
        ),
    ),
    (
        "Bash",
        Tool(
            "bash",
            &[
                Command("command"),
                Timeout("timeout"),
                Same("description", "description"),
                Ignored("dangerouslyDisableSandbox"),
                Ignored("run_in_background"),
            ],
        ),
    ),
    ("Edit", Special(translate_edit)),
    (
        "Glob",
        Tool("glob", &[Glob("pattern"), SearchFolder("path")]),
    ),
    (
        "Grep",
        Tool(
            "grep",
            &[
                Same("pattern", "pattern"),
                SearchFolder("path"),
                Same("glob", "include"),
                Same("-i", "case_insensitive"),
                Ignored("-A"),
                Ignored("-B"),
                Ignored("-C"),
                Ignored("-n"),
                Ignored("-o"),
                Ignored("context"),
                Ignored("head_limit"),
                Ignored("multiline"),
                Ignored("offset"),
                Ignored("output_mode"),
                Ignored("type"),
            ],
        ),
    ),
    (
        "LS",
        Tool(
            "glob",
            &[
                SearchFolder("path"),
                Ignored("ignore"),
                Fixed("pattern", "*"),
                Fixed("include", "everything"),
            ],
        ),
    ),
    ("MultiEdit", Special(translate_edits)),
    (
        "NotebookEdit",
        Tool(
            "notebook_edit",
            &[
                Path("notebook_path", "path"),
                Same("cell_id", "cell_id"),
                Same("new_source", "new_source"),
                Same("cell_type", "cell_type"),
                Same("edit_mode", "edit_mode"),
            ],
        ),
    ),
    (
        "NotebookRead",
        Tool("read", &[Path("notebook_path", "path"), Ignored("cell_id")]),
    ),
    (
        "Read",
        Tool(
            "read",
            &[
                Path("file_path", "path"),
                Lines("offset", "offset"),
                Lines("limit", "limit"),
                Ignored("allow_large"),
                Ignored("pages"),
            ],
        ),
    ),
    (
        "Skill",
        Tool("skill", &[Same("skill", "name"), Ignored("args")]),
    ),
    ("TodoWrite", Tool("todo", &[Todos("todos", "content")])),
    (
        "WebFetch",
        Tool("web_fetch", &[Same("url", "url"), Ignored("prompt")]),
    ),
    (
        "WebSearch",
        Tool(
            "web_search",
            &[
                Same("query", "query"),
                Ignored("allowed_domains"),
                Ignored("blocked_domains"),
            ],
        ),
    ),
    (
        "Write",
        Tool(
            "write",
            &[Path("file_path", "path"), Same("content", "content")],
        ),
    ),
    ("BashOutput", Internal),
    ("DeferredToolPlaceholder", Internal),
    ("EnterPlanMode", Internal),
    ("ExitPlanMode", Internal),
    ("KillBash", Internal),
    ("KillShell", Internal),
    ("ListAgents", Internal),
    ("ReportFindings", Internal),
    ("TaskCreate", Internal),
    ("TaskGet", Internal),
    ("TaskList", Internal),
    ("TaskOutput", Internal),
    ("TaskStop", Internal),
    ("TaskUpdate", Internal),
    ("TodoRead", Internal),
    ("ToolSearch", Internal),
];
