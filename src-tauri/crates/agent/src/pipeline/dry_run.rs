//! Between judging and asking: the call is done where nothing real changes, and what it did is judged and shown in its place.
//!
//! A person asks for it on the card, the settings ask for it before every card, and what was let through as it stands
//! goes this way too: so its effects meet the rules, and can be taken back.

use std::ffi::OsStr;
use std::sync::Arc;

use policy::{Approved, CallFacts, Judgement};
use protocol::rule::evidence::DryRunEvidence;
use protocol::settings::{DryRunMode, NoEffectsPolicy};
use protocol::{Capability, EventBody, Node, Plan, ResolvedAccess, ToolCall, Verdict};
use serde_json::{Map, Value};
use tools::{PreviewedPlan, ToolContext, ToolDryRun};

use crate::permissions::{agent_bounds, egress};
use crate::pipeline::abort::Abort;
use crate::pipeline::approval::UserFeedback;
use crate::pipeline::execute;
use crate::pipeline::hooks;
use crate::pipeline::hooks::HookContext;
use crate::pipeline::outcome;
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::retry::Retry;
use crate::session::Session;

/// What a call did.
pub(crate) struct DryRunResult {
    rehearsal: ToolDryRun,
    /// What the person said who let it through as it stands, or a rule did; none if nobody did yet.
    feedback: Option<UserFeedback>,
    /// Whether the hooks were asked about it.
    is_hooked: bool,
    /// The hosts whose answer it is, where it ran for real and was not read yet.
    response_hosts: Vec<String>,
    duration_ms: u64,
}

impl DryRunResult {
    /// What a call brought that ran for real: it is shown before it is read.
    pub fn from_response(rehearsal: ToolDryRun, said: UserFeedback, duration_ms: u64) -> Self {
        Self {
            response_hosts: rehearsal.hosts_reached.clone(),
            rehearsal,
            feedback: Some(said),
            is_hooked: true,
            duration_ms,
        }
    }

    /// What the person sees, and what is carried out.
    pub fn prepared(&self) -> &PreviewedPlan {
        &self.rehearsal.prepared
    }

    /// Whether it was let through before it was known what it does.
    pub fn is_agreed(&self) -> bool {
        self.feedback.is_some()
    }

    /// Whether the hooks were asked before it ran: they are where something may leave this machine.
    pub fn is_hooked(&self) -> bool {
        self.is_hooked
    }

    /// Carries out what was approved of it, as it was captured. What was said when it was let through still counts.
    pub async fn commit(
        &self,
        session: &Session,
        approved: &Approved,
        said: &mut UserFeedback,
    ) -> ToolRun {
        if let Some(before) = self.feedback.as_ref().filter(|_| said.note.is_empty()) {
            said.note.clone_from(&before.note);
        }
        let plan = approved.plan().clone();
        let workspace = session
            .tool_context
            .workspace
            .restricted_to(&plan_effects(&plan));
        let history = session.engine.history.clone();
        let commit = move || {
            let committed = history.apply_plan(&workspace, &plan);
            committed.map_err(tools::commit_error)
        };
        let done = tokio::task::spawn_blocking(commit).await;
        ToolRun {
            result: match done {
                Ok(done) => done.map(|()| self.rehearsal.output.clone()),
                Err(_) => Err(execute::internal_error()),
            },
            duration_ms: self.duration_ms,
        }
    }

    /// As it is judged.
    pub fn policy_effects(&self, session: &Session) -> DryRunEvidence {
        DryRunEvidence {
            refused: self.rehearsal.refusal_count,
            secrets: self.rehearsal.secrets.clone(),
            reached: self.rehearsal.hosts_reached.clone(),
            agreed: self.is_agreed(),
            came: self.response_hosts.clone(),
            for_real: !self.response_hosts.is_empty(),
            nothing_is_allowed: session.engine.settings().effects.none == NoEffectsPolicy::Allow,
            ..policy_effects_of_plan(session, &self.rehearsal.prepared.plan)
        }
    }
}

/// What a plan changes, as it is judged.
pub(super) fn policy_effects_of_plan(session: &Session, plan: &Plan) -> DryRunEvidence {
    let effects = plan_effects(plan);
    DryRunEvidence {
        beyond: agent_bounds::out_of_bounds_reason(session, &effects),
        begun: started_commands(plan),
        effects,
        ..DryRunEvidence::default()
    }
}

/// Whether a call that would ask is done so before anybody is asked (M22).
pub(crate) fn runs_first(session: &Session) -> bool {
    let config = &session.engine.config;
    session.engine.settings().dry_run == DryRunMode::Auto && config.in_place.is_none()
}

/// Why a card that was to become one of effects is the same as before.
pub(crate) const UNAVAILABLE_REASON: &str = "There is no sealed copy to run it in on this machine.";

