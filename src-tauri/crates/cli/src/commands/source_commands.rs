//! What `servers` and `apis` have in common: told, switched and approved, each with the command that comes next.

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::server::mcp_servers::{PinState, ServerId};
use protocol::{Digest, Op, UserError};
use serde::Serialize;
use serde_json::json;

use super::query_engine;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

/// One of the two.
pub(super) trait SourceCommands {
    /// What is told of one.
    type View: Serialize;
    /// What is done with one.
    type Change;
    /// Its command, and what its list is called where it is read by a program.
    const COMMAND: &'static str;
    /// What one of them is called, in a sentence.
    const NOUN: &'static str;
    /// How one is set up, in commands.
    const ADD_HINT: &'static str;
    /// How all of them are asked for.
    const QUERY: Query;

    /// All of them, and why none can be used.
    fn views_from_answer(answer: Answer) -> Option<(Vec<Self::View>, Option<UserError>)>;
    /// What the desk is asked to do.
    fn change_op(id: ServerId, change: Self::Change) -> Op;
    /// Switches it on or off.
    fn switch_change(enabled: bool) -> Self::Change;
    /// Looks at what it has now.
    fn refresh_change() -> Self::Change;
    /// Approves what was looked at.
    fn approve_change(digest: Digest) -> Self::Change;
    /// Its name.
    fn id(view: &Self::View) -> &ServerId;
    /// How it is, in words, and where it stands.
    fn format_heading(view: &Self::View) -> (TextStyle, String, String);
    /// A sentence beside that.
    fn format_note(_view: &Self::View) -> Option<String> {
        None
    }
    /// Its tools.
    fn tool_lines(view: &Self::View) -> Vec<ToolLine>;
    /// What could not be taken.
    fn rejected_reasons(view: &Self::View) -> &[String];
    /// What an approval must name.
    fn pending_digest(view: &Self::View) -> Option<&Digest>;
}

/// A tool as it is told.
pub(super) struct ToolLine {
    /// How it stands to what was approved.
    pub pin: PinState,
    /// It in a line of the list.
    pub line: String,
    /// It over its changes.
    pub name: String,
    /// Its changes, as a unified difference.
    pub changes: String,
}

/// A name as it was written.
pub(super) fn parse_name<K: SourceCommands>(name: &str) -> Result<ServerId, CliError> {
    ServerId::try_from(name.to_owned())
        .map_err(|why| CliError::usage_error(UserError::new(format!("{why}."), list_hint::<K>())))
}

fn list_hint<K: SourceCommands>() -> String {
    format!("Look at the list: countersign {} list.", K::COMMAND)
}

/// Does something with one.
pub(super) async fn submit_change<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
    change: K::Change,
) -> Result<(), CliError> {
    let Err(fault) = desk.submit(K::change_op(id.clone(), change)).await else {
        return Ok(());
    };
    let (all, unreadable) = load_views::<K>(desk).await?;
    if unreadable.is_none() && !all.iter().any(|view| K::id(view) == id) {
        return Err(UserError::new(fault.message, list_hint::<K>()).into());
    }
    Err(fault.into())
}

/// The name of one that is to be set up: free, unless it may take the place of one that is there.
pub(super) async fn require_free_name<K: SourceCommands>(
    desk: &Engine,
    name: &str,
    replaces: bool,
) -> Result<ServerId, CliError> {
    let id = parse_name::<K>(name)?;
    let (all, _) = load_views::<K>(desk).await?;
    match replaces || !all.iter().any(|view| *K::id(view) == id) {
        true => Ok(id),
        false => Err(CliError::usage_error(UserError::new(
            format!("There is a {} `{id}` already.", K::NOUN),
            "Choose another name, or set it up anew with --replace.",
        ))),
    }
}

/// Switches one on or off, and shows it.
pub(super) async fn switch_source<K: SourceCommands>(
    desk: &Engine,
    name: &str,
    enabled: bool,
    out: &mut OutputWriter,
) -> CliResult {
    let id = parse_name::<K>(name)?;
    submit_change::<K>(desk, &id, K::switch_change(enabled)).await?;
    show_source::<K>(desk, &id, out).await
}

async fn load_views<K: SourceCommands>(
    desk: &Engine,
) -> Result<(Vec<K::View>, Option<UserError>), CliError> {
    query_engine(desk, K::QUERY, K::views_from_answer).await
}

/// One of them.
pub(super) async fn load_view<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
) -> Result<K::View, CliError> {
    let (all, _) = load_views::<K>(desk).await?;
    let found = all.into_iter().find(|view| K::id(view) == id);
    found.ok_or_else(|| {
        let told = format!("There is no {} `{id}`.", K::NOUN);
        CliError::usage_error(UserError::new(told, list_hint::<K>()))
    })
}

