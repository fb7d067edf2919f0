//! What a server of 2025 says of tasks. The library knows these members no more and drops them, so they are put into members
//! that it keeps, before it reads a message.

use rmcp::model::ServerCapabilities;
use serde_json::{Map, Value};

/// Name of the capability among the experimental ones, and of a tool's `execution` in its metadata.
const KEPT_MEMBER: &str = "countersign/tasks";

/// Returns a message with its members about tasks kept; none if it has none.
pub(super) fn keep_task_members(message: &str) -> Option<String> {
    let may_have = ["\"taskSupport\"", "\"tasks\""].map(|member| message.contains(member));
    if !may_have.contains(&true) {
        return None;
    }
    let mut message: Value = serde_json::from_str(message).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let capabilities = result
        .get_mut("capabilities")
        .and_then(Value::as_object_mut);
    let mut is_changed = capabilities.is_some_and(|all| copy_into(all, "tasks", "experimental"));
    let tools = result.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
        is_changed |= copy_into(tool, "execution", "_meta");
    }
    is_changed.then(|| message.to_string())
}

/// Copies a member into another one, an object that is made where there is none. Returns `false` if nothing was copied.
fn copy_into(members: &mut Map<String, Value>, member: &str, into: &str) -> bool {
    let Some(value @ Value::Object(_)) = members.get(member).cloned() else {
        return false;
    };
    let target = members.entry(into).or_insert(Value::Null);
    if target.is_null() {
        *target = Map::new().into();
    }
    let Some(target) = target.as_object_mut() else {
        return false;
    };
    target.insert(KEPT_MEMBER.to_owned(), value);
    true
}

/// Gives a listed tool its `execution` back.
pub(super) fn restore_execution(tool: &mut Value) {
    let meta = tool.get_mut("_meta").and_then(Value::as_object_mut);
    if let Some(execution) = meta.and_then(|meta| meta.remove(KEPT_MEMBER)) {
        tool["execution"] = execution;
    }
}

/// Whether a server with these capabilities takes calls of tools as tasks.
pub(super) fn supports_task_calls(capabilities: &ServerCapabilities) -> bool {
    let experimental = capabilities.experimental.as_ref();
    let tasks = experimental.and_then(|all| all.get(KEPT_MEMBER));
    let requests = tasks.and_then(|tasks| tasks.get("requests"));
    requests.is_some_and(|requests| requests.pointer("/tools/call").is_some())
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ServerJsonRpcMessage, ServerResult};
    use serde_json::json;

    use super::*;

    /// Reads a result as the library does.
    fn read_result(result: Value) -> Option<ServerResult> {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        let kept = keep_task_members(&message)?;
        match serde_json::from_str(&kept).unwrap() {
            ServerJsonRpcMessage::Response(response) => Some(response.result),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_capability_is_kept() {
        for (tasks, is_supported) in [
            (json!({ "requests": { "tools": { "call": {} } } }), true),
            (json!({ "list": {}, "requests": { "tools": {} } }), false),
            (json!({}), false),
        ] {
            let result = json!({ "protocolVersion": "2025-11-25", "serverInfo": { "name": "n", "version": "1" },
                "capabilities": { "tools": {}, "experimental": { "other": {} }, "tasks": tasks } });
            let Some(ServerResult::InitializeResult(read)) = read_result(result) else {
                panic!("{tasks}");
            };
            assert_eq!(
                supports_task_calls(&read.capabilities),
                is_supported,
                "{tasks}"
            );
            assert!(
                read.capabilities
                    .experimental
                    .unwrap()
                    .contains_key("other")
            );
        }
        assert!(!supports_task_calls(&ServerCapabilities::default()));
    }

    #[test]
    fn the_execution_of_a_tool_is_kept() {
        let tools = json!([
            { "name": "a", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "required" } },
            { "name": "b", "inputSchema": { "type": "object" }, "_meta": { "own": 1 } },
        ]);
        let read = read_result(json!({ "tools": tools.clone() })).unwrap();
        let mut read = serde_json::to_value(read).unwrap();
        let listed = read["tools"].as_array_mut().unwrap();
        listed.iter_mut().for_each(restore_execution);
        assert_eq!(listed[0]["execution"], tools[0]["execution"]);
        assert_eq!(listed[1], tools[1]);
    }

    #[test]
    fn another_message_stays_as_it_is() {
        for result in [
            json!({ "content": [{ "type": "text", "text": "\"tasks\" and \"taskSupport\"" }] }),
            json!({ "content": [], "structuredContent": { "tasks": { "n": 1 } } }),
            json!({ "capabilities": { "tasks": "all" } }),
            json!({ "tools": [{ "name": "a", "inputSchema": { "taskSupport": {} } }, 7] }),
        ] {
            assert!(read_result(result.clone()).is_none(), "{result}");
        }
        assert_eq!(keep_task_members("{\"tasks\""), None);
        assert_eq!(keep_task_members("[\"tasks\"]"), None);
    }
}
