//! A turn of an enclosed agent: it is started in a sandbox over a fresh layer, goes on with its own session, and is ended
//! with its turn. What it changed is judged then, and it is told what was not carried out.

use std::sync::Arc;

use agent::{AgentPrompt, AgentTurn, AgentTurnEnd, ClientOutcome};
use protocol::UserError;

use super::agent_command::AgentCommand;
use super::connection::AgentConnection;
use super::{AcpAgents, failed_end, stop_error, stopped_error};
use crate::limits::FEEDBACK_PROMPTS_MAX;

/// What an agent is told of a turn that was stopped.
const STOPPED_TEXT: &str = "The person stopped your last turn, and nothing that it changed was applied: the folder is as it was before it.";

/// The end of one prompt of an enclosed agent.
struct PromptEnd {
    end: AgentTurnEnd,
    /// Whether the agent can be told at once, in its own session.
    can_be_told: bool,
}

impl AcpAgents {
    /// Gives an enclosed agent a prompt. Where its changes are refused for a reason, it is told in another prompt.
    pub(super) async fn run_enclosed(
        &self,
        turn: Arc<AgentTurn>,
        prompt: AgentPrompt,
    ) -> AgentTurnEnd {
        let mut all = AgentTurnEnd::default();
        let mut prompt = prompt;
        for told in 0..=FEEDBACK_PROMPTS_MAX {
            let PromptEnd { end, can_be_told } = self
                .prompt_enclosed(&turn, prompt)
                .await
                .unwrap_or_else(|error| PromptEnd {
                    end: failed_end(error),
                    can_be_told: false,
                });
            all.usage = all.usage.plus(end.usage);
            all.context = end.context.or(all.context);
            (all.error, all.untold) = (end.error, end.untold);
            let goes_on = can_be_told && told < FEEDBACK_PROMPTS_MAX && all.error.is_none();
            match all.untold.take_if(|_| goes_on) {
                Some(text) => {
                    turn.end_message();
                    prompt = AgentPrompt {
                        text,
                        images: Vec::new(),
                    };
                }
                None => break,
            }
        }
        all
    }

    async fn prompt_enclosed(
        &self,
        turn: &Arc<AgentTurn>,
        prompt: AgentPrompt,
    ) -> Result<PromptEnd, UserError> {
        let command = AgentCommand::resolve(&turn.agent(), &self.commands)?;
        if let Some(elsewhere) = &command.elsewhere {
            return Err(elsewhere_error(elsewhere));
        }
        let title = command.title.clone();
        let agent = tokio::select! {
            agent = AgentConnection::open(command, turn, self) => agent?,
            () = turn.stop_token().cancelled() => return Err(stopped_error()),
        };
        let handler = Arc::new(agent.begin_turn(turn.clone()));
        let stop = agent.prompt(&handler, prompt).await;
        let used = handler.finish().await;
        let can_go_on = agent.can_go_on();
        let changed = agent.end().await;
        let mut end = AgentTurnEnd {
            usage: used.to_usage(None),
            context: used.context,
            error: match stop {
                Ok(stop) => stop_error(stop),
                Err(error) => Some(error),
            },
            untold: None,
        };
        if turn.stop_token().is_cancelled() {
            end.untold = Some(STOPPED_TEXT.to_owned());
            return Ok(PromptEnd {
                end,
                can_be_told: false,
            });
        }
        let Some(changed) = changed else {
            return Err(stopped_error());
        };
        let outcome = turn.take_over(&title, changed).await?;
        end.untold = outcome.as_ref().and_then(untold_of);
        let is_refused = outcome.is_some_and(|outcome| {
            let ended = &outcome.outcome;
            !ended.is_success() && !ended.is_terminal() && outcome.gives_reason()
        });
        Ok(PromptEnd {
            end,
            can_be_told: can_go_on && is_refused && !turn.stop_token().is_cancelled(),
        })
    }
}

fn elsewhere_error(elsewhere: &str) -> UserError {
    UserError::new(
        format!("An agent that works elsewhere cannot be enclosed: `{elsewhere}`."),
        "A sandbox here holds nothing that it does there. Begin a session without it, or enclose the agent there.",
    )
}

/// Returns what an agent has to be told of the changes of its turn: that they were not carried out, or not all of them.
fn untold_of(outcome: &ClientOutcome) -> Option<String> {
    let outcome = &outcome.outcome;
    match outcome.is_success() {
        true if outcome.notes.is_empty() => None,
        true => Some(format!(
            "What you changed in your last turn was applied, but not as it was: {}",
            outcome.notes.join(" ")
        )),
        false => Some(format!(
            "Nothing that you changed in your last turn was applied: the folder is as it was before it. {}",
            outcome.text.trim()
        )),
    }
}
