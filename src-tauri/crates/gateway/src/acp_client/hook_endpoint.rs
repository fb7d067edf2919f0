//! The endpoint of one agent: its hooks ask there, in the session that it answers in, and its MCP servers are served there.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use protocol::{SessionId, UserError};
use runtime::{LocalListener, SessionFolder};
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::agent_hooks::client::{AGENT_SESSION_VARIABLE, open_agent_folder};
use crate::agent_hooks::turn_hooks::TurnHooks;
use crate::agent_servers::AgentServers;
use crate::endpoint_server::{ServeOptions, serve_hooks};
use crate::limits::ENDPOINT_BIND_MAX;

/// Time between two tries to listen.
const BIND_PAUSE: Duration = Duration::from_millis(20);

/// An endpoint that is served until it is dropped.
pub(super) struct HookEndpoint {
    /// The hooks that are answered there.
    pub hooks: Arc<TurnHooks>,
    session: SessionId,
    _stop: DropGuard,
}

impl HookEndpoint {
    /// Serves the endpoint of the agent in a session, which is given these servers.
    ///
    /// # Errors
    /// The endpoint cannot be opened.
    pub async fn open(
        data_dir: &Path,
        session: &SessionId,
        servers: AgentServers,
    ) -> Result<Self, UserError> {
        let folder = open_agent_folder(data_dir, session)?;
        let listener = bind(folder.path()).await.map_err(|error| {
            UserError::new(
                "The endpoint for the agent's hooks and servers cannot be opened.",
                "Look whether the data folder can be written, and whether another process works in the session.",
            )
            .with_source(&error)
        })?;
        let hooks = Arc::new(TurnHooks::new(servers));
        let stop = CancellationToken::new();
        tokio::spawn(serve(hooks.clone(), listener, folder, stop.clone()));
        Ok(Self {
            hooks,
            session: session.clone(),
            _stop: stop.drop_guard(),
        })
    }

    /// Returns the variable by which the agent's hooks find the endpoint.
    pub fn variable(&self) -> (String, String) {
        let session = self.session.to_string();
        (AGENT_SESSION_VARIABLE.to_owned(), session)
    }
}

/// Listens in a folder. An agent of the session that was ended just now gives its place up first.
async fn bind(folder: &Path) -> io::Result<LocalListener> {
    let until = Instant::now() + ENDPOINT_BIND_MAX;
    loop {
        match LocalListener::bind(folder).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                sleep(BIND_PAUSE).await;
            }
            bound => return bound,
        }
    }
}

async fn serve(
    hooks: Arc<TurnHooks>,
    listener: LocalListener,
    folder: SessionFolder,
    stop: CancellationToken,
) {
    let options = ServeOptions {
        can_ask: true,
        idle_max: None,
    };
    serve_hooks(hooks, listener, options, stop.cancelled()).await;
    folder.remove_if_empty();
}
