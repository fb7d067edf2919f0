//! What a person does with servers: set up, switch, approve, restart, remove; each on disk before it is in force.

use std::sync::Arc;

use mcp::{Pins, Server, config, pin};
use protocol::op::Receipt;
use protocol::servers::{ServerChange, ServerId, ServerSettings};
use protocol::{Digest, Fault};

use super::Servers;

/// Does what the person asks, one after the other.
pub(crate) async fn change(
    servers: &Servers,
    server: ServerId,
    change: ServerChange,
) -> Result<Receipt, Fault> {
    let _one = servers.changing.lock().await;
    servers.read();
    let done = match change {
        ServerChange::Set { way, timeout_ms } => servers.set(ServerSettings {
            id: server,
            way,
            timeout_ms,
            enabled: false,
        }),
        ServerChange::Switch { enabled: true } => servers.switch_on(&server).await,
        ServerChange::Switch { enabled: false } => servers.switch_off(&server),
        ServerChange::Approve { digest } => servers.approve(&server, &digest),
        ServerChange::Restart => servers.restart(&server).await,
        ServerChange::SignIn => servers.sign_in(&server).await,
        ServerChange::SignOut => servers.sign_out(&server).await,
        ServerChange::Remove => servers.remove(&server).await,
    };
    done.map(|()| Receipt::default())
}

impl Servers {
    /// Writes the file as it is to be, and puts it in force.
    fn write(&self, change: impl FnOnce(&str) -> Result<String, Fault>) -> Result<(), Fault> {
        let _lock = runtime::lock(&self.data_dir.join("servers.lock"))?;
        let text = runtime::read_text(&self.file())?.unwrap_or_default();
        runtime::write_atomic(&self.file(), change(&text)?.as_bytes(), 0o600)?;
        self.read();
        Ok(())
    }

    fn set(&self, settings: ServerSettings) -> Result<(), Fault> {
        self.write(|text| config::with(text, &settings))
    }

    /// It is on only once it was connected, with what it listed then approved the first time.
    async fn switch_on(&self, id: &ServerId) -> Result<(), Fault> {
        let known = self.find(id)?;
        let settings = ServerSettings {
            enabled: true,
            ..known.settings().clone()
        };
        if known.settings().enabled {
            return known.retry().await;
        }
        // What cannot be read is looked at again, not approved again.
        let pins = Pins::load(&self.data_dir, id);
        let is_first = matches!(pins, Ok(None));
        let (server, _) = self.made(settings.clone());
        if let Err(fault) = server.connected().await {
            server.let_go();
            known.heed(&server);
            self.known().failed.insert(id.clone(), server);
            return Err(fault);
        }
        if is_first && let Some(catalogue) = server.catalogue() {
            let first = Pins::first(&catalogue);
            first.save(&self.data_dir, id)?;
            server.set_pins(first);
        }
        self.put(server);
        self.write(|text| config::switched(text, id, true))
    }

    fn switch_off(&self, id: &ServerId) -> Result<(), Fault> {
        self.find(id)?;
        self.write(|text| config::switched(text, id, false))
    }

    fn approve(&self, id: &ServerId, digest: &Digest) -> Result<(), Fault> {
        let server = self.find(id)?;
        let stale = || {
            Fault::new(
                format!("The tools of `{id}` are not what was looked at, so nothing was approved."),
                "Look at them again, then approve what is there now.",
            )
        };
        let catalogue = server.catalogue().ok_or_else(stale)?;
        if catalogue.digest() != *digest {
            return Err(stale());
        }
        let pins = server.pins().approving(&catalogue);
        pins.save(&self.data_dir, id)?;
        server.set_pins(pins);
        Ok(())
    }

    async fn restart(&self, id: &ServerId) -> Result<(), Fault> {
        let (server, _) = self.made(self.find(id)?.settings().clone());
        self.put(server.clone());
        server.connected().await
    }

    async fn sign_in(&self, id: &ServerId) -> Result<(), Fault> {
        self.find(id)?.sign_in().await
    }

    async fn sign_out(&self, id: &ServerId) -> Result<(), Fault> {
        self.find(id)?.sign_out().await
    }

    async fn remove(&self, id: &ServerId) -> Result<(), Fault> {
        let server = self.find(id)?;
        // A keychain that is not there holds nothing, and keeps nobody from removing a server.
        if let Err(fault) = server.sign_out().await {
            tracing::warn!(%fault, "what was signed in with may still be kept, or good");
        }
        self.write(|text| config::without(text, id))?;
        // Whoever comes under this name later is approved anew.
        Ok(runtime::forget(&pin::file(&self.data_dir, id))?)
    }

    /// Puts a server in the place of the one of its name.
    fn put(&self, server: Arc<Server>) {
        let mut known = self.known();
        known.roots.iter().for_each(|root| server.add_root(root));
        let id = server.settings().id.clone();
        known.failed.remove(&id);
        if let Some(before) = known.servers.insert(id, server) {
            before.let_go();
        }
        known.changes += 1;
    }
}
