//! `hook` and `commit`: agents ask before they use a tool, and run what takes the place of a command.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use gateway::endpoint::{EndpointAnswer, RequestBody, send_request};
use serde_json::{Value, json};

use crate::support::{CliFixture, CliRun};

/// A folder in which an agent works. Its end ends the program that answers the hooks.
struct Agent {
    place: CliFixture,
    agent: &'static str,
}

impl Agent {
    fn new(agent: &'static str) -> Self {
        let place = CliFixture::new();
        place.write_file("a.txt", "one\n");
        let this = Self { place, agent };
        this.run_git("init -q");
        this.commit_all();
        this
    }

    /// Commits all files: what git has is no loss.
    fn commit_all(&self) {
        self.run_git("add -A");
        self.run_git("commit -q -m files");
    }

    fn run_git(&self, line: &str) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@mail.example"]);
        git.args(line.split(' '))
            .current_dir(self.place.workspace());
        assert!(git.status().unwrap().success());
    }

    /// Writes the person's rules.
    fn rules(&self, rules: &str) {
        std::fs::create_dir_all(self.place.data()).unwrap();
        std::fs::write(self.place.data().join("rules.toml"), rules).unwrap();
    }

    fn event(&self, name: &str, tool: &str, input: &Value) -> Value {
        json!({
            "session_id": "5e55",
            "cwd": self.place.workspace(),
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": format!("toolu_{tool}"),
        })
    }

    /// Calls the hook with what an agent wrote.
    fn hook(&self, written: &str) -> CliRun {
        let output = feed(self.place.command(&["hook", self.agent]), written);
        CliRun {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asks about a use of a tool, and returns the answer of the hook.
    fn ask(&self, tool: &str, input: &Value) -> Value {
        let ran = self.hook(&self.event("PreToolUse", tool, input).to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
        let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
        answer["hookSpecificOutput"].clone()
    }

    /// Asks about a command, and returns the one that takes its place.
    fn replaced(&self, command: &str) -> String {
        self.replaced_in(&[], command)
    }

    /// The same with these further variables in the agent's terminal.
    fn replaced_in(&self, variables: &[(&str, &str)], command: &str) -> String {
        let input = json!({ "command": command, "description": "x" });
        let mut hook = self.place.command(&["hook", self.agent]);
        hook.envs(variables.iter().copied());
        let output = feed(hook, &self.event("PreToolUse", "Bash", &input).to_string());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["permissionDecision"], "allow", "{answer}");
        assert_eq!(answer["updatedInput"]["description"], "x");
        answer["updatedInput"]["command"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Runs a command line as an agent does.
    fn run_line(&self, line: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.place.workspace());
        shell.env_clear().envs(self.place.environment());
        shell.output().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.place.command(&["gateway", "hooks", "--stop"]).output();
    }
}

fn feed(mut command: Command, written: &str) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that reads no more has its answer.
    let _ = child.stdin.take().unwrap().write_all(written.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn a_command_is_replaced_by_its_effects_and_does_not_run_again() {
    let agent = Agent::new("claude-code");
    let command =
        "printf 'out\\377\\n'; printf 'err\\n' >&2; echo x >> runs.txt; echo two > a.txt; exit 7";
    let line = agent.replaced(command);
    assert_eq!(
        agent.place.read_file("runs.txt"),
        None,
        "nothing ran for real"
    );

    let ran = agent.run_line(&line);
    assert_eq!(ran.stdout, b"out\xff\n");
    assert_eq!(ran.stderr, b"err\n");
    assert_eq!(ran.status.code(), Some(7));
    assert_eq!(agent.place.read_file("runs.txt").unwrap(), "x\n");
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "two\n");

    let again = agent.run_line(&line);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(agent.place.read_file("runs.txt").unwrap(), "x\n");

    agent.place.run_ok(&["undo"]);
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "one\n");
    assert_eq!(agent.place.read_file("runs.txt"), None);
}

/// A command runs with the variables of the agent's terminal and not with those of the engine, which is older: those of
/// the last call count, secrets are withheld, and the home folder stays the engine's.
#[test]
fn a_command_has_the_environment_of_the_agents_terminal() {
    let agent = Agent::new("claude-code");
    let bin = agent.place.workspace().join("venv/bin");
    agent
        .place
        .write_file("venv/bin/greet", "#!/bin/sh\necho hello\n");
    std::fs::set_permissions(bin.join("greet"), Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let longer_path = format!("{}:{path}", bin.display());
    let home = agent.place.create_outside_folder("another-home");
    let command = "greet; echo ${NODE_ENV-none} ${OPENAI_API_KEY-none} $HOME";
    let printed = |variables: &[(&str, &str)]| {
        let ran = agent.run_line(&agent.replaced_in(variables, command));
        String::from_utf8(ran.stdout).unwrap()
    };
    let own_home = agent.place.workspace().with_file_name("home");
    let own_home = own_home.display();
    assert_eq!(
        printed(&[("NODE_ENV", "first")]),
        format!("first none {own_home}\n")
    );
    let variables = [
        ("PATH", longer_path.as_str()),
        ("NODE_ENV", "test"),
        ("OPENAI_API_KEY", "held"),
        ("HOME", &home),
    ];
    assert_eq!(
        printed(&variables),
        format!("hello\ntest none {own_home}\n")
    );
    assert_eq!(printed(&[]), format!("none none {own_home}\n"));
}

/// No system starts a program with so long an environment, so the request is made here.
#[tokio::test]
async fn an_environment_that_is_too_long_denies() {
    let agent = Agent::new("claude-code");
    let todo = agent.event("PreToolUse", "TodoWrite", &json!({ "todos": [] }));
    agent.hook(&todo.to_string());
    for (bytes, decision) in [(1 << 20, "allow"), (2 << 20, "deny")] {
        let request = json!({
            "agent": "claude-code",
            "input": todo,
            "program": [],
            "terminal": { "LONG": "x".repeat(bytes) },
            "wait_ms": 60_000,
        });
        let request = RequestBody::Hook(serde_json::from_value(request).unwrap());
        let answer = send_request(&agent.place.data(), request).await.unwrap();
        let EndpointAnswer::Hook(output) = answer else {
            panic!("{answer:?}");
        };
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["permissionDecision"], decision, "{answer}");
    }
}

#[test]
fn what_was_approved_is_carried_out_by_its_own_digest_alone() {
    let agent = Agent::new("claude-code");
    let line = agent.replaced("echo two > a.txt");
    let (start, digest) = line.rsplit_once(' ').unwrap();
    let other = format!("{start} {}", digest.chars().rev().collect::<String>());
    let refused = agent.run_line(&other);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "one\n");
    // The right one still holds.
    assert_eq!(agent.run_line(&line).status.code(), Some(0));
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "two\n");
}

