//! Sessions opened by a request: its configuration, its output schema and its context, as a developer wrote them
//! (`S004-47`).

use std::path::Path;

use protocol::event::SessionOptions;
use protocol::{ModelChoice, SessionId, UserError};
use tools::custom::StructuredRequest;

use crate::engine::Engine;
use crate::engine::commands::{self, NewSession};
use crate::run::request_model;
use crate::session::toolbox::Toolbox;

impl Engine {
    /// Opens a session for a request. The session has no message yet: the first one is the request's prompt. The model
    /// receives only the contents of the request, and has the tools that the request names and brings (`S004-43`).
    /// `model` answers unless the configuration of the request says otherwise.
    ///
    /// # Errors
    /// A folder that cannot be opened, a tool that does not exist or whose name is taken, an invalid output schema, or
    /// a provider that is not set up.
    pub async fn open_request(
        &self,
        workspace: &Path,
        model: &ModelChoice,
        request: &StructuredRequest,
    ) -> Result<SessionId, UserError> {
        let config = &request.config;
        let tools = Toolbox::for_folder(&self.state, workspace.to_str())?;
        let named = config.tools.iter().map(|name| match tools.find(name) {
            Ok(found) => Ok(found.interface.id().to_owned()),
            Err(error) => Err(UserError::new(
                format!("The request names a tool that is not there. {error}"),
                "Correct the name in `config.tools`.",
            )),
        });
        let options = SessionOptions {
            output_schema: request.output_schema.clone(),
            tools: Some(named.collect::<Result<_, _>>()?),
            instructions: request.instances_summary(),
            temperature: config.temperature,
            own_tools: request.own_tools(),
            instances: config.instances.clone(),
            alone: true,
            ..SessionOptions::default()
        };
        let new = NewSession {
            workspace,
            model: request_model::model_from_request(config, model),
            prompt: None,
            options: Some(options),
            starts_planning: false,
        };
        let receipt = commands::open_session(&self.state, new).await?;
        receipt
            .session
            .ok_or_else(|| UserError::new("The session was not opened.", "Try again."))
    }
}
