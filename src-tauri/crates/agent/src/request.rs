//! Sessions that a request opens: its configuration, its output schema and its context, as a developer wrote them (`S004-47`).

use std::path::Path;

use protocol::event::Asked;
use protocol::{Fault, ModelChoice, SessionId};
use tools::schema_first::{Request, RequestConfig};

use crate::desk::Desk;
use crate::ops;
use crate::toolbox::Toolbox;

impl Desk {
    /// Opens a session for a request. Nothing is said in it yet: that begins with the request's prompt. The model is told nothing
    /// but what the request holds, and has the tools that it names and brings (`S004-43`). `model` answers as far as its
    /// configuration does not say who does.
    ///
    /// # Errors
    /// A folder that cannot be opened, a tool that is not there or whose name is taken, an output schema that is none, a provider
    /// that is not set up.
    pub async fn open_request(
        &self,
        workspace: &Path,
        model: &ModelChoice,
        request: &Request,
    ) -> Result<SessionId, Fault> {
        let config = &request.config;
        let tools = Toolbox::of_folder(&self.shared, workspace.to_str())?;
        let named = config.tools.iter().map(|name| match tools.find(name) {
            Ok(found) => Ok(found.interface.id().to_owned()),
            Err(error) => Err(Fault::new(
                format!("The request names a tool that is not there. {error}"),
                "Correct the name in `config.tools`.",
            )),
        });
        let asked = Asked {
            output_schema: request.output_schema.clone(),
            tools: Some(named.collect::<Result<_, _>>()?),
            instructions: request.told_instances(),
            temperature: config.temperature,
            own_tools: request.own_tools(),
            instances: config.instances.clone(),
            alone: true,
            ..Asked::default()
        };
        let model = self::model(config, model);
        let receipt = ops::open(&self.shared, workspace, model, None, Some(asked), false).await?;
        receipt
            .session
            .ok_or_else(|| Fault::new("The session was not opened.", "Try again."))
    }
}

/// Who answers a request: whom its configuration names, and what it leaves out as `otherwise` has it.
pub(crate) fn model(config: &RequestConfig, otherwise: &ModelChoice) -> ModelChoice {
    let provider = config.provider.as_ref().unwrap_or(&otherwise.provider);
    let own = match *provider == otherwise.provider {
        true => otherwise.model.clone(),
        false => String::new(),
    };
    let mut model = config.model.clone().unwrap_or(own);
    if let Some(thinking) = config.thinking.filter(|_| !model.is_empty()) {
        model = format!("{model}-{}", thinking.as_str());
    }
    ModelChoice {
        provider: provider.clone(),
        model,
    }
}
