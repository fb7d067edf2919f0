//! Sessions as they are opened in this process.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use protocol::{Fault, ModelChoice, SessionId};
use runtime::{Net, SessionFolder, Workspace};
use tools::Hands;

use super::Shared;
use crate::conversation::Conversation;
use crate::seeks::Seeks;
use crate::session::{RulesInForce, Session};
use crate::surface::Bounds;
use crate::toolbox::Toolbox;

impl Shared {
    /// Opens a session in this process.
    pub fn admit(
        self: &Arc<Self>,
        id: SessionId,
        root: &Path,
        model: ModelChoice,
        conversation: Conversation,
    ) -> Result<Arc<Session>, Fault> {
        let session = self.session_in(id.clone(), root, model, conversation)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(sessions.entry(id).or_insert(session).clone())
    }

    /// A session that is in no list of this process.
    pub fn session_in(
        self: &Arc<Self>,
        id: SessionId,
        root: &Path,
        model: ModelChoice,
        conversation: Conversation,
    ) -> Result<Arc<Session>, Fault> {
        let folder = SessionFolder::open(&self.config.data_dir, &id)?;
        let rules = RulesInForce::default();
        let closed = crate::rules::closed(rules.clone(), self.config.clock.clone());
        let workspace = Workspace::open(root)?
            .with_readable(folder.path())?
            .closing(closed)
            .inheriting(self.inherited.clone())
            .in_rooms(self.rooms.clone());
        let asked = &conversation.asked;
        let briefing = Arc::new(self.briefing(&workspace, asked));
        let workspace = briefing.readable(workspace);
        let data_dir = &self.config.data_dir;
        let bounds = Bounds::of(&workspace, data_dir, folder.path(), asked)?;
        let hands = Hands {
            picture: None,
            workspace,
            environment: self.environment.clone(),
            net: Net::closed(),
            session: id.clone(),
            folder: Arc::new(folder),
            todos: Arc::default(),
        };
        hands.todos.replace(conversation.todos.clone());
        let seeks = Seeks::of(&id, conversation.searches);
        let toolbox = Toolbox::load(self, &hands.workspace, &briefing, asked, &seeks)?;
        self.set_tool_faults(hands.workspace.root(), toolbox.faults.clone());
        let session = Arc::new(Session::new(
            id,
            self.clone(),
            (hands, bounds),
            model,
            (rules, toolbox, briefing),
            conversation,
        ));
        session.reload_rules();
        Ok(session)
    }
}
