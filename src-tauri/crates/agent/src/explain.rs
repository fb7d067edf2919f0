//! What the pipeline would say of a call that nobody makes.
//!
//! The call goes through the pipeline's own stages up to its verdict, in a session that is not recorded and whose folder goes
//! with it. Nothing runs, nothing is recorded, no use of a rule is counted, and no hook is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::RuleSet;
use policy::path::Os;
use protocol::event::Asked;
use protocol::{CallId, Fault, ModelChoice, Outcome, RuleScope, SessionId, ToolCall, Trail};
use runtime::Workspace;
use serde_json::{Map, Value};

use crate::conversation::Conversation;
use crate::desk::{Desk, Shared};
use crate::session::Session;
use crate::stages::{Ended, found, verdict};
use crate::toolbox::Toolbox;
use crate::{manifest, trial};

/// The provider of such a session: nobody. Whoever asks has the tool before them, so none has to be searched for first.
pub(crate) const PROVIDER: &str = "explain";

/// Whose calls are explained.
#[derive(Debug, Clone, Default)]
pub struct Explained {
    /// The folder that the calls would be made in.
    pub workspace: PathBuf,
    /// Rules files that hold in place of the person's and the project's, each in its scope; none: those hold.
    pub rules: Vec<(RuleScope, PathBuf)>,
    /// The manifest of the agent that calls.
    pub agent: Option<PathBuf>,
}

/// What the pipeline would say of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Its verdict, with the reasons.
    pub trail: Trail,
    /// Why the call would fail before it is judged, if it would: then it does not run, whatever the verdict.
    pub fails: Option<String>,
}

/// Whether there is a folder at this path that can be opened.
pub fn is_folder(path: &Path) -> bool {
    Workspace::open(path).is_ok()
}

/// Says what would become of calls.
pub struct Explainer {
    session: Arc<Session>,
}

impl Desk {
    /// Opens an explainer in a folder.
    ///
    /// # Errors
    /// A folder that cannot be opened, a rules file or a manifest that is missing or malformed.
    pub fn explainer(&self, explained: Explained) -> Result<Explainer, Fault> {
        let shared = &self.shared;
        let mut asked = Asked::default();
        if let Some(agent) = &explained.agent {
            let folder = explained.workspace.display().to_string();
            let tools = Toolbox::of_folder(shared, Some(&folder))?;
            asked = manifest::asked(&agent.display().to_string(), &tools, asked)?;
        }
        let explainer = Explainer::open(shared, &explained.workspace, asked)?;
        if !explained.rules.is_empty() {
            let mut rules = RuleSet::builtin();
            for (scope, file) in &explained.rules {
                rules.add(trial::read_rules(file, *scope, Os::HERE)?);
            }
            explainer.use_rules(rules);
        }
        Ok(explainer)
    }
}

impl Explainer {
    /// An explainer with the rules of a folder.
    pub(crate) fn open(
        shared: &Arc<Shared>,
        workspace: &Path,
        asked: Asked,
    ) -> Result<Self, Fault> {
        let id = SessionId(shared.config.ids.next("ses"));
        let model = ModelChoice {
            provider: PROVIDER.to_owned(),
            model: String::new(),
        };
        let conversation = Conversation::beginning(asked, None);
        let session = shared.session_in(id, workspace, model, conversation)?;
        // Watchdogs are asked for as long as a run is there.
        session.begin_run();
        Ok(Self { session })
    }

    /// Puts other rules in the place of those of the folder; what the agent's manifest says holds beside them.
    pub(crate) fn use_rules(&self, rules: RuleSet) {
        let root = self.session.hands.workspace.root().display().to_string();
        let mut rules = rules.with_root(root);
        self.session
            .bounds
            .rules()
            .for_each(|agent| rules.add(agent));
        self.session.use_rules(rules);
    }

    /// What the pipeline would say of a call.
    ///
    /// # Errors
    /// There is no such tool, it is not set up, or the arguments do not fit it: such a call is never judged, and never runs.
    pub async fn explain(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Explanation, Fault> {
        let session = &self.session;
        let call = ToolCall {
            id: CallId::from("explained"),
            name: tool.to_owned(),
            arguments: arguments.clone(),
        };
        let refused = |error: protocol::ToolError| {
            let hint = "Correct the call: like this it fails before it is judged.";
            Fault::new(format!("{error}."), hint)
        };
        let tools = session.tools();
        let called = found::resolve_tool(&tools, session, &call).map_err(refused)?;
        let arguments = found::arguments(session, &call, &called, arguments).await;
        let arguments = arguments.map_err(refused)?;
        let assessed = verdict::assess(session, &call, &called, &arguments, &None, None).await;
        let (assessed, fails) = match assessed {
            Ok(assessed) => (assessed, None),
            Err(Ended::Early(outcome)) => {
                let why = reason(*outcome);
                let unprepared = verdict::assess_unprepared;
                let assessed = unprepared(session, &call, &called, &arguments, why.clone()).await;
                (assessed, Some(why))
            }
            Err(Ended::Fault(fault)) => return Err(fault),
            Err(Ended::Closing) => return Err(Fault::new("The app is closing.", "")),
        };
        Ok(Explanation {
            trail: Trail::clone(assessed.judgement.trail()),
            fails,
        })
    }
}

impl Drop for Explainer {
    fn drop(&mut self) {
        self.session.stop();
        self.session.hands.folder.remove_empty();
    }
}

fn reason(outcome: Outcome) -> String {
    outcome.error.unwrap_or(outcome.text)
}
