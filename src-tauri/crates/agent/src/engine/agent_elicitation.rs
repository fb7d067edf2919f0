//! Questions of a session's agent to the person, beside its calls: asked, answered, and recorded as those of a server.

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::AgentToolReach;
use tools::elicitation::{ElicitationChannel as _, ElicitationReply, ElicitationRequest};

use crate::engine::delegated_calls::{
    DelegatedCall, DelegatedResult, DelegatedTool, DelegatedVerdict,
};
use crate::engine::external_agents::AgentTurn;
use crate::session::elicitation::ElicitationHandler;

/// Name of the agent's tool as which a question stands on record.
const ELICITATION_TOOL: &str = "elicitation";

impl AgentTurn {
    /// Asks the person what the agent wants to know: a form, or to open an address, as the protocols of agents and of
    /// servers write it. The question is a call of the agent's own, in `namespace`, which rules can deny. `cancel`
    /// withdraws it.
    ///
    /// # Errors
    /// The person cannot be asked this, or the record cannot be written.
    pub async fn elicit(
        &self,
        namespace: &str,
        asked: &Value,
        cancel: &CancellationToken,
    ) -> Result<ElicitationReply, UserError> {
        if cancel.is_cancelled() {
            return Ok(ElicitationReply::Dismissed);
        }
        let (message, kind) = mcp::parse_elicitation(asked)
            .map_err(|why| UserError::new(format!("The person cannot be asked this: {why}"), ""))?;
        let server = ServerId::from_nearest(namespace).ok_or_else(|| {
            UserError::new(
                format!("The agent `{namespace}` has no name to ask by."),
                "",
            )
        })?;
        let call = DelegatedCall {
            tool: DelegatedTool::Foreign {
                namespace: namespace.to_owned(),
                name: ELICITATION_TOOL.to_owned(),
                reach: AgentToolReach::Agent,
            },
            arguments: Map::from_iter([("message".to_owned(), message.clone().into())]),
            can_fetch: false,
        };
        let call = match self.judge(call, cancel).await? {
            DelegatedVerdict::Approved { call, .. } => call,
            DelegatedVerdict::Ended(_) if cancel.is_cancelled() => {
                return Ok(ElicitationReply::Dismissed);
            }
            DelegatedVerdict::Ended(_) => return Ok(ElicitationReply::Declined),
        };
        let asker = ElicitationHandler::register(self.session_state(), &call);
        let asking = ElicitationRequest {
            server,
            message,
            kind,
        };
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => ElicitationReply::Dismissed,
            reply = asker.ask(asking) => reply,
        };
        asker.unregister();
        self.report(&call, to_result(&reply)).await?;
        Ok(reply)
    }
}

/// Returns the result of the question's call, which holds none of the person's answers.
fn to_result(reply: &ElicitationReply) -> DelegatedResult {
    let text = match reply {
        ElicitationReply::Filled(_) => "The person filled in the form.",
        ElicitationReply::Opened => "The person opened the address.",
        ElicitationReply::Dismissed => {
            return DelegatedResult::Failed("Nobody answered.".to_owned());
        }
        ElicitationReply::Declined
        | ElicitationReply::Sampled { .. }
        | ElicitationReply::Failed(_) => "The person declined to answer.",
    };
    DelegatedResult::Succeeded(text.to_owned())
}
