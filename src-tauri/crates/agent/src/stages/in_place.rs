//! A call that runs for real, over a picture of the workspace: what it did is recorded, shown and judged afterwards, and taken
//! back where it may not be.

use std::sync::Arc;

use protocol::effects::{Assurance, Effects};
use protocol::grounds::Tried;
use protocol::preview::{CommandPreview, EffectsPreview, UndoOutlook};
use protocol::shown::{plain, shown};
use protocol::{
    CallState, EventBody, Plan, Preview, ToolCall, ToolError, UndoEntry, UndoId, Verdict,
};
use runtime::{Environment, FileError, InPlace, Picture};
use serde_json::{Map, Value};
use tools::Hands;

use super::again::Again;
use super::finish::{self, Ran};
use super::found::Called;
use super::prepared::Ready;
use super::rehearsed;
use super::secured::{Kept, called_title};
use super::{Ended, judged};
use crate::config::Host;
use crate::session::Session;
use crate::weighed::Weighed;
use crate::{undo, way_out};

/// What becomes of a call of which no copy could be taken: it is judged as one that cannot be taken back. But whoever wanted
/// it to run for real wanted it over a picture, so it does not run without one: the person is asked again.
pub(crate) fn unless_chosen(
    session: &Session,
    ready: &Ready,
    real: &Option<Vec<String>>,
    again: Again,
) -> Result<Again, Ended> {
    let Again {
        unsecured: Some(why),
        tried,
        ..
    } = again
    else {
        return Ok(again);
    };
    if real.is_none() || ready.in_place {
        return Ok(Again::unsecured(why, tried));
    }
    let told = format!("It was not run for real, because {why}");
    match session.shared.config.host {
        Host::Person => Ok(Again::judged(Some(told), tried)),
        Host::Headless { .. } => Err(finish::failed(&ToolError::Failed(told)).into()),
    }
}

/// What the tool is given: the picture of the workspace that it runs in, and a way to these hosts and no others.
pub(crate) fn hands(
    session: &Session,
    hands: Hands,
    ready: &Ready,
    kept: &Kept,
    hosts: Option<Vec<String>>,
) -> Hands {
    let Kept::Picture(picture) = kept else {
        return hands;
    };
    let now = session.shared.config.clock.now();
    let (net, hosts) = (&ready.hands.net, hosts.unwrap_or_default());
    Hands {
        picture: Some(picture.clone()),
        net: way_out::opened(net, hosts, session.rules(), now),
        ..hands
    }
}

/// A call as it was judged before it ran.
pub(crate) struct Judged<'a> {
    pub call: &'a ToolCall,
    pub tool: &'a Called<'a>,
    pub arguments: &'a Map<String, Value>,
    pub ready: &'a Ready,
    pub known: &'a Weighed,
    /// Whether a person, or whoever speaks for one, let it run.
    pub is_agreed: bool,
}

impl<'a> Judged<'a> {
    /// A call with its verdict.
    pub fn of(
        call: &'a ToolCall,
        tool: &'a Called<'a>,
        arguments: &'a Map<String, Value>,
        (ready, known): (&'a Ready, &'a Weighed),
        is_agreed: bool,
    ) -> Self {
        Self {
            call,
            tool,
            arguments,
            ready,
            known,
            is_agreed,
        }
    }
}

/// Records what a call did that ran for real, shows and judges it. Of every other one nothing is to be said. Gives what the
/// history still has to be told of.
pub(crate) async fn settle(
    session: &Arc<Session>,
    judged: &Judged<'_>,
    kept: Kept,
    mut ran: Ran,
) -> Result<(Ran, Option<Box<UndoEntry>>), Ended> {
    let picture = match kept {
        Kept::Nothing => return Ok((ran, None)),
        Kept::Entry(entry) => return Ok((ran, Some(entry))),
        Kept::Picture(picture) => picture,
    };
    let done = match look(picture).await {
        Ok(done) => done,
        Err(error) => {
            ran.result = Err(ToolError::Failed(format!(
                "It ran for real, and what it changed could not be recorded: {error} How the folder was before is kept, and tried again at the next start."
            )));
            return Ok((ran, None));
        }
    };
    let is_command = judged.tool.0.tool.confinement().is_held();
    if !is_command && done.plan == Plan::None {
        return Ok((ran, None));
    }
    if let Some(entry) = &done.entry {
        let event = EventBody::UndoPrepared {
            call: judged.call.id.clone(),
            entry: entry.clone(),
        };
        session.journal.keep(event).await?;
    }
    let (verdict, lead) = judge(session, judged, &done);
    let stands = match verdict {
        Verdict::Allow => true,
        // Whoever let it run for real cannot be asked any more whether it may happen.
        Verdict::Ask => judged.is_agreed,
        Verdict::Deny => false,
    };
    match done.entry.filter(|_| !stands) {
        None => Ok((ran, None)),
        Some(entry) => Err(take_back(session, entry.id, &lead).await),
    }
}

