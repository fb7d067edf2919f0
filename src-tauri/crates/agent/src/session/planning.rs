//! Planning first: until a person accepts the plan, or ends the planning, nothing that could change anything is in reach.

use policy::CallFacts;
use protocol::event::PlanningActor;
use protocol::interface::ToolOrigin;
use protocol::model::Message;
use protocol::{CallId, Capability, EventBody, Outcome, ToolInterface, ToolMode, UserError};

use crate::session::Session;

/// Why a call is denied while its agent plans, as its agent and its person read it.
const HIDDEN_TOOLS_REASON: &str =
    "The agent is planning: nothing is changed and no command runs before the plan is accepted.";
/// How a tool is carried out that gives work to an agent below, which then plans as well.
const DELEGATE_TOOL: &str = "delegate";

/// Why a call of this tool is out of reach at the moment, if planning keeps it so. Whoever only reads is in reach, by its
/// mode or, of the house's own tools, by its own word; what others say of theirs is not believed.
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

/// Lets a session's model hear how a call ended. If its agent planned with it, or came to an accepted plan, that is told.
pub(crate) fn apply_outcome(session: &Session, call: &CallId, outcome: &Outcome) {
    let set = session.with_conversation(|conversation| {
        let before = conversation.planning;
        conversation.add_outcome(call, outcome);
        (conversation.planning != before).then_some(conversation.planning)
    });
    if let Some(on) = set {
        let by = PlanningActor::Agent;
        session.journal.record(EventBody::PlanningSet { on, by });
    }
}

/// Switches planning on or off, by a person's word or as the caller of a session has it, and lets the model know.
///
/// # Errors
/// It could not be recorded; nothing changed then.
pub(crate) async fn set_planning(
    session: &Session,
    on: bool,
    by: PlanningActor,
) -> Result<(), UserError> {
    if session.with_conversation(|conversation| conversation.planning) == on {
        return Ok(());
    }
    session
        .journal
        .record_synced(EventBody::PlanningSet { on, by })
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

/// What the model hears of a switch; nothing of its own.
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
