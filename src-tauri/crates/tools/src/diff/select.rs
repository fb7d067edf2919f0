//! Applies a choice of hunks, and describes the omitted hunks to the agent.

use std::ops::Range;
use std::sync::Arc;

use protocol::call::captured_effects::CapturedEffects;
use protocol::call::plan::FileChange;
use protocol::view::preview::{EffectsPreview, FileDiff, Hunk};
use protocol::{Effects, Plan, Preview, ToolError};

use crate::text::format_count;

/// Returns the content of a file with only these hunks applied. All hunks give the new content (of a deleted file:
/// nothing), no hunks give the old one (of a file that does not exist yet: nothing). Hunks of other files are ignored.
///
/// # Errors
/// If the difference was cut and only some of its hunks are chosen: nobody can choose from hunks that were not shown.
pub fn select_hunks(
    change: &FileChange,
    file: &FileDiff,
    hunks: &[u32],
) -> Result<Vec<u8>, ToolError> {
    let chosen = |hunk: &&Hunk| hunks.contains(&hunk.id);
    if file.hunks.iter().all(|hunk| chosen(&hunk)) {
        return Ok(change.after.clone().unwrap_or_default());
    }
    let old_bytes = change.before.as_deref().unwrap_or_default();
    if !file.hunks.iter().any(|hunk| chosen(&hunk)) {
        return Ok(old_bytes.to_vec());
    }
    if file.cut.is_some() {
        return Err(ToolError::InvalidArgs(format!(
            "the difference of {} is too large to be shown whole, so it can only be accepted whole or rejected",
            file.path
        )));
    }
    let new_bytes = change.after.as_deref().unwrap_or_default();
    let (old, new) = (split_byte_lines(old_bytes), split_byte_lines(new_bytes));
    let mut content = Vec::with_capacity(new_bytes.len());
    let mut next = 0;
    for hunk in file.hunks.iter().filter(chosen) {
        let (gone, come) = hunk_ranges(hunk);
        let (Some(kept), Some(come)) = (old.get(next..gone.start), new.get(come)) else {
            return Err(ToolError::Failed(format!(
                "The hunks of {} do not belong to its content. Look at the file again.",
                file.path
            )));
        };
        for line in kept.iter().chain(come) {
            content.extend_from_slice(line);
        }
        next = gone.end;
    }
    for line in old.get(next..).unwrap_or_default() {
        content.extend_from_slice(line);
    }
    Ok(content)
}

/// Returns the content of a file before its change; of a moved file, the content at the path that it moves from.
pub(crate) fn content_before<'a>(
    change: &'a FileChange,
    changes: &'a [FileChange],
) -> Option<&'a Vec<u8>> {
    let mut all = changes.iter();
    let source = all.find(|other| Some(&other.path) == change.from.as_ref());
    source.unwrap_or(change).before.as_ref()
}

/// Restricts the plan to these hunks of its preview. Files whose hunks are all left out are not changed, and do not
/// move; files without hunks (a new empty file that `write` makes) cannot be left out.
///
/// # Errors
/// A number that names no hunk, a choice that leaves nothing to do, a choice within a difference that was cut, and a
/// call that has no hunks to choose from.
pub fn select_plan(plan: &Plan, preview: &Preview, hunks: &[u32]) -> Result<Plan, ToolError> {
    if let (Plan::Effects(captured), Preview::Effects(shown)) = (plan, preview) {
        return select_effects(captured, shown, hunks);
    }
    let (Plan::Write(changes), Preview::Diff { files }) = (plan, preview) else {
        return Err(ToolError::InvalidArgs(
            "this call has no hunks to choose from; accept it whole or reject it".to_owned(),
        ));
    };
    let is_shown = |id: &u32| {
        files
            .iter()
            .flat_map(|file| &file.hunks)
            .any(|h| h.id == *id)
    };
    if let Some(id) = hunks.iter().find(|id| !is_shown(id)) {
        return Err(ToolError::InvalidArgs(format!(
            "there is no hunk {id} in what was shown; choose from the hunks on the card"
        )));
    }
    let mut narrowed = Vec::with_capacity(changes.len());
    for change in changes {
        let shows = |file: &&FileDiff| {
            let gone_from = file.from.as_ref().filter(|_| change.after.is_none());
            file.path == change.path || gone_from == Some(&change.path)
        };
        let Some(file) = files.iter().find(shows) else {
            return Err(ToolError::Failed(format!(
                "{} is part of the plan but was not shown; nothing was changed.",
                change.path
            )));
        };
        let is_chosen = |hunk: &Hunk| hunks.contains(&hunk.id);
        if !file.hunks.is_empty() && !file.hunks.iter().any(is_chosen) {
            continue;
        }
        // A file goes whole or stays; where it moves away, its content is chosen from at the other end.
        let is_whole = file.hunks.iter().all(is_chosen);
        let goes = change.after.is_none() && (is_whole || file.path != change.path);
        let mut part = change.clone();
        if !goes {
            let full = FileChange {
                before: content_before(change, changes).cloned(),
                ..change.clone()
            };
            part.after = Some(select_hunks(&full, file, hunks)?);
        }
        narrowed.push(part);
    }
    if narrowed.is_empty() {
        return Err(ToolError::InvalidArgs(
            "no hunk was accepted, so there is nothing to write; reject the call instead"
                .to_owned(),
        ));
    }
    Ok(Plan::Write(narrowed))
}

