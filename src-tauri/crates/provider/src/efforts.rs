//! Which models can be told how much to reason.

use protocol::model::Effort;
use protocol::settings::WireFormat;

/// Efforts of a model that reasons; `none` is left out, because many such models cannot answer without reasoning.
const EFFORTS: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];

/// Beginnings of the names of models that take an effort, by how their provider is spoken to.
const REASONING_MODELS: [(WireFormat, &[&str]); 4] = [
    (
        WireFormat::Anthropic,
        &[
            "claude-3-7",
            "claude-opus-4",
            "claude-sonnet-4",
            "claude-haiku-4",
            "claude-opus-5",
            "claude-sonnet-5",
        ],
    ),
    (WireFormat::Gemini, &["gemini-2.5", "gemini-3"]),
    (
        WireFormat::Openai,
        &[
            "gpt-5",
            "gpt-oss",
            "o1",
            "o3",
            "o4",
            "openai/gpt-5",
            "openai/gpt-oss",
        ],
    ),
    (WireFormat::Ollama, &["gpt-oss"]),
];

/// Returns the efforts that can be chosen for a model; none for a model that is not known to take one.
pub(crate) fn list_efforts(wire: WireFormat, model: &str) -> &'static [Effort] {
    let mut known = REASONING_MODELS
        .iter()
        .filter(|(format, _)| *format == wire)
        .flat_map(|(_, names)| *names);
    match known.any(|name| model.starts_with(name)) {
        true => &EFFORTS,
        false => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_efforts_if_its_provider_takes_one_for_it() {
        for (wire, model, has_efforts) in [
            (WireFormat::Anthropic, "claude-sonnet-4-5", true),
            (WireFormat::Anthropic, "claude-3-5-haiku-latest", false),
            (WireFormat::Openai, "gpt-5-mini", true),
            (WireFormat::Openai, "gpt-4o", false),
            (WireFormat::Openai, "mistral-medium", false),
            // Only the family of Anthropic is spoken to in its own way.
            (WireFormat::Openai, "claude-sonnet-4-5", false),
            (WireFormat::Gemini, "gemini-2.5-flash", true),
            (WireFormat::Gemini, "gemini-2.0-flash", false),
            (WireFormat::Ollama, "gpt-oss:20b", true),
            (WireFormat::Ollama, "llama3.2", false),
        ] {
            let efforts = list_efforts(wire, model);
            assert_eq!(!efforts.is_empty(), has_efforts, "{model}");
        }
    }
}
