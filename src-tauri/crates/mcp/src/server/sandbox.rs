//! Starts servers that run in a sandbox.

use std::path::Path;

use async_trait::async_trait;
use protocol::server::mcp_servers::ServerSandbox;
use runtime::{Companion, CompanionCommand};

/// Creates sandboxes for servers.
#[async_trait]
pub trait ServerSandboxLauncher: Send + Sync {
    /// Starts a program in a sandbox, with its references resolved. The program is never started outside of one.
    ///
    /// # Errors
    /// The reason why it was not started, as a clause.
    async fn start_sandboxed(
        &self,
        command: &CompanionCommand,
        sandbox: &ServerSandbox,
    ) -> Result<Companion, String>;

    /// Whether the sandbox may change files in `folder` (absolute): one of its folder and `folder` contains the other.
    fn overlaps_folder(&self, sandbox: &ServerSandbox, folder: &Path) -> bool;
}
