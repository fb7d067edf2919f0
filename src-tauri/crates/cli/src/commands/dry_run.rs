//! `dry-run`: shows the effects of a command in a dry run, or runs it for real where it can be undone.

use std::path::PathBuf;

use agent::Host;
use protocol::{Effects, Preview, UndoEntry, UndoState};
use provider::ScriptCall;
use serde_json::json;

use super::call;
use crate::args::{ApprovalArgs, CallArgs, DryRunArgs};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::DIFF_LINES_MAX;
use crate::output::{OutputWriter, TextStyle};
use crate::{effects_json, previews};

/// Runs a command: in a dry run, whose effects may then be committed, or in place.
pub(crate) async fn run_dry_run(
    data_dir: Option<PathBuf>,
    args: DryRunArgs,
    out: &mut OutputWriter,
) -> CliResult {
    match (args.commit, args.in_place) {
        (true, _) => run_and_commit(data_dir, args, out).await,
        (false, true) => run_in_place(data_dir, args, out).await,
        (false, false) => show_dry_run(data_dir, &args, out).await,
    }
}

/// Runs a command in a dry run and shows its effects.
async fn show_dry_run(
    data_dir: Option<PathBuf>,
    args: &DryRunArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let desk = super::open_readonly_engine(data_dir).await?;
    let command = join_command_line(&args.command);
    let ran = desk
        .dry_run_command(&args.workspace, command, &args.allow_host)
        .await?;
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let last = match ran.effects.reached.is_empty() {
        true => "Nothing real changed.",
        false => "Nothing real changed here; what it sent is out.",
    };
    let report = EffectsReport {
        effects: &ran.effects,
        stdout: &stdout,
        stderr: &stderr,
        entry: None,
        last_line: last,
    };
    print_effects(&report, out)?;
    Ok(ExitReason::Done)
}

/// Runs a command for real, through the whole pipeline, and shows its effects. Its output is shown as one stream.
async fn run_in_place(
    data_dir: Option<PathBuf>,
    args: DryRunArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let mut config = super::engine_config(data_dir, Host::Headless { approve_all: true })?;
    config.in_place = Some(args.allow_host);
    let script_call = ScriptCall {
        name: "bash".to_owned(),
        arguments: json!({ "command": join_command_line(&args.command) }).to_string(),
    };
    let (session, view) = call::make_call(config, &args.workspace, script_call, out).await?;
    let Preview::Effects(shown) = &view.preview else {
        // It did not run: the trail or the error says why.
        return call::write_call(&session, &view, out);
    };
    let printed = protocol::text::display_text::join_spans(&shown.effects.output);
    let entry = view.undo.as_ref();
    let last = match entry {
        Some(entry) if entry.state == UndoState::Undone => {
            "The rules deny what it did, so it was undone.".to_owned()
        }
        Some(entry) => format!(
            "It was done for real; to undo it: countersign undo {}",
            entry.id
        ),
        None => "It was done for real, and nothing in the folder changed.".to_owned(),
    };
    let report = EffectsReport {
        effects: &shown.effects,
        stdout: &printed,
        stderr: "",
        entry,
        last_line: &last,
    };
    print_effects(&report, out)?;
    Ok(call::exit_reason_for(view.state))
}

/// The effects and the output of a command, ready to be shown.
struct EffectsReport<'a> {
    effects: &'a Effects,
    stdout: &'a str,
    stderr: &'a str,
    /// Undo entry by which the command can be undone.
    entry: Option<&'a UndoEntry>,
    /// Final sentence for a person.
    last_line: &'a str,
}

/// Prints the effects of a command; for programs with the exact names of the changed files, see `effects_json`.
fn print_effects(report: &EffectsReport<'_>, out: &mut OutputWriter) -> Result<(), CliError> {
    let effects = report.effects;
    if out.is_json() {
        let mut json = json!({
            "assurance": effects.assurance,
            "exit_code": effects.exit_code,
            "ended": effects.ended,
            "effects": effects_json::effects_to_json(&effects.changes)?,
            "refused": effects.refused,
            "reached": effects.reached,
            "outside_reads": effects.outside_reads,
            "notes": effects.notes,
            "stdout": report.stdout,
            "stderr": report.stderr,
            "digest": effects.digest,
        });
        if let Some(entry) = report.entry {
            json["entry"] = json!(entry);
        }
        return out.write_json(&json);
    }
    let mut lines = Vec::new();
    for (name, text) in [("stdout", report.stdout), ("stderr", report.stderr)] {
        if !text.is_empty() {
            lines.push(out.apply_style(TextStyle::Faint, name));
            lines.extend(text.lines().map(crate::output::escape_hidden));
        }
    }
    lines.push(out.apply_style(TextStyle::Faint, &describe_exit(effects)));
    previews::add_effect_lines(effects, DIFF_LINES_MAX, &mut |ink, line| {
        lines.push(out.apply_style(ink, line))
    });
    lines.push(report.last_line.to_owned());
    out.write_text(&format!("{}\n", lines.join("\n")))
}

/// Commits the captured effects through the whole pipeline: the rules can deny them like any call, and they can be
/// undone.
async fn run_and_commit(
    data_dir: Option<PathBuf>,
    args: DryRunArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let call = CallArgs {
        tool: "bash".to_owned(),
        arguments: json!({ "command": join_command_line(&args.command) }).to_string(),
        workspace: args.workspace,
        consent: ApprovalArgs {
            approve_all: true,
            posture: None,
            rules: None,
        },
    };
    call::run_call(data_dir, call, out).await
}

/// Joins a command line: one word is a line for the shell; several are a program and its arguments.
fn join_command_line(command: &[String]) -> String {
    match command {
        [line] => line.clone(),
        words => words
            .iter()
            .map(|word| quote_word(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Quotes a word so that the shell takes it literally. Unlike `shell-words` it leaves no braces bare.
fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn describe_exit(effects: &Effects) -> String {
    match (effects.exit_code, effects.ended.as_str()) {
        (Some(code), _) => format!("exit {code}"),
        (None, how) => format!("ended by {how}"),
    }
}
