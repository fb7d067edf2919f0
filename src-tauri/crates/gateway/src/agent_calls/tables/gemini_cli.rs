//! Tools of Gemini CLI, with the argument names of earlier versions that are still in transcripts.

use super::Meaning::{Internal, Special, Tool};
use super::Row;
use crate::agent_calls::argument_rule::ArgumentRule::{
    Command, Fixed, Folder, Glob, Ignored, Only, Path, Questions, Same, SearchFolder, Todos,
};
use crate::agent_calls::special_calls::{
    translate_edit, translate_fetch_prompt, translate_line_range,
};

pub(super) const TOOLS: &[Row] = &[
    ("activate_skill", Tool("skill", &[Same("name", "name")])),
    ("ask_user", Tool("question", &[Questions("questions")])),
    (
        "glob",
        Tool(
            "glob",
            &[
                Glob("pattern"),
                SearchFolder("dir_path"),
                Ignored("case_sensitive"),
                Ignored("respect_gemini_ignore"),
                Ignored("respect_git_ignore"),
            ],
        ),
    ),
    (
        "google_web_search",
        Tool("web_search", &[Same("query", "query")]),
    ),
    (
        "grep_search",
        Tool(
            "grep",
            &[
                Same("pattern", "pattern"),
                SearchFolder("dir_path"),
                Same("include_pattern", "include"),
                Ignored("after"),
                Ignored("before"),
                Ignored("case_sensitive"),
                Ignored("context"),
                Ignored("exclude_pattern"),
                Ignored("max_matches_per_file"),
                Ignored("names_only"),
                Ignored("total_max_matches"),
                Only("fixed_strings", &[]),
                Only("no_ignore", &[]),
            ],
        ),
    ),
    (
        "list_directory",
        Tool(
            "glob",
            &[
                SearchFolder("dir_path"),
                Ignored("file_filtering_options"),
                Ignored("ignore"),
                Fixed("pattern", "*"),
                Fixed("include", "everything"),
            ],
        ),
    ),
    ("read_file", Special(translate_line_range)),
    ("replace", Special(translate_edit)),
    (
        "run_shell_command",
        Tool(
            "bash",
            &[
                Command("command"),
                Folder("dir_path"),
                Same("description", "description"),
                Ignored("delay_ms"),
                Ignored("is_background"),
            ],
        ),
    ),
    ("web_fetch", Special(translate_fetch_prompt)),
    (
        "write_file",
        Tool(
            "write",
            &[Path("file_path", "path"), Same("content", "content")],
        ),
    ),
    (
        "write_todos",
        Tool("todo", &[Todos("todos", "description")]),
    ),
    ("complete_task", Internal),
    ("enter_plan_mode", Internal),
    ("exit_plan_mode", Internal),
    ("get_internal_docs", Internal),
    ("list_background_processes", Internal),
    ("read_background_output", Internal),
    ("tracker_add_dependency", Internal),
    ("tracker_create_task", Internal),
    ("tracker_get_task", Internal),
    ("tracker_list_tasks", Internal),
    ("tracker_update_task", Internal),
    ("tracker_visualize", Internal),
    ("update_topic", Internal),
];
