//! One answer as it comes in: `genai`'s events, and what the tap heard, become chunks.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use genai::chat::{ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use protocol::settings::Wire;
use serde_json::Value;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use crate::diagnose::Failure;
use crate::limits::{CALLS_MAX, ms};
use crate::opaque::{Kept, SignedCall, Thought};
use crate::prices::{Prices, Tokens};
use crate::tap::{HeardCall, Tap};
use crate::{Chunk, Stop};

/// How long to look whether an unreadable frame was the last one.
const LOOK_MS: u64 = 1000;

/// What a reply has to know of its request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub provider: String,
    pub wire: Wire,
    pub model: String,
    pub prices: Prices,
}

/// An answer that is coming in.
pub(crate) struct Reply {
    asked: Asked,
    stream: BoxStream<'static, Result<ChatStreamEvent, Failure>>,
    tap: Arc<Tap>,
    calls: Vec<HeardCall>,
    signed: Vec<SignedCall>,
    ready: VecDeque<Chunk>,
    over: bool,
}

impl Reply {
    pub(crate) fn new(
        asked: Asked,
        stream: BoxStream<'static, Result<ChatStreamEvent, Failure>>,
        tap: Arc<Tap>,
    ) -> Self {
        Self {
            asked,
            stream,
            tap,
            calls: Vec::new(),
            signed: Vec::new(),
            ready: VecDeque::new(),
            over: false,
        }
    }

