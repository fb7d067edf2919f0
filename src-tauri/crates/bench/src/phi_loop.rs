//! The peer in the pipeline benchmark: the loop of phi-core with its mock provider, and tools that do nothing or only
//! read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use phi_core::agent_loop::{AgentLoopConfig, agent_loop};
use phi_core::provider::mock::{MockResponse, MockToolCall};
use phi_core::provider::{MockProvider, ModelConfig, ResponseFormat};
use phi_core::{
    AgentContext, AgentMessage, AgentTool, CacheConfig, Content, LlmMessage, Message, RetryConfig,
    RevertRenderPolicy, ThinkingLevel, ToolContext, ToolError, ToolExecutionStrategy, ToolResult,
    TurnTrigger,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{BenchResult, engine_loop};

struct NoopTool;

#[async_trait]
impl AgentTool for NoopTool {
    fn name(&self) -> &str {
        "todo"
    }

    fn label(&self) -> &str {
        "To do"
    }

    fn description(&self) -> &str {
        "Keeps the list of things to do that the person sees."
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "items": { "type": "array" } }, "required": ["items"] })
    }

    async fn execute(
        &self,
        _params: Value,
        _context: ToolContext,
    ) -> Result<ToolResult, ToolError> {
        Ok(ToolResult {
            content: vec![Content::Text {
                text: "The list has 0 items now.".to_owned(),
            }],
            details: Value::Null,
            child_loop_id: None,
        })
    }
}

/// A tool that reads a file and checks nothing else.
struct ReadTool;

#[async_trait]
impl AgentTool for ReadTool {
    fn name(&self) -> &str {
        "read"
    }

    fn label(&self) -> &str {
        "Read"
    }

    fn description(&self) -> &str {
        "Reads a file."
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
    }

    async fn execute(&self, params: Value, _context: ToolContext) -> Result<ToolResult, ToolError> {
        let path = params["path"].as_str().unwrap_or_default();
        let text = tokio::fs::read_to_string(path)
            .await
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        Ok(ToolResult {
            content: vec![Content::Text { text }],
            details: Value::Null,
            child_loop_id: None,
        })
    }
}

/// Runs `turns` turns of `calls` calls and a final turn without calls; returns the duration.
pub async fn time_turns(turns: usize, calls: usize) -> BenchResult<Duration> {
    let call = MockToolCall {
        name: "todo".to_owned(),
        arguments: json!({ "items": [] }),
    };
    run_loop(Arc::new(NoopTool), vec![call; calls], turns).await
}

/// Runs one turn of `calls` calls that each read a file of their own.
pub async fn time_reads(calls: usize) -> BenchResult<Duration> {
    let folder = tempfile::tempdir()?;
    let calls = engine_loop::create_files(folder.path(), calls)?
        .iter()
        .map(|path| MockToolCall {
            name: "read".to_owned(),
            arguments: json!({ "path": path }),
        })
        .collect();
    run_loop(Arc::new(ReadTool), calls, 1).await
}

async fn run_loop(
    tool: Arc<dyn AgentTool>,
    calls: Vec<MockToolCall>,
    turns: usize,
) -> BenchResult<Duration> {
    let expected = 1 + turns + turns * calls.len() + 1;
    let mut script = vec![MockResponse::ToolCalls(calls); turns];
    script.push(MockResponse::Text("Done.".to_owned()));
    let config = loop_config(script);
    let mut context = create_context(tool);
    let prompt = AgentMessage::Llm(LlmMessage::new(Message::user("Go.")));
    let (sender, mut events) = mpsc::unbounded_channel();
    let began = Instant::now();
    let said = agent_loop(
        vec![prompt],
        &mut context,
        &config,
        sender,
        CancellationToken::new(),
    )
    .await;
    let took = began.elapsed();
    if said.len() != expected {
        return Err(format!("{} messages instead of {expected}", said.len()).into());
    }
    while events.try_recv().is_ok() {}
    Ok(took)
}

fn create_context(tool: Arc<dyn AgentTool>) -> AgentContext {
    AgentContext {
        system_prompt: "You work through tools.".to_owned(),
        messages: Vec::new(),
        tools: vec![tool],
        agent_id: None,
        session_id: None,
        loop_id: None,
        parent_loop_id: None,
        continuation_kind: None,
        session: None,
        user_context: Vec::new(),
        inrun_context: Vec::new(),
        active_node_id: None,
        next_node_id: 0,
    }
}

/// Returns a configuration in which everything that is off by default is off.
fn loop_config(script: Vec<MockResponse>) -> AgentLoopConfig {
    AgentLoopConfig {
        model_config: ModelConfig::anthropic("mock", "mock", "test"),
        provider_override: Some(Arc::new(MockProvider::new(script))),
        thinking_level: ThinkingLevel::Off,
        max_tokens: None,
        temperature: None,
        convert_to_llm: None,
        transform_context: None,
        get_steering_messages: None,
        get_follow_up_messages: None,
        context_config: None,
        execution_limits: None,
        cache_config: CacheConfig::default(),
        tool_execution: ToolExecutionStrategy::default(),
        tool_timeout: None,
        response_format: ResponseFormat::Text,
        provider_wire_sink: None,
        event_log: None,
        progressive_tool_catalog: Default::default(),
        retry_config: RetryConfig::default(),
        before_turn: None,
        after_turn: None,
        on_error: None,
        before_loop: None,
        after_loop: None,
        before_tool_execution: None,
        after_tool_execution: None,
        before_tool_execution_update: None,
        after_tool_execution_update: None,
        before_compaction_start: None,
        after_compaction_end: None,
        input_filters: Vec::new(),
        first_turn_trigger: TurnTrigger::User,
        config_id: None,
        context_translation: None,
        prun_pending: None,
        revert_pending: None,
        current_tool: None,
        revert_render_policy: RevertRenderPolicy::default(),
    }
}
