//! Plan mode: until a person accepts the plan, or ends the planning, nothing that could change anything is available.

use policy::CallFacts;
use protocol::event::{PlanningActor, SessionEvent};
use protocol::interface::ToolOrigin;
use protocol::model::Message;
use protocol::{CallId, Capability, Outcome, ToolInterface, ToolMode, UserError};

use crate::session::Session;
use crate::session::agent_runner::AGENT_PROVIDER;

/// Reason why a call is denied while its agent plans, for the agent and the person.
const HIDDEN_TOOLS_REASON: &str =
    "The agent is planning: nothing is changed and no command runs before the plan is accepted.";
/// Execution profile of the tool that starts a sub-agent task, whose agent then plans as well.
const DELEGATE_TOOL: &str = "delegate";

/// Returns the reason why planning currently hides this tool, if it does. A tool that only reads is available: by its
/// mode or, for built-in tools, by its own declaration; the declaration of an external tool is not trusted.
pub(crate) fn is_hidden(
    session: &Session,
    interface: &ToolInterface,
    facts: &CallFacts,
) -> Option<String> {
    if !session.with_conversation(|conversation| conversation.planning) {
        return None;
    }
    let looks = facts.all().iter().all(|fact| match fact.capability {
        Capability::FsRead | Capability::NetFetch => true,
        Capability::FsWrite | Capability::FsDelete | Capability::ShellRun => false,
    });
    let is_own = interface.origin == ToolOrigin::BuiltIn;
    let is_delegate = interface.execution.execution_profile_ref == DELEGATE_TOOL;
    let reads = interface.safety.mode == Some(ToolMode::Read)
        || is_delegate
        || is_own && interface.safety.is_read_only;
    (!(looks && reads)).then(|| HIDDEN_TOOLS_REASON.to_owned())
}

/// Adds the outcome of a call to the conversation. If the call began the planning or led to an accepted plan, that
/// change is recorded.
pub(crate) fn apply_outcome(session: &Session, call: &CallId, outcome: &Outcome) {
    let set = session.with_conversation(|conversation| {
        let before = conversation.planning;
        conversation.add_outcome(call, outcome);
        (conversation.planning != before).then_some(conversation.planning)
    });
    if let Some(on) = set {
        let by = PlanningActor::Agent;
        session.journal.record(SessionEvent::PlanningSet { on, by });
    }
}

/// Checks that whoever answers with this provider can hand in a plan. An agent of somebody else has no way to.
///
/// # Errors
/// It has none.
pub(crate) fn check_can_plan(provider: &str) -> Result<(), UserError> {
    match provider == AGENT_PROVIDER {
        true => Err(UserError::new(
            "An agent of somebody else cannot hand in a plan here.",
            "Ask it for a plan in your message, or choose a mode of the agent in which it plans.",
        )),
        false => Ok(()),
    }
}

/// Switches planning on or off, on request of a person or to match the session's caller, and tells the model.
///
/// # Errors
/// Whoever answers cannot hand in a plan, or the change could not be recorded; nothing changed in either case.
pub(crate) async fn set_planning(
    session: &Session,
    on: bool,
    by: PlanningActor,
) -> Result<(), UserError> {
    if session.with_conversation(|conversation| conversation.planning) == on {
        return Ok(());
    }
    if on {
        check_can_plan(&session.model().provider)?;
    }
    session
        .journal
        .record_synced(SessionEvent::PlanningSet { on, by })
        .await?;
    session.with_conversation(|conversation| conversation.planning = on);
    let Some(told) = planning_notice(on, by) else {
        return Ok(());
    };
    if let Err(told) = session.steer(Message::user(told)) {
        session.with_conversation(|conversation| conversation.push_message(told));
    }
    Ok(())
}

/// Returns the message to the model about a switch of planning; none if the model's own call made the switch, or its
/// caller ended the planning.
pub(crate) fn planning_notice(on: bool, by: PlanningActor) -> Option<&'static str> {
    match (by, on) {
        (PlanningActor::Agent, _) => None,
        (PlanningActor::Person, true) => Some(
            "The person wants a plan before anything is changed. Look around and ask; nothing can be changed and no command \
             can run before they have accepted your plan. When nothing about it is open any more, give it with `plan_exit`.",
        ),
        (PlanningActor::Person, false) => {
            Some("The person ended the planning. You can change things and run commands again.")
        }
        (PlanningActor::Caller, true) => Some(
            "Whoever you work for is planning: you can look around, but not change anything or run commands. Answer with \
             what you found.",
        ),
        (PlanningActor::Caller, false) => None,
    }
}
