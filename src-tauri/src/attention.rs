//! Shows outside the window which calls wait: in the title, the tray, on the badge of the app's icon, and in a notification
//! when a call arrives while nobody looks. There is one notification at a time; it leads to the card, and decides nothing.

use protocol::engine_process::AttentionChange;
use protocol::text::display_text::to_single_line;
use tauri::{AppHandle, WebviewWindow};
use tauri_plugin_notification::{Action, ActionType, NotificationExt};

use crate::{main_window, tray};

/// Id of the notification. A newer one takes the place of the one before.
const NOTIFICATION: i32 = 1;
/// What can be chosen in it.
const ACTIONS: &str = "waiting";
/// Maximum length of a tool's name in it, in characters.
const TITLE_CHARS_MAX: usize = 40;

/// Prepares the notification: whoever chooses it, or its button, is shown the call that waits longest.
///
/// # Errors
/// The system takes no choices.
pub(crate) fn prepare_notification(app: &AppHandle) -> tauri_plugin_notification::Result<()> {
    let show = Action::builder("show", "Show").build();
    let actions = ActionType::builder(ACTIONS).actions(vec![show]).build();
    let notifications = app.notification();
    notifications.register_action_types(vec![actions])?;
    let app = app.clone();
    notifications.on_action(move |_| tray::show_oldest_call(&app))
}

/// Shows how many calls wait, and notifies of those that began to wait while nobody looks.
pub(crate) fn show_attention(app: &AppHandle, attention: &AttentionChange) {
    let window = main_window(app);
    if let Some(window) = &window {
        show_count(window, attention.waiting);
    }
    tray::show_waiting(app, attention);
    let unseen = window.is_none_or(|window| !window.is_focused().unwrap_or(false));
    let text = notification_text(attention).filter(|_| unseen);
    if text.is_some() || attention.waiting == 0 {
        let app = app.clone();
        // The desktop may take its time.
        tauri::async_runtime::spawn_blocking(move || replace_notification(&app, text));
    }
}

/// Removes the notification, and shows one with another text if there is one.
fn replace_notification(app: &AppHandle, text: Option<String>) {
    let notifications = app.notification();
    let removed = notifications.remove_active(vec![NOTIFICATION]);
    let shown = text.map(|text| {
        let builder = notifications.builder().id(NOTIFICATION);
        let builder = builder.action_type_id(ACTIONS).title("Countersign");
        builder.body(text).show()
    });
    if let Err(error) = removed.and(shown.unwrap_or(Ok(()))) {
        tracing::warn!(%error, "a notification cannot be shown");
    }
}

/// Returns what the notification says; none if no call began to wait.
fn notification_text(attention: &AttentionChange) -> Option<String> {
    let newest = attention.landed.last()?;
    match attention.waiting {
        0 => None,
        1 => {
            let title = to_single_line(newest, TITLE_CHARS_MAX);
            Some(format!("{title} waits for you"))
        }
        waiting => Some(format!("{waiting} calls wait for you")),
    }
}

/// Shows how many calls wait: in the title, and on the icon in the dock or taskbar where the system has badges.
fn show_count(window: &WebviewWindow, waiting: usize) {
    let title = match waiting {
        0 => "Countersign".to_owned(),
        waiting => format!("{} · Countersign", tray::count_text(waiting)),
    };
    if let Err(error) = window.set_title(&title) {
        tracing::warn!(%error, "the title cannot be set");
    }
    if let Err(error) = window.set_badge_count(badge_count(waiting)) {
        tracing::warn!(%error, "the badge cannot be set");
    }
}

/// Returns the number on the badge; none if there is no badge.
fn badge_count(waiting: usize) -> Option<i64> {
    i64::try_from(waiting).ok().filter(|waiting| *waiting > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_badge_goes_when_nothing_waits() {
        assert_eq!([0, 1, 1_000].map(badge_count), [None, Some(1), Some(1_000)]);
    }

    #[test]
    fn one_notification_speaks_of_all_calls_that_wait() {
        let text = |waiting, landed: &[&str]| {
            notification_text(&AttentionChange {
                waiting,
                oldest: Vec::new(),
                landed: landed.iter().copied().map(str::to_owned).collect(),
            })
        };
        assert_eq!(text(1, &["Run"]).as_deref(), Some("Run waits for you"));
        assert_eq!(
            text(3, &["Run", "Edit"]).as_deref(),
            Some("3 calls wait for you")
        );
        assert_eq!(
            text(1, &["a\nb\u{202e}c"]).as_deref(),
            Some("a bU+202Ec waits for you")
        );
        // What waited before, or was decided meanwhile, is not told again.
        assert_eq!(text(2, &[]), None);
        assert_eq!(text(0, &["Run"]), None);
    }
}
