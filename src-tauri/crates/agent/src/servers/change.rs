//! What a person does with servers: set up, switch, approve, restart, remove; each on disk before it is in force.

use mcp::{Pins, pin, signs_in};
use protocol::op::Receipt;
use protocol::servers::{ServerChange, ServerId, ServerSettings};
use protocol::{Digest, Fault};

use super::Servers;
use crate::shelf::stale;

/// Does what the person asks, one after the other.
pub(crate) async fn change(
    servers: &Servers,
    server: ServerId,
    change: ServerChange,
) -> Result<Receipt, Fault> {
    let shelf = servers.shelf();
    let _alone = shelf.alone().await;
    let done = match change {
        ServerChange::Set { way, timeout_ms } => shelf.set(&ServerSettings {
            id: server,
            way,
            timeout_ms,
            enabled: false,
        }),
        ServerChange::Switch { enabled: true } => servers.switch_on(&server).await,
        ServerChange::Switch { enabled: false } => shelf.switch(&server, false),
        ServerChange::Approve { digest } => servers.approve(&server, &digest).await,
        ServerChange::Restart => servers.restart(&server).await,
        ServerChange::SignIn => shelf.find(&server)?.sign_in().await,
        ServerChange::SignOut => shelf.find(&server)?.sign_out().await,
        ServerChange::Remove => servers.remove(&server).await,
    };
    done.map(|()| Receipt::default())
}

impl Servers {
    /// It is on only once it was connected, with what it listed then approved the first time.
    async fn switch_on(&self, id: &ServerId) -> Result<(), Fault> {
        let known = self.shelf.find(id)?;
        let settings = ServerSettings {
            enabled: true,
            ..known.settings().clone()
        };
        if known.settings().enabled {
            return known.retry().await;
        }
        // What cannot be read is looked at again, not approved again.
        let pins = Pins::load(self.shelf.data_dir(), id);
        let is_first = matches!(pins, Ok(None));
        let (server, _) = self.shelf.made(settings);
        if let Err(fault) = server.connected().await {
            server.let_go();
            known.heed(&server);
            self.failed(&known, server);
            return Err(fault);
        }
        if is_first && let Some(catalogue) = server.catalogue() {
            let first = Pins::first(&catalogue);
            first.save(self.shelf.data_dir(), id)?;
            server.set_pins(first);
        }
        self.shelf.put(server);
        self.shelf.switch(id, true)
    }

    async fn approve(&self, id: &ServerId, digest: &Digest) -> Result<(), Fault> {
        let server = self.shelf.find(id)?;
        if server.catalogue().is_none() {
            // What was looked at is what it listed to another process.
            server.connected().await?;
        }
        let catalogue = server.catalogue().ok_or_else(|| stale(id))?;
        if catalogue.digest() != *digest {
            return Err(stale(id));
        }
        let pins = server.pins().approving(&catalogue);
        pins.save(self.shelf.data_dir(), id)?;
        server.set_pins(pins);
        Ok(())
    }

    async fn restart(&self, id: &ServerId) -> Result<(), Fault> {
        let known = self.shelf.find(id)?;
        let (server, _) = self.shelf.made(known.settings().clone());
        self.shelf.put(server.clone());
        server.connected().await
    }

    async fn remove(&self, id: &ServerId) -> Result<(), Fault> {
        let server = self.shelf.find(id)?;
        // A keychain that is not there holds nothing, and keeps nobody from removing a server.
        if signs_in(&server.settings().way)
            && let Err(fault) = server.sign_out().await
        {
            tracing::warn!(%fault, "what was signed in with may still be kept, or good");
        }
        let approved = pin::file(self.shelf.data_dir(), id);
        self.shelf.remove(id, &approved)?;
        mcp::forget(self.shelf.data_dir(), id)
    }
}
