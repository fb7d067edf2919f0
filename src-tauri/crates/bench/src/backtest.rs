//! A rule held against a hundred thousand recorded calls, beside reading their rows alone.

use std::path::Path;
use std::time::{Duration, Instant};

use agent::rulebook::{Place, Tested, backtest};
use policy::Facts;
use protocol::backtest::RuleChange;
use protocol::grounds::Grounds;
use protocol::preview::UndoOutlook;
use protocol::rules_view::NewRule;
use protocol::{
    Action, Capability, Decision, Digest, EventBody, Fact, ModelChoice, Preview, RuleScope,
    SessionId, ToolCall, ToolKind, ToolMode, Trail, Verdict,
};
use record::{Durability, Record};

use crate::Outcome;
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};

/// How often each side plays.
const ROUNDS: usize = 5;
/// Recorded calls.
const CALLS: usize = 100_000;
/// Different commands among them.
const COMMANDS: usize = 1_000;

/// Measures a rule that speaks of every call, and one that speaks of few.
pub fn run() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let place = Place::of(workspace.to_str())?;
    let record = Record::open(&folder.path().join("record.db"), Box::new(|_| {}))?;
    fill(&record, &workspace.canonicalize()?)?;
    let mut lines = Vec::new();
    for (what, pattern) in [
        ("a rule for every call", "cargo*"),
        ("a rule for one call in ten", "cargo test*"),
    ] {
        let change = RuleChange::Add {
            rule: NewRule {
                permission: "bash".to_owned(),
                pattern: Some(pattern.to_owned()),
                action: Action::Allow,
                ..NewRule::default()
            },
            scope: RuleScope::User,
        };
        let tested = Tested {
            data_dir: folder.path(),
            record: &record,
            ask_for_everything: false,
            now: 0,
            calls_max: 0,
        };
        let mut sides = [
            Side::new("ours", || {
                let began = Instant::now();
                let found = backtest(&tested, &place, &change)?;
                match found.calls == CALLS as u64 && found.unclear.is_empty() {
                    true => Ok(began.elapsed()),
                    false => Err(format!("judged {} calls", found.calls).into()),
                }
            }),
            Side::new("reading", || read(&record)),
        ];
        let taken = medians(&mut sides, ROUNDS)?;
        let [took, floor] = taken.as_slice() else {
            return Err("two sides give two medians".into());
        };
        lines.push(Line {
            what: format!("{what}, {CALLS} calls on record (beside reading their rows)"),
            ours: time(*took),
            theirs: time(*floor),
            ratio: times(*took, *floor),
            aim: "under 2 s",
        });
    }
    print("Backtest", &lines);
    Ok(())
}

/// Reads what every verdict was made from, and judges nothing.
fn read(record: &Record) -> Outcome<Duration> {
    let began = Instant::now();
    let mut before = None;
    loop {
        let page = record.judged(before, 10_000)?;
        for call in &page.calls {
            std::hint::black_box(call.grounds()?);
        }
        match page.next {
            Some(next) => before = Some(next),
            None => return Ok(began.elapsed()),
        }
    }
}

/// Records the calls as a session would: proposed, judged, and one in three decided.
fn fill(record: &Record, root: &Path) -> Outcome<()> {
    let session = SessionId::from("ses_bench");
    // More than the record takes at a time would be refused.
    const GATHERED: usize = 10_000;
    let mut acks = Vec::with_capacity(GATHERED);
    let mut say = |body: EventBody| -> Outcome<()> {
        acks.push(record.append(session.clone(), 0, body, Durability::Batched));
        if acks.len() == GATHERED {
            for ack in acks.drain(..) {
                ack.wait()?;
            }
        }
        Ok(())
    };
    say(EventBody::SessionOpened {
        title: "bench".to_owned(),
        workspace: root.display().to_string(),
        model: ModelChoice {
            provider: "script".to_owned(),
            model: String::new(),
        },
        parent: None,
        asked: None,
    })?;
    let kept: Vec<(String, Grounds)> = (0..COMMANDS).map(command).collect();
    let trail = std::sync::Arc::new(Trail {
        verdict: Verdict::Ask,
        lead: String::new(),
        otherwise: String::new(),
        steps: Vec::new(),
    });
    for number in 0..CALLS {
        let (command, grounds) = &kept[number % COMMANDS];
        let id = format!("call_{number}");
        let mut arguments = serde_json::Map::new();
        arguments.insert("command".to_owned(), command.as_str().into());
        say(EventBody::CallProposed {
            call: ToolCall {
                id: id.as_str().into(),
                name: "bash".to_owned(),
                arguments,
            },
            message: "msg_1".into(),
            reasoning: None,
        })?;
        say(EventBody::CallJudged {
            call: id.as_str().into(),
            tool: "bash".to_owned(),
            title: "Command".to_owned(),
            target: command.clone(),
            mode: Some(ToolMode::Local),
            kind: ToolKind::Execute,
            trail: trail.clone(),
            preview: Preview::Nothing,
            undo: UndoOutlook::NotNeeded,
            grounds: Some(Box::new(grounds.clone())),
        })?;
        if number % 3 == 0 {
            let decision = Decision::Allow {
                hunks: None,
                note: String::new(),
                always: None,
            };
            say(EventBody::CallDecided {
                call: id.as_str().into(),
                decision,
                digest: Digest(String::new()),
            })?;
        }
    }
    for ack in acks {
        ack.wait()?;
    }
    Ok(())
}

fn command(number: usize) -> (String, Grounds) {
    let verb = match number % 10 {
        0 => "test",
        _ => "check",
    };
    let command =
        format!("cargo {verb} --locked -p crate_{number} 2>&1 | grep -v '^test' | tail -n 20");
    let facts = Facts::from_iter([Fact::inside(Capability::ShellRun, command.clone())]);
    (command, facts.kept())
}
