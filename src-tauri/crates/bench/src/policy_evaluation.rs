//! Measures a verdict: parsing a command, and parsing and judging it, under a few rules and under ten thousand.

use std::time::{Duration, Instant};

use policy::rules_file::{RulesFileSource, parse_rules_file};
use policy::{
    CallFacts, EvaluationRequest, RuleSet, ToolDeclaration, classify_tool, evaluate, shell,
};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Capability, Digest, ResolvedAccess, RuleScope, ToolMode, Verdict};

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};

/// Number of measured rounds per side.
const ROUNDS: usize = 11;

/// Number of consecutive commands per measurement.
const COMMANDS_PER_ROUND: u32 = 200;

/// Number of rules in a large set, and in a small one beside it.
const RULES_MANY: usize = 10_000;
const RULES_FEW: usize = 20;

const COMMAND: &str = "cd crates/policy && LC_ALL=C timeout 60 cargo test --locked -p policy 2>&1 | grep -v '^test' | tail -n 20";

/// Measures both rows and prints them.
pub fn run() -> BenchResult<()> {
    let lines = vec![
        measure_rule_count(RULES_FEW)?,
        measure_rule_count(RULES_MANY)?,
    ];
    print_table("Decide", &lines);
    Ok(())
}

/// Measures parsing and judging, beside the two parsers alone: judging must add at most as much time as parsing.
fn measure_rule_count(rules: usize) -> BenchResult<TableRow> {
    let set = create_rule_set(rules)?;
    let mut sides = [
        Contender::new("decide", || {
            measure_time(|| evaluate_command(&set).map(drop))
        }),
        Contender::new("read", || {
            measure_time(|| {
                std::hint::black_box(shell::parse_command(std::hint::black_box(COMMAND)));
                Ok(())
            })
        }),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [both, alone] = taken.as_slice() else {
        return Err("two sides give two medians".into());
    };
    Ok(TableRow {
        what: format!("read and decide a command under {rules} rules (beside reading it alone)"),
        ours: format_time(*both / COMMANDS_PER_ROUND),
        theirs: format_time(*alone / COMMANDS_PER_ROUND),
        ratio: format_ratio(*both, *alone),
        aim: "at most 2×",
    })
}

/// Returns the verdict on a command, starting from its text.
fn evaluate_command(rules: &RuleSet) -> BenchResult<Verdict> {
    let fact = ResolvedAccess::new_inside(Capability::ShellRun, std::hint::black_box(COMMAND));
    let facts = CallFacts::from_iter([fact]);
    let declared = ToolDeclaration {
        mode: Some(ToolMode::Local),
        ..ToolDeclaration::default()
    };
    let judgement = evaluate(&EvaluationRequest {
        call: &CallId("call".to_owned()),
        tool: "bash",
        tool_class: &classify_tool("bash", declared),
        facts: &facts,
        undo: &UndoAvailability::NotNeeded,
        needs_person: false,
        rules,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        shown_digest: &|| Digest(String::new()),
    });
    Ok(std::hint::black_box(judgement).verdict())
}

/// Creates rules on commands and paths; four of them allow the command.
fn create_rule_set(rules: usize) -> BenchResult<RuleSet> {
    let mut text = String::new();
    for pattern in ["cd *", "cargo test*", "grep *", "tail *"] {
        text.push_str(&format_rule("bash", pattern, "allow"));
    }
    for n in 4..rules {
        text.push_str(&match n % 3 {
            0 => format_rule("bash", &format!("tool{n} run*"), "allow"),
            1 => format_rule("bash", &format!("tool{n} drop*"), "deny"),
            _ => format_rule("fs.write", &format!("made/{n}/**"), "ask"),
        });
    }
    let file = parse_rules_file(&text, &RulesFileSource::new("rules.toml", RuleScope::User))
        .map_err(|fault| fault.to_string())?;
    let mut set = RuleSet::builtin();
    set.add(file);
    match evaluate_command(&set)? {
        Verdict::Allow => Ok(set),
        other => Err(format!("the command is let pass, not {other:?}").into()),
    }
}

fn format_rule(permission: &str, pattern: &str, action: &str) -> String {
    format!(
        "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
    )
}

fn measure_time(mut once: impl FnMut() -> BenchResult<()>) -> BenchResult<Duration> {
    let began = Instant::now();
    for _ in 0..COMMANDS_PER_ROUND {
        once()?;
    }
    Ok(began.elapsed())
}
