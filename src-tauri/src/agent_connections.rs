//! Where the agents of this person keep their configurations, and the program that their hooks call.

use agent::{Engine, EngineConfig};
use gateway::connections::{self, ConnectionPlace};
use protocol::UserError;

/// Returns where the agents of this person are found and connected.
///
/// # Errors
/// There is no home folder.
pub(crate) fn find_place(desk: &Engine) -> Result<ConnectionPlace, UserError> {
    let app = std::env::current_exe().ok();
    let program = app.and_then(|app| connections::find_hook_program(&app));
    let (home, variables) = (EngineConfig::home_dir(), std::env::vars_os());
    ConnectionPlace::new(home, variables, desk.data_dir().to_owned(), program)
}
