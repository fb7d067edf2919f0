//! Where servers run that run in a sealed room.

use std::path::Path;

use async_trait::async_trait;
use protocol::servers::ServerRoom;
use runtime::{Companion, CompanionCommand};

/// Makes rooms for servers.
#[async_trait]
pub trait Rooms: Send + Sync {
    /// Starts a program in a room, with its references looked up. It is never started outside of one.
    ///
    /// # Errors
    /// Why not, as a clause.
    async fn accompany(
        &self,
        command: &CompanionCommand,
        room: &ServerRoom,
    ) -> Result<Companion, String>;

    /// Whether what is changed in a room may lie in a folder, absolute: one of them holds the other.
    fn meets(&self, room: &ServerRoom, folder: &Path) -> bool;
}
