//! Agents of other people that answer in a session: recorded conversations of four real ones are played to the engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{AGENT_PROVIDER, Host};
use gateway::acp_client::AcpAgents;
use protocol::event::{Enclosure, FormerAgentSession};
use protocol::op::OpReceipt;
use protocol::server::mcp_servers::ServerId;
use protocol::{CallState, Decision, EntryBody, ModelChoice, Op, SessionState, UserError};
use support::{Fixture, rule_text, say_text};

/// The program that plays conversations.
const PLAYER: &str = env!("CARGO_BIN_EXE_acp_agent");

/// The recorded conversations: each agent asks to run a command, and but for Codex to write a file.
const CLAUDE_CODE: &str = include_str!("wires/claude-code.wire");
const GEMINI_CLI: &str = include_str!("wires/gemini-cli.wire");
const OPENCODE: &str = include_str!("wires/opencode.wire");
const CODEX: &str = include_str!("wires/codex.wire");

/// A desk on which an agent answers.
pub(super) struct AgentDesk {
    pub desk: Fixture,
    agent: String,
    /// Command line that starts the agent.
    pub command: String,
    /// Servers that are named for its session.
    pub servers: Option<Vec<ServerId>>,
    /// The session of its own with which the agent goes on.
    pub former: Option<FormerAgentSession>,
    wire: PathBuf,
    _folder: tempfile::TempDir,
}

impl AgentDesk {
    /// A desk on which this agent plays a conversation; an unknown one if its id is no agent's.
    pub(super) async fn new(agent: &str, wire: &str) -> Self {
        Self::with_sandbox(agent, wire, None).await
    }

    pub(super) async fn with_sandbox(agent: &str, wire: &str, sandbox: Option<&str>) -> Self {
        let desk = Fixture::with_sandbox([say_text("No model asks.")], Host::Person, sandbox);
        Self::on_desk(agent, wire, desk.await)
    }

    /// A desk with another host.
    pub(super) async fn with_host(agent: &str, wire: &str, host: Host) -> Self {
        let desk = Fixture::with_host([say_text("No model asks.")], host).await;
        Self::on_desk(agent, wire, desk)
    }

    /// On this desk.
    pub(super) fn on_desk(agent: &str, wire: &str, desk: Fixture) -> Self {
        // Not in `/tmp`, of which a sandbox has its own.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("played.wire");
        std::fs::write(&file, wire).unwrap();
        let this = Self {
            desk,
            agent: agent.to_owned(),
            command: command_line(PLAYER, &file),
            servers: None,
            former: None,
            wire: file,
            _folder: folder,
        };
        this.add_agents();
        this
    }

    /// The same, with an agent that is reached by a program of this name, which leads to another machine.
    #[cfg(unix)]
    pub(super) async fn elsewhere(carrier: &str, wire: &str) -> Self {
        let mut this = Self::new("unknown", wire).await;
        let program = this.wire.with_file_name(carrier);
        std::os::unix::fs::symlink(PLAYER, &program).unwrap();
        this.command = command_line(&program.display().to_string(), &this.wire);
        this
    }

    fn add_agents(&self) {
        let agents = AcpAgents::default()
            .with_command(&self.agent, &self.command)
            .with_hooks("countersign".into(), self.desk.data_dir().to_owned());
        self.desk.engine.add_external_agents(Arc::new(agents));
    }

    /// Another conversation for an agent that is started again.
    pub(super) fn set_wire(&self, wire: &str) {
        std::fs::write(&self.wire, wire).unwrap();
    }

    /// Opens a session with the agent, and says something to it.
    pub(super) async fn start(&mut self, prompt: &str) {
        let opened = self.open_session(Some(prompt), None).await;
        self.desk.session = opened.unwrap().session.unwrap();
    }

    /// Opens a session with the agent, which does not start yet.
    pub(super) async fn open(&mut self) {
        let opened = self.open_session(None, None).await;
        self.desk.session = opened.unwrap().session.unwrap();
    }

    /// The same, in the open or in a sandbox.
    pub(super) async fn open_session(
        &self,
        prompt: Option<&str>,
        enclosure: Option<Enclosure>,
    ) -> Result<OpReceipt, UserError> {
        let is_known = agent_ids().contains(&self.agent.as_str());
        let model = match is_known {
            true => self.agent.clone(),
            false => self.command.clone(),
        };
        let op = Op::OpenSession {
            workspace: self.desk.workspace_root().display().to_string(),
            model: ModelChoice {
                provider: AGENT_PROVIDER.to_owned(),
                model,
            },
            prompt: prompt.map(str::to_owned),
            output_schema: None,
            temperature: None,
            agent: None,
            planning: false,
            enclosure,
            servers: self.servers.clone(),
            former: self.former.clone(),
        };
        self.desk.engine.submit(op).await
    }

