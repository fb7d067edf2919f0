//! Facts of a stream that `genai` does not report, read off its raw frames.
//!
//! Where `genai` 0.7.2 stands in the way, and what is done here about it:
//! - OpenAI-compatible calls: it drops a call whose delta has no `index`, makes a second copy of the first call when a
//!   server counts from 1, and makes room for as many calls as the server's largest index says. Here the pieces are
//!   put together again, with a limit.
//! - It loses `reasoning_details` and `refusal` of a stream, the cost that OpenRouter reports, and the fact that a
//!   stream without `[DONE]` had finished.
//! - Gemini: it makes a broken-off stream look finished, and the reason why a prompt was blocked is lost.
//! - Ollama: see `ollama.rs`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use protocol::settings::WireFormat;
use serde_json::Value;

use crate::limits::{CALLS_MAX, EXCERPT_CHARS_MAX, TURN_BYTES_MAX};
use crate::prices::TokenCounts;

/// Listens to the frames of one stream.
#[derive(Debug)]
pub(crate) struct FrameTap {
    wire: WireFormat,
    facts: Mutex<StreamFacts>,
}

/// The facts of a stream so far.
#[derive(Debug, Default)]
pub(crate) struct StreamFacts {
    /// The beginning of the last frame, for errors.
    pub last: String,
    /// The provider's word for why the turn is over.
    pub finish: Option<String>,
    /// Calls of an OpenAI-compatible stream, in order.
    pub calls: Vec<PartialCall>,
    /// Text that came as `reasoning_content`, or as `thinking` of Ollama.
    pub reasoning: String,
    /// Blocks that came as `reasoning_details`.
    pub details: Vec<Value>,
    /// The words of a refusal.
    pub refusal: String,
    /// Tokens of an OpenAI-compatible stream.
    pub tokens: Option<TokenCounts>,
    /// The cost in dollars that the provider reported.
    pub cost_usd: Option<f64>,
    /// Why Gemini blocked the prompt.
    pub blocked: Option<String>,
    /// Whether all frames so far had no data, like a web page read as events.
    pub hollow: bool,
    /// Which of our limits was passed.
    pub too_large: Option<String>,
    bytes: u64,
}

/// A call, as far as its frames have come in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PartialCall {
    pub id: Option<String>,
    pub name: String,
    pub arguments: String,
    index: Option<u64>,
}

impl FrameTap {
    pub(crate) fn new(wire: WireFormat) -> Self {
        Self {
            wire,
            facts: Mutex::default(),
        }
    }

    /// Takes in one line of Ollama.
    pub(crate) fn push_ollama_line(&self, line: &str) {
        let mut seen = self.lock_facts();
        seen.count_data(line);
        if let Ok(line) = serde_json::from_str::<Value>(line) {
            seen.parse_ollama_line(&line);
        }
    }

    pub(crate) fn lock_facts(&self) -> MutexGuard<'_, StreamFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for FrameTap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut facts = self.lock_facts();
        facts.count_data(frame.data);
        match self.wire {
            // Nothing of Anthropic's stream is lost.
            WireFormat::Anthropic => {}
            WireFormat::Openai => {
                if let Some(frame) = frame.json() {
                    facts.parse_openai_frame(&frame);
                }
            }
            WireFormat::Gemini => {
                if let Some(frame) = frame.json() {
                    let word = |path| frame.pointer(path).and_then(Value::as_str);
                    facts.blocked = word("/promptFeedback/blockReason").map(str::to_owned);
                    set_if_some(&mut facts.finish, word("/candidates/0/finishReason"));
                }
            }
            // It has a way of its own.
            WireFormat::Ollama => {}
        }
    }
}

impl StreamFacts {
    /// Counts the bytes of a frame and keeps its beginning.
    fn count_data(&mut self, data: &str) {
        self.hollow = data.is_empty() && (self.hollow || self.bytes == 0);
        self.bytes += data.len() as u64;
        if self.bytes > TURN_BYTES_MAX {
            self.too_large = Some(format!("more than {TURN_BYTES_MAX} bytes"));
        }
        self.last = data.chars().take(EXCERPT_CHARS_MAX).collect();
    }

