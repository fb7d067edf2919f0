//! The session of an agent is opened: a new one, the one that it had here before, or one that it has had by itself.

use std::path::Path;

use agent::AgentTurn;
use agent_client_protocol::v1::schema::{
    ForkSessionRequest, ForkSessionResponse, InitializeResponse, LoadSessionRequest, Meta,
    NewSessionRequest, NewSessionResponse, ResumeSessionRequest, SessionId,
};
use agent_client_protocol::{Error, ErrorCode, JsonRpcMessage as _, UntypedMessage};
use protocol::event::FormerAgentSession;
use protocol::{NoticeLevel, UserError};
use serde_json::Value;

use super::connection::AgentConnection;

/// A session that an agent has opened.
pub(super) struct OpenedSession {
    pub id: SessionId,
    /// Whether the agent had it before.
    pub is_former: bool,
}

impl AgentConnection {
    /// Opens the agent's session, and takes what it offers to choose in it.
    pub(super) async fn open_session(
        &self,
        turn: &AgentTurn,
        hello: &InitializeResponse,
    ) -> Result<OpenedSession, Error> {
        let former = turn.agent_session().map(SessionId::new);
        if former.is_none()
            && let Some(wanted) = turn.former_session()
        {
            return self.open_former_session(turn, hello, wanted).await;
        }
        if let Some(id) = &former
            && self.can_go_on()
        {
            match self.reopen_session(turn.folder(), id).await {
                Err(error) if error.code == ErrorCode::AUTH_REQUIRED => return Err(error),
                // The agent has lost it, as one may that was killed.
                Err(error) => tracing::info!(%error, "an agent cannot go on with its session"),
                Ok(()) => {
                    return Ok(OpenedSession {
                        id: id.clone(),
                        is_former: true,
                    });
                }
            }
        }
        let request = NewSessionRequest::new(turn.folder())
            .mcp_servers(self.mcp_servers.clone())
            .meta(self.meta());
        let answer = self.send_opening(request.to_untyped_message()?).await?;
        let made: NewSessionResponse = serde_json::from_value(answer)?;
        self.tell_beginning(turn, hello, former.is_some());
        Ok(OpenedSession {
            id: made.session_id,
            is_former: false,
        })
    }

    /// Opens a session that the agent had before it came here, or a copy of it.
    async fn open_former_session(
        &self,
        turn: &AgentTurn,
        hello: &InitializeResponse,
        former: FormerAgentSession,
    ) -> Result<OpenedSession, Error> {
        let id = SessionId::new(former.id);
        let is_offered = match former.fork {
            true => self.capabilities.session_capabilities.fork.is_some(),
            false => self.can_go_on(),
        };
        if !is_offered {
            let why = match former.fork {
                true => "it does not copy sessions",
                false => "it does not go on with sessions",
            };
            return Err(Error::invalid_request().data(why));
        }
        let opened = match former.fork {
            true => {
                let request = ForkSessionRequest::new(id.clone(), turn.folder())
                    .mcp_servers(self.mcp_servers.clone())
                    .meta(self.meta());
                let answer = self.send_opening(request.to_untyped_message()?).await?;
                serde_json::from_value::<ForkSessionResponse>(answer)?.session_id
            }
            false => {
                self.reopen_session(turn.folder(), &id).await?;
                id.clone()
            }
        };
        self.tell_beginning(turn, hello, false);
        let fault = UserError::new(
            format!("{} goes on with its session {id}.", self.command.title),
            "What was said there before stands in the agent's own transcript, and not in this record.",
        );
        turn.add_notice(NoticeLevel::Note, fault);
        Ok(OpenedSession {
            id: opened,
            is_former: true,
        })
    }

    /// Opens the session that the agent had before.
    async fn reopen_session(&self, folder: &Path, id: &SessionId) -> Result<(), Error> {
        let request = match self.capabilities.session_capabilities.resume.is_some() {
            true => ResumeSessionRequest::new(id.clone(), folder)
                .mcp_servers(self.mcp_servers.clone())
                .meta(self.meta())
                .to_untyped_message()?,
            // What it tells of the session so far is on record already: no turn takes it.
            false => LoadSessionRequest::new(id.clone(), folder)
                .mcp_servers(self.mcp_servers.clone())
                .meta(self.meta())
                .to_untyped_message()?,
        };
        self.send_opening(request).await.map(|_| ())
    }

    /// Sends a request that opens a session, and returns its answer as it came: with the models of agents that know no
    /// options, of which the protocol's types know nothing any more.
    async fn send_opening(&self, request: UntypedMessage) -> Result<Value, Error> {
        let answer = self.connection.send_request(request).block_task().await?;
        self.options.take_opened(&answer);
        Ok(answer)
    }

    fn meta(&self) -> Option<Meta> {
        (!self.session_meta.is_empty()).then(|| self.session_meta.clone())
    }

    /// Records who answers in the session, and that it remembers nothing if there was something to remember.
    fn tell_beginning(&self, turn: &AgentTurn, hello: &InitializeResponse, is_new_again: bool) {
        let name = match &hello.agent_info {
            Some(info) => format!(
                "{} {}",
                info.title.as_ref().unwrap_or(&info.name),
                info.version
            ),
            None => self.command.title.clone(),
        };
        let runs = "It runs its tools itself, after they were judged here.";
        let (how, hint) = match (&self.command.elsewhere, turn.enclosure(), self.is_held) {
            (Some(elsewhere), _, _) => (
                format!("It works elsewhere: `{elsewhere}`."),
                "It has nothing of this machine: its files and commands are those of there. A card shows what it says of a call.",
            ),
            (None, Some(_), _) => (
                "It works in a sandbox, and what a turn changed is judged when the turn ends."
                    .to_owned(),
                "It asks about nothing before that.",
            ),
            (None, None, true) => (
                runs.to_owned(),
                "Its commands are held to the effects that were approved.",
            ),
            (None, None, false) => (
                runs.to_owned(),
                "A command that it runs is not held to the effects that its card shows.",
            ),
        };
        let fault = UserError::new(format!("{name} answers in this session. {how}"), hint);
        turn.add_notice(NoticeLevel::Note, fault);
        self.given.tell(turn, &self.command.title);
        if is_new_again {
            let fault = UserError::new(
                format!(
                    "{} cannot go on with an earlier session, so it remembers nothing of it.",
                    self.command.title
                ),
                "",
            );
            turn.add_notice(NoticeLevel::Warning, fault);
        }
    }
}
