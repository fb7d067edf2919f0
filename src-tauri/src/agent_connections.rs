//! Where the agents of this person keep their configurations, and the program that their hooks call.

use std::path::PathBuf;

use agent::{Engine, EngineConfig};
use gateway::connections::{self, ConnectionPlace};
use protocol::UserError;

/// Returns the program that agents' hooks call, if it is installed with the app.
pub(crate) fn find_program() -> Option<PathBuf> {
    let app = std::env::current_exe().ok();
    app.and_then(|app| connections::find_hook_program(&app))
}

/// Returns where the agents of this person are found and connected.
///
/// # Errors
/// There is no home folder.
pub(crate) fn find_place(desk: &Engine) -> Result<ConnectionPlace, UserError> {
    let program = find_program();
    let (home, variables) = (EngineConfig::home_dir(), std::env::vars_os());
    ConnectionPlace::new(home, variables, desk.data_dir().to_owned(), program)
}
