//! Events for tests: small ones, with every member set to something that can be told apart.
#![allow(dead_code, reason = "the measurement uses only some of them")]

use std::sync::Arc;

use protocol::event::{CallChange, CallProposal, Grant, MessageChange, SessionEvent};
use protocol::view::preview::UndoAvailability;
use protocol::{
    CallId, CallState, Decision, Digest, EventBody, MessageId, ModelChoice, Notice, NoticeLevel,
    Outcome, Preview, SessionState, ToolCall, ToolKind, ToolMode, ToolOutput, Trail, UndoEntry,
    UndoState, Usage, UserError, Verdict,
};
use serde_json::json;

pub fn opened(title: &str) -> EventBody {
    EventBody::Session(SessionEvent::Opened {
        title: title.into(),
        workspace: "/home/ada/tidemark".into(),
        model: ModelChoice {
            provider: "demo".into(),
            model: String::new(),
        },
        parent: None,
        options: None,
    })
}

pub fn state(state: SessionState) -> EventBody {
    EventBody::Session(SessionEvent::Changed { state })
}

pub fn said(id: &str, text: &str) -> EventBody {
    EventBody::Message {
        message: id.into(),
        change: MessageChange::PersonSaid {
            text: text.into(),
            images: Vec::new(),
            steering: false,
        },
    }
}

pub fn turn(turn: u32, id: &str) -> EventBody {
    EventBody::Message {
        message: id.into(),
        change: MessageChange::TurnStarted { turn },
    }
}

pub fn agent_said(id: &str, text: &str, reasoning: bool) -> EventBody {
    EventBody::Message {
        message: id.into(),
        change: MessageChange::AgentSaid {
            text: text.into(),
            reasoning,
        },
    }
}

pub fn turn_ended(turn: u32, id: &str) -> EventBody {
    EventBody::Message {
        message: id.into(),
        change: MessageChange::TurnEnded {
            turn,
            usage: Usage {
                input_tokens: 100,
                cached_tokens: 40,
                output_tokens: 10,
                cost_usd: Some(0.25),
            },
            duration_ms: 1200,
            error: None,
            opaque: json!({ "signature": "abc" }),
        },
    }
}

pub fn proposed(id: &str, name: &str, arguments: serde_json::Value) -> EventBody {
    let serde_json::Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    EventBody::Proposal(CallProposal {
        call: ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
        },
        message: MessageId::from("msg_1"),
        reasoning: None,
        is_masked: false,
    })
}

pub fn judged(id: &str, tool: &str, target: &str) -> EventBody {
    let (title, mode, kind) = match tool {
        "bash" => ("Run", ToolMode::Local, ToolKind::Execute),
        "edit" => ("Edit", ToolMode::SafeWrite, ToolKind::Edit),
        "delete_path" => ("Delete", ToolMode::Destructive, ToolKind::Delete),
        _ => ("Read", ToolMode::Read, ToolKind::Read),
    };
    EventBody::Call {
        call: id.into(),
        change: CallChange::Judged {
            tool: tool.into(),
            title: title.into(),
            target: target.into(),
            mode: Some(mode),
            kind,
            trail: Arc::new(Trail {
                verdict: Verdict::Allow,
                lead: "Allowed, because it only reads.".into(),
                otherwise: String::new(),
                steps: Vec::new(),
            }),
            preview: Preview::Nothing,
            undo: UndoAvailability::NotNeeded,
            evidence: None,
        },
    }
}

pub fn waits(id: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::Waiting {
            digest: Digest::from_bytes(id.as_bytes()),
            grants: Vec::<Grant>::new(),
            refreshed: None,
            expires_at: None,
        },
    }
}

pub fn decided(id: &str, note: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::Decided {
            decision: Decision::Allow {
                hunks: None,
                note: note.into(),
                always: None,
            },
            digest: Digest::from_bytes(id.as_bytes()),
        },
    }
}

pub fn started(id: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::Started,
    }
}

pub fn output(id: &str, text: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::Output { text: text.into() },
    }
}

pub fn ended(id: &str, state: CallState, text: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::Ended {
            outcome: Box::new(Outcome {
                state,
                duration_ms: 3,
                ..Outcome::from_tool_output(
                    ToolOutput::new(text, format!("{} bytes", text.len())),
                    "",
                )
            }),
            masked: None,
        },
    }
}

pub fn undo_prepared(id: &str, entry: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::UndoPrepared {
            entry: UndoEntry {
                id: entry.into(),
                session: "ses_1".into(),
                call: CallId::from(id),
                action: None,
                at: 5,
                workspace: "/home/ada/tidemark".into(),
                title: "Deleted tests/old".into(),
                paths: 2,
                bytes: 300,
                shown: vec!["tests/old/a.rs".into()],
                state: UndoState::Prepared,
            },
        },
    }
}

pub fn undone(id: &str, entry: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::UndoApplied {
            entry: entry.into(),
            paths: 2,
            action: None,
        },
    }
}

pub fn redone(id: &str, entry: &str) -> EventBody {
    EventBody::Call {
        call: id.into(),
        change: CallChange::RedoApplied {
            entry: entry.into(),
            paths: 2,
            action: None,
        },
    }
}

pub fn noted(text: &str) -> EventBody {
    EventBody::Session(SessionEvent::NoticeAdded {
        notice: Notice {
            level: NoticeLevel::Warning,
            fault: UserError::new(text, ""),
        },
    })
}

/// A call that ran: proposed, judged, started, ended.
pub fn read_call(id: &str, path: &str, text: &str) -> [EventBody; 4] {
    [
        proposed(id, "read", json!({ "path": path })),
        judged(id, "read", path),
        started(id),
        ended(id, CallState::Done, text),
    ]
}