/// Compares the workspace with its picture; the effects have their differences then.
async fn look(picture: Arc<Picture>) -> Result<InPlace, FileError> {
    let looked = tokio::task::spawn_blocking(move || {
        let mut done = Environment::settle(picture)?;
        if let Plan::Effects(captured) = &done.plan {
            tools::diff::fill(&done.before, captured, &mut done.effects);
        }
        Ok(done)
    });
    let broke_off = |_| FileError::other("the workspace", "looking at it broke off");
    looked.await.map_err(broke_off)?
}

/// The verdict on what it did, recorded with what is shown of it.
fn judge(session: &Session, judged: &Judged<'_>, done: &InPlace) -> (Verdict, String) {
    let Judged {
        call,
        tool,
        arguments,
        ready,
        known,
        ..
    } = judged;
    let tried = Tried {
        refused: done.effects.refused.len() as u64,
        secrets: done.effects.secrets_refused(),
        reached: reached(&done.effects),
        agreed: true,
        for_real: true,
        ..rehearsed::changed(session, &done.plan)
    };
    let preview = match tool.0.tool.confinement().is_held() {
        true => preview(&ready.preview, &done.effects),
        false => preview_of_call(session, tool, arguments, &done.effects),
    };
    let ready = Ready {
        preview,
        plan: done.plan.clone(),
        undo: UndoOutlook::Pictured,
        opens: Vec::new(),
        can_try: false,
        in_place: false,
        confinement: ready.confinement,
        tried: Some(tried.clone()),
        hands: ready.hands.clone(),
        same: ready.same,
    };
    let known = Weighed {
        tried: Some(tried),
        undo: UndoOutlook::Pictured,
        ..Weighed::clone(known)
    };
    let judgement = judged::judge(session, call, tool, arguments, &ready, &known);
    judged::tell(session, call, tool, arguments, &ready, &known, &judgement);
    (judgement.verdict(), judgement.trail().lead.clone())
}

fn reached(effects: &Effects) -> Vec<String> {
    let mut hosts: Vec<String> = effects.reached.iter().map(|one| one.host.clone()).collect();
    hosts.dedup();
    hosts
}

/// What is shown of a command once it ran.
fn preview(before: &Preview, effects: &Effects) -> Preview {
    let command = match before {
        Preview::Command(command) => command,
        Preview::Effects(shown) => &shown.command,
        other => return other.clone(),
    };
    Preview::Effects(Box::new(EffectsPreview {
        command: CommandPreview {
            assurance: Some(Assurance::Snapshot),
            assured: Vec::new(),
            in_place: false,
            ..command.clone()
        },
        effects: effects.clone(),
    }))
}

/// What is shown of a call of somebody else's tool once it ran, in the shape of a command.
fn preview_of_call(
    session: &Session,
    tool: &Called<'_>,
    arguments: &Map<String, Value>,
    effects: &Effects,
) -> Preview {
    let root = session.hands.workspace.root().to_string_lossy();
    Preview::Effects(Box::new(EffectsPreview {
        command: CommandPreview {
            folder: plain(&shown(&root)),
            command: shown(&called_title(tool, arguments)),
            facts: Vec::new(),
            timeout_ms: tool.interface().timeout_ms(),
            assurance: Some(Assurance::Snapshot),
            assured: Vec::new(),
            in_place: false,
        },
        effects: effects.clone(),
    }))
}

/// What it did may not be, so nothing of it stays in the folder.
async fn take_back(session: &Session, entry: UndoId, lead: &str) -> Ended {
    let done = undo::restore(&session.shared, undo::one(entry), Vec::new()).await;
    let (text, message) = match done {
        Ok(_) => (
            "It ran for real, and all that it changed in the folder was taken back.".to_owned(),
            "Denied, and taken back".to_owned(),
        ),
        Err(fault) => (
            format!(
                "It ran for real, and what it changed could not be taken back: {}",
                fault.message
            ),
            "Denied, but not taken back".to_owned(),
        ),
    };
    let text = format!(
        "{lead} {text} Do not try it in another form; go on without it or say what you need."
    );
    finish::ended(CallState::Denied, text, message).into()
}
