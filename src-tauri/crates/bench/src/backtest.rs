//! Measures a backtest of a rule against a hundred thousand recorded calls, beside reading their rows alone.

use std::path::Path;
use std::time::{Duration, Instant};

use agent::rulebook::{BacktestOptions, RulebookScope, run_backtest};
use policy::CallFacts;
use protocol::event::{CallChange, CallProposal, SessionEvent};
use protocol::rule::backtest::RuleChange;
use protocol::rule::evidence::Evidence;
use protocol::rule::rules_view::NewRule;
use protocol::view::preview::UndoAvailability;
use protocol::{
    Capability, Decision, Digest, EventBody, ModelChoice, Preview, ResolvedAccess, RuleAction,
    RuleScope, SessionId, ToolCall, ToolKind, ToolMode, Trail, Verdict,
};
use record::{Durability, Record};

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};

/// Number of measured rounds per side.
const ROUNDS: usize = 5;
/// Number of recorded calls.
const RECORDED_CALLS: usize = 100_000;
/// Number of distinct commands among the recorded calls.
const DISTINCT_COMMANDS: usize = 1_000;

/// Measures a rule that matches every call, and one that matches few.
pub fn run() -> BenchResult<()> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let place = RulebookScope::from_folder(workspace.to_str())?;
    let record = Record::open(&folder.path().join("record.db"), Box::new(|_| {}))?;
    record_calls(&record, &workspace.canonicalize()?)?;
    let mut lines = Vec::new();
    for (what, pattern) in [
        ("a rule for every call", "cargo*"),
        ("a rule for one call in ten", "cargo test*"),
    ] {
        let change = RuleChange::Add {
            rule: NewRule {
                permission: "bash".to_owned(),
                pattern: Some(pattern.to_owned()),
                action: RuleAction::Allow,
                ..NewRule::default()
            },
            scope: RuleScope::User,
        };
        let tested = BacktestOptions {
            data_dir: folder.path(),
            record: &record,
            ask_for_everything: false,
            now: 0,
            calls_max: 0,
        };
        let mut sides = [
            Contender::new("ours", || {
                let began = Instant::now();
                let found = run_backtest(&tested, &place, &change)?;
                match found.calls == RECORDED_CALLS as u64 && found.unclear.is_empty() {
                    true => Ok(began.elapsed()),
                    false => Err(format!("judged {} calls", found.calls).into()),
                }
            }),
            Contender::new("reading", || read_rows(&record)),
        ];
        let taken = measure_medians(&mut sides, ROUNDS)?;
        let [took, floor] = taken.as_slice() else {
            return Err("two sides give two medians".into());
        };
        lines.push(TableRow {
            what: format!("{what}, {RECORDED_CALLS} calls on record (beside reading their rows)"),
            ours: format_time(*took),
            theirs: format_time(*floor),
            ratio: format_ratio(*took, *floor),
            aim: "under 2 s",
        });
    }
    print_table("Backtest", &lines);
    Ok(())
}

/// Reads the inputs of every verdict, without judging them.
fn read_rows(record: &Record) -> BenchResult<Duration> {
    let began = Instant::now();
    let mut before = None;
    loop {
        let page = record.list_verdicts(before, 10_000)?;
        for call in &page.calls {
            std::hint::black_box(call.evidence()?);
        }
        match page.next {
            Some(next) => before = Some(next),
            None => return Ok(began.elapsed()),
        }
    }
}

/// Records calls as a session would: proposed, judged, and one in three decided by a person.
fn record_calls(record: &Record, root: &Path) -> BenchResult<()> {
    let session = SessionId::from("ses_bench");
    // More than the record takes at a time would be refused.
    const GATHERED: usize = 10_000;
    let mut acks = Vec::with_capacity(GATHERED);
    let mut say = |body: EventBody| -> BenchResult<()> {
        acks.push(record.append(session.clone(), 0, body, Durability::Batched));
        if acks.len() == GATHERED {
            for ack in acks.drain(..) {
                ack.wait()?;
            }
        }
        Ok(())
    };
    say(EventBody::Session(SessionEvent::Opened {
        title: "bench".to_owned(),
        workspace: root.display().to_string(),
        model: ModelChoice {
            provider: "script".to_owned(),
            model: String::new(),
        },
        parent: None,
        options: None,
    }))?;
    let kept: Vec<(String, Evidence)> = (0..DISTINCT_COMMANDS).map(numbered_command).collect();
    let trail = std::sync::Arc::new(Trail {
        verdict: Verdict::Ask,
        lead: String::new(),
        otherwise: String::new(),
        steps: Vec::new(),
    });
    for number in 0..RECORDED_CALLS {
        let (command, evidence) = &kept[number % DISTINCT_COMMANDS];
        let id = format!("call_{number}");
        let mut arguments = serde_json::Map::new();
        arguments.insert("command".to_owned(), command.as_str().into());
        say(EventBody::Proposal(CallProposal {
            call: ToolCall {
                id: id.as_str().into(),
                name: "bash".to_owned(),
                arguments,
            },
            message: "msg_1".into(),
            reasoning: None,
            is_masked: false,
        }))?;
        say(EventBody::Call {
            call: id.as_str().into(),
            change: CallChange::Judged {
                tool: "bash".to_owned(),
                title: "Command".to_owned(),
                target: command.clone(),
                mode: Some(ToolMode::Local),
                kind: ToolKind::Execute,
                trail: trail.clone(),
                preview: Preview::Nothing,
                undo: UndoAvailability::NotNeeded,
                evidence: Some(Box::new(evidence.clone())),
            },
        })?;
        if number % 3 == 0 {
            let decision = Decision::Allow {
                hunks: None,
                note: String::new(),
                always: None,
            };
            say(EventBody::Call {
                call: id.as_str().into(),
                change: CallChange::Decided {
                    decision,
                    digest: Digest(String::new()),
                },
            })?;
        }
    }
    for ack in acks {
        ack.wait()?;
    }
    Ok(())
}

fn numbered_command(number: usize) -> (String, Evidence) {
    let verb = match number % 10 {
        0 => "test",
        _ => "check",
    };
    let command =
        format!("cargo {verb} --locked -p crate_{number} 2>&1 | grep -v '^test' | tail -n 20");
    let facts = CallFacts::from_iter([ResolvedAccess::new_inside(
        Capability::ShellRun,
        command.clone(),
    )]);
    (command, facts.to_evidence())
}
