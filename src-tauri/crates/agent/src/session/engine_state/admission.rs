//! Opening of sessions in this process.

use std::path::Path;
use std::sync::Arc;

use protocol::{ModelChoice, SessionId, UserError};
use runtime::{NetworkClient, SessionFolder, Workspace};
use tools::ToolContext;

use crate::permissions::agent_bounds::AgentBounds;
use crate::session::conversation::Conversation;
use crate::session::engine_state::EngineState;
use crate::session::toolbox::{Toolbox, ToolboxRequest};
use crate::session::{RulesInForce, Session, SessionParts};
use crate::toolset::web_search::WebSearchFactory;

impl EngineState {
    /// Opens a session in this process.
    pub fn admit_session(
        self: &Arc<Self>,
        id: SessionId,
        root: &Path,
        model: ModelChoice,
        conversation: Conversation,
    ) -> Result<Arc<Session>, UserError> {
        let session = self.build_session(id.clone(), root, model, conversation)?;
        let mut sessions = self.sessions.lock();
        Ok(sessions.entry(id).or_insert(session).clone())
    }

    /// Builds a session without adding it to the sessions of this process.
    pub fn build_session(
        self: &Arc<Self>,
        id: SessionId,
        root: &Path,
        model: ModelChoice,
        conversation: Conversation,
    ) -> Result<Arc<Session>, UserError> {
        let folder = SessionFolder::open(&self.config.data_dir, &id)?;
        let rules = RulesInForce::default();
        let closed =
            crate::permissions::rules::closed_paths(rules.clone(), self.config.clock.clone());
        let workspace = Workspace::open(root)?
            .with_readable(folder.path())?
            .with_closed_files(closed)
            .with_inherited_env(self.inherited_variables.without_terminal())
            .with_sandbox_options(self.sandbox_options.clone());
        let options = &conversation.options;
        let briefing = Arc::new(self.read_briefing(&workspace, options));
        let workspace = briefing.with_readable_folders(workspace);
        let data_dir = &self.config.data_dir;
        let bounds = AgentBounds::new(&workspace, data_dir, folder.path(), options)?;
        let tool_context = ToolContext {
            snapshot: None,
            workspace,
            dry_run_environment: self.dry_run_environment.clone(),
            net: NetworkClient::offline(),
            session: id.clone(),
            folder: Arc::new(folder),
            todo_list: Arc::default(),
        };
        tool_context.todo_list.replace(conversation.todos.clone());
        let seeks = WebSearchFactory::new(&id, conversation.searches);
        let request = ToolboxRequest {
            workspace: &tool_context.workspace,
            briefing: &briefing,
            options,
        };
        let toolbox = Toolbox::load(self, &request, &seeks)?;
        self.set_tool_errors(tool_context.workspace.root(), toolbox.errors.clone());
        let parts = SessionParts {
            id,
            tool_context,
            bounds,
            model,
            rules,
            toolbox,
            briefing,
            conversation,
        };
        let session = Arc::new(Session::new(self.clone(), parts));
        session.reload_rules();
        Ok(session)
    }
}