    fn parse_ollama_line(&mut self, line: &Value) {
        let thinking = line.pointer("/message/thinking").and_then(Value::as_str);
        self.reasoning.push_str(thinking.unwrap_or_default());
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            let reason = line.get("done_reason").and_then(Value::as_str);
            self.finish = Some(reason.unwrap_or("stop").to_owned());
        }
    }

    fn parse_openai_frame(&mut self, frame: &Value) {
        if let Some(usage) = frame.get("usage").filter(|usage| usage.is_object()) {
            let count = |path| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
            self.tokens = Some(TokenCounts {
                input: count("/prompt_tokens"),
                cached: count("/prompt_tokens_details/cached_tokens"),
                cache_written: count("/prompt_tokens_details/cache_write_tokens"),
                output: count("/completion_tokens"),
            });
            self.cost_usd = usage.get("cost").and_then(Value::as_f64).or(self.cost_usd);
        }
        let Some(choice) = frame.pointer("/choices/0") else {
            return;
        };
        set_if_some(
            &mut self.finish,
            choice.get("finish_reason").and_then(Value::as_str),
        );
        let Some(delta) = choice.get("delta") else {
            return;
        };
        let word = |member| {
            delta
                .get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        self.reasoning.push_str(word("reasoning_content"));
        self.refusal.push_str(word("refusal"));
        let list = |member| delta.get(member).and_then(Value::as_array);
        for detail in list("reasoning_details").into_iter().flatten() {
            self.push_reasoning_detail(detail);
        }
        for piece in list("tool_calls").into_iter().flatten() {
            self.push_call_piece(piece);
        }
    }

    /// Pieces of one block come one after the other, with the same type and index.
    fn push_reasoning_detail(&mut self, detail: &Value) {
        let Some(piece) = detail.as_object() else {
            return;
        };
        let last = self.details.last_mut().and_then(Value::as_object_mut);
        let Some(last) = last.filter(|last| {
            last.get("type") == piece.get("type") && last.get("index") == piece.get("index")
        }) else {
            self.details.push(detail.clone());
            return;
        };
        for (member, value) in piece {
            let grows = matches!(member.as_str(), "text" | "summary" | "data");
            match (last.get_mut(member), value) {
                (Some(Value::String(so_far)), Value::String(more)) if grows => {
                    so_far.push_str(more);
                }
                (_, Value::Null) => {}
                (_, value) => {
                    last.insert(member.clone(), value.clone());
                }
            }
        }
    }

    /// A piece belongs to the call with its index; without an index to the one with its id, else to the last one. A
    /// piece with another id and a name begins a new call, whatever its index: some servers leave it at 0.
    fn push_call_piece(&mut self, piece: &Value) {
        let index = piece.get("index").and_then(Value::as_u64);
        let word = |path| {
            let word = piece.pointer(path).and_then(Value::as_str);
            word.filter(|word| !word.is_empty()).map(str::to_owned)
        };
        let (id, name) = (word("/id"), word("/function/name"));
        let arguments = match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(whole) => whole.to_string(),
        };
        let position = match (index, &id) {
            (Some(index), _) => self
                .calls
                .iter()
                .rposition(|call| call.index == Some(index)),
            (None, Some(id)) => self
                .calls
                .iter()
                .position(|call| call.id.as_ref() == Some(id)),
            (None, None) if name.is_none() => self.calls.len().checked_sub(1),
            (None, None) => None,
        };
        let call = position
            .and_then(|position| self.calls.get_mut(position))
            .filter(|call| name.is_none() || id.is_none() || call.id == id || call.id.is_none());
        if let Some(call) = call {
            call.arguments.push_str(&arguments);
            call.id = call.id.take().or(id);
            if call.name.is_empty() {
                call.name = name.unwrap_or_default();
            }
            return;
        }
        if self.calls.len() >= CALLS_MAX {
            self.too_large = Some(format!("more than {CALLS_MAX} calls"));
            return;
        }
        self.calls.push(PartialCall {
            id,
            name: name.unwrap_or_default(),
            arguments,
            index,
        });
    }
}

