//! What `servers` and `apis` have in common: told, switched and approved, each with the command that comes next.

use agent::Desk;
use protocol::query::{Answer, Query};
use protocol::servers::{Pin, ServerId};
use protocol::{Digest, Fault, Op};
use serde::Serialize;
use serde_json::json;

use super::ask;
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};

/// One of the two.
pub(super) trait Kind {
    /// What is told of one.
    type View: Serialize;
    /// What is done with one.
    type Change;
    /// Its command, and what its list is called where it is read by a program.
    const VERB: &'static str;
    /// What one of them is called, in a sentence.
    const ONE: &'static str;
    /// How one is set up, in commands.
    const ADD: &'static str;
    /// How all of them are asked for.
    const QUERY: Query;

    /// All of them, and why none can be used.
    fn found(answer: Answer) -> Option<(Vec<Self::View>, Option<Fault>)>;
    /// What the desk is asked to do.
    fn op(id: ServerId, change: Self::Change) -> Op;
    /// Switches it on or off.
    fn switch(enabled: bool) -> Self::Change;
    /// Looks at what it has now.
    fn look() -> Self::Change;
    /// Approves what was looked at.
    fn approve(digest: Digest) -> Self::Change;
    /// Its name.
    fn id(view: &Self::View) -> &ServerId;
    /// How it is, in words, and where it stands.
    fn head(view: &Self::View) -> (Ink, String, String);
    /// A sentence beside that.
    fn note(_view: &Self::View) -> Option<String> {
        None
    }
    /// Its tools.
    fn tools(view: &Self::View) -> Vec<ToolLine>;
    /// What could not be taken.
    fn left_out(view: &Self::View) -> &[String];
    /// What an approval must name.
    fn waits(view: &Self::View) -> Option<&Digest>;
}

/// A tool as it is told.
pub(super) struct ToolLine {
    /// How it stands to what was approved.
    pub pin: Pin,
    /// It in a line of the list.
    pub line: String,
    /// It over its changes.
    pub name: String,
    /// Its changes, as a unified difference.
    pub changes: String,
}

/// A name as it was written.
pub(super) fn named<K: Kind>(name: &str) -> Result<ServerId, Ending> {
    ServerId::try_from(name.to_owned())
        .map_err(|why| Ending::usage(Fault::new(format!("{why}."), the_list::<K>())))
}

fn the_list<K: Kind>() -> String {
    format!("Look at the list: countersign {} list.", K::VERB)
}

/// Does something with one.
pub(super) async fn change<K: Kind>(
    desk: &Desk,
    id: &ServerId,
    change: K::Change,
) -> Result<(), Ending> {
    let Err(fault) = desk.submit(K::op(id.clone(), change)).await else {
        return Ok(());
    };
    let (all, unreadable) = views::<K>(desk).await?;
    if unreadable.is_none() && !all.iter().any(|view| K::id(view) == id) {
        return Err(Fault::new(fault.message, the_list::<K>()).into());
    }
    Err(fault.into())
}

/// The name of one that is to be set up: free, unless it may take the place of one that is there.
pub(super) async fn free_name<K: Kind>(
    desk: &Desk,
    name: &str,
    replaces: bool,
) -> Result<ServerId, Ending> {
    let id = named::<K>(name)?;
    let (all, _) = views::<K>(desk).await?;
    match replaces || !all.iter().any(|view| *K::id(view) == id) {
        true => Ok(id),
        false => Err(Ending::usage(Fault::new(
            format!("There is a {} `{id}` already.", K::ONE),
            "Choose another name, or set it up anew with --replace.",
        ))),
    }
}

/// Switches one on or off, and shows it.
pub(super) async fn switch<K: Kind>(
    desk: &Desk,
    name: &str,
    enabled: bool,
    out: &mut Out,
) -> Ended {
    let id = named::<K>(name)?;
    change::<K>(desk, &id, K::switch(enabled)).await?;
    show::<K>(desk, &id, out).await
}

async fn views<K: Kind>(desk: &Desk) -> Result<(Vec<K::View>, Option<Fault>), Ending> {
    ask(desk, K::QUERY, K::found).await
}

/// One of them.
pub(super) async fn view<K: Kind>(desk: &Desk, id: &ServerId) -> Result<K::View, Ending> {
    let (all, _) = views::<K>(desk).await?;
    let found = all.into_iter().find(|view| K::id(view) == id);
    found.ok_or_else(|| {
        let told = format!("There is no {} `{id}`.", K::ONE);
        Ending::usage(Fault::new(told, the_list::<K>()))
    })
}

