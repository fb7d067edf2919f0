//! Calls of the MCP servers that an agent was given, known by the words in which each agent tells of them. Such a call asks at its
//! gateway; asking here as well would be two questions about one matter.
//!
//! A server's name ends in a way that nobody could know before the agent started. What a model writes into a call's arguments
//! is never taken for a name: then the call asks here as well.

use agent_client_protocol::v1::schema::ToolKind;
use serde_json::{Map, Value};

use super::tool_use::{ToolUse, content_text};
use crate::agent_calls::{ExternalAgent, is_tool_of_server};

/// How agents name the tools of servers where it is not known which agent it is.
const COMMON_NAMES: [ExternalAgent; 3] = [
    ExternalAgent::ClaudeCode,
    ExternalAgent::GeminiCli,
    ExternalAgent::Opencode,
];

/// Whether a call is one of the server that the agent, if it is a known one, knows by this name.
pub(super) fn is_call_of_server(
    used: &ToolUse,
    agent: Option<ExternalAgent>,
    server: &str,
) -> bool {
    let has_name_of = |agent| {
        let tool = used.server_tool();
        tool.is_some_and(|tool| is_tool_of_server(agent, tool, server))
    };
    match agent {
        Some(ExternalAgent::Codex) => {
            has_name_of(ExternalAgent::Codex) || is_codex_call(used, server)
        }
        Some(ExternalAgent::GeminiCli) => {
            has_name_of(ExternalAgent::GeminiCli) || is_gemini_call(used, server)
        }
        Some(agent) => has_name_of(agent),
        None => used.fields.raw_input.is_some() && COMMON_NAMES.into_iter().any(has_name_of),
    }
}

/// Codex begins a call with its title and with server, tool, and arguments as its input, and asks about it by its id. Where several
/// calls of one server wait, it asks by an id of its own, with the server's name as it knows it.
fn is_codex_call(used: &ToolUse, server: &str) -> bool {
    let Some(input) = used.fields.raw_input.as_ref().and_then(Value::as_object) else {
        return false;
    };
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let title = used.fields.title.as_deref();
    let is_begun = || {
        let tool = text("tool").unwrap_or_default();
        has_only(input, &["server", "tool", "arguments"])
            && text("server") == Some(server)
            && title == Some(&format!("mcp.{server}.{tool}"))
    };
    let is_asked = || {
        has_only(input, &["serverName", "description", "schema"])
            && text("serverName") == Some(server)
            && title == Some("MCP tool call approval")
    };
    is_begun() || is_asked()
}

fn has_only(input: &Map<String, Value>, names: &[&str]) -> bool {
    input.keys().all(|name| names.contains(&name.as_str()))
}

/// Gemini CLI names the server in the title, unless an argument `command` is the title, and has the arguments as the content.
fn is_gemini_call(used: &ToolUse, server: &str) -> bool {
    let title = used.fields.title.as_deref().unwrap_or_default();
    let tool = title.strip_suffix(&format!(" ({server} MCP Server)"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_named = tool.is_some_and(|tool| !tool.is_empty() && tool.chars().all(is_plain));
    let content = used.fields.content.as_deref();
    let arguments = match content {
        Some([only]) => content_text(only),
        _ => None,
    };
    used.fields.kind == Some(ToolKind::Other) && is_named && arguments.is_some_and(has_no_command)
}

/// Whether arguments, as Gemini CLI tells of them, have no `command`. It tells the names alone of long ones, five at most.
fn has_no_command(arguments: &str) -> bool {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(arguments) => !arguments.contains_key("command"),
        Err(_) => {
            let names = arguments.strip_prefix("[Payload omitted due to length with parameters: ");
            names.is_some_and(|names| !names.contains("command") && !names.ends_with(", ...]"))
        }
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::ToolCallUpdate;
    use serde_json::json;

    use super::*;

    fn is_known(agent: Option<ExternalAgent>, call: Value) -> bool {
        let mut update = json!({ "toolCallId": "t1" });
        update
            .as_object_mut()
            .unwrap()
            .extend(call.as_object().unwrap().clone());
        let update: ToolCallUpdate = serde_json::from_value(update).unwrap();
        let mut used = ToolUse::default();
        used.apply_update(&update);
        is_call_of_server(&used, agent, "one-k3x")
    }

    fn text(text: &str) -> Value {
        json!([{ "type": "content", "content": { "type": "text", "text": text } }])
    }

    #[test]
    fn codex_tells_server_and_tool_and_nothing_else() {
        let codex = Some(ExternalAgent::Codex);
        let input =
            json!({ "server": "one-k3x", "tool": "echo", "arguments": { "command": "ls" } });
        let begun = |title: &str, input: &Value| json!({ "title": title, "kind": "execute", "rawInput": input });
        assert!(is_known(codex, begun("mcp.one-k3x.echo", &input)));
        assert!(!is_known(codex, begun("mcp.one-k3x.other", &input)));
        assert!(!is_known(
            codex,
            begun("mcp.two.echo", &json!({ "server": "two", "tool": "echo" }))
        ));
        let more = json!({ "server": "one-k3x", "tool": "echo", "command": "ls" });
        assert!(!is_known(codex, begun("mcp.one-k3x.echo", &more)));
        let asked = |server: &str| json!({ "serverName": server, "description": "Allow it?", "schema": null });
        assert!(is_known(
            codex,
            begun("MCP tool call approval", &asked("one-k3x"))
        ));
        assert!(!is_known(
            codex,
            begun("MCP tool call approval", &asked("two"))
        ));
        // A question of a server.
        assert!(!is_known(
            codex,
            begun("Question from MCP server", &asked("one-k3x"))
        ));
    }

    #[test]
    fn gemini_cli_tells_the_server_unless_the_title_may_be_an_argument() {
        let gemini = Some(ExternalAgent::GeminiCli);
        let title = "echo (one-k3x MCP Server)";
        let call = |title: &str, arguments: &str| json!({ "title": title, "kind": "other", "content": text(arguments) });
        assert!(is_known(gemini, call(title, r#"{"message":"hello"}"#)));
        let long = "[Payload omitted due to length with parameters: message, tone]";
        assert!(is_known(gemini, call(title, long)));
        for arguments in [
            r#"{"command":"echo (one-k3x MCP Server)"}"#,
            "[Payload omitted due to length with parameters: command]",
            "[Payload omitted due to length with parameters: a, b, c, d, e, ...]",
            "[Payload omitted due to length]",
            "hello",
        ] {
            assert!(!is_known(gemini, call(title, arguments)), "{arguments}");
        }
        assert!(!is_known(gemini, call("echo (two MCP Server)", "{}")));
        assert!(!is_known(gemini, call("ls # (one-k3x MCP Server)", "{}")));
        let command = json!({ "title": title, "kind": "execute", "content": text("{}") });
        assert!(!is_known(gemini, command));
        assert!(!is_known(
            gemini,
            json!({ "title": title, "kind": "other" })
        ));
    }

    #[test]
    fn an_unknown_agent_names_the_tool_and_its_arguments() {
        let call = |name: &str| json!({ "name": name, "kind": "other", "rawInput": { "message": "hello" } });
        for name in ["mcp__one-k3x__echo", "mcp_one-k3x_echo", "one-k3x_echo"] {
            assert!(is_known(None, call(name)), "{name}");
        }
        assert!(!is_known(None, call("two_echo")));
        assert!(!is_known(
            None,
            json!({ "name": "one-k3x_echo", "kind": "other" })
        ));
        let run = json!({ "name": "one-k3x_echo", "kind": "execute", "rawInput": {} });
        assert!(!is_known(None, run));
    }
}
