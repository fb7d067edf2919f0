//! Stages 6 and 9: where the call's accesses really lead, and what it would do.

use std::path::Path;

use policy::Facts;
use protocol::grounds::{Argument, Confinement, Tried};
use protocol::preview::UndoOutlook;
use protocol::{Access, Capability, Digest, Plan, Preview, ToolCall, ToolError};
use serde_json::{Map, Value};
use tools::{Hands, Prepared};

use super::found::Called;
use super::rehearsed::Rehearsed;
use super::{Ended, finish};
use crate::facts::Ground;
use crate::repeats::Key;
use crate::session::Session;
use crate::surface;

/// Everything that is shown of a call, and what it is bound to.
pub(crate) struct Ready {
    pub preview: Preview,
    pub plan: Plan,
    pub undo: UndoOutlook,
    /// What a person opens by letting it pass; nothing else happens then, and it is judged anew.
    pub opens: Vec<String>,
    /// Whether it can be done where nothing real changes, and was not yet.
    pub can_try: bool,
    /// Whether it runs for real over a picture of the workspace, because nothing better holds.
    pub in_place: bool,
    /// What keeps its tool to what it was judged on.
    pub confinement: Confinement,
    /// What it did where nothing real changes, as it is judged; none if it was not tried.
    pub tried: Option<Tried>,
    /// What the tool is given: of the files what the call was judged on, and no others.
    pub hands: Hands,
    /// What the call has in common with every other one that is the same.
    pub same: Key,
}

impl Ready {
    /// That of a call of which nothing was prepared.
    pub fn nothing(session: &Session, undo: UndoOutlook) -> Self {
        Self {
            preview: Preview::Nothing,
            plan: Plan::None,
            undo,
            opens: Vec::new(),
            can_try: false,
            in_place: false,
            confinement: Confinement::Held,
            tried: None,
            hands: session.hands.judged(&[]),
            same: Key::default(),
        }
    }
}

