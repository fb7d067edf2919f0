//! `policy replay`: calls judged and run in a copy of the workspace, with a line for each and the sums.

use std::path::PathBuf;
use std::time::Duration;

use agent::replay::{
    Replay, ReplayAnswer, ReplayEffects, ReplayOptions, ReplaySums, ReplayVerdict, ReplayedCall,
};
use agent::{EngineConfig, Host};
use protocol::text::display_text::format_count;
use protocol::view::preview::UndoAvailability;
use protocol::{CallState, UserError};
use serde_json::json;

use super::replay_input::{AnswerSource, CallSource, NextCall};
use super::transcript_calls::TranscriptCalls;
use super::{absolute_path, engine_config, open_readonly_engine};
use crate::args::ReplayArgs;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::REPLAYED_PATHS_MAX;
use crate::output::{OutputWriter, TextStyle};

/// Replays the calls until the last one, or until the keyboard interrupts it.
pub(crate) async fn run_replay(
    data_dir: Option<PathBuf>,
    args: ReplayArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let answers = AnswerSource::read(&args.answers)?;
    let config = EngineConfig {
        posture: args.posture.map(Into::into),
        ..engine_config(data_dir, Host::Person)?
    };
    let record = match &args.from_record {
        Some(_) => Some(open_readonly_engine(Some(config.data_dir.clone())).await?),
        None => None,
    };
    let mut calls = match (&record, &args.from_record, &args.from, &args.file) {
        (Some(desk), Some(named), _, _) => CallSource::open_record(desk, &args, named).await?,
        (_, _, Some(agent), _) => {
            CallSource::Transcripts(TranscriptCalls::open(&config, &args, agent, out)?)
        }
        (_, _, None, Some(file)) => CallSource::open_file(file)?,
        (_, _, None, None) => return Err(CliError::usage("No calls are named.", "Name a file.")),
    };
    let rules = args.rules.iter();
    let options = ReplayOptions {
        workspace: absolute_path("folder", &args.workspace)?,
        copies: ReplayOptions::default_copies(),
        rules: rules
            .map(|file| absolute_path("rules file", file))
            .collect::<Result<_, _>>()?,
    };
    let mut replay = Replay::open(config, options)
        .await
        .map_err(CliError::usage_error)?;
    let ended = tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => Ok(ExitReason::Interrupted),
        ended = replay_calls(&mut replay, &mut calls, &answers, out) => ended,
    };
    replay.close().await?;
    ended
}

/// Replays each call and writes its line, then the sums. A line that is no call does not stop the rest; the exit code
/// reports it.
async fn replay_calls(
    replay: &mut Replay,
    calls: &mut CallSource<'_>,
    answers: &AnswerSource,
    out: &mut OutputWriter,
) -> CliResult {
    warn_of_skipped_paths(replay, out);
    let mut code = ExitReason::Done;
    let mut sums = ReplaySums::default();
    loop {
        let replayed = match calls.read_call().await? {
            NextCall::End => break,
            NextCall::Call(call) => {
                let answer = answers.find(&call.id);
                replay.run_call(call, answer).await
            }
            NextCall::Unknown(report) => *report,
            NextCall::Invalid(report) => {
                code = ExitReason::Failed;
                *report
            }
        };
        sums.add(&replayed);
        match out.is_json() {
            true => out.write_json(&replayed)?,
            false => write_call_line(&replayed, out)?,
        }
    }
    if !out.is_json() {
        write_sums(&sums, out)?;
        return Ok(code);
    }
    let mut last = json!({ "sums": sums, "skipped": replay.skipped() });
    if let Some(left_out) = calls.left_out() {
        last["left_out"] = left_out.clone();
    }
    out.write_json(&last)?;
    Ok(code)
}

fn warn_of_skipped_paths(replay: &Replay, out: &OutputWriter) {
    let skipped = replay.skipped();
    if skipped.count > 0 {
        let count = format_count(skipped.count, "path");
        let message = format!("Not copied from the workspace: {count}.");
        out.write_warning(&UserError::new(message, skipped.shown.join("; ")));
    }
}

