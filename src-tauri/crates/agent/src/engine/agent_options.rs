//! Setting and asking for the options of a session's agent.

use std::sync::Arc;

use protocol::event::{Notice, SessionEvent};
use protocol::op::OpReceipt;
use protocol::session::agent_options::AgentOption;
use protocol::{EventBody, NoticeLevel, SessionId, UserError};

use crate::engine::model_options;
use crate::session::Session;
use crate::session::agent_options::{record_choice, record_options, recorded_options};
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::engine_state::EngineState;

/// The options of a session's agent on record. Whatever runs the agent keeps them up to date, also between turns.
pub struct AgentOptionRecord {
    session: Arc<Session>,
}

impl AgentOptionRecord {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// Returns the options as they were last recorded, maybe by an earlier process.
    pub fn options(&self) -> Vec<AgentOption> {
        recorded_options(&self.session)
    }

    /// Records the options, unless they are as they were.
    pub fn update(&self, options: Vec<AgentOption>) {
        record_options(&self.session, options);
    }

    /// Records a notice for the person.
    pub fn add_notice(&self, level: NoticeLevel, fault: UserError) {
        let notice = Notice { level, fault };
        let added = SessionEvent::NoticeAdded { notice };
        self.session.journal.record(added);
    }
}

/// Sets an option of a session's agent: at once if the agent runs, and otherwise when it starts.
pub(crate) async fn set_agent_option(
    engine: &Arc<EngineState>,
    session: &SessionId,
    option: &str,
    value: &str,
) -> Result<OpReceipt, UserError> {
    let session = engine.session(session)?;
    if session.model().provider != AGENT_PROVIDER {
        return model_options::set_model_option(engine, &session, option, value).await;
    }
    let _nobody_else = session.lock.acquire(&session.tool_context.folder)?;
    let known = recorded_options(&session);
    if known.iter().any(AgentOption::is_offered) {
        AgentOption::check_value(&known, option, value)?;
    }
    let runner = engine.agent_runner()?;
    if !runner.set_option(&session.id, option, value).await? {
        record_choice(&session, option, value);
    }
    session.journal.sync().await?;
    Ok(OpReceipt::default())
}

/// Returns the options of a session's agent, as whichever process works in the session last recorded them.
pub(crate) async fn list_agent_options(
    engine: &EngineState,
    session: &SessionId,
) -> Result<Vec<AgentOption>, UserError> {
    let Some(view) = engine.record.session(session)? else {
        return Ok(Vec::new());
    };
    if view.model.provider != AGENT_PROVIDER {
        return Ok(model_options::list_model_options(engine, &view).await);
    }
    let Some(changed) = view.agent_options else {
        return Ok(Vec::new());
    };
    let events = engine.record.events(changed - 1, Some(session), 1)?;
    let options = events.into_iter().find_map(|event| match event.body {
        EventBody::Session(SessionEvent::AgentOptionsChanged { options }) => Some(options),
        _ => None,
    });
    Ok(options.unwrap_or_default())
}