/// Tells of all of them.
pub(super) async fn list_sources<K: SourceCommands>(
    desk: &Engine,
    out: &mut OutputWriter,
) -> CliResult {
    let (all, fault) = load_views::<K>(desk).await?;
    if out.is_json() {
        out.write_json(&json!({ K::COMMAND: all, "fault": fault }))?;
    } else {
        if all.is_empty() && fault.is_none() {
            out.write_line(&format!("No {} is set up. See: {}.", K::NOUN, K::ADD_HINT))?;
        }
        all.iter()
            .try_for_each(|view| print_source::<K>(view, out))?;
    }
    match fault {
        Some(fault) => Err(CliError::config_error(fault)),
        None => Ok(ExitReason::Done),
    }
}

/// Tells of one.
pub(super) async fn show_source<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
    out: &mut OutputWriter,
) -> CliResult {
    let view = load_view::<K>(desk, id).await?;
    match out.is_json() {
        true => out.write_json(&view)?,
        false => print_source::<K>(&view, out)?,
    }
    Ok(ExitReason::Done)
}

fn print_source<K: SourceCommands>(view: &K::View, out: &mut OutputWriter) -> Result<(), CliError> {
    let (ink, state, place) = K::format_heading(view);
    let head = format!(
        "{}  {}  {}",
        out.apply_style(TextStyle::Strong, K::id(view).as_str()),
        out.apply_style(ink, &state),
        out.apply_style(TextStyle::Faint, &place)
    );
    out.write_line(&head)?;
    if let Some(note) = K::format_note(view) {
        out.write_line(&format!("  {note}"))?;
    }
    for tool in K::tool_lines(view) {
        let (ink, word) = match tool.pin {
            PinState::Pinned => (TextStyle::Plain, ""),
            PinState::New => (TextStyle::Warn, "  new, waits for a look"),
            PinState::Changed => (TextStyle::Warn, "  changed, waits for a look"),
            PinState::Gone => (TextStyle::Faint, "  not there any more"),
        };
        let line = out.apply_style(ink, &format!("  {}{word}", tool.line));
        out.write_line(&line)?;
    }
    for why in K::rejected_reasons(view) {
        let line = out.apply_style(TextStyle::Faint, &format!("  {why}"));
        out.write_line(&line)?;
    }
    if K::pending_digest(view).is_some() {
        let (verb, id) = (K::COMMAND, K::id(view));
        out.write_line(&format!(
            "  To look at them: countersign {verb} approve {id}"
        ))?;
    }
    Ok(())
}

/// Shows what is not as it was approved, or approves exactly what was shown.
pub(super) async fn approve_source<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
    accept: Option<String>,
    out: &mut OutputWriter,
) -> CliResult {
    submit_change::<K>(desk, id, K::refresh_change()).await?;
    if let Some(digest) = accept {
        submit_change::<K>(desk, id, K::approve_change(Digest(digest))).await?;
        return show_source::<K>(desk, id, out).await;
    }
    let view = load_view::<K>(desk, id).await?;
    if out.is_json() {
        out.write_json(&view)?;
    } else {
        let all = K::tool_lines(&view).into_iter();
        for tool in all.filter(|tool| tool.pin != PinState::Pinned) {
            let head = out.apply_style(TextStyle::Strong, &tool.name);
            out.write_line(&head)?;
            print_diff(&tool.changes, out)?;
        }
    }
    match K::pending_digest(&view) {
        None if out.is_json() => Ok(ExitReason::Done),
        None => report_done(out, "All of its tools are as they were approved."),
        Some(Digest(digest)) => {
            if !out.is_json() {
                let verb = K::COMMAND;
                out.write_line(&format!(
                    "To approve exactly this: countersign {verb} approve {id} --accept {digest}"
                ))?;
            }
            Ok(ExitReason::Failed)
        }
    }
}

/// A difference, line by line.
fn print_diff(changes: &str, out: &mut OutputWriter) -> Result<(), CliError> {
    for line in changes.lines() {
        let ink = match line.as_bytes().first() {
            Some(b'+') => TextStyle::Good,
            Some(b'-') => TextStyle::Bad,
            Some(_) | None => TextStyle::Plain,
        };
        let line = out.apply_style(ink, line);
        out.write_line(&line)?;
    }
    out.write_line("")
}

/// Says that something is done.
pub(super) fn report_done(out: &mut OutputWriter, text: &str) -> CliResult {
    match out.is_json() {
        true => out.write_json(&json!({ "done": true }))?,
        false => out.write_line(text)?,
    }
    Ok(ExitReason::Done)
}
