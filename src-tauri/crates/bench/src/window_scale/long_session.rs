//! A session of a long working day, written straight to the record: commands with their output, messages between them.

use std::path::Path;
use std::sync::Arc;

use protocol::call::outcome::Truncation;
use protocol::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use protocol::view::preview::UndoAvailability;
use protocol::{
    CallState, EventBody, MessageId, ModelChoice, Outcome, Preview, SessionId, SessionState,
    ToolCall, ToolKind, ToolMode, ToolOutput, Trail, Usage, Verdict,
};
use record::{Durability, Record};
use serde_json::Map;

use crate::BenchResult;

/// The session.
pub const SESSION: &str = "ses_long_day";
/// Number of its calls.
pub const CALLS: u32 = 95_000;
/// Bytes of output of each call: with them about 600 MB are on record.
const OUTPUT_BYTES: usize = 6_000;
/// Calls that failed, as fractions of the session; the keys jump to them from the newest back.
const FAILED_AT: [f64; 4] = [0.01, 0.3, 0.6, 0.95];
/// Bytes of output of one call near the end.
pub const LARGE_OUTPUT_BYTES: usize = 5_000_000;
/// How many calls come between two messages of the person.
const CALLS_PER_MESSAGE: u32 = 40;
/// How many calls are sent before what was sent is waited for.
const BATCH: u32 = 1_000;

/// File of the data folder that says that the whole session is on record.
const WRITTEN_MARK: &str = "long_session_written";

/// Targets of the failed calls, from the newest back.
pub fn failed_targets() -> Vec<String> {
    let mut calls: Vec<u32> = FAILED_AT.iter().map(|at| failed_call(*at)).collect();
    calls.sort_unstable_by(|one, other| other.cmp(one));
    calls.into_iter().map(failed_target).collect()
}

/// Target of the call with the large output.
pub const LARGE_TARGET: &str = "cat everything.log";
/// Bytes of a large output that are on record; the whole of it is in a file.
const RECORDED_BYTES: usize = 200_000;

/// The last words of the session.
pub const LAST_WORDS: &str = "That was the last call of the day.";

/// Whether the session was written to the record of that data folder before.
pub fn is_written(data_dir: &Path) -> bool {
    data_dir.join(WRITTEN_MARK).exists()
}

/// Writes the session to a record of its own in the data folder; returns how many words its output has.
pub fn write_long_session(data_dir: &Path, workspace: &Path) -> BenchResult<u64> {
    let record = Record::open(&data_dir.join("record.db"), Box::new(|_| ()))?;
    let mut writer = SessionWriter {
        record,
        session: SessionId::from(SESSION),
        at: 1_700_000_000_000,
        words: WordSource::new(),
    };
    writer.write_day(workspace)?;
    std::fs::write(data_dir.join(WRITTEN_MARK), SESSION)?;
    Ok(writer.words.written)
}

fn failed_call(at: f64) -> u32 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a number of calls"
    )]
    let call = (f64::from(CALLS) * at) as u32;
    call
}

fn failed_target(call: u32) -> String {
    format!("make step-{call}-fails")
}

struct SessionWriter {
    record: Record,
    session: SessionId,
    at: i64,
    words: WordSource,
}

impl SessionWriter {
    fn write_day(&mut self, workspace: &Path) -> BenchResult<()> {
        self.send(EventBody::Session(SessionEvent::Opened {
            title: "A long day".to_owned(),
            workspace: workspace.display().to_string(),
            model: ModelChoice {
                provider: "measured".to_owned(),
                model: "none".to_owned(),
            },
            parent: None,
            options: None,
        }));
        let failed: Vec<u32> = FAILED_AT.iter().map(|at| failed_call(*at)).collect();
        for call in 0..CALLS {
            if call % CALLS_PER_MESSAGE == 0 {
                self.send_message(call);
            }
            let fails = failed.contains(&call);
            let target = match (fails, call + 3 == CALLS) {
                (true, _) => failed_target(call),
                (_, true) => LARGE_TARGET.to_owned(),
                _ => format!("cargo test part_{}", call % 997),
            };
            let output = match call + 3 == CALLS {
                true => self.write_large_output(workspace)?,
                false => ToolOutput::new(self.words.write_lines(OUTPUT_BYTES), "exit 0".to_owned()),
            };
            self.send_call(call, &target, output, !fails);
            if call % BATCH == 0 {
                self.wait()?;
            }
        }
        self.send_last_message();
        self.send(EventBody::Session(SessionEvent::Changed {
            state: SessionState::Idle,
        }));
        self.wait()
    }

