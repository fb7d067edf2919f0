//! Between judging and asking: the call is done where nothing real changes, and what it did is judged and shown in its place.
//!
//! A person asks for it on the card, the settings ask for it before every card, and what was let through as it stands
//! goes this way too: so its effects meet the rules, and can be taken back.

use std::ffi::OsStr;
use std::sync::Arc;

use policy::{Approved, Facts, Judgement};
use protocol::grounds::Tried;
use protocol::settings::{DryRun, NoEffects};
use protocol::{Capability, EventBody, Fact, Node, Plan, ToolCall, Verdict};
use serde_json::{Map, Value};
use tools::{Hands, Prepared, Rehearsal};

use super::again::Again;
use super::consent::Said;
use super::finish::{self, Ran};
use super::found::Called;
use super::prepared::Ready;
use super::{Ended, execute};
use crate::hooks::{self, Hooked};
use crate::session::Session;
use crate::{surface, way_out};

/// What a call did.
pub(crate) struct Rehearsed {
    rehearsal: Rehearsal,
    /// What the person said who let it through as it stands, or a rule did; none if nobody did yet.
    agreed: Option<Said>,
    /// Whether the hooks were asked about it.
    is_hooked: bool,
    /// The hosts whose answer it is, where it ran for real and was not read yet.
    came: Vec<String>,
    duration_ms: u64,
}

impl Rehearsed {
    /// What a call brought that ran for real: it is shown before it is read.
    pub fn came(rehearsal: Rehearsal, said: Said, duration_ms: u64) -> Self {
        Self {
            came: rehearsal.reached.clone(),
            rehearsal,
            agreed: Some(said),
            is_hooked: true,
            duration_ms,
        }
    }

    /// What the person sees, and what is carried out.
    pub fn prepared(&self) -> &Prepared {
        &self.rehearsal.prepared
    }

    /// Whether it was let through before it was known what it does.
    pub fn is_agreed(&self) -> bool {
        self.agreed.is_some()
    }

    /// Whether the hooks were asked before it ran: they are where something may leave this machine.
    pub fn is_hooked(&self) -> bool {
        self.is_hooked
    }

    /// Carries out what was approved of it, as it was captured. What was said when it was let through still counts.
    pub async fn commit(&self, session: &Session, approved: &Approved, said: &mut Said) -> Ran {
        if let Some(before) = self.agreed.as_ref().filter(|_| said.note.is_empty()) {
            said.note.clone_from(&before.note);
        }
        let plan = approved.plan().clone();
        let workspace = session.hands.workspace.judged(&effects(&plan));
        let history = session.shared.history.clone();
        let commit = move || {
            let committed = history.carry_out(&workspace, &plan);
            committed.map_err(tools::commit_error)
        };
        let done = tokio::task::spawn_blocking(commit).await;
        Ran {
            result: match done {
                Ok(done) => done.map(|()| self.rehearsal.output.clone()),
                Err(_) => Err(execute::broke_off()),
            },
            duration_ms: self.duration_ms,
        }
    }

    /// As it is judged.
    pub fn tried(&self, session: &Session) -> Tried {
        Tried {
            refused: self.rehearsal.refused,
            secrets: self.rehearsal.secrets.clone(),
            reached: self.rehearsal.reached.clone(),
            agreed: self.is_agreed(),
            came: self.came.clone(),
            for_real: !self.came.is_empty(),
            nothing_is_allowed: session.shared.settings().effects.none == NoEffects::Allow,
            ..changed(session, &self.rehearsal.prepared.plan)
        }
    }
}

/// What a plan changes, as it is judged.
pub(super) fn changed(session: &Session, plan: &Plan) -> Tried {
    let effects = effects(plan);
    Tried {
        beyond: surface::beyond_the_agent(session, &effects),
        begun: begun(plan),
        effects,
        ..Tried::default()
    }
}

/// Whether a call that would ask is done so before anybody is asked (M22).
pub(crate) fn comes_first(session: &Session) -> bool {
    let config = &session.shared.config;
    session.shared.settings().dry_run == DryRun::Auto && config.in_place.is_none()
}

/// Why a card that was to become one of effects is the same as before.
pub(crate) const NO_PLACE: &str = "There is no sealed copy to run it in on this machine.";