#[test]
fn what_changed_since_is_not_overwritten() {
    let agent = Agent::new("claude-code");
    let line = agent.replaced("echo two > a.txt");
    agent.place.write_file("a.txt", "by the person\n");
    let refused = agent.run_line(&line);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "by the person\n");
}

#[test]
fn a_file_tool_of_an_agent_is_recorded_and_undone() {
    let agent = Agent::new("claude-code");
    let path = agent.place.workspace().join("a.txt");
    let input = json!({ "file_path": path, "old_string": "one", "new_string": "two" });
    assert_eq!(agent.ask("Edit", &input)["permissionDecision"], "allow");
    agent.place.write_file("a.txt", "two\n");
    let mut after = agent.event("PostToolUse", "Edit", &input);
    after["tool_response"] = json!({ "filePath": path });
    let told = agent.hook(&after.to_string());
    assert_eq!((told.code, told.out.as_str()), (0, ""));

    let listed = agent.place.run_ok(&["history"]);
    assert!(listed.contains("Changed a.txt"), "{listed}");
    agent.place.run_ok(&["undo"]);
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "one\n");
}

#[test]
fn a_changed_cell_of_a_notebook_is_recorded_and_undone() {
    let agent = Agent::new("claude-code");
    let notebook = |source: &str| {
        let cell =
            json!({ "cell_type": "markdown", "id": "intro", "metadata": {}, "source": source });
        json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string()
    };
    agent.place.write_file("n.ipynb", &notebook("one"));
    agent.commit_all();
    let path = agent.place.workspace().join("n.ipynb");
    let input = json!({ "notebook_path": path, "cell_id": "intro", "new_source": "two" });
    let allowed = agent.ask("NotebookEdit", &input);
    assert_eq!(allowed["permissionDecision"], "allow", "{allowed}");
    agent.place.write_file("n.ipynb", &notebook("two"));
    let after = agent.event("PostToolUse", "NotebookEdit", &input);
    let told = agent.hook(&after.to_string());
    assert_eq!((told.code, told.out.as_str()), (0, ""));

    let listed = agent.place.run_ok(&["history"]);
    assert!(listed.contains("Changed n.ipynb"), "{listed}");
    agent.place.run_ok(&["undo"]);
    assert_eq!(agent.place.read_file("n.ipynb").unwrap(), notebook("one"));

    // A cell that is not there cannot be shown, so the agent is told before it tries.
    let input = json!({ "notebook_path": path, "cell_id": "other", "new_source": "two" });
    let refused = agent.ask("NotebookEdit", &input);
    assert_eq!(refused["permissionDecision"], "deny", "{refused}");
    let why = refused["permissionDecisionReason"].as_str().unwrap();
    assert!(why.contains("no cell `other`"), "{why}");
}