fn write_call_line(call: &ReplayedCall, out: &mut OutputWriter) -> Result<(), CliError> {
    let style = match call.verdict {
        ReplayVerdict::Passed => TextStyle::Good,
        ReplayVerdict::Asked => TextStyle::Warn,
        ReplayVerdict::Denied | ReplayVerdict::Failed => TextStyle::Bad,
    };
    let verdict = out.apply_style(style, &format!("{:<6}", call.verdict.as_str()));
    let called = [&*call.id, &call.tool, &call.target];
    let called: Vec<_> = called.into_iter().filter(|word| !word.is_empty()).collect();
    let called = out.apply_style(TextStyle::Strong, &to_one_line(&called.join(" ")));
    let mut parts = vec![to_one_line(&call.cause)];
    if call.verdict == ReplayVerdict::Asked {
        parts.push(format!("asked by {}", call.gate_names()));
    }
    parts.extend(
        call.answer
            .map(|answer| describe_answer(answer, call.state)),
    );
    parts.extend(call.not_run.clone());
    parts.push(describe_effects(&call.effects));
    parts.extend(describe_undo(call));
    let parts = out.apply_style(TextStyle::Plain, &parts.join(" | "));
    out.write_line(&format!("{verdict}  {called} | {parts}"))
}

fn to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn describe_answer(answer: ReplayAnswer, state: Option<CallState>) -> String {
    match (answer, state) {
        (ReplayAnswer::Allow, Some(state)) => format!("allowed, {}", state.as_str()),
        (ReplayAnswer::Allow, None) => "allowed".to_owned(),
        (ReplayAnswer::Deny, _) => "rejected".to_owned(),
    }
}

fn describe_effects(effects: &ReplayEffects) -> String {
    if effects.paths == 0 {
        return "no changes".to_owned();
    }
    let shown = effects.changes.iter().take(REPLAYED_PATHS_MAX);
    let shown: Vec<_> = shown
        .map(|change| {
            let kind = format!("{:?}", change.kind).to_lowercase();
            format!("{kind} {}", change.path)
        })
        .collect();
    let more = match effects.paths > shown.len() as u64 {
        true => ", …",
        false => "",
    };
    let count = format_count(effects.paths, "path");
    format!("{count}: {}{more}", shown.join(", "))
}

/// Says whether and how the changes of a call can be undone; nothing if it made none.
fn describe_undo(call: &ReplayedCall) -> Option<String> {
    if let Some(paths) = call.undo_paths {
        return Some(format!("can be undone: {}", format_count(paths, "path")));
    }
    match call.undo.as_ref()? {
        UndoAvailability::NotNeeded => None,
        UndoAvailability::Secured => Some("could be undone from a copy of the files".to_owned()),
        UndoAvailability::Captured => {
            Some("could be undone from what the dry run captured".to_owned())
        }
        UndoAvailability::Snapshot => {
            Some("could be undone from a snapshot of the workspace".to_owned())
        }
        UndoAvailability::Unsecured { reason } => Some(format!("cannot be undone: {reason}")),
    }
}

fn write_sums(sums: &ReplaySums, out: &mut OutputWriter) -> Result<(), CliError> {
    let line = format!(
        "{}: {} passed, {} asked, {} denied, {} failed",
        format_count(sums.calls, "call"),
        sums.passed,
        sums.asked,
        sums.denied,
        sums.failed
    );
    out.write_styled(TextStyle::Strong, &line)?;
    for (gates, calls) in &sums.asked_by {
        out.write_styled(TextStyle::Plain, &format!("asked by {gates}: {calls}"))?;
    }
    if sums.not_run > 0 {
        let line = format!("not run, because of where they reach: {}", sums.not_run);
        out.write_styled(TextStyle::Plain, &line)?;
    }
    let (all, each) = (
        Duration::from_micros(sums.took_us),
        Duration::from_micros(sums.took_us_per_call),
    );
    out.write_styled(
        TextStyle::Faint,
        &format!("took {all:.1?}, {each:.1?} each call"),
    )
}
