//! The interface of every tool, and the context that a tool receives.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::event::AgentManifestFile;
use protocol::rule::evidence::Confinement;
use protocol::server::audience::Audience;
use protocol::{
    Access, CallId, PartialResult, Plan, Preview, ResolvedAccess, SessionId, ToolError,
    ToolInterface, ToolOutput,
};
use runtime::{DryRunEnvironment, KeptCache, NetworkClient, SessionFolder, Snapshot, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::elicitation::ElicitationChannel;
use crate::mentions::Mentions;
use crate::request_config::RequestConfig;
use crate::stream_slot::StreamSlot;
use crate::todo_list::TodoList;

/// A tool that an agent can call (`S001-01`, `S002-01`).
///
/// A call passes through these methods in this order: `validate`, `target` and `accesses`, `prepare`, and, once it was
/// approved, `execute`. Arguments have passed the schema before any of the methods sees them, so a member that is
/// missing or of a wrong type means a bug of ours, never a panic.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the tool's published interface.
    fn interface(&self) -> &ToolInterface;

    /// Returns the target of the call in one line for the card: a path, a command, a pattern.
    fn target(&self, arguments: &Map<String, Value>) -> String;

    /// Returns the accesses that the call would make. They are declared here, never judged.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access>;

    /// Returns the paths, hosts and commands that the arguments seem to name, for a tool that declares nothing because
    /// nobody knows what it does with them. Mentions can make the verdict stricter and never looser.
    fn mentions(&self, _arguments: &Map<String, Value>) -> Mentions {
        Mentions::default()
    }

    /// Returns how the tool is confined to the accesses that were judged.
    fn confinement(&self) -> Confinement {
        Confinement::Held
    }

    /// Checks properties of the values that a schema cannot express (`S003-24`). Touches nothing.
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`] that names the member and what to do.
    fn validate(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns the members with a leading underscore that the tool itself receives; all other such members are about
    /// the call and are kept beside it.
    fn retained_meta(&self) -> &[&str] {
        &[]
    }

    /// Returns the arguments that the tool supplies itself, where its runtime schema marks members as an `adapter`'s
    /// (`S003-63`): members that a model has no say in, such as the account that calls go to. They are shown and
    /// approved with the rest. Touches nothing.
    fn supplied_arguments(&self, _arguments: &Map<String, Value>) -> Map<String, Value> {
        Map::new()
    }

    /// Returns the place in the session's state that every output is stored at (`S004-12`); `None` if each call may
    /// name one.
    fn output_path(&self) -> Option<&str> {
        None
    }

    /// Returns the other tool that a call of this one amounts to: rules that name that tool make the verdict stricter.
    /// `None` if there is no such tool.
    fn underlying_tool(&self) -> Option<&str> {
        None
    }

    /// Returns who reads what calls of the tool send; `None` if nobody said.
    fn audience(&self) -> Option<Audience> {
        None
    }

    /// Whether a call with these exact arguments may run while others do (`S003-53`, M08). Asked only of a tool that
    /// publishes that it is generally safe to run in parallel: all other tools run alone.
    fn is_parallel_safe(&self, _arguments: &Map<String, Value>) -> bool {
        true
    }

    /// Returns the preview and the plan of the call: shown to the person, and carried out as shown. Has no side effect.
    ///
    /// # Errors
    /// If the call could not work: the same sentence that running it would give.
    async fn prepare(
        &self,
        _arguments: &Map<String, Value>,
        _context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        Ok(PreviewedPlan::default())
    }

    /// Whether this tool can do a dry run of a call on this machine, see [`Tool::dry_run`].
    async fn can_dry_run(&self, _context: &ToolContext) -> bool {
        false
    }

    /// Whether what a call does was done before it in a sandbox: its dry run only reads it, so that is done before anybody is
    /// asked.
    fn ran_before(&self) -> bool {
        false
    }

    /// Whether this tool can make calls in the real workspace on this machine, with a snapshot by which they are
    /// undone. [`Tool::execute`] makes them there if [`ToolContext::snapshot`] has one.
    async fn can_run_in_place(&self, _context: &ToolContext) -> bool {
        false
    }

    /// Makes the call in a dry run and returns its captured effects, which are shown, judged and then carried out as
    /// captured; the call is never made a second time. Called only if `can_dry_run` returned `true`.
    ///
    /// # Errors
    /// If the call could not be made in a dry run, or had more effects than can be shown.
    async fn dry_run(
        &self,
        _arguments: &Map<String, Value>,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolDryRun, ToolError> {
        Err(ToolError::Failed(format!(
            "{} cannot be tried out.",
            self.interface().title()
        )))
    }

    /// Carries out what was approved and nothing else.
    ///
    /// # Errors
    /// Every failure is a value whose text the model reads (`S001-25`).
    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError>;

    /// Returns how to set up the tool before it can be used, in a sentence with the next step (`S003-19`); `None` if it
    /// is ready. The default reports a tool that declares that it requires setup as not set up.
    fn missing_setup(&self) -> Option<String> {
        let interface = self.interface();
        let sentence = || {
            format!(
                "{} has to be set up before it can be used.",
                interface.title()
            )
        };
        interface.availability.requires_setup.then(sentence)
    }

    /// Returns the fixed sentence with which a tool that needs a person's answer is refused where no person is present
    /// (`S002-37`).
    fn headless_refusal(&self) -> Option<&'static str> {
        None
    }
}

/// The preview and the plan of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewedPlan {
    /// Preview shown to the person.
    pub preview: Preview,
    /// Changes that execution will make.
    pub plan: Plan,
}

impl Default for PreviewedPlan {
    fn default() -> Self {
        Preview::Nothing.into()
    }
}

impl From<Preview> for PreviewedPlan {
    /// Shows the preview of a call whose changes cannot be known in advance.
    fn from(preview: Preview) -> Self {
        Self {
            preview,
            plan: Plan::None,
        }
    }
}

/// The result of a call that ran in a dry run.
#[derive(Debug, Clone)]
pub struct ToolDryRun {
    /// Preview shown to the person, and the plan that is carried out.
    pub prepared: PreviewedPlan,
    /// Number of operations that were refused during the dry run.
    pub refusal_count: u64,
    /// Secret files to which access was refused.
    pub secrets: Vec<String>,
    /// Hosts that the call reached on the network, each once: anything sent there cannot be taken back.
    pub hosts_reached: Vec<String>,
    /// Files and folders of the person's own that the call read outside of the workspace, by their absolute paths.
    pub outside_reads: Vec<String>,
    /// Changes in caches of the home folder that are kept once the effects are carried out.
    pub kept_caches: Vec<KeptCache>,
    /// Output of the call once its effects are carried out.
    pub output: ToolOutput,
    /// Keeps the captured effects alive; they are deleted when this is dropped.
    pub capture: Arc<dyn Any + Send + Sync>,
}

/// The tool context: everything that a tool may touch. The machine is not reached in any other way (`S002-100`).
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Files of the workspace.
    pub workspace: Workspace,
    /// Environment in which commands run for a dry run.
    pub dry_run_environment: DryRunEnvironment,
    /// Snapshot of the workspace before this call, if the call runs in the real workspace; `None` for all other calls.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Network access; closed until a call was approved.
    pub net: NetworkClient,
    /// The session.
    pub session: SessionId,
    /// Folder for output that is too long (`S002-70`).
    pub folder: Arc<SessionFolder>,
    /// The session's list of things to do.
    pub todo_list: Arc<TodoList>,
}

impl ToolContext {
    /// Restricts the context to one call: only the files and commands that the call was judged on.
    #[must_use]
    pub fn restrict_to(&self, facts: &[ResolvedAccess]) -> Self {
        Self {
            workspace: self.workspace.restricted_to(facts),
            ..self.clone()
        }
    }
}

/// Receives a piece of the result that is only text, as a program prints it: the common case of [`UpdateFn`].
pub type OutputFn = Arc<dyn Fn(&str) + Send + Sync>;

/// Receives a piece of the result with its items and details, for people and the log only (`S001-12`). Secrets in it
/// are masked; a very long piece is left out.
pub type UpdateFn = Arc<dyn Fn(PartialResult) + Send + Sync>;

/// Receives a progress message for the person (`S001-13`).
pub type ProgressFn = Arc<dyn Fn(&str) + Send + Sync>;

/// The context of a running call (`S001-08`): the same for every tool. A tool that ignores all of it works the same
/// (`S001-14`).
#[derive(Clone)]
pub struct ExecutionContext {
    /// The call (`S001-09`).
    pub tool_call_id: CallId,
    /// The tool (`S001-10`).
    pub tool_name: String,
    /// Cancels the call when the turn ends (`S001-11`).
    pub cancel: CancellationToken,
    /// Receives live output.
    pub on_output: Option<OutputFn>,
    /// Receives pieces of the result.
    pub on_update: Option<UpdateFn>,
    /// Receives progress messages.
    pub on_progress: Option<ProgressFn>,
    /// Carries out sub-agent tasks.
    pub sub_agent_spawner: Option<Arc<dyn SubAgentSpawner>>,
    /// Presents a server's questions to the person; `None` if nobody can answer.
    pub elicitation: Option<Arc<dyn ElicitationChannel>>,
    /// Receives what a command wrote to each of its streams, for a program that takes its place; `None` if only the
    /// result counts.
    pub streams: Option<StreamSlot>,
}

/// A sub-agent task: work for a run of its own (`S004-11`).
#[derive(Debug, Clone)]
pub struct SubAgentRequest {
    /// Title in the list of sessions.
    pub title: String,
    /// System prompt of the sub-agent's model.
    pub instructions: String,
    /// Provider and model; anything left out is taken from the caller.
    pub config: RequestConfig,
    /// The only tools of the caller's that may be called; `None` for all of them.
    pub tools: Option<Vec<String>>,
    /// Tools that the task defines, by name, with their schemas (`S004-43`).
    pub own_tools: Map<String, Value>,
    /// Manifest of the agent that does the task: the agent may do no more than the manifest says, and no more than its
    /// caller. `None`: an unnamed agent, which is also told nothing about the project.
    pub agent: Option<AgentManifestFile>,
    /// The first message, and the only information that the sub-agent gets.
    pub input: String,
    /// JSON Schema of the required output; `None` if plain text is enough.
    pub output_schema: Option<Value>,
    /// Cancels the task together with the call.
    pub cancel: CancellationToken,
}

/// Carries out sub-agent tasks, each in a session of its own that can do no more than the caller's.
#[async_trait]
pub trait SubAgentSpawner: Send + Sync {
    /// Carries out a sub-agent task for a call, and reports its progress to the call's listeners (`S001-44`).
    ///
    /// # Errors
    /// If the task cannot begin, or gives no output.
    async fn run(
        &self,
        execution: &ExecutionContext,
        request: SubAgentRequest,
    ) -> Result<ToolOutput, ToolError>;

    /// Starts a sub-agent task in the background: its result is reported to the caller's model later.
    ///
    /// # Errors
    /// If the task cannot begin.
    async fn start(
        &self,
        execution: &ExecutionContext,
        request: SubAgentRequest,
    ) -> Result<SessionId, ToolError>;
}

impl ExecutionContext {
    /// Returns the spawner of sub-agent tasks.
    ///
    /// # Errors
    /// If there is none here.
    pub fn sub_agent_spawner(&self) -> Result<&Arc<dyn SubAgentSpawner>, ToolError> {
        let missing =
            || ToolError::Failed("Nobody can carry out a delegate's work here.".to_owned());
        self.sub_agent_spawner.as_ref().ok_or_else(missing)
    }

    /// Returns a function that passes on what a program prints to the call's listener, if there is one.
    pub(crate) fn output_forwarder(&self) -> impl FnMut(&str) + Send + use<> {
        let listener = self.on_output.clone();
        move |piece: &str| {
            if let Some(listener) = &listener {
                listener(piece);
            }
        }
    }

    /// Creates a context without listeners.
    pub fn new(call: CallId, tool: impl Into<String>, cancel: CancellationToken) -> Self {
        Self {
            tool_call_id: call,
            tool_name: tool.into(),
            cancel,
            on_output: None,
            on_update: None,
            on_progress: None,
            sub_agent_spawner: None,
            elicitation: None,
            streams: None,
        }
    }
}

impl std::fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("tool_call_id", &self.tool_call_id)
            .field("tool_name", &self.tool_name)
            .finish_non_exhaustive()
    }
}
