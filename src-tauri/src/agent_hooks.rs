//! Serves the local endpoint, where hooks of other people's agents ask, for as long as the app is open.

use agent::Engine;
use gateway::endpoint_server::{self, ServeOptions};

/// Takes the endpoint of the engine's data folder over, and serves it.
pub(crate) fn serve_hooks(desk: Engine) {
    tauri::async_runtime::spawn(async move {
        match endpoint_server::take_over(desk.data_dir()).await {
            Ok(listener) => {
                let options = ServeOptions {
                    can_ask: true,
                    idle_max: None,
                };
                endpoint_server::serve(&desk, listener, options, desk.wait_until_closed()).await;
            }
            Err(fault) => tracing::warn!(%fault, "hooks of agents are not answered here"),
        }
    });
}
