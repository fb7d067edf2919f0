//! A call as an editor shows it: its kind, its state, the files that it is about, and its content.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    ContentBlock, ImageContent, ResourceLink, ToolCall, ToolCallContent, ToolCallId,
    ToolCallLocation, ToolCallStatus, ToolKind,
};
use protocol::rule::evidence::Evidence;
use protocol::text::cut::take_tail;
use protocol::text::fence::fence;
use protocol::{
    CallId, CallState, CallView, Capability, Content, Outcome, Preview, SessionId,
    ToolKind as CallKind,
};
use serde_json::Value;

use super::previews::describe_preview;
use crate::limits::LIVE_OUTPUT_BYTES_MAX;

/// Returns the id of a call for the editor, which knows the session of the person and not those of its sub-agents.
pub(super) fn tool_call_id(known: &SessionId, session: &SessionId, call: &CallId) -> ToolCallId {
    match known == session {
        true => ToolCallId::new(call.as_str()),
        false => ToolCallId::new(format!("{session}/{call}")),
    }
}

/// Returns a call with everything that is known about it.
pub(super) fn describe_call(id: ToolCallId, view: &CallView, root: &Path) -> ToolCall {
    let title = match view.target.is_empty() {
        true => view.title.clone(),
        false => format!("{} {}", view.title, view.target),
    };
    let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
    ToolCall::new(id, title)
        .name(view.tool.clone())
        .kind(to_tool_kind(view.kind))
        .status(to_status(view.state))
        .content(describe_content(view, root))
        .locations(find_changed_places(&view.preview, root))
        .raw_input(Value::Object(arguments.clone()))
}

/// `S002-98`: our kinds are ACP's.
fn to_tool_kind(kind: CallKind) -> ToolKind {
    match kind {
        CallKind::Read => ToolKind::Read,
        CallKind::Edit => ToolKind::Edit,
        CallKind::Delete => ToolKind::Delete,
        CallKind::Move => ToolKind::Move,
        CallKind::Search => ToolKind::Search,
        CallKind::Execute => ToolKind::Execute,
        CallKind::Think => ToolKind::Think,
        CallKind::Fetch => ToolKind::Fetch,
        CallKind::Other => ToolKind::Other,
    }
}

fn to_status(state: CallState) -> ToolCallStatus {
    match state {
        CallState::Proposed | CallState::Waiting => ToolCallStatus::Pending,
        CallState::Running => ToolCallStatus::InProgress,
        CallState::Done | CallState::Undone => ToolCallStatus::Completed,
        CallState::Failed
        | CallState::Denied
        | CallState::Rejected
        | CallState::Expired
        | CallState::Interrupted
        | CallState::Skipped => ToolCallStatus::Failed,
    }
}

/// Returns what a card shows of a call while it is open, with its output so far, and its result once it ended.
fn describe_content(view: &CallView, root: &Path) -> Vec<ToolCallContent> {
    let Some(outcome) = &view.outcome else {
        let mut content = describe_preview(&view.preview, root);
        if !view.output.is_empty() {
            content.push(fence(take_tail(&view.output, LIVE_OUTPUT_BYTES_MAX)).into());
        }
        return content;
    };
    let changes = describe_preview(&view.preview, root)
        .into_iter()
        .filter(|part| outcome.is_success() && matches!(part, ToolCallContent::Diff(_)));
    changes
        .chain(describe_outcome(view.kind, outcome))
        .collect()
}

fn describe_outcome(kind: CallKind, outcome: &Outcome) -> impl Iterator<Item = ToolCallContent> {
    let text = match (&*outcome.text, kind) {
        ("", _) => outcome.message.clone(),
        (text, CallKind::Execute | CallKind::Read | CallKind::Search) if outcome.is_success() => {
            fence(text)
        }
        (text, _) => text.to_owned(),
    };
    let text: ToolCallContent = text.into();
    let beside = outcome
        .content
        .iter()
        .map(|item| to_content_block(item).into());
    std::iter::once(text).chain(beside)
}

fn to_content_block(item: &Content) -> ContentBlock {
    match item {
        Content::Text { text } => text.as_str().into(),
        Content::Image { mime, base64 } => ContentBlock::Image(ImageContent::new(base64, mime)),
        Content::Resource { uri, title, mime } => {
            let name = if title.is_empty() { uri } else { title };
            ContentBlock::ResourceLink(ResourceLink::new(name, uri).mime_type(mime.clone()))
        }
    }
}

/// Returns the files that a call changes, each with the first line that it changes.
fn find_changed_places(preview: &Preview, root: &Path) -> Vec<ToolCallLocation> {
    let files: Vec<_> = match preview {
        Preview::Diff { files } => files.iter().collect(),
        Preview::Effects(shown) => {
            let changes = shown.effects.changes.iter();
            changes.filter_map(|change| change.diff.as_ref()).collect()
        }
        Preview::Nothing
        | Preview::Command(_)
        | Preview::Loss(_)
        | Preview::Form { .. }
        | Preview::Response(_)
        | Preview::Todo { .. }
        | Preview::Plan { .. }
        | Preview::Request(_) => Vec::new(),
    };
    let places = files.into_iter().map(|file| {
        let line = file.hunks.first().map(|hunk| hunk.new_start);
        ToolCallLocation::new(root.join(&file.path)).line(line)
    });
    places.collect()
}

/// Returns the files that a call is judged on.
pub(super) fn find_judged_places(evidence: &Evidence, root: &Path) -> Vec<ToolCallLocation> {
    let facts = evidence.facts.iter().filter(|fact| match fact.capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => !fact.derived,
        Capability::NetFetch | Capability::ShellRun => false,
    });
    let mut paths: Vec<PathBuf> = facts.map(|fact| root.join(&fact.real)).collect();
    paths.dedup();
    paths.into_iter().map(ToolCallLocation::new).collect()
}
