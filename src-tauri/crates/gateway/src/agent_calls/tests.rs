//! Tests of every row of the tables, of names of servers' tools, and of what stays unknown.

use serde_json::json;
use tools::Registry;

use super::tables::rows;
use super::*;

fn translate(agent: ExternalAgent, tool: &str, input: &Value) -> TranslatedCall {
    translate_call(&AgentCall {
        agent,
        tool,
        input: input.as_object().unwrap(),
        folder: Path::new("/ws/app"),
        workspace: Path::new("/ws"),
        servers: &["tickets".to_owned(), "my notes".to_owned()],
    })
}

/// A case of a row: the agent is in `/ws/app`, a folder of the workspace `/ws`.
#[derive(serde::Deserialize)]
struct Case {
    tool: String,
    input: Value,
    ours: Vec<OwnCall>,
}

fn read_cases(agent: ExternalAgent) -> Vec<Case> {
    let lines = match agent {
        ExternalAgent::ClaudeCode => include_str!("cases/claude-code.jsonl"),
        ExternalAgent::Codex => include_str!("cases/codex.jsonl"),
        ExternalAgent::GeminiCli => include_str!("cases/gemini-cli.jsonl"),
        ExternalAgent::Opencode => include_str!("cases/opencode.jsonl"),
        ExternalAgent::Cursor => include_str!("cases/cursor.jsonl"),
    };
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_row_is_a_call_that_our_tool_takes() {
    let registry = Registry::builtin();
    for agent in ExternalAgent::ALL {
        let cases = read_cases(agent);
        for Case { tool, input, ours } in &cases {
            let translated = translate(agent, tool, input);
            assert_eq!(translated, TranslatedCall::Tools(ours.clone()), "{tool}");
            for call in ours {
                let registered = registry.find(&call.tool).unwrap();
                let mut problems = registered.find_problems(&call.arguments);
                // Which agents and skills there are is a session's matter.
                problems.retain(|problem| !problem.contains("here is no "));
                assert!(problems.is_empty(), "{agent:?} {tool}: {problems:?}");
            }
        }
        for (tool, meaning) in rows(agent) {
            let is_tested = match meaning {
                Meaning::Internal => {
                    translate(agent, tool, &json!({"any": 1})) == TranslatedCall::Internal
                }
                Meaning::Tool(..) | Meaning::Special(_) => {
                    cases.iter().any(|case| case.tool == *tool)
                }
            };
            assert!(is_tested, "{agent:?} {tool}");
        }
    }
}

#[test]
fn a_tool_of_a_server_has_the_name_that_it_has_here() {
    for (agent, tool, expected) in [
        (
            ExternalAgent::ClaudeCode,
            "mcp__tickets__close_all",
            "tickets__close_all",
        ),
        (
            ExternalAgent::Codex,
            "mcp__tickets__close_all",
            "tickets__close_all",
        ),
        (
            ExternalAgent::GeminiCli,
            "mcp_tickets_close_all",
            "tickets__close_all",
        ),
        (
            ExternalAgent::Opencode,
            "tickets_close_all",
            "tickets__close_all",
        ),
        (ExternalAgent::Opencode, "my_notes_add", "my_notes__add"),
    ] {
        let input = json!({"id": 7});
        let expected = OwnCall {
            tool: expected.to_owned(),
            arguments: input.as_object().unwrap().clone(),
        };
        assert_eq!(
            translate(agent, tool, &input),
            TranslatedCall::Server(expected),
            "{tool}"
        );
    }
    for (agent, tool) in [
        (ExternalAgent::ClaudeCode, "mcp__tickets"),
        (ExternalAgent::ClaudeCode, "mcp____close"),
        (ExternalAgent::GeminiCli, "mcp_other_close"),
        (ExternalAgent::Opencode, "other_close"),
        (ExternalAgent::Opencode, "ticketsclose"),
        (ExternalAgent::Cursor, "MCP:close"),
    ] {
        let translated = translate(agent, tool, &json!({}));
        assert!(
            matches!(translated, TranslatedCall::Unknown { .. }),
            "{tool}: {translated:?}"
        );
    }
}

#[test]
fn what_no_table_names_is_unknown() {
    let patch = "*** Begin Patch\n*** Update File: a\n *** Add File: ../b\n*** End Patch";
    for (agent, tool, input, why) in [
        (
            ExternalAgent::ClaudeCode,
            "Bosh",
            json!({}),
            "`Bosh` is not a tool of Claude Code",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Monitor",
            json!({"command": "ls"}),
            "`Monitor` is not a tool",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Bash",
            json!({"command": "ls", "host": "a"}),
            "not known: `host`",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Bash",
            json!({"command": ["ls"]}),
            "`command` is not a text",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Write",
            json!({"file_path": "~/a", "content": ""}),
            "home folder",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Glob",
            json!({"pattern": "/etc/*"}),
            "out of its folder",
        ),
        (
            ExternalAgent::ClaudeCode,
            "Glob",
            json!({"pattern": "{a,../..}/*"}),
            "out of its folder",
        ),
        (
            ExternalAgent::ClaudeCode,
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_number": 0, "new_source": ""}),
            "not known: `cell_number`",
        ),
        (
            ExternalAgent::ClaudeCode,
            "MultiEdit",
            json!({"file_path": "a", "edits": []}),
            "no edits",
        ),
        (
            ExternalAgent::Codex,
            "write_stdin",
            json!({"session_id": 1, "chars": "y\n"}),
            "not a tool of Codex",
        ),
        (
            ExternalAgent::Codex,
            "exec_command",
            json!({"cmd": "ls", "command": "rm a"}),
            "one command",
        ),
        (
            ExternalAgent::Codex,
            "exec_command",
            json!({"cmd": "ls", "shell": "/tmp/sh"}),
            "`shell`",
        ),
        (
            ExternalAgent::Codex,
            "local_shell",
            json!({"command": ["ls"], "env": {"PATH": "."}}),
            "`env`",
        ),
        (
            ExternalAgent::Codex,
            "apply_patch",
            json!({"input": patch}),
            "does not begin a line",
        ),
        (
            ExternalAgent::Codex,
            "apply_patch",
            json!({"input": "--- a\n+++ b"}),
            "does not begin as one",
        ),
        (
            ExternalAgent::GeminiCli,
            "grep_search",
            json!({"pattern": "a", "no_ignore": true}),
            "`no_ignore`",
        ),
        (
            ExternalAgent::GeminiCli,
            "web_fetch",
            json!({"prompt": "the news"}),
            "no address",
        ),
        (
            ExternalAgent::Cursor,
            "Read",
            json!({"file_path": "a", "path": "b"}),
            "two names",
        ),
    ] {
        match translate(agent, tool, &input) {
            TranslatedCall::Unknown { reason } => assert!(reason.contains(why), "{reason}"),
            other => panic!("{tool} {input}: {other:?}"),
        }
    }
}

#[test]
fn an_agent_has_one_id() {
    for agent in ExternalAgent::ALL {
        assert_eq!(ExternalAgent::from_id(agent.id()), Some(agent));
    }
    assert_eq!(ExternalAgent::from_id("claude"), None);
}
