//! One answer as it comes in: turns `genai`'s events and the facts of the tap into chunks.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use genai::chat::{ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use protocol::settings::WireFormat;
use serde_json::Value;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use crate::failure::WireFailure;
use crate::limits::{CALLS_MAX, duration_from_ms};
use crate::prices::{Prices, TokenCounts};
use crate::wire::frame_tap::{FrameTap, PartialCall};
use crate::wire::opaque::{OpaqueData, SignedCall, ThinkingBlock};
use crate::{Chunk, Stop};

/// How long to look whether an unreadable frame was the last one.
const LAST_FRAME_WAIT_MS: u64 = 1000;

/// The facts of a request that its reply needs.
#[derive(Debug, Clone)]
pub(crate) struct ReplyContext {
    pub provider: String,
    pub wire: WireFormat,
    pub model: String,
    pub prices: Prices,
}

/// An answer that is coming in.
pub(crate) struct Reply {
    context: ReplyContext,
    stream: BoxStream<'static, Result<ChatStreamEvent, WireFailure>>,
    tap: Arc<FrameTap>,
    calls: Vec<PartialCall>,
    signed: Vec<SignedCall>,
    ready: VecDeque<Chunk>,
    over: bool,
}

impl Reply {
    pub(crate) fn new(
        context: ReplyContext,
        stream: BoxStream<'static, Result<ChatStreamEvent, WireFailure>>,
        tap: Arc<FrameTap>,
    ) -> Self {
        Self {
            context,
            stream,
            tap,
            calls: Vec::new(),
            signed: Vec::new(),
            ready: VecDeque::new(),
            over: false,
        }
    }