/// Tells of all of them.
pub(super) async fn list<K: Kind>(desk: &Desk, out: &mut Out) -> Ended {
    let (all, fault) = views::<K>(desk).await?;
    if out.is_json() {
        out.json(&json!({ K::VERB: all, "fault": fault }))?;
    } else {
        if all.is_empty() && fault.is_none() {
            out.line(&format!("No {} is set up. See: {}.", K::ONE, K::ADD))?;
        }
        all.iter().try_for_each(|view| tell::<K>(view, out))?;
    }
    match fault {
        Some(fault) => Err(Ending::unusable(fault)),
        None => Ok(Code::Done),
    }
}

/// Tells of one.
pub(super) async fn show<K: Kind>(desk: &Desk, id: &ServerId, out: &mut Out) -> Ended {
    let view = view::<K>(desk, id).await?;
    match out.is_json() {
        true => out.json(&view)?,
        false => tell::<K>(&view, out)?,
    }
    Ok(Code::Done)
}

fn tell<K: Kind>(view: &K::View, out: &mut Out) -> Result<(), Ending> {
    let (ink, state, place) = K::head(view);
    let head = format!(
        "{}  {}  {}",
        out.ink(Ink::Strong, K::id(view).as_str()),
        out.ink(ink, &state),
        out.ink(Ink::Faint, &place)
    );
    out.line(&head)?;
    if let Some(note) = K::note(view) {
        out.line(&format!("  {note}"))?;
    }
    for tool in K::tools(view) {
        let (ink, word) = match tool.pin {
            Pin::Pinned => (Ink::Plain, ""),
            Pin::New => (Ink::Warn, "  new, waits for a look"),
            Pin::Changed => (Ink::Warn, "  changed, waits for a look"),
            Pin::Gone => (Ink::Faint, "  not there any more"),
        };
        let line = out.ink(ink, &format!("  {}{word}", tool.line));
        out.line(&line)?;
    }
    for why in K::left_out(view) {
        let line = out.ink(Ink::Faint, &format!("  {why}"));
        out.line(&line)?;
    }
    if K::waits(view).is_some() {
        let (verb, id) = (K::VERB, K::id(view));
        out.line(&format!(
            "  To look at them: countersign {verb} approve {id}"
        ))?;
    }
    Ok(())
}

/// Shows what is not as it was approved, or approves exactly what was shown.
pub(super) async fn approve<K: Kind>(
    desk: &Desk,
    id: &ServerId,
    accept: Option<String>,
    out: &mut Out,
) -> Ended {
    change::<K>(desk, id, K::look()).await?;
    if let Some(digest) = accept {
        change::<K>(desk, id, K::approve(Digest(digest))).await?;
        return show::<K>(desk, id, out).await;
    }
    let view = view::<K>(desk, id).await?;
    if out.is_json() {
        out.json(&view)?;
    } else {
        let all = K::tools(&view).into_iter();
        for tool in all.filter(|tool| tool.pin != Pin::Pinned) {
            let head = out.ink(Ink::Strong, &tool.name);
            out.line(&head)?;
            tell_lines(&tool.changes, out)?;
        }
    }
    match K::waits(&view) {
        None if out.is_json() => Ok(Code::Done),
        None => done(out, "All of its tools are as they were approved."),
        Some(Digest(digest)) => {
            if !out.is_json() {
                let verb = K::VERB;
                out.line(&format!(
                    "To approve exactly this: countersign {verb} approve {id} --accept {digest}"
                ))?;
            }
            Ok(Code::Failed)
        }
    }
}

/// A difference, line by line.
fn tell_lines(changes: &str, out: &mut Out) -> Result<(), Ending> {
    for line in changes.lines() {
        let ink = match line.as_bytes().first() {
            Some(b'+') => Ink::Good,
            Some(b'-') => Ink::Bad,
            Some(_) | None => Ink::Plain,
        };
        let line = out.ink(ink, line);
        out.line(&line)?;
    }
    out.line("")
}

/// Says that something is done.
pub(super) fn done(out: &mut Out, text: &str) -> Ended {
    match out.is_json() {
        true => out.json(&json!({ "done": true }))?,
        false => out.line(text)?,
    }
    Ok(Code::Done)
}
