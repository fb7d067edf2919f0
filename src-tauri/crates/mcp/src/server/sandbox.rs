//! Where servers run that run in a sealed room.

use std::path::Path;

use async_trait::async_trait;
use protocol::server::mcp_servers::ServerSandbox;
use runtime::{Companion, CompanionCommand};

/// Makes rooms for servers.
#[async_trait]
pub trait ServerSandboxLauncher: Send + Sync {
    /// Starts a program in a room, with its references looked up. It is never started outside of one.
    ///
    /// # Errors
    /// Why not, as a clause.
    async fn start_sandboxed(
        &self,
        command: &CompanionCommand,
        room: &ServerSandbox,
    ) -> Result<Companion, String>;

    /// Whether what is changed in a room may lie in a folder, absolute: one of them holds the other.
    fn overlaps_folder(&self, room: &ServerSandbox, folder: &Path) -> bool;
}
