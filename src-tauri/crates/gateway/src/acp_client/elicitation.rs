//! What an agent asks its person beside its calls: a form, or to open an address.

use std::collections::BTreeMap;

use agent::ElicitationReply;
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, CreateElicitationResponse, ElicitationAcceptAction,
    ElicitationAction, ElicitationContentValue,
};
use serde_json::Value;

use super::turn_handler::TurnHandler;

/// Asks the person what the agent wants to know, and returns the answer.
///
/// # Errors
/// The request is none that a person can be asked, or the record cannot be written.
pub(super) async fn ask_person(
    handler: &TurnHandler,
    request: &CreateElicitationRequest,
) -> Result<CreateElicitationResponse, Error> {
    let asked = serde_json::to_value(request)?;
    let namespace = &handler.command.namespace;
    let replied = handler.turn.elicit(namespace, &asked, &handler.over).await;
    let reply = replied.map_err(|fault| Error::invalid_params().data(fault.message))?;
    Ok(CreateElicitationResponse::new(to_action(reply)?))
}

fn to_action(reply: ElicitationReply) -> Result<ElicitationAction, Error> {
    Ok(match reply {
        ElicitationReply::Filled(values) => {
            let content: BTreeMap<String, ElicitationContentValue> =
                serde_json::from_value(Value::Object(values))?;
            ElicitationAction::Accept(ElicitationAcceptAction::new().content(content))
        }
        ElicitationReply::Opened => ElicitationAction::Accept(ElicitationAcceptAction::new()),
        ElicitationReply::Dismissed => ElicitationAction::Cancel,
        // An agent asks for no model.
        ElicitationReply::Declined
        | ElicitationReply::Sampled { .. }
        | ElicitationReply::Failed(_) => ElicitationAction::Decline,
    })
}
