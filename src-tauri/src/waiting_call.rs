//! Tells the page to show a call, for what is chosen outside the window.

use protocol::engine_process::WaitingCall;
use serde_json::json;
use tauri::AppHandle;

use crate::main_window;

/// Has the page show a call where it waits. The page asks the engine for it, as for any other.
pub(crate) fn show_call(app: &AppHandle, call: &WaitingCall) {
    let Some(window) = main_window(app) else {
        return;
    };
    if let Err(error) = window.eval(show_script(call)) {
        tracing::warn!(%error, "the call cannot be shown");
    }
}

/// Returns the script that tells the page. What comes from an agent is data in it: JSON is an expression of the language.
fn show_script(call: &WaitingCall) -> String {
    let shown = json!({ "session": call.session, "call": call.call });
    format!("window.dispatchEvent(new CustomEvent('show-call', {{ detail: {shown} }}))")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_an_agent_are_data_in_the_script() {
        let call = WaitingCall {
            session: "ses_1".into(),
            call: "x'\"}))\n;alert(1)//\u{2028}".into(),
            title: "Run".to_owned(),
            session_title: String::new(),
        };
        assert_eq!(
            show_script(&call),
            "window.dispatchEvent(new CustomEvent('show-call', { detail: \
             {\"session\":\"ses_1\",\"call\":\"x'\\\"}))\\n;alert(1)//\u{2028}\"} }))"
        );
    }
}
