//! Shows outside the window how many calls wait: in the title, the tray, and a notification when a call arrives while
//! the window is not visible.

use agent::Engine;
use agent::engine::attention::AttentionChange;
use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use crate::{main_window, tray};

/// Follows the engine's events for as long as the engine is open.
pub(crate) fn follow_attention(app: AppHandle, desk: Engine) {
    tauri::async_runtime::spawn(async move {
        let mut watch = match desk.watch_attention() {
            Ok(watch) => watch,
            Err(fault) => return tracing::warn!(%fault, "nothing will be shown outside the window"),
        };
        show_attention(
            &app,
            &AttentionChange {
                waiting: watch.waiting_calls(),
                landed: Vec::new(),
            },
            false,
        );
        while let Ok(Some(attention)) = watch.next().await {
            show_attention(&app, &attention, desk.settings().notify);
        }
    });
}

fn show_attention(app: &AppHandle, attention: &AttentionChange, notifies: bool) {
    let waiting = attention.waiting;
    let title = match waiting {
        0 => "Countersign".to_owned(),
        1 => "1 call waits · Countersign".to_owned(),
        n => format!("{n} calls wait · Countersign"),
    };
    let window = main_window(app);
    if let Some(Err(error)) = window.as_ref().map(|window| window.set_title(&title)) {
        tracing::warn!(%error, "the title cannot be set");
    }
    tray::show_count(app, waiting);
    let unseen = window.is_none_or(|window| !window.is_focused().unwrap_or(false));
    if notifies && unseen {
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
