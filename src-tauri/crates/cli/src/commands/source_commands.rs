//! Code that `servers` and `apis` share: lists, switches and approves sources of tools, each with the next command to
//! type.

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::{PinState, ServerId};
use protocol::{Digest, Op, UserError};
use serde::Serialize;
use serde_json::json;

use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

/// A kind of source of tools: servers or services.
pub(super) trait SourceCommands {
    /// View of one source.
    type View: Serialize;
    /// Change of one source.
    type Change;
    /// Name of the command, which is also the key of its list in JSON.
    const COMMAND: &'static str;
    /// Noun for one source in a sentence.
    const NOUN: &'static str;
    /// Commands that set up a source.
    const ADD_HINT: &'static str;
    /// Query for all sources.
    const QUERY: Query;

    /// Returns the views of all sources, and the reason why none can be used.
    fn views_from_answer(answer: Answer) -> Option<(Vec<Self::View>, Option<UserError>)>;
    /// Builds the op for a change.
    fn change_op(id: ServerId, change: Self::Change) -> Op;
    /// Builds the change that switches a source on or off.
    fn switch_change(enabled: bool) -> Self::Change;
    /// Builds the change that reads a source's current tools.
    fn refresh_change() -> Self::Change;
    /// Builds the change that approves the tools that were shown.
    fn approve_change(digest: Digest) -> Self::Change;
    /// Returns the id of a source.
    fn id(view: &Self::View) -> &ServerId;
    /// Returns the state of a source: its style, its words, and the source's address.
    fn format_heading(view: &Self::View) -> (TextStyle, String, String);
    /// Returns an additional sentence about a source.
    fn format_note(_view: &Self::View) -> Option<String> {
        None
    }
    /// Returns who reads what is sent to a source; none if nobody said.
    fn audience(view: &Self::View) -> Option<Audience>;
    /// Returns the tools of a source.
    fn tool_lines(view: &Self::View) -> Vec<ToolLine>;
    /// Returns the reasons for tools that were left out.
    fn rejected_reasons(view: &Self::View) -> &[String];
    /// Returns the digest that an approval must name.
    fn pending_digest(view: &Self::View) -> Option<&Digest>;
}

/// A tool as it is printed.
pub(super) struct ToolLine {
    /// State of the tool compared with its approval.
    pub pin: PinState,
    /// Line of the tool in a list.
    pub line: String,
    /// Heading of the tool's changes.
    pub name: String,
    /// Changes of the tool, as a unified diff.
    pub changes: String,
}

/// Parses the name of a source.
pub(super) fn parse_name<K: SourceCommands>(name: &str) -> Result<ServerId, CliError> {
    ServerId::try_from(name.to_owned())
        .map_err(|why| CliError::usage(format!("{why}."), list_hint::<K>()))
}

fn list_hint<K: SourceCommands>() -> String {
    format!("Look at the list: countersign {} list.", K::COMMAND)
}

/// Submits a change of one source.
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

/// Parses the name of a new source: it must be free, unless it may replace an existing source.
pub(super) async fn require_free_name<K: SourceCommands>(
    desk: &Engine,
    name: &str,
    replaces: bool,
) -> Result<ServerId, CliError> {
    let id = parse_name::<K>(name)?;
    let (all, _) = load_views::<K>(desk).await?;
    match replaces || !all.iter().any(|view| *K::id(view) == id) {
        true => Ok(id),
        false => Err(CliError::usage(
            format!("There is a {} `{id}` already.", K::NOUN),
            "Choose another name, or set it up anew with --replace.",
        )),
    }
}

/// Switches one source on or off, and shows it.
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
    let answer = desk.query(K::QUERY).await?;
    K::views_from_answer(answer).ok_or_else(CliError::unexpected_answer)
}

/// Loads the view of one source.
pub(super) async fn load_view<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
) -> Result<K::View, CliError> {
    let (all, _) = load_views::<K>(desk).await?;
    let found = all.into_iter().find(|view| K::id(view) == id);
    found.ok_or_else(|| {
        let message = format!("There is no {} `{id}`.", K::NOUN);
        CliError::usage(message, list_hint::<K>())
    })
}

/// Lists all sources.
pub(super) async fn list_sources<K: SourceCommands>(
    desk: &Engine,
    out: &mut OutputWriter,
) -> CliResult {
    let (all, fault) = load_views::<K>(desk).await?;
    let done = out.write_answer(&json!({ K::COMMAND: all, "fault": fault }), |out| {
        if all.is_empty() && fault.is_none() {
            out.write_line(&format!("No {} is set up. See: {}.", K::NOUN, K::ADD_HINT))?;
        }
        all.iter().try_for_each(|view| print_source::<K>(view, out))
    })?;
    match fault {
        Some(fault) => Err(CliError::config_error(fault)),
        None => Ok(done),
    }
}

/// Shows one source.
pub(super) async fn show_source<K: SourceCommands>(
    desk: &Engine,
    id: &ServerId,
    out: &mut OutputWriter,
) -> CliResult {
    let view = load_view::<K>(desk, id).await?;
    out.write_answer(&view, |out| print_source::<K>(&view, out))
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
    match K::audience(view) {
        Some(Audience::Mine) => out.write_line("  You alone read what is sent there.")?,
        Some(Audience::Others) => out.write_line("  Others read what is sent there.")?,
        None => {}
    }
    for tool in K::tool_lines(view) {
        let (ink, word) = match tool.pin {
            PinState::Pinned => (TextStyle::Plain, ""),
            PinState::New => (TextStyle::Warn, "  new, waits for a look"),
            PinState::Changed => (TextStyle::Warn, "  changed, waits for a look"),
            PinState::Gone => (TextStyle::Faint, "  not there any more"),
        };
        out.write_styled(ink, &format!("  {}{word}", tool.line))?;
    }
    for why in K::rejected_reasons(view) {
        out.write_styled(TextStyle::Faint, &format!("  {why}"))?;
    }
    if K::pending_digest(view).is_some() {
        let (verb, id) = (K::COMMAND, K::id(view));
        out.write_line(&format!(
            "  To look at them: countersign {verb} approve {id}"
        ))?;
    }
    Ok(())
}

/// Shows the tools that differ from their approval, or approves exactly those that were shown.
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
    out.write_answer(&view, |out| {
        let all = K::tool_lines(&view).into_iter();
        for tool in all.filter(|tool| tool.pin != PinState::Pinned) {
            out.write_styled(TextStyle::Strong, &tool.name)?;
            print_diff(&tool.changes, out)?;
        }
        Ok(())
    })?;
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

/// Prints a diff, line by line.
pub(super) fn print_diff(changes: &str, out: &mut OutputWriter) -> Result<(), CliError> {
    for line in changes.lines() {
        let ink = match line.as_bytes().first() {
            Some(b'+') => TextStyle::Good,
            Some(b'-') => TextStyle::Bad,
            Some(_) | None => TextStyle::Plain,
        };
        out.write_styled(ink, line)?;
    }
    out.write_line("")
}

/// Reports that a command is done.
pub(super) fn report_done(out: &mut OutputWriter, text: &str) -> CliResult {
    out.write_answer(&json!({ "done": true }), |out| out.write_line(text))
}
