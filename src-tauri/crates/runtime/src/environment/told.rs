//! What a person is told of a command that ran, and what of it can be carried out or taken back.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::effects::{Assurance, Effects, Refused, RefusedKind};
use protocol::{Captured, Exit, Plan, Ran};

use super::read_out::ReadOut;
use super::refusals::Refusals;

/// A command that ran.
pub(super) struct Over {
    /// What held when it ran.
    pub assurance: Assurance,
    pub ran: Ran,
    pub refused: Refusals,
    pub read: ReadOut,
    pub notes: Vec<String>,
    /// Where what it left lies.
    pub after: PathBuf,
}

/// Tells of it.
pub(super) fn told(over: Over) -> (Effects, Plan) {
    let Over {
        assurance,
        ran,
        mut refused,
        read,
        mut notes,
        after,
    } = over;
    let (exit_code, ended) = match ran.exit {
        Exit::Code(code) => (Some(code), String::new()),
        Exit::Signal(signal) => (None, format!("signal {signal}")),
        Exit::TimedOut => (None, "time limit".to_owned()),
        Exit::Cancelled => (None, "stopped".to_owned()),
    };
    if ran.exit == Exit::TimedOut {
        refused.list.push(Refused {
            kind: RefusedKind::Limit,
            target: "time".to_owned(),
        });
    }
    notes.extend(refused.notes);
    notes.extend(read.notes);
    let captured = Captured {
        layer: after,
        steps: read.steps,
        ran,
    };
    let effects = Effects {
        assurance,
        exit_code,
        ended,
        output: protocol::shown::shown(&String::from_utf8_lossy(&captured.ran.head)),
        output_bytes: captured.ran.bytes,
        changes: read.effects,
        refused: refused.list,
        reached: refused.reached,
        notes,
        digest: captured.digest(),
    };
    let plan = match captured.steps.is_empty() {
        true => Plan::None,
        false => Plan::Effects(Arc::new(captured)),
    };
    (effects, plan)
}
