//! Hooks of the host, and programs of the person, around a call: they may keep a call from running or an update from
//! being sent, and are notified of both.
//!
//! The order for one call (`S001-68`): before, start event, each update between its two hooks, end event, after. A hook
//! that approves a call lifts nothing: hooks are asked last, when rules and person have let the call through (M12).

use std::sync::Arc;

use protocol::event::CallChange;
use protocol::interface::fill_template;
use protocol::settings::{HookPoint, HookSettings};
use protocol::text::display_text::to_single_line;
use protocol::text::redact;
use protocol::{CallId, EventBody, NoticeLevel, Outcome, UserError};
use serde_json::{Map, Value};
use tools::host_arguments::{HOOK_SOURCE, SuppliedArguments};

use crate::host::hooks::{CallUpdate, HookDecision, HookedCall, Hooks};
use crate::limits::{HOOK_MAX, HOOKS_MAX, PROGRAM_REASON_CHARS_MAX};
use crate::pipeline::abort::Abort;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::early_outcome;
use crate::pipeline::hooks::program::ProgramHook;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

mod program;

/// Description of the call for the later hooks; none if there are no hooks, or none was asked.
pub(crate) type HookContext = Option<Arc<HookedCall>>;

/// One hook.
enum HookSource<'a> {
    /// A hook of the host.
    Host(Arc<dyn Hooks>),
    /// A program of the person.
    Program(ProgramHook<'a>),
}

impl HookSource<'_> {
    /// Returns the name of the hook or its host, for use within a sentence.
    fn name(&self) -> String {
        match self {
            Self::Host(hooks) => hooks.name().to_owned(),
            Self::Program(program) => format!("the {}", program.display_name()),
        }
    }

    fn handles(&self, point: HookPoint) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Program(program) => program.handles(point),
        }
    }

    async fn before_execution(&self, call: &Arc<HookedCall>) -> Result<HookDecision, String> {
        match self {
            Self::Program(program) => program.before(call).await,
            Self::Host(hooks) => {
                let (hooks, call) = (hooks.clone(), call.clone());
                let said = run_guarded(async move { hooks.before_execution(&call).await }).await;
                said.map_err(|broke| format!("{broke} when it was asked."))
            }
        }
    }

    async fn before_update(
        &self,
        call: &Arc<HookedCall>,
        update: &CallUpdate,
    ) -> Result<bool, String> {
        match self {
            Self::Program(program) => program.before_update(call, update).await,
            Self::Host(hooks) => {
                let (hooks, call, update) = (hooks.clone(), call.clone(), update.clone());
                let said =
                    run_guarded(async move { hooks.before_update(&call, &update).await }).await;
                said.map_err(|broke| format!("{broke}."))
            }
        }
    }

    async fn after_update(
        &self,
        call: &Arc<HookedCall>,
        update: &CallUpdate,
    ) -> Result<(), String> {
        match self {
            Self::Program(program) => program.after_update(call, update).await,
            Self::Host(hooks) => {
                let (hooks, call, update) = (hooks.clone(), call.clone(), update.clone());
                let told =
                    run_guarded(async move { hooks.after_update(&call, &update).await }).await;
                told.map_err(|broke| format!("{broke}."))
            }
        }
    }

    async fn after_execution(
        &self,
        call: &Arc<HookedCall>,
        outcome: &Outcome,
    ) -> Result<(), String> {
        match self {
            Self::Program(program) => program.after_execution(call, outcome).await,
            Self::Host(hooks) => {
                let (hooks, call, is_error) = (hooks.clone(), call.clone(), !outcome.is_success());
                let told = run_guarded(async move { hooks.after_execution(&call, is_error).await });
                told.await.map_err(|broke| format!("{broke}."))
            }
        }
    }

    /// Tells the person that the hook failed, and the consequence.
    fn report_failure(&self, session: &Session, broke: &str, follows: &str) {
        let level = NoticeLevel::Warning;
        let whose = match self {
            Self::Host(hooks) => format!("A hook of {}", hooks.name()),
            Self::Program(program) => format!("The {}", program.display_name()),
        };
        let fault = UserError::new(format!("{whose} {broke}"), follows);
        session.journal.record(EventBody::notice(level, fault));
    }
}

/// Returns the errors of the hooks in the settings.
pub(crate) fn check_hooks(hooks: &[HookSettings]) -> Vec<UserError> {
    let never = hooks.iter().filter(|hook| hook.on.is_empty());
    let mut faults: Vec<UserError> = never
        .map(|hook| {
            let name = to_single_line(&hook.name, PROGRAM_REASON_CHARS_MAX);
            UserError::new(
                format!("The hook `{name}` is never started, because its `on` is empty."),
                "Write into `on` when it is started: \"before\", \"before_update\", \"after_update\" or \"after\".",
            )
        })
        .collect();
    if hooks.len() > HOOKS_MAX {
        faults.push(UserError::new(
            format!(
                "There are {} hooks, and at most {HOOKS_MAX} are started.",
                hooks.len()
            ),
            "Take out those that are not needed.",
        ));
    }
    faults
}

/// Returns the hooks for this point, in their order: the host's first.
fn hooks_at(session: &Session, point: HookPoint) -> impl Iterator<Item = HookSource<'_>> {
    let hosts = session
        .engine
        .config
        .hooks
        .iter()
        .cloned()
        .map(HookSource::Host);
    let set = session.engine.settings().hooks.clone();
    let programs = set.into_iter().take(HOOKS_MAX);
    let programs = programs.map(|one| HookSource::Program(ProgramHook::new(session, one)));
    hosts
        .chain(programs)
        .filter(move |hook| hook.handles(point))
}

