//! Tells the page to show a session or a call, for what is chosen outside the window: in the tray, by the global shortcut, or
//! by a link. The page asks the engine for it, as for any other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::engine_process::WaitingCall;
use protocol::{CallId, SessionId};
use serde_json::json;
use tauri::{AppHandle, Manager};

use crate::main_window;

/// What the page is to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShowTarget {
    /// The session.
    pub(crate) session: SessionId,
    /// A call of it; none for the session as a whole.
    pub(crate) call: Option<CallId>,
}

impl From<WaitingCall> for ShowTarget {
    fn from(waiting: WaitingCall) -> Self {
        Self {
            session: waiting.session,
            call: Some(waiting.call),
        }
    }
}

/// Whether the page listens, and what it is to show once it does.
#[derive(Default)]
pub(crate) struct PageListener(Mutex<ListenerState>);

#[derive(Default)]
struct ListenerState {
    is_ready: bool,
    pending: Option<ShowTarget>,
}

impl PageListener {
    fn lock(&self) -> MutexGuard<'_, ListenerState> {
        // Each change is made in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the target if the page listens, else keeps it until it does.
    fn offer(&self, target: ShowTarget) -> Option<ShowTarget> {
        let mut state = self.lock();
        if state.is_ready {
            return Some(target);
        }
        state.pending = Some(target);
        None
    }

    /// The page listens from now on. Returns what it is to show.
    fn set_ready(&self) -> Option<ShowTarget> {
        let mut state = self.lock();
        state.is_ready = true;
        state.pending.take()
    }

    /// A page begins to load: nobody listens until it is ready.
    pub(crate) fn set_loading(&self) {
        self.lock().is_ready = false;
    }
}

/// Has the page show something, at once or as soon as it listens.
pub(crate) fn show_in_page(app: &AppHandle, target: ShowTarget) {
    if let Some(target) = app.state::<PageListener>().offer(target) {
        tell_page(app, &target);
    }
}

/// The page listens from now on: shows what was asked for before.
pub(crate) fn page_is_ready(app: &AppHandle) {
    if let Some(target) = app.state::<PageListener>().set_ready() {
        tell_page(app, &target);
    }
}

fn tell_page(app: &AppHandle, target: &ShowTarget) {
    let Some(window) = main_window(app) else {
        return;
    };
    if let Err(error) = window.eval(show_script(target)) {
        tracing::warn!(%error, "what was chosen cannot be shown");
    }
}

/// Returns the script that tells the page. What comes from elsewhere is data in it: JSON is an expression of the language.
fn show_script(target: &ShowTarget) -> String {
    let shown = json!({ "session": target.session, "call": target.call });
    format!("window.dispatchEvent(new CustomEvent('show-target', {{ detail: {shown} }}))")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(call: Option<&str>) -> ShowTarget {
        ShowTarget {
            session: "ses_1".into(),
            call: call.map(CallId::from),
        }
    }

    #[test]
    fn ids_of_an_agent_are_data_in_the_script() {
        assert_eq!(
            show_script(&target(Some("x'\"}))\n;alert(1)//\u{2028}"))),
            "window.dispatchEvent(new CustomEvent('show-target', { detail: \
             {\"session\":\"ses_1\",\"call\":\"x'\\\"}))\\n;alert(1)//\u{2028}\"} }))"
        );
        assert_eq!(
            show_script(&target(None)),
            "window.dispatchEvent(new CustomEvent('show-target', { detail: {\"session\":\"ses_1\",\"call\":null} }))"
        );
    }

    #[test]
    fn what_is_chosen_before_the_page_listens_is_shown_once_it_does() {
        let listener = PageListener::default();
        assert_eq!(listener.offer(target(Some("c1"))), None);
        assert_eq!(listener.offer(target(Some("c2"))), None);
        assert_eq!(listener.set_ready(), Some(target(Some("c2"))));
        assert_eq!(listener.offer(target(None)), Some(target(None)));
        listener.set_loading();
        assert_eq!(listener.offer(target(None)), None);
        assert_eq!(listener.set_ready(), Some(target(None)));
        assert_eq!(listener.set_ready(), None);
    }
}
