//! An event or an entry as the columns of its row.

use protocol::event::{CallChange, MessageChange};
use protocol::{
    CallState, CallView, Entry, EntryBody, Event, EventBody, Preview, ToolKind, ToolMode,
};
use serde_json::Value;

/// The length of a piece of streamed text; none for an event that is not such a piece.
pub(crate) fn streamed_piece_bytes(event: &Event) -> Option<usize> {
    match &event.body {
        EventBody::Message {
            change: MessageChange::AgentSaid { text, .. },
            ..
        }
        | EventBody::Call {
            change: CallChange::Output { text },
            ..
        } => Some(text.len()),
        EventBody::Session(_)
        | EventBody::Message { .. }
        | EventBody::Proposal(_)
        | EventBody::Call { .. } => None,
    }
}

/// Whether an event says that a copy was taken.
pub(crate) fn is_undo_prepared(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::Call {
            change: CallChange::UndoPrepared { .. },
            ..
        }
    )
}

/// Returns the name of the kind of an entry.
pub(crate) fn entry_body_name(body: &EntryBody) -> &'static str {
    match body {
        EntryBody::Person { .. } => "person",
        EntryBody::SubAgentTask { .. } => "sub_agent_task",
        EntryBody::Agent { .. } => "agent",
        EntryBody::Call(_) => "call",
        EntryBody::Notice(_) => "notice",
    }
}

/// Whether an entry can no longer change by itself.
pub(crate) fn is_entry_settled(entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Person { .. } | EntryBody::SubAgentTask { .. } | EntryBody::Notice(_) => true,
        EntryBody::Agent { writing, .. } => !writing,
        EntryBody::Call(view) => view.state.is_settled(),
    }
}

/// The call of an entry, if it is one.
pub(crate) fn call_of_entry(entry: &Entry) -> Option<&CallView> {
    match &entry.body {
        EntryBody::Call(view) => Some(view),
        EntryBody::Person { .. }
        | EntryBody::SubAgentTask { .. }
        | EntryBody::Agent { .. }
        | EntryBody::Notice(_) => None,
    }
}

/// The state of an entry in the full-text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexState {
    /// Not indexed: the entry neither settled nor waited yet.
    No,
    /// Indexed with the text of the entry's `folded` JSON.
    Yes,
    /// Not indexed yet although the entry settled; its `folded` JSON is not written either.
    Deferred,
}

impl IndexState {
    /// The value of its column.
    pub(crate) fn to_sql(self) -> i64 {
        match self {
            Self::No => 0,
            Self::Yes => 1,
            Self::Deferred => 2,
        }
    }

    /// From the value of its column.
    pub(crate) fn from_sql(stored: i64) -> Self {
        match stored {
            0 => Self::No,
            2 => Self::Deferred,
            _ => Self::Yes,
        }
    }
}

/// Every mode, by the name that filters use.
pub(crate) const ALL_MODES: [ToolMode; 5] = [
    ToolMode::Read,
    ToolMode::SafeWrite,
    ToolMode::Destructive,
    ToolMode::Local,
    ToolMode::External,
];

/// Every state, by the name that filters use.
pub(crate) const ALL_STATES: [CallState; 11] = [
    CallState::Proposed,
    CallState::Waiting,
    CallState::Running,
    CallState::Done,
    CallState::Failed,
    CallState::Denied,
    CallState::Rejected,
    CallState::Expired,
    CallState::Interrupted,
    CallState::Skipped,
    CallState::Undone,
];

/// A kind's name in its column.
pub(crate) fn tool_kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::Other => "other",
    }
}

/// The paths that a call is about, one a line: from its arguments, its preview and its undo
/// entry; else the target, if that is a path by the call's kind.
pub(crate) fn call_paths(view: &CallView) -> String {
    let mut paths: Vec<&str> = Vec::new();
    let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
    let named = arguments.get("path").and_then(Value::as_str);
    let drawn: Vec<&str> = match &view.preview {
        Preview::Effects(shown) => {
            let changes = shown.effects.changes.iter();
            changes.map(|change| change.path.as_str()).collect()
        }
        Preview::Diff { files } => files.iter().map(|file| file.path.as_str()).collect(),
        Preview::Loss(loss) => loss.shown.iter().map(|item| item.path.as_str()).collect(),
        Preview::Nothing
        | Preview::Command(_)
        | Preview::Response(_)
        | Preview::Form { .. }
        | Preview::Todo { .. }
        | Preview::Plan { .. }
        | Preview::Request(_) => Vec::new(),
    };
    let undo_paths = view.undo.iter().flat_map(|undo| undo.shown.iter());
    for path in named
        .into_iter()
        .chain(drawn)
        .chain(undo_paths.map(String::as_str))
    {
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return match view.kind {
            ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
                view.target.clone()
            }
            ToolKind::Search
            | ToolKind::Execute
            | ToolKind::Think
            | ToolKind::Fetch
            | ToolKind::Other => String::new(),
        };
    }
    paths.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_protocols_own() {
        for mode in ALL_MODES {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        for state in ALL_STATES {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        for kind in [
            ToolKind::Read,
            ToolKind::Edit,
            ToolKind::Delete,
            ToolKind::Move,
            ToolKind::Search,
            ToolKind::Execute,
            ToolKind::Think,
            ToolKind::Fetch,
            ToolKind::Other,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), tool_kind_name(kind));
        }
    }
}