/// Restricts the plan to these effects.
fn select_effects(
    captured: &CapturedEffects,
    shown: &EffectsPreview,
    chosen: &[u32],
) -> Result<Plan, ToolError> {
    let is_shown = |id: &u32| shown.effects.changes.iter().any(|change| change.id == *id);
    if let Some(id) = chosen.iter().find(|id| !is_shown(id)) {
        return Err(ToolError::InvalidArgs(format!(
            "there is no change {id} in what was shown; choose from the changes on the card"
        )));
    }
    let only = captured.select_effects(&chosen.iter().copied().collect());
    match only.steps.is_empty() {
        true => Err(ToolError::InvalidArgs(
            "no change was accepted, so there is nothing to do; reject the call instead".to_owned(),
        )),
        false => Ok(Plan::Effects(Arc::new(only))),
    }
}

/// Describes the hunks that were not accepted to the agent; `None` if all were accepted.
pub fn describe_left_out(preview: &Preview, hunks: &[u32]) -> Option<String> {
    let files = match preview {
        Preview::Diff { files } => files,
        Preview::Effects(shown) => return describe_effects_left_out(&shown.effects, hunks),
        Preview::Nothing
        | Preview::Command(_)
        | Preview::Loss(_)
        | Preview::Form { .. }
        | Preview::Response(_)
        | Preview::Todo { .. }
        | Preview::Plan { .. }
        | Preview::Request(_) => return None,
    };
    let all: usize = files.iter().map(|file| file.hunks.len()).sum();
    let places: Vec<String> = files
        .iter()
        .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
        .filter(|(_, hunk)| !hunks.contains(&hunk.id))
        .map(|(file, hunk)| format_location(&file.path, hunk))
        .collect();
    if places.is_empty() {
        return None;
    }
    Some(format!(
        "The person accepted this in part and left out {} of {}: {}. There the content is as it was before; read the \
         file before you change it again, and do not repeat what was left out without asking.",
        places.len(),
        format_count(all as u64, "change", "changes"),
        places.join("; ")
    ))
}

/// Most omitted changes that are listed by path.
const LEFT_OUT_NAMED_MAX: usize = 20;

/// Describes the effects of a command that were not accepted to the agent; `None` if all were accepted.
fn describe_effects_left_out(effects: &Effects, chosen: &[u32]) -> Option<String> {
    let omitted = effects.changes.iter();
    let omitted: Vec<&str> = omitted
        .filter(|change| !chosen.contains(&change.id))
        .map(|change| change.path.as_str())
        .collect();
    let named = omitted.iter().take(LEFT_OUT_NAMED_MAX).copied();
    (!omitted.is_empty()).then(|| {
        format!(
            "The person took over only a part of what the command changed and left out {} of {}: {}{}. There everything is \
             as it was before the command.",
            omitted.len(),
            format_count(effects.changes.len() as u64, "change", "changes"),
            named.collect::<Vec<_>>().join(", "),
            match omitted.len() > LEFT_OUT_NAMED_MAX {
                true => ", …",
                false => "",
            }
        )
    })
}

/// Formats the location of a hunk: "src/a.rs lines 10 to 12 (fn parse)", counted in the old file; "src/a.rs (moves as
/// it is)" for a hunk without lines.
fn format_location(path: &str, hunk: &Hunk) -> String {
    if hunk.lines.is_empty() {
        return format!("{path} ({})", hunk.section);
    }
    let changed = |line: &&protocol::view::preview::DiffLine| line.new.is_none();
    let mut old = hunk
        .lines
        .iter()
        .filter(changed)
        .filter_map(|line| line.old);
    let lines = match (old.next(), old.next_back()) {
        (Some(first), Some(last)) => format!("lines {first} to {last}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => match hunk.lines.iter().take_while(|l| l.old.is_some()).last() {
            Some(line) => format!("after line {}", line.old.unwrap_or_default()),
            None => "at its start".to_owned(),
        },
    };
    match hunk.section.as_str() {
        "" => format!("{path} {lines}"),
        section => format!("{path} {lines} ({section})"),
    }
}

/// Returns the ranges of a hunk in the old and in the new lines.
fn hunk_ranges(hunk: &Hunk) -> (Range<usize>, Range<usize>) {
    let range = |start: u32, lines: usize| {
        let start = (start as usize).saturating_sub(1);
        start..start + lines
    };
    let old = hunk.lines.iter().filter(|line| line.old.is_some()).count();
    let new = hunk.lines.iter().filter(|line| line.new.is_some()).count();
    (range(hunk.old_start, old), range(hunk.new_start, new))
}

fn split_byte_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}
