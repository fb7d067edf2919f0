//! What happened in a session, as updates for an editor.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Notice as EditorNotice, NoticeSeverity, Plan, PlanEntry,
    PlanEntryPriority, PlanEntryStatus, SessionInfoUpdate, SessionUpdate,
};
use protocol::event::MessageChange;
use protocol::view::preview::{TodoItem, TodoStatus};
use protocol::{
    CallId, CallState, CallView, Entry, EntryBody, MessageId, Notice, NoticeLevel, Preview,
    UserError,
};

use super::tool_calls::{describe_call, tool_call_id};

/// Returns the update for a change of a message. What the person said is not repeated to the editor that said it.
pub(super) fn update_from_message(
    message: &MessageId,
    change: &MessageChange,
) -> Option<SessionUpdate> {
    match change {
        MessageChange::AgentSaid {
            text,
            reasoning: true,
        } => Some(SessionUpdate::AgentThoughtChunk(chunk(message, text))),
        MessageChange::AgentSaid {
            text,
            reasoning: false,
        } => Some(SessionUpdate::AgentMessageChunk(chunk(message, text))),
        MessageChange::PersonSaid { .. }
        | MessageChange::SubAgentFinished { .. }
        | MessageChange::TurnStarted { .. }
        | MessageChange::AnswerChecked { .. }
        | MessageChange::TurnEnded { .. } => None,
    }
}

fn chunk(message: &MessageId, text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text)).message_id(message.as_str())
}

/// Returns the update for a new title.
pub(super) fn update_title(title: &str) -> SessionUpdate {
    SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.to_owned()))
}

/// Returns the update for a notice. An editor that takes no notices is told as if the agent said it, unless it is only
/// good to know.
pub(super) fn update_from_notice(notice: &Notice, takes_notices: bool) -> Option<SessionUpdate> {
    let UserError { message, hint, .. } = &notice.fault;
    let severity = match notice.level {
        NoticeLevel::Note => NoticeSeverity::Info,
        NoticeLevel::Warning => NoticeSeverity::Warning,
        NoticeLevel::Error => NoticeSeverity::Error,
    };
    if takes_notices {
        let hint = Some(hint.clone()).filter(|hint| !hint.is_empty());
        let notice = EditorNotice::new(severity, message).description(hint);
        return Some(SessionUpdate::Notice(notice));
    }
    (notice.level != NoticeLevel::Note).then(|| {
        let text = format!("\n\nCountersign: {}\n\n", notice.fault);
        SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()))
    })
}

/// Returns the update for the list of things to do that a call set; none for other calls.
pub(super) fn update_from_todo(view: &CallView) -> Option<SessionUpdate> {
    let Preview::Todo { items } = &view.preview else {
        return None;
    };
    (view.state == CallState::Done)
        .then(|| SessionUpdate::Plan(Plan::new(items.iter().map(to_plan_entry).collect())))
}

fn to_plan_entry(item: &TodoItem) -> PlanEntry {
    let status = match item.status {
        TodoStatus::Pending => PlanEntryStatus::Pending,
        TodoStatus::InProgress => PlanEntryStatus::InProgress,
        TodoStatus::Completed => PlanEntryStatus::Completed,
    };
    PlanEntry::new(&item.content, PlanEntryPriority::Medium, status)
}

/// Returns the updates from which an editor shows an entry of a session's history.
pub(super) fn updates_from_entry(entry: &Entry, root: &Path) -> Vec<SessionUpdate> {
    let id = MessageId::from(entry.id.as_str());
    match &entry.body {
        EntryBody::Person { text, .. } => vec![SessionUpdate::UserMessageChunk(chunk(&id, text))],
        EntryBody::Agent {
            text, reasoning, ..
        } => {
            let thought = (!reasoning.is_empty())
                .then(|| SessionUpdate::AgentThoughtChunk(chunk(&id, reasoning)));
            let said =
                (!text.is_empty()).then(|| SessionUpdate::AgentMessageChunk(chunk(&id, text)));
            thought.into_iter().chain(said).collect()
        }
        EntryBody::Call(view) => {
            let call = CallId::from(entry.id.as_str());
            let id = tool_call_id(&entry.session, &entry.session, &call);
            let told = SessionUpdate::ToolCall(describe_call(id, view, root));
            std::iter::once(told)
                .chain(update_from_todo(view))
                .collect()
        }
        EntryBody::SubAgentTask { .. } | EntryBody::Notice(_) => Vec::new(),
    }
}
