//! The one shape of every tool, and what a tool is given.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::event::AgentManifestFile;
use protocol::rule::evidence::Confinement;
use protocol::{
    Access, CallId, PartialResult, Plan, Preview, ResolvedAccess, SessionId, ToolError,
    ToolInterface, ToolOutput,
};
use runtime::{DryRunEnvironment, NetworkClient, SessionFolder, Snapshot, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::elicitation::ElicitationChannel;
use crate::mentions::Mentions;
use crate::request_config::RequestConfig;
use crate::todo_list::TodoList;

/// Something that an agent can ask for (`S001-01`, `S002-01`).
///
/// A call passes through here in this order: `check`, `target` and `accesses`, `prepare`, and, once it was approved,
/// `execute`. Arguments have passed the schema before any of them sees them, so a member that is missing or of a wrong
/// type means a bug of ours, never a panic.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the tool publishes about itself.
    fn interface(&self) -> &ToolInterface;

    /// What the call acts on, in one line for the card: a path, a command, a pattern.
    fn target(&self, arguments: &Map<String, Value>) -> String;

    /// What the call would touch. Declared, never judged.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access>;

    /// What the arguments of a call seem to name, where the tool declares nothing because nobody knows what it does with
    /// them. This can make the verdict stricter and never looser.
    fn mentions(&self, _arguments: &Map<String, Value>) -> Mentions {
        Mentions::default()
    }

    /// What keeps the tool to what it was judged on.
    fn confinement(&self) -> Confinement {
        Confinement::Held
    }

    /// What a schema cannot say about values (`S003-24`). Touches nothing.
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`] that names the member and what to do.
    fn validate(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Members with a leading underscore that the tool gets itself; all others are about the call and lie beside it.
    fn retained_meta(&self) -> &[&str] {
        &[]
    }

    /// What the tool puts in by itself where its runtime schema marks members as an `adapter`'s (`S003-63`): what a model
    /// has no say in, such as the account that calls go to. It is shown and approved with the rest. Touches nothing.
    fn supplied_arguments(&self, _arguments: &Map<String, Value>) -> Map<String, Value> {
        Map::new()
    }

    /// The place in the session's state that every output goes to (`S004-12`); none if each call may name one.
    fn output_path(&self) -> Option<&str> {
        None
    }

    /// The other tool that a call of this one is in the end: rules that name it make the verdict stricter. None if it is none.
    fn underlying_tool(&self) -> Option<&str> {
        None
    }

    /// Whether a call with these very arguments may run while others do (`S003-53`, M08). Asked only of a tool that
    /// publishes that it is safe in general: what nobody vouches for runs alone.
    fn is_parallel_safe(&self, _arguments: &Map<String, Value>) -> bool {
        true
    }

    /// What the call would do: shown to the person, and carried out as it was shown. Has no side effect.
    ///
    /// # Errors
    /// When the call could not work: the same sentence that running it would give.
    async fn prepare(
        &self,
        _arguments: &Map<String, Value>,
        _hands: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        Ok(PreviewedPlan::default())
    }

    /// Whether calls can be done where nothing real changes, see [`Tool::dry_run`]: by this tool, on this machine.
    async fn can_dry_run(&self, _hands: &ToolContext) -> bool {
        false
    }

    /// Whether calls can be done for real over a picture of the workspace, by which that is undone: by this tool, on this
    /// machine. [`Tool::execute`] does them there if [`ToolContext::snapshot`] has one.
    async fn can_run_in_place(&self, _hands: &ToolContext) -> bool {
        false
    }

    /// Does the call where nothing real changes, and gives what it did: shown, judged and then carried out as it was
    /// captured, never done a second time. Asked of a tool that says that it can.
    ///
    /// # Errors
    /// When it could not be done there, or did more than can be looked at.
    async fn dry_run(
        &self,
        _arguments: &Map<String, Value>,
        _hands: &ToolContext,
        _cx: &ExecutionContext,
    ) -> Result<ToolDryRun, ToolError> {
        Err(ToolError::Failed(format!(
            "{} cannot be tried out.",
            self.interface().title()
        )))
    }

    /// Does what was approved and nothing else.
    ///
    /// # Errors
    /// Every failure is a value whose text the model reads (`S001-25`).
    async fn execute(
        &self,
        approved: &Approved,
        hands: &ToolContext,
        cx: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError>;

    /// What has to be set up before the tool can be used, in a sentence with the next step (`S003-19`); none if nothing
    /// has. A tool that says it requires setup and does not look says so always.
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

    /// The fixed sentence with which a tool that needs a person's answer is refused where nobody is (`S002-37`).
    fn headless_refusal(&self) -> Option<&'static str> {
        None
    }
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewedPlan {
    /// What the person sees.
    pub preview: Preview,
    /// What execution will change.
    pub plan: Plan,
}

impl Default for PreviewedPlan {
    fn default() -> Self {
        Self {
            preview: Preview::Nothing,
            plan: Plan::None,
        }
    }
}

/// What a call did where nothing real changes.
#[derive(Debug, Clone)]
pub struct ToolDryRun {
    /// What the person sees, and what is carried out.
    pub prepared: PreviewedPlan,
    /// How many things it was refused there.
    pub refusal_count: u64,
    /// The secrets among them.
    pub secrets: Vec<String>,
    /// The hosts that it reached on the network, each once: what it sent there is out.
    pub hosts_reached: Vec<String>,
    /// What the call gives when that is carried out.
    pub output: ToolOutput,
    /// Holds what was captured; nothing of it is left when this goes.
    pub capture: Arc<dyn Any + Send + Sync>,
}

/// What a tool may touch: nothing of the machine is reached in any other way (`S002-100`).
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The files.
    pub workspace: Workspace,
    /// Where commands run for show.
    pub dry_run_environment: DryRunEnvironment,
    /// The workspace as it was before this call, which runs in it for real; none for every other one.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The way to the web; closed until a call was approved.
    pub net: NetworkClient,
    /// The session.
    pub session: SessionId,
    /// Where output that is too long goes (`S002-70`).
    pub folder: Arc<SessionFolder>,
    /// The session's list of things to do.
    pub todo_list: Arc<TodoList>,
}

impl ToolContext {
    /// The same for one call: of files and commands only what it was judged on.
    #[must_use]
    pub fn restrict_to(&self, facts: &[ResolvedAccess]) -> Self {
        Self {
            workspace: self.workspace.restricted_to(facts),
            ..self.clone()
        }
    }
}

/// Takes a piece of the result that is text alone, as a program prints it: the common case of [`UpdateFn`].
pub type OutputFn = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes a piece of the result with its items and details, for people and the log only (`S001-12`). A secret in it is masked;
/// one that is very long is left out.
pub type UpdateFn = Arc<dyn Fn(PartialResult) + Send + Sync>;

/// Takes a word on progress for the person (`S001-13`).
pub type ProgressFn = Arc<dyn Fn(&str) + Send + Sync>;

/// Where a call runs (`S001-08`): the same shape for every tool. A tool that ignores all of it works the same
/// (`S001-14`).
#[derive(Clone)]
pub struct ExecutionContext {
    /// The call (`S001-09`).
    pub tool_call_id: CallId,
    /// The tool (`S001-10`).
    pub tool_name: String,
    /// Ends the call when the turn ends (`S001-11`).
    pub cancel: CancellationToken,
    /// Takes live output.
    pub on_output: Option<OutputFn>,
    /// Takes pieces of the result.
    pub on_update: Option<UpdateFn>,
    /// Takes progress.
    pub on_progress: Option<ProgressFn>,
    /// Carries out what is delegated.
    pub sub_agent_spawner: Option<Arc<dyn SubAgentSpawner>>,
    /// Puts what others ask before the person; nobody does where there is none.
    pub elicitation: Option<Arc<dyn ElicitationChannel>>,
}

/// Work for a run of its own (`S004-11`).
#[derive(Debug, Clone)]
pub struct SubAgentRequest {
    /// What it is called in the list of sessions.
    pub title: String,
    /// What its model is told before anything else.
    pub instructions: String,
    /// Provider and model; what is left out is the caller's.
    pub config: RequestConfig,
    /// The only tools of the caller's that may be called; none for all of them.
    pub tools: Option<Vec<String>>,
    /// Tools that the work brings, by their names with their schemas (`S004-43`).
    pub own_tools: Map<String, Value>,
    /// The manifest of the agent that does it: it may do no more than that says, and no more than its caller. None: nobody of
    /// a name, who is told nothing of the project either.
    pub agent: Option<AgentManifestFile>,
    /// The only thing that it gets to know: its first message.
    pub input: String,
    /// JSON Schema of the output that it must come to; none if words will do.
    pub output_schema: Option<Value>,
    /// Ends it with the call.
    pub cancel: CancellationToken,
}

/// Carries out errands, each in a session of its own that can do no more than the caller's.
#[async_trait]
pub trait SubAgentSpawner: Send + Sync {
    /// Carries out an errand for a call, and tells the call's listeners how it goes on (`S001-44`).
    ///
    /// # Errors
    /// When it cannot begin, or comes to no output.
    async fn run(
        &self,
        cx: &ExecutionContext,
        errand: SubAgentRequest,
    ) -> Result<ToolOutput, ToolError>;

    /// Begins an errand and leaves it at work: what it comes to is told to the caller's model later.
    ///
    /// # Errors
    /// When it cannot begin.
    async fn start(
        &self,
        cx: &ExecutionContext,
        errand: SubAgentRequest,
    ) -> Result<SessionId, ToolError>;
}

impl ExecutionContext {
    /// Who carries out errands.
    ///
    /// # Errors
    /// Nobody does here.
    pub fn sub_agent_spawner(&self) -> Result<&Arc<dyn SubAgentSpawner>, ToolError> {
        let nobody =
            || ToolError::Failed("Nobody can carry out a delegate's work here.".to_owned());
        self.sub_agent_spawner.as_ref().ok_or_else(nobody)
    }

    /// A context that nobody listens to.
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
