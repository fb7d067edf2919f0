//! What a host does around a call: it may keep a call from running and an update from being told, and hears of both.
//!
//! The order for one call (`S001-68`): before, start event, each update between its two hooks, end event, after. A
//! hook's *go* lifts nothing: it is asked last, when rules and person have let the call through (M12).

use std::sync::Arc;

use async_trait::async_trait;
use protocol::event::Notice;
use protocol::{CallId, EventBody, Fault, NoticeLevel, SessionId};
use serde_json::{Map, Value};

use crate::limits::HOOK_MAX;
use crate::session::Session;

/// A host's hooks. Each is optional (`S001-67`). One that panics or takes longer than ten seconds counts as broken: a
/// call then does not run, an update is not told.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Whose hooks these are, as a person and the model read it: "the audit log".
    fn name(&self) -> &str;

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
}

/// What a call says while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// A piece of live output.
    Output(String),
    /// A word on how far it is.
    Progress(String),
}

/// The call that the later hooks are told of; none if there are no hooks, or none was asked.
pub(crate) type Hooked = Option<Arc<HookedCall>>;

/// Asks every hook before a call. Gives what the later hooks are told of, none if there are no hooks.
///
/// # Errors
/// The sentence that the model reads, and whether a hook was broken.
pub(crate) async fn before(
    session: &Session,
    call: &CallId,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Hooked, (String, bool)> {
    let hooks = &session.shared.config.hooks;
    if hooks.is_empty() {
        return Ok(None);
    }
    let hooked = Arc::new(HookedCall {
        session: session.id.clone(),
        call: call.clone(),
        tool: tool.to_owned(),
        arguments: arguments.clone(),
    });
    for hook in hooks {
        let (asked, about) = (hook.clone(), hooked.clone());
        match guarded(async move { asked.before_execution(&about).await }).await {
            Ok(Before::Go) => {}
            Ok(Before::Skip { reason }) => {
                let reason = reason.trim();
                return Err((format!("Skipped by {}: {reason}", hook.name()), false));
            }
            Err(broke) => {
                let text = format!(
                    "Not run, because {} {broke} when it was asked.",
                    hook.name()
                );
                return Err((text, true));
            }
        }
    }
    Ok(Some(hooked))
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