    /// The next chunk; none after the end or after a failure.
    pub(crate) async fn next(&mut self) -> Option<Result<Chunk, Failure>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            if self.over {
                return None;
            }
            if let Err(failure) = self.step().await {
                self.over = true;
                self.ready.clear();
                return Some(Err(failure));
            }
        }
    }

    async fn step(&mut self) -> Result<(), Failure> {
        let event = self.event().await;
        if let Some(what) = self.tap.seen().too_large.take() {
            return Err(Failure::TooLarge(what));
        }
        match event {
            Some(Ok(event)) => self.take(event),
            Some(Err(failure)) => self.failed(failure).await,
            None => self.closed(),
        }
    }

    /// `genai` logs what it receives, whole error bodies included, and providers quote keys in those. So it is polled
    /// out of hearing; what matters of it is logged by us.
    async fn event(&mut self) -> Option<Result<ChatStreamEvent, Failure>> {
        self.stream.next().with_subscriber(Dispatch::none()).await
    }

    fn take(&mut self, event: ChatStreamEvent) -> Result<(), Failure> {
        match event {
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ThoughtSignatureChunk(_) => Ok(()),
            ChatStreamEvent::Chunk(chunk) => {
                self.say(Chunk::Text, chunk.content);
                Ok(())
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.say(Chunk::Reasoning, chunk.content);
                Ok(())
            }
            ChatStreamEvent::ToolCallChunk(chunk) => self.hear(chunk.tool_call),
            ChatStreamEvent::End(end) => self.ended(end),
        }
    }

    fn say(&mut self, kind: fn(String) -> Chunk, text: String) {
        if !text.is_empty() {
            self.ready.push_back(kind(text));
        }
    }

    fn hear(&mut self, call: ToolCall) -> Result<(), Failure> {
        let arguments = match call.fn_arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            whole => whole.to_string(),
        };
        match self.asked.wire {
            // The tap puts these together.
            Wire::Openai => return Ok(()),
            // Each event repeats the call with its arguments so far.
            Wire::Anthropic => {
                let last = self.calls.last_mut();
                if let Some(last) = last.filter(|last| last.id.as_ref() == Some(&call.call_id)) {
                    last.arguments = arguments;
                    return Ok(());
                }
                let call = HeardCall::new(Some(call.call_id), call.fn_name, arguments);
                self.calls.push(call);
            }
            Wire::Gemini => {
                // `genai`'s stand-in for an id that Gemini did not give repeats within a turn.
                let id = Some(call.call_id).filter(|id| !id.starts_with("call#"));
                self.signed.push(SignedCall {
                    id: id.clone(),
                    signatures: call.thought_signatures.unwrap_or_default(),
                });
                self.calls.push(HeardCall::new(id, call.fn_name, arguments));
            }
            Wire::Ollama => {
                let id = Some(call.call_id).filter(|id| !id.is_empty());
                let call = HeardCall::new(id, call.fn_name, arguments);
                self.calls.push(call);
            }
        }
        if self.calls.len() > CALLS_MAX {
            return Err(Failure::TooLarge(format!("more than {CALLS_MAX} calls")));
        }
        Ok(())
    }

    /// The answer is over. For Gemini `genai` says so of a broken-off answer, too.
    fn ended(&mut self, end: StreamEnd) -> Result<(), Failure> {
        let (finish, blocked) = {
            let mut seen = self.tap.seen();
            (seen.finish.clone(), seen.blocked.take())
        };
        let truly = match self.asked.wire {
            Wire::Anthropic | Wire::Openai => true,
            Wire::Gemini | Wire::Ollama => finish.is_some(),
        };
        match blocked {
            Some(reason) => self.refused(reason),
            None if truly => self.finish(end)?,
            None => return Err(self.broken_off()),
        }
        Ok(())
    }

    /// The stream is over and `genai` saw no end. OpenAI-compatible servers may leave out their last mark.
    fn closed(&mut self) -> Result<(), Failure> {
        let finished = self.tap.seen().finish.is_some();
        if self.asked.wire == Wire::Openai && finished {
            return self.finish(StreamEnd::default());
        }
        Err(self.broken_off())
    }

    fn broken_off(&self) -> Failure {
        if self.tap.seen().hollow {
            Failure::NoStream
        } else {
            Failure::Cut
        }
    }

    async fn failed(&mut self, failure: Failure) -> Result<(), Failure> {
        let blocked = self.tap.seen().blocked.take();
        if let Some(reason) = blocked {
            self.refused(reason);
            return Ok(());
        }
        match failure {
            Failure::Unreadable { at_end: true, .. } if self.is_last().await => Err(Failure::Cut),
            Failure::Unreadable { why, .. } => Err(Failure::Malformed(format!(
                "it is not JSON ({why}): {}",
                self.tap.seen().last
            ))),
            Failure::Malformed(why) => Err(Failure::Malformed(format!(
                "{why}: {}",
                self.tap.seen().last
            ))),
            other => Err(other),
        }
    }

    /// Whether nothing follows. An answer that breaks off inside a frame leaves a frame that ends too early; a frame
    /// that ends too early with more behind it is malformed.
    async fn is_last(&mut self) -> bool {
        match tokio::time::timeout(ms(LOOK_MS), self.event()).await {
            Ok(None) => true,
            Ok(Some(Ok(ChatStreamEvent::End(_)))) => self.tap.seen().finish.is_none(),
            Ok(Some(Err(failure))) => matches!(failure, Failure::Cut | Failure::Connection(_)),
            Ok(Some(Ok(_))) | Err(_) => false,
        }
    }

    fn refused(&mut self, reason: String) {
        self.over = true;
        self.ready.push_back(Chunk::End {
            usage: (self.asked.prices).usage(&self.asked.model, Tokens::default(), None),
            opaque: Value::Null,
            stop: Stop::Refused(reason),
        });
    }

    fn finish(&mut self, end: StreamEnd) -> Result<(), Failure> {
        let mut seen = std::mem::take(&mut *self.tap.seen());
        let mut stop = stop(end.captured_stop_reason.clone(), seen.finish.take());
        if !seen.refusal.is_empty() {
            stop = Ended::Stop(Stop::Refused(std::mem::take(&mut seen.refusal)));
        }
        let calls = match self.asked.wire {
            Wire::Openai => std::mem::take(&mut seen.calls),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => std::mem::take(&mut self.calls),
        };
        let stop = match stop {
            Ended::ForCalls if calls.is_empty() => {
                return Err(Failure::Malformed(
                    "it ended its turn for a tool call, and there is none".to_owned(),
                ));
            }
            Ended::ForCalls => Stop::Finished,
            Ended::Stop(stop) => stop,
        };
        let tokens = match self.asked.wire {
            Wire::Openai => seen.tokens.unwrap_or_default(),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => tokens(&end),
        };
        let kept = match self.asked.wire {
            Wire::Anthropic => Kept::Anthropic {
                thoughts: thoughts(end),
            },
            Wire::Gemini => {
                let calls = std::mem::take(&mut self.signed);
                let signatures = free_signatures(end, &calls);
                Kept::Gemini { signatures, calls }
            }
            Wire::Openai | Wire::Ollama => Kept::Openai {
                reasoning: Some(seen.reasoning).filter(|text| !text.is_empty()),
                details: seen.details,
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
            usage: (self.asked.prices).usage(&self.asked.model, tokens, seen.cost_usd),
            opaque: kept.into_value(&self.asked.provider),
            stop,
        });
        Ok(())
    }
}