    /// Closes the engine and opens another one on the same data folder, with another conversation to play.
    pub(super) async fn restart(mut self, wire: &str) -> Self {
        std::fs::write(&self.wire, wire).unwrap();
        self.desk = self.desk.restart().await;
        self.add_agents();
        self
    }

    /// Waits until the agent waits for this signal.
    pub(super) async fn wait_until_awaited(&self, signal: &str) {
        let file = self.wire.with_extension(format!("wire.{signal}.awaited"));
        let until = tokio::time::Instant::now() + support::WAIT_TIMEOUT;
        while !file.exists() {
            assert!(
                tokio::time::Instant::now() < until,
                "the agent never waited"
            );
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Gives the agent the signal that it waits for.
    pub(super) fn signal(&self, signal: &str) {
        std::fs::write(self.wire.with_extension(format!("wire.{signal}")), "").unwrap();
    }

    /// Everything that the client wrote to the agent.
    pub(super) fn answers(&self) -> String {
        std::fs::read_to_string(self.wire.with_extension("wire.answers")).unwrap()
    }

    /// Why turns broke off, in order.
    pub(super) async fn turn_errors(&self) -> Vec<String> {
        let entries = self.desk.transcript().await.into_iter();
        let errors = entries.filter_map(|entry| match entry.body {
            EntryBody::Agent { error, .. } => error.map(|error| error.message),
            _ => None,
        });
        errors.collect()
    }

    /// The agent's messages, and the notices to the person, in order.
    pub(super) async fn texts(&self) -> (Vec<String>, Vec<String>) {
        let (mut said, mut notices) = (Vec::new(), Vec::new());
        for entry in self.desk.transcript().await {
            match entry.body {
                EntryBody::Agent { text, .. } if !text.is_empty() => said.push(text),
                EntryBody::Notice(notice) => notices.push(notice.fault.message),
                _ => {}
            }
        }
        (said, notices)
    }
}

fn agent_ids() -> [&'static str; 4] {
    ["claude-code", "codex", "gemini-cli", "opencode"]
}

fn command_line(program: &str, wire: &Path) -> String {
    format!("'{program}' '{}'", wire.display())
}

#[tokio::test]
async fn what_an_agent_asks_is_a_card_and_what_is_allowed_is_run_by_it_and_undone() {
    for (agent, wire, option, written) in [
        ("claude-code", CLAUDE_CODE, "allow-once", Some("cl2.txt")),
        ("gemini-cli", GEMINI_CLI, "proceed_once", Some("gm2.txt")),
        ("opencode", OPENCODE, "once", Some("oc2.txt")),
        ("codex", CODEX, "allow_once", None),
    ] {
        let mut place = AgentDesk::new(agent, wire).await;
        place.desk.write_rules(rule_text("*", "*", "ask"));
        place.start("Go.").await;
        let mut tools = Vec::new();
        for _ in 0..1 + usize::from(written.is_some()) {
            tools.push(place.desk.allow_next().await.call.name);
        }
        tools.sort();
        let expected: &[&str] = match written {
            Some(_) => &["bash", "write"],
            None => &["bash"],
        };
        assert_eq!(tools, expected, "{agent}");
        assert_eq!(
            place.desk.wait_until_ended().await,
            SessionState::Done,
            "{agent}"
        );
        let calls = place.desk.calls().await;
        assert!(
            calls.iter().all(|call| call.state == CallState::Done),
            "{agent}: {calls:?}"
        );
        assert!(
            place
                .answers()
                .contains(&format!("\"optionId\":\"{option}\"")),
            "{agent}"
        );
        let (said, _) = place.texts().await;
        assert!(said.last().unwrap().ends_with("done"), "{agent}: {said:?}");
        if let Some(file) = written {
            assert_eq!(
                place.desk.read_file(file).as_deref(),
                Some("hi from fake llm\n")
            );
            let write = calls.iter().find(|call| call.call.name == "write").unwrap();
            place.desk.undo_call(write).await;
            assert_eq!(place.desk.read_file(file), None, "{agent}");
        }
    }
}

/// An agent that remembered a permission would act behind our back.
#[tokio::test]
async fn always_stays_with_the_person_s_rules() {
    let mut place = AgentDesk::new("gemini-cli", GEMINI_CLI).await;
    place.start("Go.").await;
    place.desk.allow_next().await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert!(
        !place.answers().contains("proceed_always"),
        "{}",
        place.answers()
    );
}

#[tokio::test]
async fn a_rule_denies_without_a_card_and_the_agent_s_model_reads_why() {
    let again = r#"
-> {"id": 9, "method": "session/prompt"}
<- {"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = AgentDesk::new("claude-code", &format!("{CLAUDE_CODE}{again}")).await;
    let rules = format!(
        "{}{}",
        rule_text("bash", "*", "deny"),
        rule_text("fs.write", "*", "allow")
    );
    place.desk.write_rules(rules);
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let states = place.desk.call_states().await;
    assert_eq!(states, [CallState::Denied, CallState::Done]);
    assert_eq!(place.desk.read_file("cl.txt"), None);
    let answers = place.answers();
    assert!(answers.contains("\"optionId\":\"reject\""), "{answers}");
    assert!(
        answers.contains(
            "Your call `echo hello > cl.txt` was not allowed. Denied by the rule `bash *`."
        ),
        "{answers}"
    );
}

#[tokio::test]
async fn a_person_s_words_reach_the_agent_s_model() {
    let again = r#"
-> {"id": 9, "method": "session/prompt"}
<- {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I see."}}}}
<- {"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = AgentDesk::new("claude-code", &format!("{CLAUDE_CODE}{again}")).await;
    place.desk.write_rules(rule_text("bash", "*", "ask"));
    place.start("Go.").await;
    place.desk.reject_next("Use make.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert!(place.answers().contains("Use make."), "{}", place.answers());
    let (said, _) = place.texts().await;
    assert_eq!(said.last().unwrap(), "I see.");
}

#[tokio::test]
async fn a_stopped_turn_takes_its_question_with_it() {
    let wire: String = CLAUDE_CODE
        .lines()
        .take_while(|line| !line.starts_with("-> {\"id\": 0}"))
        .fold(String::new(), |all, line| all + line + "\n");
    let stopped = r#"-> {"id": 0}
-> {"id": null, "method": "session/cancel"}
<- {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}
"#;
    let mut place = AgentDesk::new("claude-code", &format!("{wire}{stopped}")).await;
    place.desk.write_rules(rule_text("*", "*", "ask"));
    place.start("Go.").await;
    place.desk.wait_for_call().await;
    place.desk.interrupt_run().await;
    assert_eq!(
        place.desk.wait_until_ended().await,
        SessionState::Interrupted
    );
    assert_eq!(place.desk.snapshot().await.desk.len(), 0);
    assert!(
        place.answers().contains("\"outcome\":\"cancelled\""),
        "{}",
        place.answers()
    );
}

/// After a restart the agent goes on with its own session, and the person's next words are its prompt.
#[tokio::test]
async fn an_agent_goes_on_with_its_own_session_after_a_restart() {
    let mut place = AgentDesk::new("opencode", OPENCODE).await;
    place.start("Go.").await;
    place.desk.allow_next().await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let hello = OPENCODE.lines().take(2).collect::<Vec<_>>().join("\n");
    let resumed = r#"
-> {"id": 2, "method": "session/resume"}
<- {"jsonrpc": "2.0", "id": 2, "result": {}}
-> {"id": 3, "method": "session/prompt"}
<- {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = place.restart(&format!("{hello}{resumed}")).await;
    place.desk.send_message("And now?").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let answers = place.answers();
    let resume = answers
        .lines()
        .find(|line| line.contains("session/resume"))
        .unwrap();
    assert!(
        resume.contains("ses_e0382bd58ffePXOnspLhSBFMrR"),
        "{resume}"
    );
    let prompts: Vec<&str> = answers
        .lines()
        .filter(|line| line.contains("session/prompt"))
        .collect();
    assert!(
        prompts[1].contains("And now?") && !prompts[1].contains("Go."),
        "{prompts:?}"
    );
}

/// A session that the agent has lost does not end ours.
#[tokio::test]
async fn an_agent_that_lost_its_session_begins_anew_and_says_so() {
    let mut place = AgentDesk::new("opencode", OPENCODE).await;
    place.start("Go.").await;
    place.desk.allow_next().await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let hello = OPENCODE.lines().take(2).collect::<Vec<_>>().join("\n");
    let lost = r#"
-> {"id": 2, "method": "session/resume"}
<- {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "No such session."}}
-> {"id": 3, "method": "session/new"}
<- {"jsonrpc": "2.0", "id": 3, "result": {"sessionId": "other"}}
-> {"id": 4, "method": "session/prompt"}
<- {"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = place.restart(&format!("{hello}{lost}")).await;
    place.desk.send_message("And now?").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let (_, notices) = place.texts().await;
    let last = notices.last().unwrap();
    assert_eq!(
        last,
        "opencode cannot go on with an earlier session, so it remembers nothing of it."
    );
}

/// An agent whose tools nobody knows has ours: a file is read and written, and a terminal's command is held to its effects.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_unknown_agent_has_our_files_and_terminals() {
    let wire = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
<- {"id": 0, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "FOLDER/in.txt", "line": 2}}
-> {"id": 0}
<- {"id": 1, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "FOLDER/out.txt", "content": "written\n"}}
-> {"id": 1}
<- {"id": 2, "method": "terminal/create", "params": {"sessionId": "s", "command": "echo $NAME | tee made.txt", "env": [{"name": "NAME", "value": "it's me"}]}}
-> {"id": 2}
<- {"id": 3, "method": "terminal/wait_for_exit", "params": {"sessionId": "s", "terminalId": "terminal-1"}}
-> {"id": 3}
<- {"id": 4, "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "terminal-1"}}
-> {"id": 4}
<- {"id": 5, "method": "terminal/release", "params": {"sessionId": "s", "terminalId": "terminal-1"}}
-> {"id": 5}
<- {"id": 6, "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "terminal-1"}}
-> {"id": 6}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;
    const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");
    let mut place = AgentDesk::with_sandbox("unknown", wire, Some(SANDBOX)).await;
    place.desk.write_file("in.txt", "first\nsecond\n");
    place.desk.write_rules(rule_text("bash", "*", "ask"));
    place.start("Go.").await;
    let asked = place.desk.wait_for_call().await;
    place
        .desk
        .decide_call(&asked, Decision::DryRun)
        .await
        .unwrap();
    place.desk.allow_next().await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        place.desk.read_file("out.txt").as_deref(),
        Some("written\n")
    );
    assert_eq!(
        place.desk.read_file("made.txt").as_deref(),
        Some("it's me\n")
    );
    let answers = place.answers();
    assert!(answers.contains("\"content\":\"second\\n\""), "{answers}");
    assert!(answers.contains("\"exitCode\":0"), "{answers}");
    assert!(answers.contains("\"output\":\"it's me\\n\""), "{answers}");
    assert!(answers.contains("There is no such terminal."), "{answers}");
    for call in place.desk.calls().await.iter().rev() {
        if call.call.name != "read" {
            place.desk.undo_call(call).await;
        }
    }
    assert_eq!(place.desk.read_file("made.txt"), None);
    assert_eq!(place.desk.read_file("out.txt"), None);
}

#[tokio::test]
async fn what_an_agent_does_without_asking_is_on_record_with_a_warning() {
    let wire = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "look", "kind": "read"}}}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}}}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "t2", "title": "rm b", "kind": "delete", "status": "completed"}}}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [{"content": "Look.", "priority": "high", "status": "completed"}]}}}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = AgentDesk::new("unknown", wire).await;
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let (_, notices) = place.texts().await;
    let unasked: Vec<&String> = notices
        .iter()
        .filter(|text| text.contains("without asking"))
        .collect();
    assert_eq!(unasked, ["acp_agent did this without asking: rm b"]);
    let mut names: Vec<String> = place
        .desk
        .calls()
        .await
        .into_iter()
        .map(|call| call.call.name)
        .collect();
    names.sort();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"todo".to_owned()), "{names:?}");
}

#[tokio::test]
async fn an_agent_of_somebody_else_is_asked_for_no_plan() {
    let wire = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;
    let mut place = AgentDesk::new("unknown", wire).await;
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let op = Op::SetPlanning {
        session: place.desk.session.clone(),
        on: true,
    };
    let fault = place.desk.engine.submit(op).await.unwrap_err();
    assert_eq!(
        fault.message,
        "An agent of somebody else cannot hand in a plan here."
    );
}