    /// The next chunk; none after the end or after a failure.
    pub(crate) async fn next(&mut self) -> Option<Result<Chunk, WireFailure>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            if self.over {
                return None;
            }
            if let Err(failure) = self.read_event().await {
                self.over = true;
                self.ready.clear();
                return Some(Err(failure));
            }
        }
    }

    async fn read_event(&mut self) -> Result<(), WireFailure> {
        let event = self.next_event().await;
        if let Some(what) = self.tap.lock_facts().too_large.take() {
            return Err(WireFailure::TooLarge(what));
        }
        match event {
            Some(Ok(event)) => self.handle_event(event),
            Some(Err(failure)) => self.handle_failure(failure).await,
            None => self.handle_close(),
        }
    }

    /// Returns the next event. `genai` logs everything that it receives, whole error bodies included, and providers
    /// quote keys in those; so it is polled without a subscriber, and we log the parts that matter.
    async fn next_event(&mut self) -> Option<Result<ChatStreamEvent, WireFailure>> {
        self.stream.next().with_subscriber(Dispatch::none()).await
    }

    fn handle_event(&mut self, event: ChatStreamEvent) -> Result<(), WireFailure> {
        match event {
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ThoughtSignatureChunk(_) => Ok(()),
            ChatStreamEvent::Chunk(chunk) => {
                self.push_text(Chunk::Text, chunk.content);
                Ok(())
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.push_text(Chunk::Reasoning, chunk.content);
                Ok(())
            }
            ChatStreamEvent::ToolCallChunk(chunk) => self.push_call(chunk.tool_call),
            ChatStreamEvent::End(end) => self.handle_end(end),
        }
    }

    fn push_text(&mut self, kind: fn(String) -> Chunk, text: String) {
        if !text.is_empty() {
            self.ready.push_back(kind(text));
        }
    }

    fn push_call(&mut self, call: ToolCall) -> Result<(), WireFailure> {
        let arguments = match call.fn_arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            whole => whole.to_string(),
        };
        match self.context.wire {
            // The tap puts these together.
            WireFormat::Openai => return Ok(()),
            // Each event repeats the call with its arguments so far.
            WireFormat::Anthropic => {
                let last = self.calls.last_mut();
                if let Some(last) = last.filter(|last| last.id.as_ref() == Some(&call.call_id)) {
                    last.arguments = arguments;
                    return Ok(());
                }
                let call = PartialCall::new(Some(call.call_id), call.fn_name, arguments);
                self.calls.push(call);
            }
            WireFormat::Gemini => {
                // `genai`'s stand-in for an id that Gemini did not give repeats within a turn.
                let id = Some(call.call_id).filter(|id| !id.starts_with("call#"));
                self.signed.push(SignedCall {
                    id: id.clone(),
                    signatures: call.thought_signatures.unwrap_or_default(),
                });
                self.calls
                    .push(PartialCall::new(id, call.fn_name, arguments));
            }
            WireFormat::Ollama => {
                let id = Some(call.call_id).filter(|id| !id.is_empty());
                let call = PartialCall::new(id, call.fn_name, arguments);
                self.calls.push(call);
            }
        }
        if self.calls.len() > CALLS_MAX {
            return Err(WireFailure::TooLarge(format!(
                "more than {CALLS_MAX} calls"
            )));
        }
        Ok(())
    }

    /// The answer is over. For Gemini `genai` says so of a broken-off answer, too.
    fn handle_end(&mut self, end: StreamEnd) -> Result<(), WireFailure> {
        let (finish, blocked) = {
            let mut seen = self.tap.lock_facts();
            (seen.finish.clone(), seen.blocked.take())
        };
        let truly = match self.context.wire {
            WireFormat::Anthropic | WireFormat::Openai => true,
            WireFormat::Gemini | WireFormat::Ollama => finish.is_some(),
        };
        match blocked {
            Some(reason) => self.set_refusal(reason),
            None if truly => self.finish_turn(end)?,
            None => return Err(self.truncation_failure()),
        }
        Ok(())
    }

    /// The stream is over and `genai` saw no end. OpenAI-compatible servers may leave out their last mark.
    fn handle_close(&mut self) -> Result<(), WireFailure> {
        let finished = self.tap.lock_facts().finish.is_some();
        if self.context.wire == WireFormat::Openai && finished {
            return self.finish_turn(StreamEnd::default());
        }
        Err(self.truncation_failure())
    }

    fn truncation_failure(&self) -> WireFailure {
        if self.tap.lock_facts().hollow {
            WireFailure::NotAStream
        } else {
            WireFailure::Truncated
        }
    }

    async fn handle_failure(&mut self, failure: WireFailure) -> Result<(), WireFailure> {
        let blocked = self.tap.lock_facts().blocked.take();
        if let Some(reason) = blocked {
            self.set_refusal(reason);
            return Ok(());
        }
        match failure {
            WireFailure::Unreadable { at_end: true, .. } if self.is_last_frame().await => {
                Err(WireFailure::Truncated)
            }
            WireFailure::Unreadable { why, .. } => Err(WireFailure::Malformed(format!(
                "it is not JSON ({why}): {}",
                self.tap.lock_facts().last
            ))),
            WireFailure::Malformed(why) => Err(WireFailure::Malformed(format!(
                "{why}: {}",
                self.tap.lock_facts().last
            ))),
            other => Err(other),
        }
    }

    /// Whether nothing follows. An answer that breaks off inside a frame leaves a frame that ends too early; a frame
    /// that ends too early with more behind it is malformed.
    async fn is_last_frame(&mut self) -> bool {
        match tokio::time::timeout(duration_from_ms(LAST_FRAME_WAIT_MS), self.next_event()).await {
            Ok(None) => true,
            Ok(Some(Ok(ChatStreamEvent::End(_)))) => self.tap.lock_facts().finish.is_none(),
            Ok(Some(Err(failure))) => {
                matches!(failure, WireFailure::Truncated | WireFailure::Connection(_))
            }
            Ok(Some(Ok(_))) | Err(_) => false,
        }
    }

    fn set_refusal(&mut self, reason: String) {
        self.over = true;
        self.ready.push_back(Chunk::End {
            usage: (self.context.prices).usage_with_cost(
                &self.context.model,
                TokenCounts::default(),
                None,
            ),
            opaque: Value::Null,
            stop: Stop::Refused(reason),
        });
    }

    fn finish_turn(&mut self, end: StreamEnd) -> Result<(), WireFailure> {
        let mut facts = std::mem::take(&mut *self.tap.lock_facts());
        let mut stop = turn_end(end.captured_stop_reason.clone(), facts.finish.take());
        if !facts.refusal.is_empty() {
            stop = TurnEnd::Stop(Stop::Refused(std::mem::take(&mut facts.refusal)));
        }
        let calls = match self.context.wire {
            WireFormat::Openai => std::mem::take(&mut facts.calls),
            WireFormat::Anthropic | WireFormat::Gemini | WireFormat::Ollama => {
                std::mem::take(&mut self.calls)
            }
        };
        let stop = match stop {
            TurnEnd::ToolCalls if calls.is_empty() => {
                return Err(WireFailure::Malformed(
                    "it ended its turn for a tool call, and there is none".to_owned(),
                ));
            }
            TurnEnd::ToolCalls => Stop::Finished,
            TurnEnd::Stop(stop) => stop,
        };
        let tokens = match self.context.wire {
            WireFormat::Openai => facts.tokens.unwrap_or_default(),
            WireFormat::Anthropic | WireFormat::Gemini | WireFormat::Ollama => count_tokens(&end),
        };
        let opaque = match self.context.wire {
            WireFormat::Anthropic => OpaqueData::Anthropic {
                thoughts: thinking_blocks(end),
            },
            WireFormat::Gemini => {
                let calls = std::mem::take(&mut self.signed);
                let signatures = unattached_signatures(end, &calls);
                OpaqueData::Gemini { signatures, calls }
            }
            WireFormat::Openai | WireFormat::Ollama => OpaqueData::Openai {
                reasoning: Some(facts.reasoning).filter(|text| !text.is_empty()),
                details: facts.details,
            },
        };
        self.over = true;
        self.ready.extend(calls.into_iter().map(|call| Chunk::Call {
            id: call.id,
            name: call.name,
            arguments: if call.arguments.is_empty() {
                "{}".to_owned()
            } else {
                call.arguments
            },
        }));
        self.ready.push_back(Chunk::End {
            usage: (self.context.prices).usage_with_cost(
                &self.context.model,
                tokens,
                facts.cost_usd,
            ),
            opaque: opaque.into_value(&self.context.provider),
            stop,
        });
        Ok(())
    }
}

