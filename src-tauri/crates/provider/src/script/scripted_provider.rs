//! A provider that plays a script: the demo, the tests and `countersign run --script`.

use async_trait::async_trait;
use futures::StreamExt;
use protocol::Usage;
use protocol::model::Message;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::limits::duration_from_ms;
use crate::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Script, ScriptTurn, Stop};

/// Characters of one piece of text, so that streaming can be seen.
const PIECE_CHARS: usize = 12;

/// Plays a script. The turn is chosen by the number of assistant messages in the request, so a run that is resumed
/// after a restart goes on where it was. Past the end of the script, only [`Chunk::End`] comes.
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    id: String,
    script: Script,
}

impl ScriptedProvider {
    /// A player with the id `script`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self::with_id("script", script)
    }

    /// A player with an id of its own, like `demo`.
    #[must_use]
    pub fn with_id(id: &str, script: Script) -> Self {
        Self {
            id: id.to_owned(),
            script,
        }
    }
}

#[async_trait]
impl Provider for ScriptedProvider {
    fn id(&self) -> &str {
        &self.id
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        if cancel.is_cancelled() {
            return Err(ProviderError::Cancelled);
        }
        let said = request
            .messages
            .iter()
            .filter(|message| matches!(message, Message::Assistant { .. }))
            .count();
        let turn = self.script.turns.get(said).cloned().unwrap_or_default();
        let delay_ms = turn.delay_ms;
        let play = Playback {
            chunks: turn_chunks(turn).into_iter(),
            delay_ms,
            first: true,
            cancel,
        };
        Ok(futures::stream::unfold(play, Playback::next).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

struct Playback {
    chunks: std::vec::IntoIter<Chunk>,
    delay_ms: u64,
    first: bool,
    cancel: CancellationToken,
}

impl Playback {
    async fn next(mut self) -> Option<(Result<Chunk, ProviderError>, Self)> {
        if self.chunks.as_slice().is_empty() {
            return None;
        }
        if self.delay_ms > 0 && !self.first {
            tokio::select! {
                () = self.cancel.cancelled() => {}
                () = tokio::time::sleep(duration_from_ms(self.delay_ms)) => {}
            }
        }
        if self.cancel.is_cancelled() {
            self.chunks = Vec::new().into_iter();
            return Some((Err(ProviderError::Cancelled), self));
        }
        self.first = false;
        let chunk = self.chunks.next()?;
        Some((Ok(chunk), self))
    }
}

fn turn_chunks(turn: ScriptTurn) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    chunks.extend(split_text(&turn.reasoning).map(Chunk::Reasoning));
    chunks.extend(split_text(&turn.text).map(Chunk::Text));
    chunks.extend(turn.calls.into_iter().map(|call| Chunk::Call {
        id: None,
        name: call.name,
        arguments: call.arguments,
    }));
    chunks.push(Chunk::End {
        usage: Usage::default(),
        opaque: Value::Null,
        stop: Stop::Finished,
    });
    chunks
}

fn split_text(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(PIECE_CHARS)
        .map(|piece| piece.iter().collect())
        .collect::<Vec<String>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::model::ToolChoice;

    use super::*;

    fn end() -> Chunk {
        Chunk::End {
            usage: Usage::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        }
    }

    fn request(said: usize) -> ModelRequest {
        let mut messages = vec![Message::user("go")];
        messages.extend((0..said).map(|_| Message::Assistant {
            text: String::new(),
            calls: Vec::new(),
            opaque: Value::Null,
        }));
        ModelRequest {
            model: String::new(),
            system: String::new(),
            messages: Arc::new(messages),
            tools: Arc::default(),
            tool_choice: ToolChoice::Auto,
            response_schema: None,
            temperature: None,
            effort: None,
            tokens_max: None,
        }
    }

    fn script(text: &str) -> ScriptedProvider {
        ScriptedProvider::new(Script::parse(text).unwrap())
    }

    async fn play_turn(
        scripted: &ScriptedProvider,
        said: usize,
    ) -> Vec<Result<Chunk, ProviderError>> {
        let stream = scripted
            .stream(request(said), CancellationToken::new())
            .await
            .unwrap();
        stream.collect().await
    }

    #[tokio::test]
    async fn turns_follow_the_conversation_and_end_with_the_list() {
        let scripted = script(
            r#"{"turns":[{"reasoning":"Hm.","text":"I read the file é now.","calls":[{"name":"read","arguments":{"path":"a"}}]},
                {"text":"Done."}]}"#,
        );
        let call = Chunk::Call {
            id: None,
            name: "read".to_owned(),
            arguments: r#"{"path":"a"}"#.to_owned(),
        };
        let text = |text: &str| Ok(Chunk::Text(text.to_owned()));
        assert_eq!(
            play_turn(&scripted, 0).await,
            [
                Ok(Chunk::Reasoning("Hm.".to_owned())),
                text("I read the f"),
                text("ile é now."),
                Ok(call),
                Ok(end())
            ]
        );
        assert_eq!(play_turn(&scripted, 1).await, [text("Done."), Ok(end())]);
        assert_eq!(play_turn(&scripted, 2).await, [Ok(end())]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_is_kept_and_a_stop_ends_it_at_once() {
        let scripted = script(r#"{"turns":[{"text":"123456789012345","delay_ms":1000}]}"#);
        let cancel = CancellationToken::new();
        let mut stream = scripted.stream(request(0), cancel.clone()).await.unwrap();
        let begun = tokio::time::Instant::now();
        assert_eq!(
            stream.next().await,
            Some(Ok(Chunk::Text("123456789012".to_owned())))
        );
        assert_eq!(begun.elapsed(), duration_from_ms(0));
        assert_eq!(stream.next().await, Some(Ok(Chunk::Text("345".to_owned()))));
        assert_eq!(begun.elapsed(), duration_from_ms(1000));
        cancel.cancel();
        assert_eq!(stream.next().await, Some(Err(ProviderError::Cancelled)));
        assert_eq!(stream.next().await, None);
        assert_eq!(begun.elapsed(), duration_from_ms(1000));
        let late = scripted.stream(request(0), cancel).await;
        assert_eq!(late.err(), Some(ProviderError::Cancelled));
    }
}
