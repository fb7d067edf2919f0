//! The sealed rooms of servers: around the folder that each may change, closed by the rules in force when it is started.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use mcp::Rooms;
use protocol::Fault;
use protocol::servers::ServerRoom;
use runtime::{
    Clock, Companion, CompanionCommand, Environment, FileError, Net, RoomOptions, Workspace,
};

use crate::{rules, way_out};

/// Makes them as it makes those of commands.
pub(crate) struct ServerRooms {
    pub environment: Environment,
    pub options: RoomOptions,
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Rooms for ServerRooms {
    async fn accompany(
        &self,
        command: &CompanionCommand,
        room: &ServerRoom,
    ) -> Result<Companion, String> {
        let (workspace, net) = self.around(room).map_err(|fault| {
            let why = fault.message.trim_end_matches('.');
            format!("its sealed room cannot be made, so it was not started: {why}")
        })?;
        let workspace = workspace.inheriting(command.inherited.clone());
        let started = self.environment.accompany(command, &workspace, &net).await;
        started.map_err(|error| match error {
            FileError::NoRoom { reason } => format!(
                "it can be run in no sealed room here, so it was not started: {}",
                reason.trim_end_matches('.')
            ),
            FileError::Outside { .. } => {
                "it starts outside the folder of its room, so it was not started".to_owned()
            }
            other => format!("its program could not be started: {other}"),
        })
    }

    fn meets(&self, room: &ServerRoom, folder: &Path) -> bool {
        // Around what is no folder there is no room.
        Workspace::open(Path::new(&room.workspace))
            .is_ok_and(|room| room.root().starts_with(folder) || folder.starts_with(room.root()))
    }
}

impl ServerRooms {
    /// The folder with what is closed in it, and the way to the hosts.
    fn around(&self, room: &ServerRoom) -> Result<(Workspace, Net), Fault> {
        let workspace = Workspace::open(Path::new(&room.workspace))?;
        let rules = rules::load(&self.data_dir, Some(&workspace), &[], None).rules;
        let rules = Arc::new(rules);
        let net = match room.hosts.is_empty() {
            true => Net::closed(),
            false => {
                let now = self.clock.now();
                let hosts = way_out::named(&room.hosts, &rules, now)?;
                way_out::opened(&Net::closed(), hosts, rules.clone(), now)
            }
        };
        let in_force = Arc::new(RwLock::new(rules));
        let closed = rules::closed(in_force, self.clock.clone());
        let workspace = workspace.closing(closed).in_rooms(self.options.clone());
        Ok((workspace, net))
    }
}