/// Why a turn is over, before it is clear whether its calls came.
enum TurnEnd {
    ToolCalls,
    Stop(Stop),
}

fn turn_end(reason: Option<StopReason>, heard: Option<String>) -> TurnEnd {
    let Some(reason) = reason.or_else(|| heard.map(StopReason::from)) else {
        return TurnEnd::Stop(Stop::Finished);
    };
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => TurnEnd::Stop(Stop::Finished),
        StopReason::ToolCall(_) => TurnEnd::ToolCalls,
        StopReason::MaxTokens(_) => TurnEnd::Stop(Stop::Length),
        StopReason::ContentFilter(word) => TurnEnd::Stop(Stop::Refused(word)),
        StopReason::Other(word) => match word.as_str() {
            // Some endpoints that speak Gemini's and OpenAI's formats have words of their own.
            "FUNCTION_CALL" => TurnEnd::ToolCalls,
            "eos" | "eos_token" => TurnEnd::Stop(Stop::Finished),
            _ => TurnEnd::Stop(Stop::Other(word)),
        },
    }
}

fn count_tokens(end: &StreamEnd) -> TokenCounts {
    let Some(usage) = &end.captured_usage else {
        return TokenCounts::default();
    };
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let details = usage.prompt_tokens_details.as_ref();
    // Of a Gemini turn that only thought, `genai` reports the thoughts alone.
    let thought = usage.completion_tokens_details.as_ref();
    let thought = thought.and_then(|details| details.reasoning_tokens);
    TokenCounts {
        input: count(usage.prompt_tokens),
        cached: count(details.and_then(|details| details.cached_tokens)),
        cache_written: count(details.and_then(|details| details.cache_creation_tokens)),
        output: count(usage.completion_tokens.or(thought)),
    }
}

fn thinking_blocks(end: StreamEnd) -> Vec<ThinkingBlock> {
    let mut thoughts = Vec::new();
    let mut open: Option<String> = None;
    let parts = end.captured_content.map(|content| content.into_parts());
    for part in parts.into_iter().flatten() {
        match part {
            ContentPart::ThoughtSignature(signature) => open = Some(signature),
            ContentPart::ReasoningContent(text) => {
                if let Some(signature) = open.take() {
                    thoughts.push(ThinkingBlock::Signed { text, signature });
                }
            }
            ContentPart::Custom(part) => thoughts.push(ThinkingBlock::Block(part.data)),
            _ => {}
        }
    }
    thoughts
}

/// Signatures that no call carries itself.
fn unattached_signatures(end: StreamEnd, calls: &[SignedCall]) -> Vec<String> {
    let all = end.captured_into_thought_signatures().unwrap_or_default();
    all.into_iter()
        .filter(|signature| {
            calls
                .iter()
                .all(|call| !call.signatures.contains(signature))
        })
        .collect()
}
