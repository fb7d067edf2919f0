//! Events for tests: small ones, with every member set to something that can be told apart.
#![allow(dead_code, reason = "the measurement uses only some of them")]

use std::sync::Arc;

use protocol::event::Grant;
use protocol::view::preview::UndoAvailability;
use protocol::{
    CallId, CallState, Decision, Digest, EventBody, MessageId, ModelChoice, Notice, NoticeLevel,
    Outcome, Preview, SessionState, ToolCall, ToolKind, ToolMode, ToolOutput, Trail, UndoEntry,
    UndoState, Usage, UserError, Verdict,
};
use serde_json::json;

pub fn opened(title: &str) -> EventBody {
    EventBody::SessionOpened {
        title: title.into(),
        workspace: "/home/ada/tidemark".into(),
        model: ModelChoice {
            provider: "demo".into(),
            model: String::new(),
        },
        parent: None,
        asked: None,
    }
}

pub fn state(state: SessionState) -> EventBody {
    EventBody::SessionChanged { state }
}

pub fn said(id: &str, text: &str) -> EventBody {
    EventBody::PersonSaid {
        message: id.into(),
        text: text.into(),
        images: Vec::new(),
        steering: false,
    }
}

pub fn turn(turn: u32, id: &str) -> EventBody {
    EventBody::TurnStarted {
        turn,
        message: id.into(),
    }
}

pub fn agent_said(id: &str, text: &str, reasoning: bool) -> EventBody {
    EventBody::AgentSaid {
        message: id.into(),
        text: text.into(),
        reasoning,
    }
}

pub fn turn_ended(turn: u32, id: &str) -> EventBody {
    EventBody::TurnEnded {
        turn,
        message: id.into(),
        usage: Usage {
            input_tokens: 100,
            cached_tokens: 40,
            output_tokens: 10,
            cost_usd: Some(0.25),
        },
        duration_ms: 1200,
        error: None,
        opaque: json!({ "signature": "abc" }),
    }
}

pub fn proposed(id: &str, name: &str, arguments: serde_json::Value) -> EventBody {
    let serde_json::Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    EventBody::CallProposed {
        call: ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
        },
        message: MessageId::from("msg_1"),
        reasoning: None,
    }
}

pub fn judged(id: &str, tool: &str, target: &str) -> EventBody {
    let (title, mode, kind) = match tool {
        "bash" => ("Run", ToolMode::Local, ToolKind::Execute),
        "edit" => ("Edit", ToolMode::SafeWrite, ToolKind::Edit),
        "delete_path" => ("Delete", ToolMode::Destructive, ToolKind::Delete),
        _ => ("Read", ToolMode::Read, ToolKind::Read),
    };
    EventBody::CallJudged {
        call: id.into(),
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
        grounds: None,
    }
}

pub fn waits(id: &str) -> EventBody {
    EventBody::CallWaits {
        call: id.into(),
        digest: Digest::from_bytes(id.as_bytes()),
        grants: Vec::<Grant>::new(),
        refreshed: None,
        expires_at: None,
    }
}

pub fn decided(id: &str, note: &str) -> EventBody {
    EventBody::CallDecided {
        call: id.into(),
        decision: Decision::Allow {
            hunks: None,
            note: note.into(),
            always: None,
        },
        digest: Digest::from_bytes(id.as_bytes()),
    }
}

pub fn started(id: &str) -> EventBody {
    EventBody::CallStarted { call: id.into() }
}

pub fn output(id: &str, text: &str) -> EventBody {
    EventBody::CallOutput {
        call: id.into(),
        text: text.into(),
    }
}

pub fn ended(id: &str, state: CallState, text: &str) -> EventBody {
    EventBody::CallEnded {
        call: id.into(),
        outcome: Box::new(Outcome {
            state,
            duration_ms: 3,
            ..Outcome::from_tool_output(ToolOutput::new(text, format!("{} bytes", text.len())), "")
        }),
        masked: None,
    }
}

pub fn undo_prepared(id: &str, entry: &str) -> EventBody {
    EventBody::UndoPrepared {
        call: id.into(),
        entry: UndoEntry {
            id: entry.into(),
            session: "ses_1".into(),
            call: CallId::from(id),
            act: None,
            at: 5,
            workspace: "/home/ada/tidemark".into(),
            title: "Deleted tests/old".into(),
            paths: 2,
            bytes: 300,
            shown: vec!["tests/old/a.rs".into()],
            state: UndoState::Prepared,
        },
    }
}

pub fn undone(id: &str, entry: &str) -> EventBody {
    EventBody::UndoApplied {
        entry: entry.into(),
        call: id.into(),
        paths: 2,
        act: None,
    }
}

pub fn redone(id: &str, entry: &str) -> EventBody {
    EventBody::RedoApplied {
        entry: entry.into(),
        call: id.into(),
        paths: 2,
        act: None,
    }
}

pub fn noted(text: &str) -> EventBody {
    EventBody::Noted {
        notice: Notice {
            level: NoticeLevel::Warning,
            fault: UserError::new(text, ""),
        },
    }
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
