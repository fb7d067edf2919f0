//! What a client is served: the tools of a folder, or those of one MCP server.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{BackingServer, Engine, ExternalClient, ServerOffers};
use protocol::UserError;
use protocol::event::ClientInfo;
use rmcp::model::Tool;

use super::client_session::TurnClients;
use super::protocol_questions::PassedQuestions;
use super::tool_description;
use crate::endpoint::McpRequest;

/// The tools that a gateway serves in a folder. Cheap to clone.
#[derive(Clone)]
pub struct ServedTools {
    engine: Engine,
    workspace: PathBuf,
    server: Option<BackingServer>,
    passed_questions: PassedQuestions,
    /// Whose turn the calls belong to; none where the calls of a client are a session of their own.
    turns: Option<Arc<dyn TurnClients>>,
}

impl ServedTools {
    /// Opens what is requested; a server is connected first.
    ///
    /// # Errors
    /// The folder cannot be opened, or the server is not there.
    pub async fn open(engine: &Engine, request: &McpRequest) -> Result<Self, UserError> {
        let server = match &request.server {
            None => None,
            Some(choice) => Some(
                engine
                    .connect_backing_server(choice, &request.workspace)
                    .await?,
            ),
        };
        let served = Self {
            engine: engine.clone(),
            workspace: request.workspace.clone(),
            server,
            passed_questions: PassedQuestions::default(),
            turns: None,
        };
        served.list().map(|_| served)
    }

    /// Returns the same, with these questions of the server passed on to its client where nobody is asked here.
    #[must_use]
    pub fn passing_questions(self, passed_questions: PassedQuestions) -> Self {
        Self {
            passed_questions,
            ..self
        }
    }

    /// Returns the same for an agent in a session: each call belongs to the turn that runs. It has the tools of the server alone.
    #[must_use]
    pub(crate) fn for_turns(self, turns: Arc<dyn TurnClients>) -> Self {
        Self {
            turns: Some(turns),
            ..self
        }
    }

    /// Returns whose turn the calls belong to.
    pub(super) fn turns(&self) -> Option<&Arc<dyn TurnClients>> {
        self.turns.as_ref()
    }

    /// Returns what is served beside tools.
    pub(super) fn offers(&self) -> ServerOffers {
        match (&self.server, &self.turns) {
            (Some(server), None) => server.offers(),
            // A session's tools do not read a server's resources and prompts.
            (Some(_), Some(_)) | (None, _) => ServerOffers::default(),
        }
    }

    /// Waits until the engine is closed.
    pub(crate) async fn wait_until_closed(&self) {
        self.engine.wait_until_closed().await;
    }

    /// Returns the questions that are passed on.
    pub(super) fn passed_questions(&self) -> PassedQuestions {
        self.passed_questions
    }

    /// Returns the server whose tools are served; none where those of a folder are.
    pub(super) fn server(&self) -> Option<&BackingServer> {
        self.server.as_ref()
    }

    /// Returns the tools as a client reads them.
    pub(super) fn list(&self) -> Result<Vec<Tool>, UserError> {
        Ok(match &self.server {
            None => {
                let offers = self.engine.list_tools(&self.workspace)?.into_iter();
                offers.map(tool_description::to_mcp_tool).collect()
            }
            Some(server) => {
                let tools = server.list_tools()?.into_iter();
                tools
                    .filter_map(|tool| tool_description::from_definition(&tool.definition))
                    .collect()
            }
        })
    }

    /// Returns the name by which calls know a tool that a client calls.
    pub(super) fn tool_id(&self, name: &str) -> String {
        match &self.server {
            None => name.to_owned(),
            Some(server) => server.tool_id(name),
        }
    }

    /// Opens a session for the calls of a client.
    pub(super) async fn open_client(
        &self,
        client: ClientInfo,
    ) -> Result<Arc<ExternalClient>, UserError> {
        match &self.server {
            None => self.engine.open_client(&self.workspace, client).await,
            Some(server) => server.open_client(client).await,
        }
    }

    /// Returns what a client's model is told about the tools.
    pub(super) fn instructions(&self) -> String {
        let folder = protocol::text::display_text::name(&self.workspace);
        let tools = match &self.server {
            None => format!("These tools work in {folder}."),
            Some(server) => format!(
                "These are the tools of the MCP server {}, used for {folder}.",
                server.id()
            ),
        };
        let withheld = match self
            .server
            .as_ref()
            .is_some_and(BackingServer::has_withheld_tools)
        {
            true => {
                " Some tools of the server are not as the person approved them, and are withheld until the person looked at them."
            }
            false => "",
        };
        let undo = match self.server {
            None => "; what changes files can be undone by that person",
            Some(_) => "",
        };
        let asks = match self.engine.can_ask() {
            true => "A call that has to be asked about waits until that person answered.",
            false => {
                "Nobody can be asked here: a call that would have to be is refused, and its error says why."
            }
        };
        format!(
            "{tools}{withheld} Each call is judged by the rules of the person whose machine it is, and recorded{undo}. {asks} \
             Do not try a refused call in another form."
        )
    }
}
