//! Between judging and asking: running a call in a dry run, in which nothing real changes, so that its effects are
//! judged and shown instead of the call.
//!
//! The person requests a dry run on the card, or the settings request one before every card. A call that was allowed as
//! it stands is also run this way first, so that its effects are checked against the rules and can be undone.

use std::ffi::OsStr;

use policy::egress::AllowedEgress;
use policy::{Approved, Judgement};
use protocol::event::CallChange;
use protocol::rule::evidence::DryRunEvidence;
use protocol::{Capability, Node, Plan, ResolvedAccess, Verdict};
use tools::{PreviewedPlan, ToolDryRun};

use crate::permissions::{egress, policy_input};
use crate::pipeline::abort::Abort;
use crate::pipeline::approval::UserFeedback;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::execute::home_caches;
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::verdict::Assessment;
use crate::pipeline::{bounds, execute, hooks, outcome, outgoing};
use crate::session::Session;

/// Result of a call that ran in a dry run.
pub(crate) struct DryRunResult {
    done: ToolDryRun,
    /// Feedback of the person who allowed the call as it stands, empty if a rule did; none if nobody has allowed the
    /// call yet.
    feedback: Option<UserFeedback>,
    /// Whether the hooks were asked about the call.
    is_hooked: bool,
    /// Hosts that the response came from, if the call ran for real and the model has not read the response yet.
    response_hosts: Vec<String>,
    duration_ms: u64,
}

impl DryRunResult {
    /// Wraps the response of a call that ran for real, to be shown before the model reads it.
    pub fn from_response(done: ToolDryRun, feedback: UserFeedback, duration_ms: u64) -> Self {
        Self {
            response_hosts: done.hosts_reached.clone(),
            done,
            feedback: Some(feedback),
            is_hooked: true,
            duration_ms,
        }
    }

    /// Returns the preview for the person and the plan to carry out.
    pub fn previewed(&self) -> &PreviewedPlan {
        &self.done.prepared
    }

    /// Whether this is the response of a call that ran for real.
    pub fn is_response(&self) -> bool {
        !self.response_hosts.is_empty()
    }

    /// Returns the feedback given when the call was allowed before its effects were known.
    pub fn feedback(&self) -> Option<&UserFeedback> {
        self.feedback.as_ref()
    }

    /// Whether the hooks were asked before the dry run: they are asked if data may leave this machine.
    pub fn is_hooked(&self) -> bool {
        self.is_hooked
    }

    /// Carries out the approved part of the captured effects.
    pub async fn commit(&self, session: &Session, approved: &Approved) -> ToolRun {
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
        let committed = tokio::task::spawn_blocking(commit).await;
        let mut result = match committed {
            Ok(committed) => committed.map(|()| self.done.output.clone()),
            Err(_) => Err(execute::internal_error()),
        };
        if let Ok(output) = &mut result {
            let kept = &self.done.kept_caches;
            for lost in home_caches::commit_caches(session, approved, kept).await {
                output.text.push_str(&format!("\n[{lost}]"));
            }
        }
        ToolRun {
            result,
            duration_ms: self.duration_ms,
        }
    }

    /// Returns the effects as evidence for the verdict.
    pub fn policy_effects(&self, cx: &CallContext<'_>) -> DryRunEvidence {
        let effects_decide = cx.session.judges_effects();
        let is_offline = self.done.hosts_reached.is_empty();
        let (own_settings, secrets): (Vec<String>, Vec<String>) = self
            .done
            .secrets
            .iter()
            .cloned()
            .partition(|path| is_offline && is_own_setting(path));
        DryRunEvidence {
            refused: self.done.refusal_count - own_settings.len() as u64,
            secrets,
            own_settings,
            reached: self.done.hosts_reached.clone(),
            outside_reads: self.done.outside_reads.clone(),
            agreed: self.feedback.is_some(),
            response_hosts: self.response_hosts.clone(),
            delegated: !cx.is_held(),
            for_real: self.is_response(),
            nothing_is_allowed: effects_decide,
            undoable_is_allowed: effects_decide,
            ..policy_effects_of_plan(cx.session, &self.done.prepared.plan)
        }
    }
}

/// Returns the changes of a plan as evidence for the verdict.
pub(super) fn policy_effects_of_plan(session: &Session, plan: &Plan) -> DryRunEvidence {
    let effects = plan_effects(plan);
    DryRunEvidence {
        beyond: bounds::out_of_bounds_reason(session, &effects),
        begun: started_commands(plan),
        effects,
        ..DryRunEvidence::default()
    }
}

/// Whether a call that would ask runs in a dry run before anybody is asked (M22, M24).
pub(crate) fn runs_first(cx: &CallContext<'_>, prepared: &PreparedCall) -> bool {
    prepared.can_dry_run && (cx.tool.0.tool.ran_before() || prefers_dry_runs(cx.session))
}

/// Whether a call of this kind runs in the sandbox before anything real changes, whatever is allowed.
pub(crate) async fn is_sandboxed(cx: &CallContext<'_>) -> bool {
    let tool_context = &cx.session.tool_context;
    prefers_dry_runs(cx.session) && cx.tool.0.tool.can_dry_run(tool_context).await
}

