//! The verdict that the pipeline would give on a call that is never made.
//!
//! The call goes through the pipeline's own steps up to its verdict, in a session that is not recorded and whose folder
//! is removed with it. Nothing runs, nothing is recorded, no use of a rule is counted, and no hook is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::RuleSet;
use policy::path::Os;
use protocol::event::SessionOptions;
use protocol::{CallId, ModelChoice, Outcome, RuleScope, SessionId, ToolCall, Trail, UserError};
use runtime::Workspace;
use serde_json::{Map, Value};

use crate::permissions::manifest;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::{resolve, verdict};
use crate::rulebook::simulation;
use crate::session::Session;
use crate::session::conversation::Conversation;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::EXPLAIN_PROVIDER;
use crate::session::toolbox::Toolbox;

/// Options of an explainer.
#[derive(Debug, Clone, Default)]
pub struct ExplainOptions {
    /// Folder that the calls would be made in.
    pub workspace: PathBuf,
    /// Rules files that replace the person's and the project's, each in its scope; empty to use those.
    pub rules: Vec<(RuleScope, PathBuf)>,
    /// Manifest of the agent that calls.
    pub agent: Option<PathBuf>,
}

/// Explanation of the verdict that the pipeline would give on a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Verdict with its reasons.
    pub trail: Trail,
    /// Reason why the call would fail before it is judged, if it would: then it does not run, whatever the verdict.
    pub failure: Option<String>,
}

/// Whether there is a folder at this path that can be opened.
pub fn is_folder(path: &Path) -> bool {
    Workspace::open(path).is_ok()
}

/// Explains the verdicts on calls.
pub struct Explainer {
    session: Arc<Session>,
}

/// Opens an explainer in a folder.
///
/// # Errors
/// A folder that cannot be opened, a rules file or a manifest that is missing or malformed.
pub(crate) fn open_explainer(
    state: &Arc<EngineState>,
    options: ExplainOptions,
) -> Result<Explainer, UserError> {
    let mut asked = SessionOptions::default();
    if let Some(agent) = &options.agent {
        let folder = options.workspace.display().to_string();
        let tools = Toolbox::for_folder(state, Some(&folder))?;
        asked = manifest::apply_manifest(&agent.display().to_string(), &tools, asked)?;
    }
    let explainer = Explainer::open(state, &options.workspace, asked)?;
    if !options.rules.is_empty() {
        let mut rules = RuleSet::builtin();
        for (scope, file) in &options.rules {
            rules.add(simulation::read_rules(file, *scope, Os::CURRENT)?);
        }
        explainer.use_rules(rules);
    }
    Ok(explainer)
}

impl Explainer {
    /// Opens an explainer with the rules of a folder.
    pub(crate) fn open(
        engine: &Arc<EngineState>,
        workspace: &Path,
        options: SessionOptions,
    ) -> Result<Self, UserError> {
        let id = SessionId(engine.config.ids.next_id("ses"));
        let model = ModelChoice {
            provider: EXPLAIN_PROVIDER.to_owned(),
            model: String::new(),
        };
        let conversation = Conversation::new(options, None);
        let session = engine.build_session(id, workspace, model, conversation)?;
        // Watchdogs are asked for as long as a run is there.
        session.begin_run();
        Ok(Self { session })
    }

    /// Replaces the rules of the folder; the rules of the agent's manifest still apply.
    pub(crate) fn use_rules(&self, rules: RuleSet) {
        let root = self
            .session
            .tool_context
            .workspace
            .root()
            .display()
            .to_string();
        let mut rules = rules.with_root(root);
        self.session
            .bounds
            .manifest_rules()
            .for_each(|agent| rules.add(agent));
        self.session.set_rules(rules);
    }

    /// Explains the verdict that the pipeline would give on a call.
    ///
    /// # Errors
    /// The tool does not exist, is not set up, or the arguments do not fit it: such a call is never judged, and never
    /// runs.
    pub async fn explain(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Explanation, UserError> {
        let session = &self.session;
        let call = ToolCall {
            id: CallId::from("explained"),
            name: tool.to_owned(),
            arguments: arguments.clone(),
        };
        let refused = |error: protocol::ToolError| {
            let hint = "Correct the call: like this it fails before it is judged.";
            UserError::new(format!("{error}."), hint)
        };
        let tools = session.tools();
        let tool = resolve::find_loaded_tool(&tools, session, &call).map_err(refused)?;
        let arguments = resolve::resolve_arguments(session, &call, &tool, arguments).await;
        let cx = CallContext {
            session,
            call: &call,
            tool,
            arguments: arguments.map_err(refused)?,
            edited: None,
            hooked: &mut None,
        };
        let assessed = verdict::assess_call(&cx, &Attempt::default()).await;
        let (assessed, fails) = match assessed {
            Ok(assessed) => (assessed, None),
            Err(Abort::Outcome(outcome)) => {
                let why = failure_reason(*outcome);
                let assessed = verdict::assess_unprepared(&cx, why.clone()).await;
                (assessed, Some(why))
            }
            Err(Abort::Fault(fault)) => return Err(fault),
            Err(Abort::Closing) => return Err(UserError::new("The app is closing.", "")),
        };
        let mask = session.journal.secret_mask(&call.id);
        Ok(Explanation {
            trail: mask.mask_trail(assessed.judgement.trail()),
            failure: fails.map(|why| mask.mask_text(&why)),
        })
    }
}

impl Drop for Explainer {
    fn drop(&mut self) {
        self.session.stop();
        self.session.tool_context.folder.remove_if_empty();
    }
}

fn failure_reason(outcome: Outcome) -> String {
    outcome.error.unwrap_or(outcome.text)
}
