//! Conversion of a call's outcome to an MCP result.

use agent::ClientOutcome;
use protocol::rule::verdict::Gate;
use protocol::{Content, FailureClass, Trail, Verdict};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResultType};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Hint for the person whose approval would have been needed.
const ALLOW_RULE_HINT: &str = "The person can allow calls like it by a rule in rules.toml, or in the file that `countersign gateway mcp \
    --rules FILE` names.";

/// Builds the answer: the text that a model reads. A call that failed, was denied or was cancelled is an error of the
/// tool, which a model can act on; only a tool that does not exist is a protocol error.
pub(super) fn build_tool_result(answered: &ClientOutcome) -> Result<CallToolResult, ErrorData> {
    let outcome = &answered.outcome;
    if outcome.class == Some(FailureClass::UnknownTool) {
        return Err(ErrorData::invalid_params(outcome.text.clone(), None));
    }
    let text = outcome_text(answered);
    let text = (!text.is_empty()).then(|| ContentBlock::text(text));
    // Text items stand in the text already.
    let beside = outcome.content.iter().filter_map(|item| match item {
        Content::Text { .. } => None,
        Content::Image { mime, base64 } => Some(ContentBlock::image(base64, mime)),
        Content::Resource { uri, title, mime } => {
            let name = match title.as_str() {
                "" => uri,
                title => title,
            };
            let mut link = Resource::new(uri, name);
            link.mime_type.clone_from(mime);
            Some(ContentBlock::resource_link(link))
        }
    });
    let content = text.into_iter().chain(beside).collect();
    Ok(match outcome.is_success() {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    })
}

/// Returns the text that a model reads, with the way to a rule if nobody was there to ask.
fn outcome_text(answered: &ClientOutcome) -> String {
    let text = answered.outcome.model_text();
    match answered.trail.as_deref().and_then(ask_reason) {
        Some(why) => {
            format!("{text}\n\nWith a person there it would have asked: {why} {ALLOW_RULE_HINT}")
        }
        None => text,
    }
}

/// Builds the answer of a server's resource or prompt: the server's whole answer as it was recorded.
///
/// # Errors
/// It was denied, or could not be read; the text that a model reads.
pub(super) fn build_read_result<T: DeserializeOwned>(
    answered: &ClientOutcome,
) -> Result<T, ErrorData> {
    check_success(answered)?;
    parse_server_answer(answered.outcome.details.clone().unwrap_or_default())
}

/// Checks that a call succeeded.
///
/// # Errors
/// It was denied or failed; the text that a model reads.
pub(super) fn check_success(answered: &ClientOutcome) -> Result<(), ErrorData> {
    match answered.outcome.is_success() {
        true => Ok(()),
        false => Err(ErrorData::internal_error(outcome_text(answered), None)),
    }
}

/// Parses the answer of a server as one that is complete: a server of 2025 does not say so, and a client of 2026 has to be
/// told. The library leaves the word out for a client of 2025.
///
/// # Errors
/// It is no answer of this kind.
pub(super) fn parse_server_answer<T: DeserializeOwned>(mut answer: Value) -> Result<T, ErrorData> {
    if let Value::Object(members) = &mut answer {
        members
            .entry("resultType")
            .or_insert_with(|| ResultType::COMPLETE.as_str().into());
    }
    serde_json::from_value(answer)
        .map_err(|_| ErrorData::internal_error("The server's answer cannot be read.", None))
}

/// Builds the answer of a server's tool: the server's whole result as it was recorded, and notes after it. Where there is
/// none, it is the text that a model reads.
pub(super) fn build_server_result(answered: &ClientOutcome) -> Result<CallToolResult, ErrorData> {
    let outcome = &answered.outcome;
    let details = outcome.details.as_ref().filter(|_| outcome.is_success());
    let whole =
        details.and_then(|result| parse_server_answer::<CallToolResult>(result.clone()).ok());
    let Some(mut result) = whole else {
        return build_tool_result(answered);
    };
    // Nothing is cut here, so nothing is said about the rest.
    let is_cut = outcome.truncated.is_some();
    let notes = outcome.notes.iter().skip(usize::from(is_cut));
    result.content.extend(notes.map(ContentBlock::text));
    Ok(result)
}

/// Returns the reason why a call would have asked, if it was denied only because nobody is there to ask; none if it was
/// denied for another reason, or needed an answer that no rule can give.
fn ask_reason(trail: &Trail) -> Option<String> {
    let gate_text = |gate: Gate| {
        trail
            .steps
            .iter()
            .find(|step| step.gate == gate && step.verdict.is_some())
    };
    gate_text(Gate::Headless)?;
    if gate_text(Gate::Interaction).is_some() {
        return None;
    }
    // Where a rule speaks, the mode does not.
    let ruled = gate_text(Gate::Rules).is_some();
    let asks = trail
        .steps
        .iter()
        .filter(|step| step.verdict == Some(Verdict::Ask));
    let asks = asks.filter(|step| !(ruled && step.gate == Gate::Mode));
    let why: Vec<&str> = asks.map(|step| step.text.as_str()).collect();
    (!why.is_empty()).then(|| why.join(" "))
}