/// Unpacks the long outputs of the session that the call reads.
///
/// # Errors
/// An output that was removed ends the call, which is told when that was.
pub(crate) fn restore_outputs(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> Result<(), Ended> {
    let accesses = called.0.tool.accesses(arguments);
    let reads = accesses
        .iter()
        .filter(|access| access.capability == Capability::FsRead);
    for access in reads {
        let restored = session.hands.folder.restore(Path::new(&access.target));
        restored.map_err(|error| finish::failed(&ToolError::Failed(error.to_string())))?;
    }
    Ok(())
}

/// Where everything that the call declares really leads, held to what its tool requires.
pub(crate) fn facts(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> Facts {
    let tool = &called.0.tool;
    let ground = Ground::Disk(&session.hands.workspace);
    let mut facts = ground.facts(&tool.accesses(arguments));
    facts.confine(tool.confinement());
    if !tool.confinement().is_held() {
        facts.argued(Argument::all(arguments));
    }
    ground.add_mentions(&mut facts, &tool.mentions(arguments));
    surface::hold(session, called.interface(), &mut facts);
    facts
}

/// What the call would do. Nothing is changed by this; a call that cannot work fails here, before anybody is asked.
pub(crate) async fn prepare(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &mut Facts,
    rehearsed: &Option<Rehearsed>,
    unsecured: Option<String>,
) -> Result<Ready, Ended> {
    let mut hands = session.hands.judged(facts.all());
    let opens: Vec<String> = facts.opens().map(str::to_owned).collect();
    let prepared = match rehearsed {
        Some(rehearsed) => Ok(rehearsed.prepared().clone()),
        // The tool could not look at it yet.
        None if !opens.is_empty() => Ok(Prepared {
            preview: Preview::Nothing,
            plan: Plan::None,
        }),
        None => called.0.tool.prepare(arguments, &hands).await,
    };
    let prepared = prepared.map_err(|error| finish::failed(&error))?;
    if found_out(session, called, facts, &prepared.plan) {
        hands = session.hands.judged(facts.all());
    }
    let can_try = opens.is_empty() && rehearsed.is_none() && called.0.tool.rehearses(&hands).await;
    let in_place = !can_try
        && opens.is_empty()
        && rehearsed.is_none()
        && unsecured.is_none()
        && wants_picture(session, called)
        && called.0.tool.runs_in_place(&hands).await;
    let undo = match (unsecured, &prepared.plan) {
        (Some(reason), _) => UndoOutlook::Unsecured { reason },
        (None, Plan::None) if rehearsed.is_some() || !opens.is_empty() => UndoOutlook::NotNeeded,
        (None, Plan::None) if can_try => UndoOutlook::Captured,
        (None, Plan::None) if in_place => UndoOutlook::Pictured,
        (None, Plan::None) => without_plan(session, called, arguments),
        (None, plan) => session
            .shared
            .history
            .outlook(&session.hands.workspace, plan),
    };
    Ok(Ready {
        preview: prepared.preview,
        plan: prepared.plan,
        undo,
        opens,
        can_try,
        in_place,
        confinement: called.0.tool.confinement(),
        tried: rehearsed.as_ref().map(|rehearsed| rehearsed.tried(session)),
        hands,
        same: Key::of(called.id(), arguments),
    })
}

/// Whether a picture is to be taken for a call of this tool, where one can be.
fn wants_picture(session: &Session, called: &Called<'_>) -> bool {
    match called.0.tool.confinement() {
        Confinement::Held => true,
        Confinement::Remote => false,
        Confinement::Unconfined | Confinement::Room => session
            .shared
            .settings()
            .server_tools
            .snapshots(called.id()),
    }
}

/// Adds what a plan writes that the call itself did not name, because only a look could tell: it is judged, shown and held to
/// the tool's requirements with the rest. Answers whether there was any. What a command did is judged by itself.
fn found_out(session: &Session, called: &Called<'_>, facts: &mut Facts, plan: &Plan) -> bool {
    let Plan::Write(changes) = plan else {
        return false;
    };
    let ground = Ground::Disk(&session.hands.workspace);
    let mut found = false;
    for change in changes {
        let capability = match change.after {
            Some(_) => Capability::FsWrite,
            None => Capability::FsDelete,
        };
        let is_named = |fact: &protocol::Fact| {
            fact.capability == capability
                && fact.inside
                && !fact.derived
                && fact.real == change.path
        };
        if !facts.all().iter().any(is_named) {
            facts.add(ground.fact(&Access::new(capability, change.path.as_str())));
            found = true;
        }
    }
    if found {
        surface::hold(session, called.interface(), facts);
    }
    found
}

/// Digest of call, tool, arguments, folder, preview, plan and outlook: what a decision must name.
pub(crate) fn shown(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    ready: &Ready,
) -> Digest {
    Digest::of_json(&(
        &call.id,
        called.id(),
        arguments,
        session.hands.workspace.root(),
        &ready.preview,
        ready.plan.digest(),
        &ready.undo,
    ))
}

/// A call without a plan either changes nothing or nobody can say what.
fn without_plan(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> UndoOutlook {
    let runs = called
        .0
        .tool
        .accesses(arguments)
        .iter()
        .any(|access| match access.capability {
            Capability::ShellRun | Capability::FsWrite | Capability::FsDelete => true,
            // What is only read from elsewhere changes nothing there.
            Capability::NetFetch => !called.only_reads(),
            Capability::FsRead => false,
        });
    // A program of this machine may change something, unless the person says that it does not.
    let is_open = match called.0.tool.confinement() {
        Confinement::Unconfined | Confinement::Room => {
            let settings = session.shared.settings();
            !settings.server_tools.is_read_only(called.id())
        }
        Confinement::Held | Confinement::Remote => false,
    };
    match runs || is_open {
        false => UndoOutlook::NotNeeded,
        true => UndoOutlook::Unsecured {
            reason: "what it changes is not known before it runs.".to_owned(),
        },
    }
}
