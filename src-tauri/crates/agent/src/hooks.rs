//! What a host does around a call: it may keep a call from running and an update from being told, and hears of both.
//!
//! The order for one call (`S001-68`): before, start event, each update between its two hooks, end event, after. A
//! hook's *go* lifts nothing: it is asked last, when rules and person have let the call through (M12).

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::Notice;
use protocol::interface::fill;
use protocol::{CallId, EventBody, Fault, NoticeLevel, PartialResult, SessionId, redact};
use serde_json::{Map, Value};
use tools::internal::{HOOK, PutIn};

use crate::limits::HOOK_MAX;
use crate::session::Session;
use crate::stages::found::Called;

/// A host's hooks. Each is optional (`S001-67`). One that panics or takes longer than ten seconds counts as broken: a
/// call then does not run, an update is not told.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Whose hooks these are, as a person and the model read it: "the audit log".
    fn name(&self) -> &str;

    /// Before a call is judged: what this host puts in where the tool's runtime schema marks members as a `hook`'s
    /// (`S003-63`). It is shown and approved with the rest. Asked for such tools alone.
    async fn puts_in(&self, _call: &HookedCall) -> Map<String, Value> {
        Map::new()
    }

    /// Before a call begins (`S001-60`), also one of a tool that does not exist.
    async fn before_execution(&self, _call: &HookedCall) -> Before {
        Before::Go
    }

    /// Before an update is told; false keeps it back (`S001-64`).
    async fn before_update(&self, _call: &HookedCall, _update: &Update) -> bool {
        true
    }

    /// After an update was told (`S001-66`).
    async fn after_update(&self, _call: &HookedCall, _update: &Update) {}

    /// After the end of a call was told (`S001-63`).
    async fn after_execution(&self, _call: &HookedCall, _is_error: bool) {}
}

/// What a hook says before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// As far as this hook is concerned, it may run.
    Go,
    /// It does not run; the model is told why (`S001-61`, `S001-62`).
    Skip {
        /// Why, as the model reads it.
        reason: String,
    },
}

/// The call that a hook is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct HookedCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// The arguments that it would run with.
    pub arguments: Map<String, Value>,
    /// What a classifier of risk is to judge by: the tool's own choice of these arguments (`S003-32`); empty for a tool
    /// that touches nothing, and for none (`S003-60`).
    pub classifier_input: String,
}

/// What a call says while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// A piece of live output.
    Output(String),
    /// A piece of the result.
    Partial(PartialResult),
    /// A word on how far it is.
    Progress(String),
}

/// The call that the later hooks are told of; none if there are no hooks, or none was asked.
pub(crate) type Hooked = Option<Arc<HookedCall>>;

/// What the hooks are told of a call; none if there are no hooks.
pub(crate) fn hooked(
    session: &Session,
    call: &CallId,
    called: Option<&Called<'_>>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Hooked {
    if session.shared.config.hooks.is_empty() {
        return None;
    }
    let classifier_input = called.map(|called| &called.interface().safety.classifier_input);
    Some(Arc::new(HookedCall {
        session: session.id.clone(),
        call: call.clone(),
        tool: called.map_or(name, Called::id).to_owned(),
        arguments: arguments.clone(),
        classifier_input: classifier_input.map_or_else(String::new, |text| fill(text, arguments)),
    }))
}

/// Asks every hook what it puts into a call.
///
/// # Errors
/// The sentence that the model reads if a hook broke.
pub(crate) async fn put_in(session: &Session, hooked: Hooked) -> Result<Vec<PutIn>, String> {
    let mut all = Vec::new();
    let Some(hooked) = hooked else { return Ok(all) };
    for hook in &session.shared.config.hooks {
        let (asked, about) = (hook.clone(), hooked.clone());
        match guarded(async move { asked.puts_in(&about).await }).await {
            Ok(own) => all.push((HOOK, own)),
            Err(broke) => return Err(not_run(hook.name(), broke)),
        }
    }
    Ok(all)
}

/// Asks every hook before a call, and records what each said. Gives what the later hooks are told of.
///
/// # Errors
/// The sentence that the model reads, and whether a hook was broken.
pub(crate) async fn before(session: &Session, hooked: Hooked) -> Result<Hooked, (String, bool)> {
    let Some(about) = &hooked else {
        return Ok(None);
    };
    for hook in &session.shared.config.hooks {
        let (asked, call) = (hook.clone(), about.clone());
        let said = match guarded(async move { asked.before_execution(&call).await }).await {
            Ok(Before::Go) => Ok(()),
            Ok(Before::Skip { reason }) => {
                let reason = reason.trim();
                Err((format!("Skipped by {}: {reason}", hook.name()), false))
            }
            Err(broke) => Err((not_run(hook.name(), broke), true)),
        };
        session.journal.tell(EventBody::CallHooked {
            call: about.call.clone(),
            hook: hook.name().to_owned(),
            refused: said
                .as_ref()
                .err()
                .map(|(text, _)| redact::text(text).0.into_owned()),
        });
        said?;
    }
    Ok(hooked)
}

fn not_run(name: &str, broke: &str) -> String {
    format!("Not run, because {name} {broke} when it was asked.")
}

/// Asks every hook before an update. A broken hook says no, and a person is told.
pub(crate) async fn before_update(
    session: &Session,
    hooked: &Arc<HookedCall>,
    update: &Update,
) -> Result<bool, ()> {
    for hook in &session.shared.config.hooks {
        let (asked, about, said) = (hook.clone(), hooked.clone(), update.clone());
        match guarded(async move { asked.before_update(&about, &said).await }).await {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(broke) => {
                broken(
                    session,
                    hook.name(),
                    broke,
                    "The call shows no more updates.",
                );
                return Err(());
            }
        }
    }
    Ok(true)
}

/// Tells every hook of an update that was told.
pub(crate) async fn after_update(session: &Session, hooked: &Arc<HookedCall>, update: &Update) {
    for hook in &session.shared.config.hooks {
        let (told, about, said) = (hook.clone(), hooked.clone(), update.clone());
        if let Err(broke) = guarded(async move { told.after_update(&about, &said).await }).await {
            broken(session, hook.name(), broke, "The call goes on.");
        }
    }
}

/// Tells every hook of the end of a call that was told.
pub(crate) async fn after(session: &Session, hooked: Hooked, is_error: bool) {
    let Some(hooked) = hooked else { return };
    for hook in &session.shared.config.hooks {
        let (told, about) = (hook.clone(), hooked.clone());
        let after = guarded(async move { told.after_execution(&about, is_error).await });
        if let Err(broke) = after.await {
            broken(session, hook.name(), broke, "The call's result stands.");
        }
    }
}

/// Runs a hook where neither its panic nor its silence can harm the run.
async fn guarded<T: Send + 'static>(
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

fn broken(session: &Session, name: &str, broke: &str, follows: &str) {
    let level = NoticeLevel::Warning;
    let fault = Fault::new(format!("A hook of {name} {broke}."), follows);
    session.journal.tell(EventBody::Noted {
        notice: Notice { level, fault },
    });
}
