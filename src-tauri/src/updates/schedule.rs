//! What the app does about newer versions by itself.

use std::time::Duration;

use protocol::settings::UpdateMode;
use tauri::{AppHandle, Manager, Runtime};

use super::Updates;

/// How long after one check the next one follows.
const CHECK_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Does what the settings say, at once and daily, until the app ends.
pub(crate) async fn follow_mode<R: Runtime>(app: AppHandle<R>) {
    let updates = app.state::<Updates>();
    let mut mode = updates.mode.subscribe();
    loop {
        let present = *mode.borrow_and_update();
        // Why it failed is kept, and shown where updates are.
        let _ = match present {
            UpdateMode::Off => Ok(()),
            UpdateMode::Notify => updates.check(&app).await,
            UpdateMode::Automatic => updates.check_and_download(&app).await,
        };
        let day_is_over = async {
            match present {
                UpdateMode::Off => std::future::pending().await,
                UpdateMode::Notify | UpdateMode::Automatic => tokio::time::sleep(CHECK_PAUSE).await,
            }
        };
        tokio::select! {
            changed = mode.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            () = day_is_over => {}
        }
    }
}
