//! Shows outside the window which calls wait: in the title, the tray, on the badge of the app's icon, and in a notification
//! when a call arrives while the window is not visible.

use protocol::engine_process::AttentionChange;
use tauri::{AppHandle, WebviewWindow};
use tauri_plugin_notification::NotificationExt;

use crate::{main_window, tray};

/// Shows how many calls wait, and notifies of those that began to wait while nobody looks.
pub(crate) fn show_attention(app: &AppHandle, attention: &AttentionChange) {
    let window = main_window(app);
    if let Some(window) = &window {
        show_count(window, attention.waiting);
    }
    tray::show_waiting(app, attention);
    let unseen = window.is_none_or(|window| !window.is_focused().unwrap_or(false));
    if unseen {
        for tool in &attention.landed {
            let shown = app
                .notification()
                .builder()
                .title("Countersign")
                .body(format!("{tool} waits for you"))
                .show();
            if let Err(error) = shown {
                tracing::warn!(%error, "a notification cannot be shown");
            }
        }
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
    use super::badge_count;

    #[test]
    fn the_badge_goes_when_nothing_waits() {
        assert_eq!([0, 1, 1_000].map(badge_count), [None, Some(1), Some(1_000)]);
    }
}
