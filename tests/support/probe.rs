//! A tool whose behaviour a test writes down, and an agent that remembers what it was told.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::BoxFuture;
use policy::Approved;
use protocol::event::CallChange;
use protocol::interface::InterfaceBuilder;
use protocol::model::ToolDefinition;
use protocol::{
    Access, Event, EventBody, Message, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput,
};
use provider::{ChunkStream, ModelRequest, Provider, ProviderError, ScriptedProvider};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

use crate::{call_tool, join_calls, script_provider};

type ProbeBody = dyn Fn(
        Map<String, Value>,
        ToolContext,
        ExecutionContext,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>
    + Send
    + Sync;

fn probe_interface() -> InterfaceBuilder {
    ToolInterface::builder("probe")
        .user_facing_name("Probe")
        .description("Does what a test says.")
        .model_input_schema(json!({ "type": "object" }))
        .requires(RequirementSet::empty())
        .mode(ToolMode::Read)
        .kind(ToolKind::Read)
        .mark_read_only()
}

/// A tool called `probe` that reads and whose calls are safe beside others unless they say `"alone": true`. It panics
/// before it runs if a call says `"panic": true`.
pub struct Probe {
    interface: ToolInterface,
    puts_in: Map<String, Value>,
    shows: PreviewedPlan,
    act: Box<ProbeBody>,
}

impl Probe {
    /// A tool that does this.
    pub fn new<F>(
        act: impl Fn(Map<String, Value>, ExecutionContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self::with_tool_context(move |arguments, _, cx| act(arguments, cx))
    }

    /// A tool that does this with what it may touch.
    pub fn with_tool_context<F>(
        act: impl Fn(Map<String, Value>, ToolContext, ExecutionContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self {
            interface: probe_interface().build(),
            puts_in: Map::new(),
            shows: PreviewedPlan::default(),
            act: Box::new(move |arguments, hands, cx| Box::pin(act(arguments, hands, cx))),
        }
    }

    /// With other facts about itself.
    #[must_use]
    pub fn with_interface(
        mut self,
        change: impl FnOnce(InterfaceBuilder) -> InterfaceBuilder,
    ) -> Self {
        self.interface = change(probe_interface()).build();
        self
    }

    /// With a record of its own in the place of the probe's.
    #[must_use]
    pub fn with_record(mut self, record: InterfaceBuilder) -> Self {
        self.interface = record.build();
        self
    }

    /// With members that it puts in by itself.
    #[must_use]
    pub fn with_injected_arguments(mut self, own: Value) -> Self {
        self.puts_in = own.as_object().cloned().unwrap();
        self
    }

    /// With a picture of what a call would do.
    #[must_use]
    pub fn with_preview(mut self, preview: Preview) -> Self {
        self.shows.preview = preview;
        self
    }

    /// Ready for a desk.
    pub fn into_tools(self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(self)]
    }
}

#[async_trait]
impl Tool for Probe {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        name(arguments)
    }

    fn accesses(&self, _: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn supplied_arguments(&self, _: &Map<String, Value>) -> Map<String, Value> {
        self.puts_in.clone()
    }

    fn is_parallel_safe(&self, arguments: &Map<String, Value>) -> bool {
        arguments.get("alone") != Some(&Value::Bool(true))
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        assert_ne!(arguments.get("panic"), Some(&Value::Bool(true)));
        Ok(self.shows.clone())
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &ToolContext,
        cx: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments().clone();
        (self.act)(arguments, hands.clone(), cx.clone()).await
    }
}

/// The member `name` of a call's arguments.
pub fn name(arguments: &Map<String, Value>) -> String {
    let name = arguments.get("name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

/// One turn that asks for these calls of `probe`.
pub fn probe_calls(calls: &[Value]) -> Value {
    join_calls(calls.iter().map(|call| call_tool("probe", call.clone())))
}

/// A scripted agent that remembers everything it was told.
pub struct RecordingProvider {
    script: ScriptedProvider,
    /// The messages of each request.
    pub heard: Mutex<Vec<Vec<Message>>>,
    /// The tools of each request.
    pub offered: Mutex<Vec<Vec<ToolDefinition>>>,
}

impl RecordingProvider {
    /// An agent that plays these turns.
    pub fn new(turns: impl Serialize) -> Arc<Self> {
        Arc::new(Self {
            script: script_provider(turns),
            heard: Mutex::default(),
            offered: Mutex::default(),
        })
    }

    /// The texts of the results in the last request, in order.
    pub fn tool_results(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let results = heard
            .last()
            .into_iter()
            .flatten()
            .filter_map(|message| match message {
                Message::Tool { text, .. } => Some(text.clone()),
                Message::User { .. } | Message::Assistant { .. } => None,
            });
        results.collect()
    }

    /// The last request.
    pub fn last_messages(&self) -> Vec<Message> {
        self.heard
            .lock()
            .unwrap()
            .last()
            .cloned()
            .unwrap_or_default()
    }
}

#[async_trait]
impl Provider for RecordingProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        self.heard.lock().unwrap().push((*request.messages).clone());
        self.offered.lock().unwrap().push((*request.tools).clone());
        self.script.stream(request, cancel).await
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// One turn that asks for one call of `probe` named `a`, with further members.
pub fn probe_turn(extra: Value) -> Value {
    let mut call = json!({ "name": "a" });
    for (member, value) in extra.as_object().unwrap() {
        call[member] = value.clone();
    }
    probe_calls(&[call])
}

/// The lines of a call's events while it lives, in order.
pub fn lifecycle_events(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Call {
                call,
                change: CallChange::Started,
            } => Some(format!("start {call}")),
            EventBody::Call {
                call,
                change: CallChange::Output { text },
            } => Some(format!("output {call} {text}")),
            EventBody::Call {
                call,
                change: CallChange::Update { partial },
            } => Some(format!("update {call} {}", partial.to_text().trim_end())),
            EventBody::Call {
                call,
                change: CallChange::Progress { tool, text },
            } => Some(format!("progress {call} {tool} {text}")),
            EventBody::Call {
                call,
                change: CallChange::Ended { .. },
            } => Some(format!("end {call}")),
            _ => None,
        })
        .collect()
}
