//! Model lists: where each wire format keeps them, and what they look like.

use std::collections::{BTreeMap, BTreeSet};

use protocol::settings::WireFormat;
use serde_json::Value;
use similar::get_close_matches;

use crate::endpoint::Endpoint;
use crate::failure::WireFailure;
use crate::http::get_json;

/// The names of the models, sorted.
pub(crate) async fn fetch_models(
    client: &reqwest::Client,
    wire: WireFormat,
    endpoint: &Endpoint,
    timeout_ms: u64,
) -> Result<Vec<String>, WireFailure> {
    let path = match wire {
        WireFormat::Anthropic => "models?limit=1000",
        WireFormat::Openai => "models",
        WireFormat::Gemini => "models?pageSize=1000",
        WireFormat::Ollama => "api/tags",
    };
    let list = get_json(client, &endpoint.join(path), timeout_ms).await?;
    parse_model_names(wire, &list)
}

fn parse_model_names(wire: WireFormat, list: &Value) -> Result<Vec<String>, WireFailure> {
    let (member, name) = match wire {
        WireFormat::Anthropic | WireFormat::Openai => ("data", "id"),
        WireFormat::Gemini | WireFormat::Ollama => ("models", "name"),
    };
    let items = list.get(member).and_then(Value::as_array).ok_or_else(|| {
        WireFailure::Malformed(format!(
            "its model list has no list \u{201c}{member}\u{201d}"
        ))
    })?;
    let mut names: Vec<String> = items
        .iter()
        .filter(|item| wire != WireFormat::Gemini || can_chat(item))
        .filter_map(|item| item.get(name).and_then(Value::as_str))
        .map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned())
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Gemini lists embedding and image models too; those that hold a conversation say so.
fn can_chat(item: &Value) -> bool {
    item.get("supportedGenerationMethods")
        .and_then(Value::as_array)
        .is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

/// Returns the names, those that look most like `requested` first, whatever their case. Names that look like it equally
/// are in alphabetical order.
pub(crate) fn sort_by_similarity(requested: &str, names: &[String]) -> Vec<String> {
    let mut spellings: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for name in names {
        spellings
            .entry(name.to_lowercase())
            .or_default()
            .insert(name);
    }
    let folded: Vec<&str> = spellings.keys().map(String::as_str).collect();
    let requested = requested.to_lowercase();
    get_close_matches(requested.as_str(), &folded, folded.len(), 0.0)
        .into_iter()
        .filter_map(|name| spellings.get(name))
        .flatten()
        .map(|name| (*name).clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_list_is_read() {
        for (wire, list, expected) in [
            (
                WireFormat::Anthropic,
                json!({"data":[{"id":"b"},{"id":"a"}]}),
                Ok(vec!["a", "b"]),
            ),
            (
                WireFormat::Openai,
                json!({"data":[{"id":"a"},{"id":"a"},{}]}),
                Ok(vec!["a"]),
            ),
            (
                WireFormat::Gemini,
                json!({"models":[
                    {"name":"models/g","supportedGenerationMethods":["generateContent"]},
                    {"name":"models/e","supportedGenerationMethods":["embedContent"]}]}),
                Ok(vec!["g"]),
            ),
            (
                WireFormat::Ollama,
                json!({"models":[{"name":"qwen3:8b"}]}),
                Ok(vec!["qwen3:8b"]),
            ),
            (
                WireFormat::Ollama,
                json!({"data":[]}),
                Err("its model list has no list \u{201c}models\u{201d}"),
            ),
        ] {
            let expected = expected
                .map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>())
                .map_err(|what| WireFailure::Malformed(what.to_owned()));
            assert_eq!(parse_model_names(wire, &list), expected);
        }
    }

    #[test]
    fn close_names_come_first() {
        let known = ["gpt-4o", "claude-opus-4-6", "claude-sonnet-4-6", "o3"];
        let known = known.map(str::to_owned);
        assert_eq!(
            sort_by_similarity("claude-sonet-4-6", &known)[..2],
            ["claude-sonnet-4-6", "claude-opus-4-6"]
        );
    }

    #[test]
    fn close_names_come_first_whatever_their_case_and_in_one_order() {
        let known = [
            "gemini-2.5-pro",
            "Qwen3-Coder",
            "GPT-4O-MINI",
            "GPT-4O",
            "gpt-4o",
            "LLAMA-3",
        ]
        .map(str::to_owned);
        for (requested, close) in [
            ("GPT-4o", ["GPT-4O", "gpt-4o", "GPT-4O-MINI"]),
            ("gpt-4o", ["GPT-4O", "gpt-4o", "GPT-4O-MINI"]),
            ("QWEN3-CODR", ["Qwen3-Coder", "gemini-2.5-pro", "GPT-4O"]),
        ] {
            let sorted = sort_by_similarity(requested, &known);
            assert_eq!(sorted[..3], close, "{requested}");
            assert_eq!(sorted.len(), known.len(), "{requested}");
            let mut reversed = known.clone();
            reversed.reverse();
            assert_eq!(sort_by_similarity(requested, &reversed), sorted);
        }
        let alike = ["b", "C", "a"].map(str::to_owned);
        assert_eq!(sort_by_similarity("x", &alike), ["a", "b", "C"]);
    }
}
