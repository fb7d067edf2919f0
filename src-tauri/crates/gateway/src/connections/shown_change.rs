//! A change in two steps, as the window makes it: it is shown, and only what was shown is made.

use protocol::connection::{ConnectionAction, ConnectionPlan};
use protocol::{Digest, UserError};

use super::agents::{ConnectableAgent, find_agent};
use super::change::{ConnectionChange, UNCHANGED, plan_connect, plan_disconnect};
use super::servers::{
    ServersChange, ServersPlan, plan_servers_behind_gateway, plan_servers_restored,
};
use super::survey::ConnectionPlace;

/// A change of an agent's configuration.
enum PlannedChange {
    Hooks(ConnectionChange),
    Servers(ServersChange),
}

/// A change, and how it is shown.
struct ShownChange {
    change: PlannedChange,
    plan: ConnectionPlan,
}

/// Plans a change of the agent with a name, to be shown; `None` if there is nothing to change.
///
/// # Errors
/// There is no such agent, or its configuration cannot be read or edited.
pub fn plan_change(
    id: &str,
    action: ConnectionAction,
    place: &ConnectionPlace,
) -> Result<Option<ConnectionPlan>, UserError> {
    let shown = plan_shown_change(find_agent(id)?, action, place)?;
    Ok(shown.map(|shown| shown.plan))
}

/// Makes a change of the agent with a name, if it is the one that was shown with this digest.
///
/// # Errors
/// The file changed since, so that another change would be made; or as [`plan_change`]; or it may not be written.
pub fn make_shown_change(
    id: &str,
    action: ConnectionAction,
    shown: &Digest,
    place: &ConnectionPlace,
) -> Result<(), UserError> {
    let agent = find_agent(id)?;
    let planned = plan_shown_change(agent, action, place)?;
    let subject = match &planned {
        Some(planned) if planned.plan.digest == *shown => return planned.change.apply(),
        Some(planned) => planned.plan.diff.path.clone(),
        None => format!("The configuration of {}", agent.title),
    };
    Err(UserError::new(
        format!("{subject} changed since this was shown."),
        format!("Look at it again. {UNCHANGED}"),
    ))
}

fn plan_shown_change(
    agent: &'static ConnectableAgent,
    action: ConnectionAction,
    place: &ConnectionPlace,
) -> Result<Option<ShownChange>, UserError> {
    let hooks = |change: Option<ConnectionChange>| {
        change.map(|change| ShownChange {
            plan: change.to_plan(),
            change: PlannedChange::Hooks(change),
        })
    };
    let servers = |planned: ServersPlan| match planned.change {
        Some(change) => Ok(Some(ShownChange {
            plan: change.to_plan(planned.notes)?,
            change: PlannedChange::Servers(change),
        })),
        None => Ok(None),
    };
    match action {
        ConnectionAction::Connect => plan_connect(agent, place).map(hooks),
        ConnectionAction::Disconnect => plan_disconnect(agent, place).map(hooks),
        ConnectionAction::ConnectServers => servers(plan_servers_behind_gateway(agent, place)?),
        ConnectionAction::RestoreServers => servers(plan_servers_restored(agent, place)?),
    }
}

impl PlannedChange {
    fn apply(&self) -> Result<(), UserError> {
        match self {
            Self::Hooks(change) => change.apply(),
            Self::Servers(change) => change.apply(),
        }
    }
}
