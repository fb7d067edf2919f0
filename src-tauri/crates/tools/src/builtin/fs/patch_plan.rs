//! Turns a patch into the changes of every file: shown and carried out as a whole, or rejected with every reason at
//! once.

use std::collections::BTreeSet;

use protocol::call::plan::FileChange;
use protocol::view::preview::{FileDiff, Hunk as Shown};
use protocol::{Capability, Plan, Preview, ToolError};
use runtime::{PathKind, Workspace};

use crate::builtin::file_error;
use crate::builtin::fs::file_access::{as_text, missing_file_error, read_content, resolve_inside};
use crate::diff::{CONTEXT_LINES, diff_file};
use crate::limits::{PATCH_BYTES_MAX, PATCH_SHOWN_BYTES_MAX, PROBLEMS_MAX};
use crate::patch::{FilePatch, PatchAction, PatchHunk, apply_hunks};
use crate::text::format_byte_size;
use crate::tool::PreviewedPlan;

/// Plans the changes that the patch makes.
pub(in crate::builtin) fn plan_patch(
    workspace: &Workspace,
    files: &[FilePatch],
) -> Result<PreviewedPlan, ToolError> {
    let mut used = UsedPaths::default();
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for file in files {
        match plan_file(workspace, file, &mut used) {
            Ok(change) => {
                bytes += byte_len(&change);
                if bytes > PATCH_BYTES_MAX {
                    return Err(too_large_error(bytes));
                }
                changes.push(change);
            }
            Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if let Some(why) = used.find_nested_path() {
        problems.push(why);
    }
    if !problems.is_empty() {
        return Err(ToolError::Failed(format_problems(&problems)));
    }
    assemble_changes(changes)
}

/// Assembles the preview and the plan for file changes, with each file once.
pub(in crate::builtin) fn assemble_changes(
    changes: Vec<FileChange>,
) -> Result<PreviewedPlan, ToolError> {
    let (mut plan, mut diffs) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for change in changes {
        bytes += byte_len(&change);
        if bytes > PATCH_BYTES_MAX {
            return Err(too_large_error(bytes));
        }
        diffs.push(preview_diff(&change, &diffs, bytes));
        plan.extend(split_move(change));
    }
    Ok(PreviewedPlan {
        preview: Preview::Diff { files: diffs },
        plan: Plan::Write(plan),
    })
}

fn too_large_error(bytes: u64) -> ToolError {
    ToolError::Failed(format!(
        "The files of this patch are {} together, and at most {} can be changed at once; send it in parts.",
        format_byte_size(bytes),
        format_byte_size(PATCH_BYTES_MAX)
    ))
}

/// Formats all problems at once, so that the patch can be fixed in one step.
fn format_problems(problems: &[String]) -> String {
    let (shown, more) = problems.split_at(problems.len().min(PROBLEMS_MAX));
    let more = match more.len() {
        0 => String::new(),
        more => format!("\nAnd {more} more."),
    };
    format!("Nothing was changed.\n{}{more}", shown.join("\n"))
}

/// Real paths of the files that the patch uses.
#[derive(Default)]
struct UsedPaths {
    all: BTreeSet<String>,
    written: BTreeSet<String>,
}

impl UsedPaths {
    fn claim_path(
        &mut self,
        workspace: &Workspace,
        path: &str,
        how: Capability,
    ) -> Result<String, ToolError> {
        let real = resolve_inside(workspace, how, path)?;
        if !self.all.insert(real.clone()) {
            return Err(ToolError::Failed(format!(
                "`{path}`: the patch names this file twice. Put all its hunks under one head."
            )));
        }
        if how == Capability::FsWrite {
            self.written.insert(real.clone());
        }
        Ok(real)
    }

    /// Returns the reason if a file would be written below another file that the patch writes.
    fn find_nested_path(&self) -> Option<String> {
        self.written.iter().find_map(|path| {
            let above = path.match_indices('/').map(|(at, _)| &path[..at]);
            let above = above
                .into_iter()
                .find(|above| self.written.contains(*above))?;
            Some(format!(
                "`{path}`: the patch writes a file `{above}`, so nothing can be below it."
            ))
        })
    }
}

/// Plans the change of one file; the change of a moved file also has the content before.
fn plan_file(
    workspace: &Workspace,
    file: &FilePatch,
    used: &mut UsedPaths,
) -> Result<FileChange, ToolError> {
    let named_path = file.path.as_str();
    match &file.act {
        PatchAction::Add(content) => {
            let path = used.claim_path(workspace, named_path, Capability::FsWrite)?;
            ensure_free(workspace, named_path, &path)?;
            Ok(FileChange {
                path,
                from: None,
                before: None,
                after: Some(content.clone().into_bytes()),
            })
        }
        PatchAction::Delete(hunks) => {
            let path = used.claim_path(workspace, named_path, Capability::FsDelete)?;
            let before = read_plain_file(workspace, named_path, &path)?;
            if !hunks.is_empty() && !apply_file_hunks(named_path, &before, hunks)?.is_empty() {
                return Err(ToolError::Failed(format!(
                    "`{named_path}`: the patch deletes it, but it has more lines than the patch says. Read it again."
                )));
            }
            Ok(FileChange {
                path,
                from: None,
                before: Some(before),
                after: None,
            })
        }
        PatchAction::Update { to: None, hunks } => {
            let path = used.claim_path(workspace, named_path, Capability::FsWrite)?;
            let Some(before) = read_content(workspace, &path)? else {
                return Err(missing_file_error(workspace, &path));
            };
            let after = apply_file_hunks(named_path, &before, hunks)?;
            Ok(FileChange {
                path,
                from: None,
                before: Some(before),
                after: Some(after),
            })
        }
        PatchAction::Update {
            to: Some(to),
            hunks,
        } => {
            let from = used.claim_path(workspace, named_path, Capability::FsDelete)?;
            let before = read_plain_file(workspace, named_path, &from)?;
            let path = used.claim_path(workspace, to, Capability::FsWrite)?;
            ensure_free(workspace, to, &path)?;
            let after = match hunks.is_empty() {
                true => before.clone(),
                false => apply_file_hunks(named_path, &before, hunks)?,
            };
            Ok(FileChange {
                path,
                from: Some(from),
                before: Some(before),
                after: Some(after),
            })
        }
    }
}

/// Returns the file's content with the hunks applied.
fn apply_file_hunks(
    named_path: &str,
    before: &[u8],
    hunks: &[PatchHunk],
) -> Result<Vec<u8>, ToolError> {
    let text = as_text(named_path, before, "can be patched")?;
    match apply_hunks(text, hunks) {
        Ok(after) => Ok(after.into_bytes()),
        Err(problems) => {
            let problems: Vec<String> = problems
                .iter()
                .map(|why| format!("`{named_path}`: {why}"))
                .collect();
            Err(ToolError::Failed(problems.join("\n")))
        }
    }
}

/// Reads the content of a file that is to be deleted or moved: the file itself, not the target of a link.
fn read_plain_file(
    workspace: &Workspace,
    named_path: &str,
    path: &str,
) -> Result<Vec<u8>, ToolError> {
    let what = match workspace.path_kind(path).map_err(file_error)? {
        Some(PathKind::File) => {
            return read_content(workspace, path)?
                .ok_or_else(|| missing_file_error(workspace, path));
        }
        None => return Err(missing_file_error(workspace, path)),
        Some(PathKind::Folder) => "a folder",
        Some(PathKind::Link) => "a symbolic link",
        Some(PathKind::Special) => "no regular file",
    };
    Err(ToolError::Failed(format!(
        "`{named_path}` is {what}; a patch deletes and moves files only. Use delete_path or bash."
    )))
}

/// Returns an error if the path of a new file is already taken.
fn ensure_free(workspace: &Workspace, named_path: &str, path: &str) -> Result<(), ToolError> {
    match workspace.path_kind(path).map_err(file_error)? {
        None if named_path.ends_with('/') => Err(ToolError::Failed(format!(
            "`{named_path}` ends with `/`, so it names a folder; name the file."
        ))),
        None => Ok(()),
        Some(_) => Err(ToolError::Failed(format!(
            "`{named_path}` is there already, so no file can be added or moved there. Update it instead."
        ))),
    }
}

fn byte_len(change: &FileChange) -> u64 {
    let side = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len) as u64;
    side(&change.before) + side(&change.after)
}

/// Computes the difference to show, with hunks numbered after those of the preceding files. `bytes` is the size of
/// all changes shown with this one.
fn preview_diff(change: &FileChange, files: &[FileDiff], bytes: u64) -> FileDiff {
    let ids = files
        .iter()
        .flat_map(|file| &file.hunks)
        .map(|hunk| hunk.id + 1);
    let id = ids.max().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let mut file = match &change.before {
        Some(before) if change.after.is_none() && std::str::from_utf8(before).is_err() => {
            FileDiff {
                cut: Some(format!(
                    "Its content is not text ({}); it is not shown.",
                    format_byte_size(before.len() as u64)
                )),
                ..diff_file(&change.path, Some(b""), b"", id, CONTEXT_LINES)
            }
        }
        before => diff_file(&change.path, before.as_deref(), after, id, CONTEXT_LINES),
    };
    file.from.clone_from(&change.from);
    file.gone = change.after.is_none();
    if bytes > PATCH_SHOWN_BYTES_MAX && !file.hunks.is_empty() {
        file.hunks.clear();
        file.cut =
            Some("The patch is too large to be shown whole; this file is not shown.".to_owned());
    }
    if file.hunks.is_empty() {
        file.hunks.push(whole_file_item(change, id));
    }
    file
}

/// Builds the item that stands for the whole file where none of its lines are shown, so that the file can still be
/// left out.
fn whole_file_item(change: &FileChange, id: u32) -> Shown {
    let same = change.before == change.after;
    let section = match (&change.before, &change.after, &change.from) {
        (None, _, _) => "a new file",
        (_, None, _) => "the whole file goes",
        (_, _, Some(_)) if same => "moves as it is",
        (_, _, Some(_)) => "moves with changes",
        (_, _, None) => "changes",
    };
    Shown {
        id,
        old_start: 1,
        new_start: 1,
        section: section.to_owned(),
        added: 0,
        removed: 0,
        lines: Vec::new(),
    }
}

/// Splits the change of a moved file: it is removed at one path and created at the other.
fn split_move(change: FileChange) -> Vec<FileChange> {
    let Some(from) = &change.from else {
        return vec![change];
    };
    let removal = FileChange {
        path: from.clone(),
        before: change.before,
        after: None,
        from: None,
    };
    let addition = FileChange {
        before: None,
        ..change
    };
    vec![removal, addition]
}
