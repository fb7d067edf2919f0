//! Built-in tools that read, search and change files of the workspace.

pub(crate) mod apply_patch;
pub(crate) mod delete_path;
pub(crate) mod edit;
pub(crate) mod file_access;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod mask_guard;
pub(crate) mod notebook;
pub(crate) mod notebook_edit;
pub(crate) mod patch_plan;
pub(crate) mod plan_tool;
pub(crate) mod query_tool;
pub(crate) mod read;
pub(crate) mod read_image;
pub(crate) mod read_lines;
pub(crate) mod replace;
pub(crate) mod repo_overview;
pub(crate) mod repo_stats;
pub(crate) mod secret_ranges;
pub(crate) mod write;