/// Codex reports nothing of a patch: the call ends with the turn, with what stands in the files then.
#[test]
fn a_call_without_a_report_ends_with_the_turn() {
    let agent = Agent::new("codex");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch";
    let command = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let input = json!({ "command": command });
    let passed = agent.hook(&agent.event("PreToolUse", "Bash", &input).to_string());
    assert_eq!((passed.code, passed.out.as_str()), (0, ""), "{passed:?}");
    agent.place.write_file("a.txt", "two\n");
    let ended =
        json!({ "session_id": "5e55", "cwd": agent.place.workspace(), "hook_event_name": "Stop" });
    let ended = agent.hook(&ended.to_string());
    assert_eq!((ended.code, ended.out.as_str()), (0, ""), "{ended:?}");

    let shown = agent.place.run_ok(&["show", "last"]);
    assert!(
        shown.contains("The agent did not report what came of it."),
        "{shown}"
    );
    agent.place.run_ok(&["undo"]);
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "one\n");
}

#[test]
fn a_rule_denies_without_a_card() {
    let agent = Agent::new("claude-code");
    agent.rules("[[rule]]\npermission = \"bash\"\npattern = \"echo *\"\naction = \"deny\"\nreason = \"no echo here\"\n");
    let answer = agent.ask("Bash", &json!({ "command": "echo two > a.txt" }));
    assert_eq!(answer["permissionDecision"], "deny");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("no echo here"), "{reason}");
}

/// Where nobody is there, what would ask is refused, and the agent reads why.
#[test]
fn a_tool_that_nobody_knows_is_denied_where_nobody_is_there() {
    let agent = Agent::new("claude-code");
    let answer = agent.ask("mcp__hub__create_issue", &json!({ "title": "x" }));
    assert_eq!(answer["permissionDecision"], "deny");
    // What is the agent's own matter passes.
    let answer = agent.ask("TodoWrite", &json!({ "todos": [] }));
    assert_eq!(answer["permissionDecision"], "allow", "{answer}");
}

