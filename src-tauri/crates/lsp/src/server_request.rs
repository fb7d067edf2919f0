//! Requests that a server sends: the server is told its folder, and nothing is done for it.

use serde_json::{Value, json};

/// Refusal of edits that is not a protocol error, so that a server continues.
const EDIT_DECLINED_REASON: &str =
    "Nothing is changed at a language server's word. The person who asked sees the change first.";

/// Returns the answer to a server's request: a result, or an error of the protocol.
pub(crate) fn answer_server_request(
    method: &str,
    params: Option<&Value>,
    folder: &Value,
) -> Result<Value, Value> {
    match method {
        // As many answers as questions, none of which is known.
        "workspace/configuration" => {
            let items = params.and_then(|params| params.get("items"));
            let items = items.and_then(Value::as_array).map_or(0, Vec::len);
            Ok(vec![Value::Null; items.min(1_000)].into())
        }
        "workspace/workspaceFolders" => Ok(json!([folder])),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest"
        | "workspace/diagnostic/refresh"
        | "workspace/semanticTokens/refresh"
        | "workspace/inlayHint/refresh"
        | "workspace/codeLens/refresh" => Ok(Value::Null),
        "workspace/applyEdit" => {
            Ok(json!({ "applied": false, "failureReason": EDIT_DECLINED_REASON }))
        }
        "window/showDocument" => Ok(json!({ "success": false })),
        _ => Err(json!({ "code": -32601, "message": "This client does not do that." })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_done_for_a_server() {
        let folder = json!({ "uri": "file:///w", "name": "w" });
        let said = |method, params: Value| answer_server_request(method, Some(&params), &folder);
        let edit = json!({ "edit": { "changes": { "file:///w/a": [] } } });
        assert_eq!(said("workspace/applyEdit", edit).unwrap()["applied"], false);
        let show = json!({ "uri": "https://evil.test", "external": true });
        assert_eq!(said("window/showDocument", show).unwrap()["success"], false);
        let items = json!({ "items": [{ "section": "python" }, {}] });
        let known = said("workspace/configuration", items).unwrap();
        assert_eq!(known, json!([null, null]));
        assert_eq!(
            said("workspace/workspaceFolders", json!({})).unwrap(),
            json!([folder])
        );
        let run = json!({ "command": "rm", "arguments": ["-rf"] });
        assert_eq!(
            said("workspace/executeCommand", run).unwrap_err()["code"],
            -32601
        );
    }
}