fn prefers_dry_runs(session: &Session) -> bool {
    session.judges_effects() && session.engine.config.in_place.is_none()
}

/// Settings of programs that hold credentials for the network, and logs of it, which the programs read each time they
/// start.
const OWN_SETTINGS: [&str; 8] = [
    ".npmrc",
    ".npm/_logs",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    ".config/pip/pip.conf",
    ".terraform.d/credentials.tfrc.json",
];

/// Whether a path is a setting that some program reads by itself, and that means nothing without a network.
fn is_own_setting(path: &str) -> bool {
    OWN_SETTINGS.iter().any(|setting| {
        let above = path.strip_suffix(setting);
        above.is_some_and(|above| above.ends_with('/'))
    })
}

/// Reason why a card is shown again without the effects that were requested.
const UNAVAILABLE_REASON: &str = "This machine cannot do a dry run.";

/// Returns the network access of a call that is allowed, if rules allow the call and every host that it names. Nothing
/// but a rule opens network access by itself.
pub(crate) fn resolve_allowed_egress(
    session: &Session,
    prepared: &PreparedCall,
    judgement: &Judgement,
) -> Option<AllowedEgress> {
    let now = session.engine.now();
    let is_command =
        (prepared.can_dry_run || prepared.in_place) && prepared.confinement.is_default();
    let is_allowed = is_command && judgement.verdict() == Verdict::Allow;
    let by_rules = || policy::egress::resolve_rule_egress(&prepared.facts, &session.rules(), now);
    is_allowed.then(by_rules).flatten()
}

/// Reason why a dry run without network access is done again.
pub(crate) const OUTDATED_REASON: &str = "A rule lets it reach the remote by now.";

/// Whether a call is allowed because of rules that came after its dry run and let it reach the remotes that it uses: what
/// the run captured without network access is not what was allowed.
pub(crate) fn is_outdated(session: &Session, assessed: &Assessment) -> bool {
    let rules = session.rules();
    let context = session.policy_context();
    let request = assessed
        .input
        .to_request(&rules, context, &policy_input::empty_digest);
    assessed.judgement.verdict() == Verdict::Allow && policy::egress::is_dry_run_outdated(&request)
}

/// Runs a call in a dry run because its card, or the settings, ask for its effects, with network access to these hosts.
pub(crate) async fn run_before_asking(
    cx: &mut CallContext<'_>,
    prepared: &PreparedCall,
    hosts: Vec<String>,
) -> Result<Attempt, Abort> {
    match prepared.can_dry_run || prepared.dry_run.is_some() {
        true => run(cx, prepared, hosts, None).await,
        false => Ok(Attempt::after_change(UNAVAILABLE_REASON)),
    }
}

/// Runs a call in a dry run, with network access to these hosts, and returns its next attempt. `agreed` is the feedback
/// given when the call was allowed as it stands, if it was; in that case the hooks have been asked.
pub(crate) async fn run(
    cx: &mut CallContext<'_>,
    prepared: &PreparedCall,
    hosts: Vec<String>,
    agreed: Option<UserFeedback>,
) -> Result<Attempt, Abort> {
    let session = cx.session;
    let mut is_hooked = agreed.is_some();
    // Data that is sent to a host cannot be taken back, so the hooks are asked beforehand.
    if !hosts.is_empty() {
        if !is_hooked {
            hooks::ask_before_execution(cx).await?;
            is_hooked = true;
        }
        outgoing::remember_sent(cx, &prepared.facts);
    }
    let now = session.engine.now();
    let mut tool_context = prepared.tool_context.clone();
    tool_context.net = egress::allow_hosts(&tool_context.net, hosts, session.rules(), now);
    let caches = home_caches::find_caches(session, &prepared.facts);
    tool_context.dry_run_environment = tool_context.dry_run_environment.with_caches(caches);
    session
        .journal
        .record_call(&cx.call.id, CallChange::Started);
    // A hook may keep an update back; before it was asked about the call, none is told.
    let is_told = is_hooked || !hooks::has_hooks(session);
    let (tool, arguments) = (cx.tool.0.tool.clone(), cx.arguments.clone());
    let ran = execute::run_with_limits(cx, |mut context| async move {
        context.on_output = context.on_output.filter(|_| is_told);
        context.on_update = context.on_update.filter(|_| is_told);
        tool.dry_run(&arguments, &tool_context, &context).await
    })
    .await;
    let done = ran
        .result
        .map_err(|error| outcome::failed_outcome(&error))?;
    Ok(Attempt::after_dry_run(DryRunResult {
        done,
        feedback: agreed,
        is_hooked,
        response_hosts: Vec::new(),
        duration_ms: ran.duration_ms,
    }))
}

/// Returns the `.git` folders that a plan creates where nothing existed.
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

/// Returns the writes and deletions of a plan, path by path. They were captured below the workspace's own root and
/// through no link, so every path is already resolved.
pub(super) fn plan_effects(plan: &Plan) -> Vec<ResolvedAccess> {
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
