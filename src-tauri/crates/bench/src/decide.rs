//! What a verdict costs: reading a command, and reading and deciding it, under a few rules and under ten thousand.

use std::time::{Duration, Instant};

use policy::rules_file::{Source, read};
use policy::{Declared, Facts, Request, RuleSet, classify, judge, shell};
use protocol::preview::UndoOutlook;
use protocol::{CallId, Capability, Digest, Fact, RuleScope, ToolMode, Verdict};

use crate::Outcome;
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};

/// How often each side plays.
const ROUNDS: usize = 11;

/// Commands in a row of one measurement.
const COMMANDS: u32 = 200;

/// Rules of a large set, and of a small one beside it.
const MANY: usize = 10_000;
const FEW: usize = 20;

const COMMAND: &str = "cd crates/policy && LC_ALL=C timeout 60 cargo test --locked -p policy 2>&1 | grep -v '^test' | tail -n 20";

/// Measures both rows and prints them.
pub fn run() -> Outcome<()> {
    let lines = vec![line(FEW)?, line(MANY)?];
    print("Decide", &lines);
    Ok(())
}

/// Reading and deciding, beside the two parsers alone: deciding must add at most as much as reading.
fn line(rules: usize) -> Outcome<Line> {
    let set = set(rules)?;
    let mut sides = [
        Side::new("decide", || timed(|| decided(&set).map(drop))),
        Side::new("read", || {
            timed(|| {
                std::hint::black_box(shell::read(std::hint::black_box(COMMAND)));
                Ok(())
            })
        }),
    ];
    let taken = medians(&mut sides, ROUNDS)?;
    let [both, alone] = taken.as_slice() else {
        return Err("two sides give two medians".into());
    };
    Ok(Line {
        what: format!("read and decide a command under {rules} rules (beside reading it alone)"),
        ours: time(*both / COMMANDS),
        theirs: time(*alone / COMMANDS),
        ratio: times(*both, *alone),
        aim: "at most 2×",
    })
}

/// A verdict, from the text of a command on.
fn decided(rules: &RuleSet) -> Outcome<Verdict> {
    let fact = Fact::inside(Capability::ShellRun, std::hint::black_box(COMMAND));
    let facts = Facts::from_iter([fact]);
    let declared = Declared {
        mode: Some(ToolMode::Local),
        ..Declared::default()
    };
    let judgement = judge(&Request {
        call: &CallId("call".to_owned()),
        tool: "bash",
        classified: &classify("bash", declared),
        facts: &facts,
        undo: &UndoOutlook::NotNeeded,
        needs_person: false,
        rules,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        tried: None,
        now: 0,
        alone: false,
        shown: &|| Digest(String::new()),
    });
    Ok(std::hint::black_box(judgement).verdict())
}

/// Rules on commands and paths; four of them let the command pass.
fn set(rules: usize) -> Outcome<RuleSet> {
    let mut text = String::new();
    for pattern in ["cd *", "cargo test*", "grep *", "tail *"] {
        text.push_str(&rule("bash", pattern, "allow"));
    }
    for n in 4..rules {
        text.push_str(&match n % 3 {
            0 => rule("bash", &format!("tool{n} run*"), "allow"),
            1 => rule("bash", &format!("tool{n} drop*"), "deny"),
            _ => rule("fs.write", &format!("made/{n}/**"), "ask"),
        });
    }
    let file = read(&text, &Source::new("rules.toml", RuleScope::User))
        .map_err(|fault| fault.to_string())?;
    let mut set = RuleSet::builtin();
    set.add(file);
    match decided(&set)? {
        Verdict::Allow => Ok(set),
        other => Err(format!("the command is let pass, not {other:?}").into()),
    }
}

fn rule(permission: &str, pattern: &str, action: &str) -> String {
    format!(
        "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
    )
}

fn timed(mut once: impl FnMut() -> Outcome<()>) -> Outcome<Duration> {
    let began = Instant::now();
    for _ in 0..COMMANDS {
        once()?;
    }
    Ok(began.elapsed())
}
