//! A run in which an agent of somebody else answers: its turns, until the person has nothing more to say or stops it.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{Message, SessionState, UserError};

use super::RunEnd;
use crate::session::agent_runner::{AgentPrompt, untold_text};
use crate::session::run_state::run_limits::RunMeter;
use crate::session::{Session, StopReason};

/// Prompt of a run that the person resumed without a word.
const RESUME_PROMPT: &str = "Go on.";

/// Runs turns of the session's agent, each with what the person said since the last one.
pub(super) async fn run_agent_turns(
    session: &Arc<Session>,
    meter: RunMeter,
) -> Result<RunEnd, UserError> {
    let stop = session.cancellation_token();
    let runner = session.engine.agent_runner()?;
    let meter = Arc::new(Mutex::new(meter));
    session.reload_rules();
    session.reload_tools();
    session.set_state(SessionState::Running);
    loop {
        for said in session.take_steering() {
            session.with_conversation(|conversation| conversation.push_message(said));
        }
        let begun = meter.lock().begin_turn();
        if let Err(reached) = begun {
            session.stop_with_reason(StopReason::Limit(reached));
            return Ok(RunEnd::Stopped);
        }
        let prompt = take_prompt(session);
        let end = runner.run_turn(session, prompt, meter.clone()).await?;
        meter.lock().add_usage(&end.usage);
        session.journal.check_errors()?;
        match (stop.is_cancelled(), end.error) {
            (true, _) => return Ok(RunEnd::Stopped),
            (false, Some(_)) => return Ok(RunEnd::Failed),
            (false, None) if !session.is_steered() => return Ok(RunEnd::Done),
            (false, None) => {}
        }
    }
}

/// Returns what the person said since the agent's last turn, after what the agent was not told yet.
fn take_prompt(session: &Session) -> AgentPrompt {
    let (mut texts, mut prompt_images) = (Vec::new(), Vec::new());
    session.with_conversation(|conversation| {
        let mut before = conversation.messages.iter().rev();
        let answer = before.find(|message| matches!(message, Message::Assistant { .. }));
        texts.extend(answer.and_then(untold_text).map(str::to_owned));
        let said = conversation.messages.iter().rev();
        let said = said.take_while(|message| !matches!(message, Message::Assistant { .. }));
        let said: Vec<_> = said.collect();
        for message in said.into_iter().rev() {
            if let Message::User { text, images } = message {
                texts.push(text.clone());
                prompt_images.extend(images.iter().cloned());
            }
        }
    });
    if texts.is_empty() {
        texts.push(RESUME_PROMPT.to_owned());
    }
    AgentPrompt {
        text: texts.join("\n\n"),
        images: prompt_images,
    }
}