impl PartialCall {
    /// A call that `genai` reports whole or as it grows.
    pub(crate) fn new(id: Option<String>, name: String, arguments: String) -> Self {
        Self {
            id,
            name,
            arguments,
            index: None,
        }
    }
}

fn set_if_some(place: &mut Option<String>, word: Option<&str>) {
    if let Some(word) = word {
        *place = Some(word.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn collect_calls(pieces: Value) -> Vec<(Option<String>, String, String)> {
        let mut seen = StreamFacts::default();
        for piece in pieces.as_array().unwrap() {
            seen.parse_openai_frame(&json!({"choices":[{"delta":{"tool_calls":[piece]}}]}));
        }
        seen.calls
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (Option<String>, String, String) {
        let id = (!id.is_empty()).then(|| id.to_owned());
        (id, name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn pieces_of_calls_find_each_other() {
        let two = vec![call("a", "read", "{}"), call("b", "grep", "{\"p\":1}")];
        // Interleaved, as the format has it.
        assert_eq!(
            collect_calls(json!([
                {"index":0,"id":"a","function":{"name":"read","arguments":""}},
                {"index":1,"id":"b","function":{"name":"grep","arguments":"{\"p\""}},
                {"index":0,"function":{"arguments":"{}"}},
                {"index":1,"function":{"arguments":":1}"}}])),
            two
        );
        // Counted from 1, with names repeated as empty texts.
        assert_eq!(
            collect_calls(json!([
                {"index":1,"id":"a","function":{"name":"read","arguments":"{"}},
                {"index":1,"id":"","function":{"name":"","arguments":"}"}},
                {"index":2,"id":"b","function":{"name":"grep","arguments":"{\"p\":1}"}}])),
            two
        );
        // Whole calls that all say index 0.
        assert_eq!(
            collect_calls(json!([
                {"index":0,"id":"a","function":{"name":"read","arguments":"{}"}},
                {"index":0,"id":"b","function":{"name":"grep","arguments":"{\"p\":1}"}}])),
            two
        );
        // Without an index; arguments as an object.
        assert_eq!(
            collect_calls(json!([
                {"id":"a","function":{"name":"read","arguments":{}}},
                {"id":"b","function":{"name":"grep","arguments":"{\"p\""}},
                {"id":"b","function":{"arguments":":1}"}}])),
            two
        );
        // Without index and id.
        assert_eq!(
            collect_calls(json!([
                {"function":{"name":"read","arguments":"{"}},
                {"function":{"arguments":"}"}},
                {"function":{"name":"read","arguments":"{}"}}])),
            vec![call("", "read", "{}"), call("", "read", "{}")]
        );
    }

    #[test]
    fn the_number_of_calls_is_limited() {
        let mut seen = StreamFacts::default();
        for index in 0..=CALLS_MAX {
            seen.push_call_piece(
                &json!({"index": index * 1_000_000_000, "id": format!("c{index}"),
                "function": {"name": "read", "arguments": "{}"}}),
            );
        }
        assert_eq!(seen.calls.len(), CALLS_MAX);
        assert_eq!(seen.too_large, Some("more than 256 calls".to_owned()));
    }

    #[test]
    fn reasoning_blocks_are_put_together() {
        let mut seen = StreamFacts::default();
        for detail in [
            json!({"type":"reasoning.text","index":0,"text":"Let ","signature":null}),
            json!({"type":"reasoning.text","index":0,"text":"me see.","signature":null}),
            json!({"type":"reasoning.text","index":0,"text":"","signature":"sig"}),
            json!({"type":"reasoning.encrypted","index":1,"data":"xyz"}),
        ] {
            seen.push_reasoning_detail(&detail);
        }
        assert_eq!(
            seen.details,
            [
                json!({"type":"reasoning.text","index":0,"text":"Let me see.","signature":"sig"}),
                json!({"type":"reasoning.encrypted","index":1,"data":"xyz"})
            ]
        );
    }
}