/// What a call that is allowed may reach on the network, with the verdict that says why: rules allow it and every host that
/// it names. Nobody else's word opens a way by itself.
pub(crate) fn let_out(
    session: &Session,
    facts: &Facts,
    ready: &Ready,
    judgement: Judgement,
) -> (Judgement, Vec<String>) {
    let now = session.shared.config.clock.now();
    let is_command = (ready.can_try || ready.in_place) && ready.confinement.is_held();
    let is_allowed = is_command && judgement.verdict() == Verdict::Allow;
    let by_rules = || policy::way_out::by_rules(facts, &session.rules(), now);
    match is_allowed.then(by_rules).flatten() {
        Some(way) => (judgement.explained(way.step), way.hosts),
        None => (judgement, Vec::new()),
    }
}

/// A call that is done where nothing real changes.
pub(crate) struct Trial<'a> {
    session: &'a Arc<Session>,
    call: &'a ToolCall,
    tool: &'a Called<'a>,
    arguments: Map<String, Value>,
    hands: Hands,
    is_hooked: bool,
}

impl<'a> Trial<'a> {
    /// Of a call with these arguments, which touches what it was judged on.
    pub fn of(
        session: &'a Arc<Session>,
        call: &'a ToolCall,
        tool: &'a Called<'a>,
        arguments: &Map<String, Value>,
        ready: &Ready,
    ) -> Self {
        Self {
            session,
            call,
            tool,
            arguments: arguments.clone(),
            hands: ready.hands.clone(),
            is_hooked: false,
        }
    }

    /// The same with a way to these hosts, if there are any. What is sent there is out, so the hooks are asked before.
    async fn with_a_way_to(
        mut self,
        hosts: Vec<String>,
        hooked: &mut Hooked,
    ) -> Result<Self, Ended> {
        let session = self.session;
        if !hosts.is_empty() && !self.is_hooked {
            execute::ask_hooks(session, &self.call.id, self.tool, &self.arguments, hooked).await?;
            self.is_hooked = true;
        }
        let now = session.shared.config.clock.now();
        self.hands.net = way_out::opened(&self.hands.net, hosts, session.rules(), now);
        Ok(self)
    }

    /// The same after the hooks were asked.
    pub fn hooked(mut self) -> Self {
        self.is_hooked = true;
        self
    }

    /// Does it with a way to these hosts, and gives what the call walks with once more.
    pub async fn again(
        self,
        hosts: Vec<String>,
        hooked: &mut Hooked,
        agreed: Option<Said>,
    ) -> Result<Again, Ended> {
        let trial = self.with_a_way_to(hosts, hooked).await?;
        Ok(Again::tried(trial.run(hooked, agreed).await?))
    }

    /// Does it. `agreed` is what was said when it was let through as it stands, if it was.
    async fn run(&self, hooked: &Hooked, agreed: Option<Said>) -> Result<Rehearsed, Ended> {
        let session = self.session;
        session.journal.tell(EventBody::CallStarted {
            call: self.call.id.clone(),
        });
        // A hook may keep an update back; before it was asked about the call, none is told.
        let is_told = self.is_hooked || !hooks::are_any(session);
        let tool = self.tool.0.tool.clone();
        let (given, hands) = (self.arguments.clone(), self.hands.clone());
        let (about, hooked) = (self.call.id.clone(), hooked.clone());
        let ran = execute::watched(
            session,
            self.tool,
            about,
            hooked,
            |mut context| async move {
                context.on_output = context.on_output.filter(|_| is_told);
                context.on_update = context.on_update.filter(|_| is_told);
                tool.rehearse(&given, &hands, &context).await
            },
        )
        .await;
        let rehearsal = ran.result.map_err(|error| finish::failed(&error))?;
        Ok(Rehearsed {
            rehearsal,
            agreed,
            is_hooked: self.is_hooked,
            came: Vec::new(),
            duration_ms: ran.duration_ms,
        })
    }
}

/// The `.git` folders that a plan makes where nothing was.
fn begun(plan: &Plan) -> Vec<String> {
    let Plan::Effects(captured) = plan else {
        return Vec::new();
    };
    let made = captured.steps.iter().filter(|step| {
        let is_new = step.before == Node::Absent && matches!(step.after, Node::Folder { .. });
        is_new && step.path.file_name() == Some(OsStr::new(".git"))
    });
    made.map(|step| step.path.to_string_lossy().into_owned())
        .collect()
}

/// What a plan writes and deletes, path by path. It was captured below the workspace's own root and through no link, so every
/// path leads where it says.
fn effects(plan: &Plan) -> Vec<Fact> {
    let Plan::Effects(captured) = plan else {
        return Vec::new();
    };
    let steps = captured.steps.iter();
    steps
        .map(|step| {
            let capability = match step.deletes() {
                true => Capability::FsDelete,
                false => Capability::FsWrite,
            };
            Fact::inside(capability, step.path.to_string_lossy())
        })
        .collect()
}
