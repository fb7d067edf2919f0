//! Files that an agent reads and writes through its client: each is a call of our tools.

use agent::{AgentTurn, DelegatedCall, DelegatedResult, DelegatedTool, DelegatedVerdict};
use agent_client_protocol::v1::schema::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Error, ErrorCode};
use protocol::UserError;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::limits::AGENT_FILE_BYTES_MAX;

/// Reads a file for an agent.
///
/// # Errors
/// The call was refused, or there is no such text file.
pub(super) async fn read_file(
    turn: &AgentTurn,
    request: &ReadTextFileRequest,
    cancel: &CancellationToken,
) -> Result<ReadTextFileResponse, Error> {
    let path = request.path.strip_prefix(turn.folder());
    let path = path.unwrap_or(&request.path).to_string_lossy();
    let call = DelegatedCall {
        tool: DelegatedTool::Own("read".to_owned()),
        arguments: members(json!({ "path": path })),
        can_fetch: false,
    };
    let id = match turn.judge(call, cancel).await.map_err(to_error)? {
        DelegatedVerdict::Approved { call, .. } => call,
        DelegatedVerdict::Ended(ended) => return Err(refused(&ended.outcome.text)),
    };
    let file = request.path.clone();
    let read =
        tokio::task::spawn_blocking(move || runtime::read_text_within(&file, AGENT_FILE_BYTES_MAX));
    let text = match read.await {
        Ok(Ok(Some(text))) => Ok(text),
        Ok(Ok(None)) => Err("There is no such file.".to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("It could not be read.".to_owned()),
    };
    let result = match &text {
        Ok(text) => DelegatedResult::Succeeded(text.clone()),
        Err(why) => DelegatedResult::Failed(why.clone()),
    };
    turn.report(&id, result).await.map_err(to_error)?;
    let text = text.map_err(not_found)?;
    Ok(ReadTextFileResponse::new(cut_lines(&text, request)))
}

/// Writes a file for an agent, which is undone as any other write.
///
/// # Errors
/// The call was refused or failed.
pub(super) async fn write_file(
    turn: &AgentTurn,
    request: &WriteTextFileRequest,
    cancel: &CancellationToken,
) -> Result<WriteTextFileResponse, Error> {
    let path = request.path.strip_prefix(turn.folder());
    let path = path.unwrap_or(&request.path).to_string_lossy();
    let arguments = members(json!({ "path": path, "content": request.content }));
    let done = turn.call("write", arguments, cancel).await;
    let outcome = done.map_err(to_error)?.outcome;
    match outcome.is_success() {
        true => Ok(WriteTextFileResponse::new()),
        false => Err(refused(&outcome.text)),
    }
}

/// Returns the lines that a request asks for; all if it names none.
fn cut_lines(text: &str, request: &ReadTextFileRequest) -> String {
    if (request.line, request.limit) == (None, None) {
        return text.to_owned();
    }
    let first = request.line.unwrap_or(1).saturating_sub(1) as usize;
    let lines = text.split_inclusive('\n').skip(first);
    match request.limit {
        Some(limit) => lines.take(limit as usize).collect(),
        None => lines.collect(),
    }
}

pub(super) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns the error for an agent whose call was refused, with the reason that its model can use.
pub(super) fn refused(why: &str) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, why)
}

/// Returns the error about something that is not there.
pub(super) fn not_found(why: impl Into<String>) -> Error {
    Error::new(ErrorCode::RESOURCE_NOT_FOUND, why)
}

pub(super) fn to_error(fault: UserError) -> Error {
    Error::internal_error().data(fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nb\nc";
        for (line, limit, wanted) in [
            (None, None, "a\nb\nc"),
            (Some(1), None, "a\nb\nc"),
            (Some(2), Some(1), "b\n"),
            (Some(3), Some(9), "c"),
            (Some(4), Some(1), ""),
            (None, Some(2), "a\nb\n"),
        ] {
            let request = ReadTextFileRequest::new("s", "/a").line(line).limit(limit);
            assert_eq!(cut_lines(text, &request), wanted, "{line:?} {limit:?}");
        }
    }
}
