//! What a person is told of a command that ran, and what of it can be carried out or taken back.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::view::effects::{Assurance, Effects, Refusal, RefusalKind};
use protocol::{CapturedEffects, CommandExit, CommandRun, Plan};

use crate::dry_run::effects::report::ChangeReport;
use crate::dry_run::refusals::Refusals;

/// A command that ran.
pub(in crate::dry_run) struct FinishedRun {
    /// What held when it ran.
    pub assurance: Assurance,
    pub ran: CommandRun,
    pub refused: Refusals,
    pub read: ChangeReport,
    pub notes: Vec<String>,
    /// Where what it left lies.
    pub after_folder: PathBuf,
}

/// Tells of it.
pub(in crate::dry_run) fn summarize_run(over: FinishedRun) -> (Effects, Plan) {
    let FinishedRun {
        assurance,
        ran,
        mut refused,
        read,
        mut notes,
        after_folder: after,
    } = over;
    let (exit_code, ended) = match ran.exit {
        CommandExit::Code(code) => (Some(code), String::new()),
        CommandExit::Signal(signal) => (None, format!("signal {signal}")),
        CommandExit::TimedOut => (None, "time limit".to_owned()),
        CommandExit::Cancelled => (None, "stopped".to_owned()),
    };
    if ran.exit == CommandExit::TimedOut {
        refused.list.push(Refusal {
            kind: RefusalKind::Limit,
            target: "time".to_owned(),
        });
    }
    notes.extend(refused.notes);
    notes.extend(read.notes);
    let captured = CapturedEffects {
        layer: after,
        steps: read.steps,
        ran,
    };
    let effects = Effects {
        assurance,
        exit_code,
        ended,
        output: protocol::text::display_text::to_spans(&String::from_utf8_lossy(
            &captured.ran.head,
        )),
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
