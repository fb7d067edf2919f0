//! Shows outside the window how many calls wait: title, tray, and a notification when one lands unseen.

use agent::Desk;
use agent::attention::Attention;
use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use crate::{main_window, tray};

/// Follows the desk for as long as it is open.
pub(crate) fn follow(app: AppHandle, desk: Desk) {
    tauri::async_runtime::spawn(async move {
        let mut watch = match desk.attention() {
            Ok(watch) => watch,
            Err(fault) => return tracing::warn!(%fault, "nothing will be shown outside the window"),
        };
        show(
            &app,
            &Attention {
                waiting: watch.waiting(),
                landed: Vec::new(),
            },
            false,
        );
        while let Ok(Some(attention)) = watch.next().await {
            show(&app, &attention, desk.settings().notify);
        }
    });
}

fn show(app: &AppHandle, attention: &Attention, notifies: bool) {
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
    tray::count(app, waiting);
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