/// Whether the session has any hooks.
pub(crate) fn has_hooks(session: &Session) -> bool {
    !session.engine.config.hooks.is_empty() || !session.engine.settings().hooks.is_empty()
}

/// Returns the description of a call for the hooks; none if there are no hooks.
pub(crate) fn hook_context(
    session: &Session,
    call: &CallId,
    tool: Option<&ResolvedTool<'_>>,
    name: &str,
    arguments: &Map<String, Value>,
) -> HookContext {
    if !has_hooks(session) {
        return None;
    }
    let classifier_input = tool.map(|tool| &tool.interface().safety.classifier_input);
    Some(Arc::new(HookedCall {
        session: session.id.clone(),
        call: call.clone(),
        tool: tool.map_or(name, ResolvedTool::id).to_owned(),
        arguments: arguments.clone(),
        classifier_input: classifier_input
            .map_or_else(String::new, |text| fill_template(text, arguments)),
    }))
}

/// Asks every hook of the host for the arguments that it adds to a call.
///
/// # Errors
/// Returns the sentence for the model if a hook failed.
pub(crate) async fn collect_extra_arguments(
    session: &Session,
    hooked: HookContext,
) -> Result<Vec<SuppliedArguments>, String> {
    let mut all = Vec::new();
    let Some(hooked) = hooked else { return Ok(all) };
    for hook in &session.engine.config.hooks {
        let (asked, about) = (hook.clone(), hooked.clone());
        match run_guarded(async move { asked.extra_arguments(&about).await }).await {
            Ok(own) => all.push((HOOK_SOURCE, own)),
            Err(broke) => {
                let name = hook.name();
                return Err(format!(
                    "Not run, because {name} {broke} when it was asked."
                ));
            }
        }
    }
    Ok(all)
}

/// Reason why a hook keeps a call from running.
pub(crate) struct HookRefusal {
    /// The sentence that the model reads.
    pub text: String,
    /// Whether a hook failed, rather than refused.
    pub is_broken: bool,
}

/// Asks every hook before a call, and records each answer. Returns the description of the call for the later hooks.
///
/// # Errors
/// A hook refused the call, or failed.
pub(crate) async fn run_before_execution(
    session: &Session,
    hooked: HookContext,
) -> Result<HookContext, HookRefusal> {
    let Some(about) = &hooked else {
        return Ok(None);
    };
    if session.engine.settings().hooks.len() > HOOKS_MAX {
        return Err(HookRefusal {
            text: format!("Not run, because there are more than {HOOKS_MAX} hooks."),
            is_broken: true,
        });
    }
    for hook in hooks_at(session, HookPoint::Before) {
        let name = hook.name();
        let decision = match hook.before_execution(about).await {
            Ok(HookDecision::Continue) => Ok(()),
            Ok(HookDecision::Skip { reason }) => {
                let reason = reason.trim();
                Err(HookRefusal {
                    text: format!("Skipped by {name}: {reason}"),
                    is_broken: false,
                })
            }
            Err(broke) => Err(HookRefusal {
                text: format!("Not run, because {name} {broke}"),
                is_broken: true,
            }),
        };
        session.journal.record_call(
            &about.call,
            CallChange::HookAnswered {
                hook: name,
                refused: decision
                    .as_ref()
                    .err()
                    .map(|refusal| redact::text(&refusal.text).0.into_owned()),
            },
        );
        decision?;
    }
    Ok(hooked)
}

/// Asks every hook before a call runs, and stores the description of the call for the later hooks.
///
/// # Errors
/// A hook keeps the call from running, or failed.
pub(crate) async fn ask_before_execution(cx: &mut CallContext<'_>) -> Result<(), Abort> {
    let (session, tool) = (cx.session, &cx.tool);
    let hooked = hook_context(session, &cx.call.id, Some(tool), tool.id(), &cx.arguments);
    let asked = run_before_execution(session, hooked).await;
    *cx.hooked = asked.map_err(early_outcome::abort_by_hook)?;
    Ok(())
}

/// Asks every hook before an update. A failed hook counts as a refusal, and the person is told.
pub(crate) async fn run_before_update(
    session: &Session,
    hooked: &Arc<HookedCall>,
    update: &CallUpdate,
) -> Result<bool, ()> {
    for hook in hooks_at(session, HookPoint::BeforeUpdate) {
        match hook.before_update(hooked, update).await {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(broke) => {
                hook.report_failure(session, &broke, "The call shows no more updates.");
                return Err(());
            }
        }
    }
    Ok(true)
}

/// Tells every hook of an update that was sent.
pub(crate) async fn run_after_update(
    session: &Session,
    hooked: &Arc<HookedCall>,
    update: &CallUpdate,
) {
    for hook in hooks_at(session, HookPoint::AfterUpdate) {
        if let Err(broke) = hook.after_update(hooked, update).await {
            hook.report_failure(session, &broke, "The call goes on.");
        }
    }
}

/// Tells every hook that a call has ended, if the hooks were told of the call.
pub(crate) async fn run_after_execution(session: &Session, hooked: HookContext, outcome: &Outcome) {
    let Some(hooked) = hooked else { return };
    for hook in hooks_at(session, HookPoint::After) {
        if let Err(broke) = hook.after_execution(&hooked, outcome).await {
            hook.report_failure(session, &broke, "The call's result stands.");
        }
    }
}

/// Runs a hook of the host so that neither a panic nor a missing answer can harm the run.
async fn run_guarded<T: Send + 'static>(
    hook: impl Future<Output = T> + Send + 'static,
) -> Result<T, &'static str> {
    let mut task = tokio::spawn(hook);
    match tokio::time::timeout(HOOK_MAX, &mut task).await {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(_)) => Err("broke off"),
        Err(_) => {
            task.abort();
            Err("did not answer in time")
        }
    }
}