#[test]
fn whatever_fails_denies() {
    let agent = Agent::new("claude-code");
    let event = agent.event("PreToolUse", "Bash", &json!({ "command": "true" }));
    let without = |member: &str| {
        let mut event = event.clone();
        event.as_object_mut().unwrap().remove(member);
        event.to_string()
    };
    let mut gone = event.clone();
    gone["cwd"] = json!("/nowhere/at/all");
    // What is known to be about a call is denied in the agent's form.
    for written in [
        without("session_id"),
        without("cwd"),
        without("tool_name"),
        gone.to_string(),
    ] {
        assert_denied(&agent.hook(&written));
    }
    for written in ["", "garbage", "[]", "{}", &without("hook_event_name")] {
        let ran = agent.hook(written);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{written}");
        assert!(ran.err.contains("denies"), "{ran:?}");
    }
    let unknown = feed(
        agent.place.command(&["hook", "somebody"]),
        &event.to_string(),
    );
    assert_eq!(unknown.status.code(), Some(2));
    let no_data = Agent::new("claude-code");
    std::fs::write(no_data.place.data(), "a file in the folder's place").unwrap();
    assert_denied(&no_data.hook(&event.to_string()));
}

/// Asserts that Claude Code takes the answer of a hook as a denial.
fn assert_denied(ran: &CliRun) {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{ran:?}");
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("denies"), "{reason}");
}

/// What was approved ends with the engine that kept it: nothing is carried out then.
#[test]
fn what_was_approved_is_gone_with_its_engine() {
    let agent = Agent::new("claude-code");
    let line = agent.replaced("echo two > a.txt");
    agent.place.run_ok(&["gateway", "hooks", "--stop"]);
    let ran = agent.run_line(&line);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert_eq!(agent.place.read_file("a.txt").unwrap(), "one\n");
}

#[test]
fn many_hooks_at_once_are_all_answered() {
    let agent = Agent::new("claude-code");
    let path = agent.place.workspace().join("a.txt");
    let read = agent.event("PreToolUse", "Read", &json!({ "file_path": path }));
    let codes: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..30)
            .map(|number| {
                let mut event = read.clone();
                event["tool_use_id"] = json!(format!("toolu_{number}"));
                event["session_id"] = json!(format!("s{}", number % 3));
                let agent = &agent;
                scope.spawn(move || agent.hook(&event.to_string()).out)
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for out in codes {
        assert!(out.contains(r#""permissionDecision":"allow""#), "{out}");
    }
}

/// Each agent obeys another form: what lets a call pass, denies it, and replaces a command.
#[test]
fn every_agent_is_answered_in_its_form() {
    let command = |agent: &Agent, event: &str, tool: &str, line: &str| {
        let mut written = agent.event(event, tool, &json!({ "command": line }));
        written["tool_use_id"] = json!(line);
        agent.hook(&written.to_string())
    };
    let parsed = |ran: &CliRun| serde_json::from_str::<Value>(&ran.out).unwrap();

    let codex = Agent::new("codex");
    let replaced = parsed(&command(&codex, "PreToolUse", "Bash", "echo hi"));
    assert_eq!(
        replaced["hookSpecificOutput"]["permissionDecision"],
        "allow"
    );
    assert!(replaced["hookSpecificOutput"]["updatedInput"]["command"].is_string());
    let denied = parsed(&command(&codex, "PreToolUse", "Bash", "rm -rf /etc"));
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");

    let gemini = Agent::new("gemini-cli");
    let replaced = parsed(&command(
        &gemini,
        "BeforeTool",
        "run_shell_command",
        "echo hi",
    ));
    assert_eq!(replaced["decision"], "allow");
    let line = replaced["hookSpecificOutput"]["tool_input"]["command"]
        .as_str()
        .unwrap();
    assert_eq!(gemini.run_line(line).stdout, b"hi\n");
    let denied = parsed(&command(
        &gemini,
        "BeforeTool",
        "run_shell_command",
        "rm -rf /etc",
    ));
    assert_eq!(denied["decision"], "deny");

    let opencode = Agent::new("opencode");
    let replaced = parsed(&command(
        &opencode,
        "tool.execute.before",
        "bash",
        "echo hi",
    ));
    assert!(replaced["tool_input"]["command"].is_string(), "{replaced}");
    let denied = parsed(&command(
        &opencode,
        "tool.execute.before",
        "bash",
        "rm -rf /etc",
    ));
    assert_eq!(denied["decision"], "deny");
}
