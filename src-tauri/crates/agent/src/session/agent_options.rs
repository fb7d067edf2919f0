//! What the agent of a session lets a person choose, as it stands on record.

use protocol::event::SessionEvent;
use protocol::session::agent_options::AgentOption;

use crate::session::Session;

/// Returns the options as they were last recorded.
pub(crate) fn recorded_options(session: &Session) -> Vec<AgentOption> {
    session.with_conversation(|conversation| conversation.agent_options.clone())
}

/// Records the options, unless they are as they were.
pub(crate) fn record_options(session: &Session, options: Vec<AgentOption>) {
    session.with_conversation(|conversation| {
        if conversation.agent_options == options {
            return;
        }
        conversation.agent_options.clone_from(&options);
        let changed = SessionEvent::AgentOptionsChanged { options };
        session.journal.record(changed);
    });
}

/// Records a choice of the person's for an agent that does not run: it is set when the agent starts.
pub(crate) fn record_choice(session: &Session, id: &str, value: &str) {
    let mut options = recorded_options(session);
    match options.iter_mut().find(|option| option.id == id) {
        Some(option) => {
            value.clone_into(&mut option.value);
            option.is_chosen = true;
        }
        None => options.push(AgentOption::before_offer(id, value)),
    }
    record_options(session, options);
}