/// What a call that is allowed may reach on the network, with the verdict that says why: rules allow it and every host that
/// it names. Nobody else's word opens a way by itself.
pub(crate) fn hosts_allowed_by_rules(
    session: &Session,
    facts: &CallFacts,
    ready: &PreparedCall,
    judgement: Judgement,
) -> (Judgement, Vec<String>) {
    let now = session.engine.config.clock.now();
    let is_command = (ready.can_dry_run || ready.in_place) && ready.confinement.is_default();
    let is_allowed = is_command && judgement.verdict() == Verdict::Allow;
    let by_rules = || policy::egress::resolve_rule_egress(facts, &session.rules(), now);
    match is_allowed.then(by_rules).flatten() {
        Some(way) => (judgement.with_step(way.step), way.hosts),
        None => (judgement, Vec::new()),
    }
}

/// A call that is done where nothing real changes.
pub(crate) struct DryRunRequest<'a> {
    session: &'a Arc<Session>,
    call: &'a ToolCall,
    tool: &'a ResolvedTool<'a>,
    arguments: Map<String, Value>,
    tool_context: ToolContext,
    is_hooked: bool,
}

impl<'a> DryRunRequest<'a> {
    /// Of a call with these arguments, which touches what it was judged on.
    pub fn new(
        session: &'a Arc<Session>,
        call: &'a ToolCall,
        tool: &'a ResolvedTool<'a>,
        arguments: &Map<String, Value>,
        ready: &PreparedCall,
    ) -> Self {
        Self {
            session,
            call,
            tool,
            arguments: arguments.clone(),
            tool_context: ready.tool_context.clone(),
            is_hooked: false,
        }
    }

    /// The same with a way to these hosts, if there are any. What is sent there is out, so the hooks are asked before.
    async fn with_egress(
        mut self,
        hosts: Vec<String>,
        hooked: &mut HookContext,
    ) -> Result<Self, Abort> {
        let session = self.session;
        if !hosts.is_empty() && !self.is_hooked {
            execute::run_before_hooks(session, &self.call.id, self.tool, &self.arguments, hooked)
                .await?;
            self.is_hooked = true;
        }
        let now = session.engine.config.clock.now();
        self.tool_context.net =
            egress::allow_hosts(&self.tool_context.net, hosts, session.rules(), now);
        Ok(self)
    }

    /// The same after the hooks were asked.
    pub fn with_hooks_run(mut self) -> Self {
        self.is_hooked = true;
        self
    }

    /// Does it with a way to these hosts, and gives what the call walks with once more.
    pub async fn run_and_retry(
        self,
        hosts: Vec<String>,
        hooked: &mut HookContext,
        agreed: Option<UserFeedback>,
    ) -> Result<Retry, Abort> {
        let trial = self.with_egress(hosts, hooked).await?;
        Ok(Retry::after_dry_run(trial.run(hooked, agreed).await?))
    }

    /// Does it. `agreed` is what was said when it was let through as it stands, if it was.
    async fn run(
        &self,
        hooked: &HookContext,
        agreed: Option<UserFeedback>,
    ) -> Result<DryRunResult, Abort> {
        let session = self.session;
        session.journal.record(EventBody::CallStarted {
            call: self.call.id.clone(),
        });
        // A hook may keep an update back; before it was asked about the call, none is told.
        let is_told = self.is_hooked || !hooks::has_hooks(session);
        let tool = self.tool.0.tool.clone();
        let (given, hands) = (self.arguments.clone(), self.tool_context.clone());
        let (about, hooked) = (self.call.id.clone(), hooked.clone());
        let ran = execute::run_with_limits(
            session,
            self.tool,
            about,
            hooked,
            |mut context| async move {
                context.on_output = context.on_output.filter(|_| is_told);
                context.on_update = context.on_update.filter(|_| is_told);
                tool.dry_run(&given, &hands, &context).await
            },
        )
        .await;
        let rehearsal = ran
            .result
            .map_err(|error| outcome::failed_outcome(&error))?;
        Ok(DryRunResult {
            rehearsal,
            feedback: agreed,
            is_hooked: self.is_hooked,
            response_hosts: Vec::new(),
            duration_ms: ran.duration_ms,
        })
    }
}

/// The `.git` folders that a plan makes where nothing was.
fn started_commands(plan: &Plan) -> Vec<String> {
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
fn plan_effects(plan: &Plan) -> Vec<ResolvedAccess> {
    let Plan::Effects(captured) = plan else {
        return Vec::new();
    };
    let steps = captured.steps.iter();
    steps
        .map(|step| {
            let capability = match step.is_deletion() {
                true => Capability::FsDelete,
                false => Capability::FsWrite,
            };
            ResolvedAccess::new_inside(capability, step.path.to_string_lossy())
        })
        .collect()
}
