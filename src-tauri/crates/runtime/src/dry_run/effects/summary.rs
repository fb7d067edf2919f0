//! The summary of a finished command for a person, and the part of its changes that can be carried out or undone.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::view::effects::{Assurance, Effects, Refusal, RefusalKind};
use protocol::{CapturedEffects, CommandExit, CommandRun, Plan};

use crate::dry_run::effects::report::ChangeReport;
use crate::dry_run::refusals::Refusals;

/// A command that has ended.
pub(in crate::dry_run) struct FinishedRun {
    /// The guarantees under which the command ran.
    pub assurance: Assurance,
    pub ran: CommandRun,
    pub refused: Refusals,
    pub read: ChangeReport,
    pub notes: Vec<String>,
    /// The folder that holds the state after the command.
    pub after_folder: PathBuf,
}

/// Summarizes a finished command as effects and a plan.
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
        outside_reads: refused.outside_reads,
        notes,
        digest: captured.digest(),
    };
    let plan = match captured.steps.is_empty() {
        true => Plan::None,
        false => Plan::Effects(Arc::new(captured)),
    };
    (effects, plan)
}