/// Why a turn is over, before it is clear whether its calls came.
enum Ended {
    ForCalls,
    Stop(Stop),
}

fn stop(reason: Option<StopReason>, heard: Option<String>) -> Ended {
    let Some(reason) = reason.or_else(|| heard.map(StopReason::from)) else {
        return Ended::Stop(Stop::Finished);
    };
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => Ended::Stop(Stop::Finished),
        StopReason::ToolCall(_) => Ended::ForCalls,
        StopReason::MaxTokens(_) => Ended::Stop(Stop::Length),
        StopReason::ContentFilter(word) => Ended::Stop(Stop::Refused(word)),
        StopReason::Other(word) => match word.as_str() {
            // Some endpoints that speak Gemini's and OpenAI's formats have words of their own.
            "FUNCTION_CALL" => Ended::ForCalls,
            "eos" | "eos_token" => Ended::Stop(Stop::Finished),
            _ => Ended::Stop(Stop::Other(word)),
        },
    }
}

fn tokens(end: &StreamEnd) -> Tokens {
    let Some(usage) = &end.captured_usage else {
        return Tokens::default();
    };
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let details = usage.prompt_tokens_details.as_ref();
    // Of a Gemini turn that only thought, `genai` reports the thoughts alone.
    let thought = usage.completion_tokens_details.as_ref();
    let thought = thought.and_then(|details| details.reasoning_tokens);
    Tokens {
        input: count(usage.prompt_tokens),
        cached: count(details.and_then(|details| details.cached_tokens)),
        cache_written: count(details.and_then(|details| details.cache_creation_tokens)),
        output: count(usage.completion_tokens.or(thought)),
    }
}

fn thoughts(end: StreamEnd) -> Vec<Thought> {
    let mut thoughts = Vec::new();
    let mut open: Option<String> = None;
    let parts = end.captured_content.map(|content| content.into_parts());
    for part in parts.into_iter().flatten() {
        match part {
            ContentPart::ThoughtSignature(signature) => open = Some(signature),
            ContentPart::ReasoningContent(text) => {
                if let Some(signature) = open.take() {
                    thoughts.push(Thought::Signed { text, signature });
                }
            }
            ContentPart::Custom(part) => thoughts.push(Thought::Block(part.data)),
            _ => {}
        }
    }
    thoughts
}

/// Signatures that no call carries itself.
fn free_signatures(end: StreamEnd, calls: &[SignedCall]) -> Vec<String> {
    let all = end.captured_into_thought_signatures().unwrap_or_default();
    all.into_iter()
        .filter(|signature| {
            calls
                .iter()
                .all(|call| !call.signatures.contains(signature))
        })
        .collect()
}