    fn send_last_message(&mut self) {
        let turn = CALLS;
        let changes = [
            MessageChange::TurnStarted { turn },
            MessageChange::AgentSaid {
                text: LAST_WORDS.to_owned(),
                reasoning: false,
            },
            MessageChange::TurnEnded {
                turn,
                usage: Usage::default(),
                duration_ms: 40,
                error: None,
                opaque: serde_json::Value::Null,
            },
        ];
        for change in changes {
            self.send(EventBody::Message {
                message: "msg_last".into(),
                change,
            });
        }
    }

    fn send_message(&mut self, call: u32) {
        self.send(EventBody::Message {
            message: format!("msg_person_{call}").as_str().into(),
            change: MessageChange::PersonSaid {
                text: format!("Go on with part {call}."),
                images: Vec::new(),
                steering: false,
            },
        });
    }

    /// Writes a large output as the runtime keeps one: its beginning on record, and the whole in a file.
    fn write_large_output(&mut self, workspace: &Path) -> BenchResult<ToolOutput> {
        let mut text = self.words.write_lines(LARGE_OUTPUT_BYTES);
        let file = workspace.join("everything.log");
        std::fs::write(&file, &text)?;
        let bytes = text.len() as u64;
        text.truncate(RECORDED_BYTES);
        let mut output = ToolOutput::new(text, "exit 0".to_owned());
        output.truncated = Some(Truncation {
            output_path: Some(file.display().to_string()),
            bytes,
        });
        Ok(output)
    }

    fn send_call(&mut self, call: u32, target: &str, output: ToolOutput, success: bool) {
        let id = format!("call_{call}");
        let mut arguments = Map::new();
        arguments.insert("command".to_owned(), target.into());
        self.send(EventBody::Proposal(CallProposal {
            call: ToolCall {
                id: id.as_str().into(),
                name: "bash".to_owned(),
                arguments,
            },
            message: MessageId::from(format!("msg_{}", call / CALLS_PER_MESSAGE).as_str()),
            reasoning: None,
            is_masked: false,
        }));
        let changes = [
            CallChange::Judged {
                tool: "bash".to_owned(),
                title: "Run".to_owned(),
                target: target.to_owned(),
                mode: Some(ToolMode::Local),
                kind: ToolKind::Execute,
                trail: Arc::new(Trail {
                    verdict: Verdict::Allow,
                    lead: "Allowed by a rule.".to_owned(),
                    otherwise: String::new(),
                    steps: Vec::new(),
                }),
                preview: Preview::Nothing,
                undo: UndoAvailability::NotNeeded,
                evidence: None,
            },
            CallChange::Started,
            CallChange::Ended {
                outcome: Box::new(Outcome {
                    state: match success {
                        true => CallState::Done,
                        false => CallState::Failed,
                    },
                    duration_ms: 40,
                    ..Outcome::from_tool_output(output, "")
                }),
                masked: None,
            },
        ];
        for change in changes {
            self.send(EventBody::Call {
                call: id.as_str().into(),
                change,
            });
        }
    }

    fn send(&mut self, body: EventBody) {
        self.at += 20;
        drop(
            self.record
                .append(self.session.clone(), self.at, body, Durability::Batched),
        );
    }

    /// Waits until everything that was sent is on record, so that the queue never overflows.
    fn wait(&mut self) -> BenchResult<()> {
        let state = SessionEvent::Changed {
            state: SessionState::Idle,
        };
        self.record
            .append(
                self.session.clone(),
                self.at,
                EventBody::Session(state),
                Durability::Batched,
            )
            .wait()?;
        Ok(())
    }
}

/// Writes lines of words: mostly the same few thousand, as in the output of programs.
struct WordSource {
    state: u64,
    written: u64,
}

impl WordSource {
    fn new() -> Self {
        Self {
            state: 0x9e37_79b9_7f4a_7c15,
            written: 0,
        }
    }

    fn next_number(&mut self) -> u64 {
        // xorshift64: the same words in every run.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn write_lines(&mut self, bytes: usize) -> String {
        const WORDS_PER_LINE: usize = 11;
        let mut text = String::with_capacity(bytes + 16);
        let mut in_line = 0;
        while text.len() < bytes {
            let number = self.next_number();
            text.push_str("word");
            text.push_str(&(number % 4_001).to_string());
            in_line = (in_line + 1) % WORDS_PER_LINE;
            text.push(if in_line == 0 { '\n' } else { ' ' });
            self.written += 1;
        }
        text
    }
}
