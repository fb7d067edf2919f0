//! A person's changes to servers: set up, switch, approve, restart, remove; each on disk before it takes effect.

use mcp::supports_sign_in;
use protocol::op::OpReceipt;
use protocol::server::mcp_servers::{ServerChange, ServerId, ServerSettings};
use protocol::{Digest, UserError};

use crate::toolset::servers::Servers;

/// Carries out a change of servers, one at a time.
pub(crate) async fn change_servers(
    servers: &Servers,
    server: ServerId,
    change: ServerChange,
) -> Result<OpReceipt, UserError> {
    let store = servers.store();
    let _guard = store.lock_changes().await;
    let result = match change {
        ServerChange::Set {
            transport,
            timeout_ms,
            audience,
        } => store.save(&ServerSettings {
            id: server,
            transport,
            timeout_ms,
            audience,
            enabled: false,
        }),
        ServerChange::Switch { enabled: true } => servers.enable(&server).await,
        ServerChange::Switch { enabled: false } => store.set_enabled(&server, false),
        ServerChange::Approve { digest } => servers.approve(&server, &digest).await,
        ServerChange::Restart => servers.restart(&server).await,
        ServerChange::SignIn => store.find(&server)?.sign_in().await,
        ServerChange::SignOut => store.find(&server)?.sign_out().await,
        ServerChange::Remove => servers.remove(&server).await,
    };
    result.map(|()| OpReceipt::default())
}

impl Servers {
    /// Switches a server on, once it was connected; the first time this approves the tools that it listed.
    async fn enable(&self, id: &ServerId) -> Result<(), UserError> {
        let current = self.store.find(id)?;
        let settings = ServerSettings {
            enabled: true,
            ..current.settings().clone()
        };
        if current.settings().enabled {
            return current.retry().await;
        }
        let was_approved = self.store.was_approved(id);
        let (server, _) = self.store.build_entry(settings);
        if let Err(error) = server.ensure_connected().await {
            server.shut_down();
            current.copy_challenge_from(&server);
            self.add_failed(&current, server);
            return Err(error);
        }
        if !was_approved {
            self.store.approve_initial(&server)?;
        }
        self.store.replace(server);
        self.store.set_enabled(id, true)
    }

    async fn approve(&self, id: &ServerId, digest: &Digest) -> Result<(), UserError> {
        let server = self.store.find(id)?;
        if server.catalogue().is_none() {
            // The catalogue that the person looked at was listed to another process.
            server.ensure_connected().await?;
        }
        self.store.approve(&server, digest)
    }

    async fn restart(&self, id: &ServerId) -> Result<(), UserError> {
        let current = self.store.find(id)?;
        let (server, _) = self.store.build_entry(current.settings().clone());
        self.store.replace(server.clone());
        server.ensure_connected().await
    }

    async fn remove(&self, id: &ServerId) -> Result<(), UserError> {
        let server = self.store.find(id)?;
        // A keychain that is not there holds nothing, and keeps nobody from removing a server.
        if supports_sign_in(&server.settings().transport)
            && let Err(fault) = server.sign_out().await
        {
            tracing::warn!(%fault, "what was signed in with may still be kept, or good");
        }
        self.store.remove(id)?;
        mcp::remove_server_data(self.store.data_dir(), id)
    }
}
