//! Data that a provider wants back untouched with the next request: signed thoughts and the like.
//!
//! The data is kept in [`protocol::model::Message::Assistant::opaque`] in a form of our own, so that old sessions stay
//! readable when `genai` changes its types. It goes back only to the provider that it came from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The data kept of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpaqueState {
    /// The id of the provider that it came from.
    provider: String,
    #[serde(flatten)]
    kept: OpaqueData,
}

/// The kept data, by wire format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "wire", rename_all = "snake_case")]
pub(crate) enum OpaqueData {
    /// Anthropic: its thinking blocks, in order.
    Anthropic {
        /// The blocks.
        thoughts: Vec<ThinkingBlock>,
    },
    /// Gemini: signatures of thoughts, those of calls beside the call.
    Gemini {
        /// Signatures that belong to no call.
        signatures: Vec<String>,
        /// One for each call of the turn, in order.
        calls: Vec<SignedCall>,
    },
    /// OpenAI-compatible and Ollama: data that some endpoints want back with the results of calls.
    Openai {
        /// Text that came as `reasoning_content` (DeepSeek, Kimi) or as `thinking` (Ollama).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// Blocks that came as `reasoning_details` (OpenRouter).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        details: Vec<Value>,
    },
}

/// A thinking block of Anthropic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingBlock {
    /// Text with its signature.
    Signed { text: String, signature: String },
    /// A block as it came (redacted thinking).
    Block(Value),
}

/// Data that Gemini sent with one call beyond its name and arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct SignedCall {
    /// Gemini's own id, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its signatures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

impl OpaqueData {
    fn is_empty(&self) -> bool {
        match self {
            Self::Anthropic { thoughts } => thoughts.is_empty(),
            Self::Gemini { signatures, calls } => {
                signatures.is_empty() && calls.iter().all(|call| *call == SignedCall::default())
            }
            Self::Openai { reasoning, details } => reasoning.is_none() && details.is_empty(),
        }
    }

    /// As JSON for the record; null when there is nothing to keep.
    pub(crate) fn into_value(self, provider: &str) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let opaque = OpaqueState {
            provider: provider.to_owned(),
            kept: self,
        };
        serde_json::to_value(opaque).unwrap_or(Value::Null)
    }

    /// Restores the data from the record; none when it came from another provider, or is not ours to read.
    pub(crate) fn from_value(value: &Value, provider: &str) -> Option<Self> {
        let opaque: OpaqueState = serde_json::from_value(value.clone()).ok()?;
        (opaque.provider == provider).then_some(opaque.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_comes_back_as_it_went_and_only_home() {
        let block = json!({"type":"redacted_thinking","data":"abc"});
        let kept = OpaqueData::Anthropic {
            thoughts: vec![
                ThinkingBlock::Signed {
                    text: "Hm.".to_owned(),
                    signature: "sig".to_owned(),
                },
                ThinkingBlock::Block(block.clone()),
            ],
        };
        let value = kept.clone().into_value("anthropic");
        assert_eq!(
            value,
            json!({"provider":"anthropic","wire":"anthropic","thoughts":[
                {"signed":{"text":"Hm.","signature":"sig"}},{"block":block}]})
        );
        assert_eq!(OpaqueData::from_value(&value, "anthropic"), Some(kept));
        assert_eq!(OpaqueData::from_value(&value, "mine"), None);
        assert_eq!(OpaqueData::from_value(&Value::Null, "anthropic"), None);
        assert_eq!(
            OpaqueData::from_value(&json!({"old": 1}), "anthropic"),
            None
        );
    }

    #[test]
    fn nothing_is_null() {
        for kept in [
            OpaqueData::Anthropic { thoughts: vec![] },
            OpaqueData::Gemini {
                signatures: vec![],
                calls: vec![SignedCall::default()],
            },
            OpaqueData::Openai {
                reasoning: None,
                details: vec![],
            },
        ] {
            assert_eq!(kept.into_value("x"), Value::Null);
        }
    }
}
