//! Keeps one server connected: starts it, watches its connection, lists its tools anew, and reconnects when the
//! connection is lost.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::server::mcp_servers::{ServerSandbox, ServerTransport, SignInState};
use rmcp::transport::auth::AuthClient;
use runtime::{Companion, CompanionCommand};
use tokio::time::Instant;
use tools::sources::Catalogue;

use super::{ConnectionPhase, ServerCore};
use crate::catalogue::ToolCatalogue;
use crate::config_references::expand_references;
use crate::connection::{
    ConnectError, ConnectionTransport, HttpEndpoint, RequestFailure, ServerConnection,
    ServerHttpClient,
};
use crate::limits::{RELIST_EVERY, STEADY_AFTER};
use crate::oauth::SignInClient;
use crate::pending_catalogue;

/// Everything needed to start a connection, with its references resolved.
pub(super) enum LaunchPlan {
    Program(Companion),
    /// A program to start in a sandbox.
    Sandboxed(CompanionCommand, ServerSandbox),
    /// A URL, and the sign-in client where a person can sign in.
    Http(HttpEndpoint, Option<SignInClient>),
}

impl ServerCore {
    /// Connects, and reconnects whenever the connection is lost, for as long as the server is in use.
    pub(super) async fn maintain_connection(self: &Arc<Self>) {
        let mut failed = 0;
        let mut lost = None;
        loop {
            self.phase.send_replace(ConnectionPhase::Starting { lost });
            self.log_event(&format!("Started: {}", self.settings.transport.summary()));
            let result = tokio::time::timeout(self.timeout(), self.connect()).await;
            let late_error = || format!("it did not begin within {} ms", self.settings.timeout_ms);
            let (why, is_unauthenticated) =
                match result.unwrap_or_else(|_| Err(late_error().into())) {
                    Err(error) => {
                        if error.challenge.is_some() {
                            self.handler.set_challenge(error.challenge);
                            self.save_challenge();
                        }
                        (error.why, self.needs_authentication())
                    }
                    Ok(connection) => {
                        let since = Instant::now();
                        self.phase
                            .send_replace(ConnectionPhase::Ready(connection.clone()));
                        self.watch_connection(&connection).await;
                        if since.elapsed() >= STEADY_AFTER {
                            failed = 0;
                        }
                        (
                            connection.disconnect_reason().await,
                            self.needs_authentication(),
                        )
                    }
                };
            if is_unauthenticated && self.supports_sign_in() {
                // Whoever is asked again without a sign-in says the same.
                self.log_event("It wants to know who asks: sign in to it.");
                self.phase.send_replace(ConnectionPhase::NeedsSignIn);
                self.retry_now.notified().await;
                (failed, lost) = (0, None);
                continue;
            }
            let pauses = &self.dependencies.retry_after;
            let retry = pauses.get(failed).or(pauses.last());
            let retry = retry.copied().unwrap_or(STEADY_AFTER);
            failed = failed.saturating_add(1);
            self.log_event(&format!(
                "Unavailable: {why}. Tried again in {} s.",
                retry.as_secs()
            ));
            lost = Some(why.clone());
            self.phase
                .send_replace(ConnectionPhase::Unavailable { why, retry });
            tokio::select! {
                () = tokio::time::sleep(retry) => {}
                () = self.retry_now.notified() => (failed, lost) = (0, None),
            }
        }
    }

    /// Watches a connection until it ends, and lists the tools anew when they may have changed.
    async fn watch_connection(&self, connection: &ServerConnection) {
        loop {
            tokio::select! {
                () = connection.disconnected.cancelled() => return,
                () = self.handler.tools_changed.notified() => {}
            }
            // A server that says so all the time is asked now and then.
            tokio::time::sleep(RELIST_EVERY).await;
            match connection.list_tools(self.timeout()).await {
                Ok(catalogue) => self.apply_catalogue(catalogue),
                Err(failure) => self.log_event(&format!(
                    "Its list of tools could not be read: {failure:?}."
                )),
            }
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<Arc<ServerConnection>, ConnectError> {
        let is_legacy = self.lock_state().is_legacy;
        let result = match self.open_connection(is_legacy).await {
            // Some servers of 2025 answer whatever they are asked.
            Err(error) if error.may_be_legacy && !is_legacy => self.open_connection(true).await,
            result => result,
        };
        let connection = result?;
        {
            let mut state = self.lock_state();
            state.is_legacy = connection.is_legacy();
            state.offers = connection.offers();
        }
        self.log_event(&format!(
            "Connected to `{}` {}, by the protocol of {}.",
            connection.server_info.name,
            connection.server_info.version,
            connection.server_info.protocol
        ));
        let list = connection.list_tools(self.timeout()).await;
        if list.is_err() {
            self.save_challenge();
        }
        let catalogue = list.map_err(|failure| match failure {
            RequestFailure::Disconnected(why) | RequestFailure::Malformed(why) => why,
            RequestFailure::Rejected(message) => format!("it would not list its tools: {message}"),
            RequestFailure::UrlElicitationRequired(_) => "it would not list its tools".to_owned(),
            RequestFailure::Cancelled | RequestFailure::TimedOut => {
                "it did not list its tools in time".to_owned()
            }
        })?;
        self.apply_catalogue(catalogue);
        self.clear_challenge(false);
        connection.subscribe_list_changes();
        // Its log is filtered again for who reads it, so a server that refuses the level is used all the same.
        let told = connection.send_log_level(self.timeout(), &self.stop).await;
        if told.is_err() {
            self.log_event("It does not take the level of its log messages.");
        }
        Ok(Arc::new(connection))
    }

    /// Opens a connection without sending requests over it.
    async fn open_connection(
        self: &Arc<Self>,
        is_legacy: bool,
    ) -> Result<ServerConnection, ConnectError> {
        let transport = match self.resolve_launch_async().await? {
            LaunchPlan::Program(companion) => ConnectionTransport::Stdio(companion),
            LaunchPlan::Sandboxed(command, sandbox) => ConnectionTransport::Stdio(
                self.dependencies
                    .sandbox_launcher
                    .start_sandboxed(&command, &sandbox)
                    .await?,
            ),
            LaunchPlan::Http(endpoint, None) => endpoint.into_unsigned(),
            LaunchPlan::Http(endpoint, Some(signer)) => {
                match self.signed_in_client(&signer, &endpoint).await? {
                    Some(client) => {
                        self.lock_state().sign_in.get_or_insert(SignInState::Done);
                        endpoint.into_signed(client)
                    }
                    None => endpoint.into_unsigned(),
                }
            }
        };
        ServerConnection::open(transport, self.handler.clone(), is_legacy).await
    }

    /// Returns a client with the person's sign-in; none if they are not signed in. If the keychain is not available, it
    /// holds no sign-in, so the server is tried without one: most servers require none.
    async fn signed_in_client(
        &self,
        signer: &SignInClient,
        endpoint: &HttpEndpoint,
    ) -> Result<Option<AuthClient<ServerHttpClient>>, String> {
        match signer.load_record().await {
            Ok(None) => Ok(None),
            Ok(Some(record)) => {
                signer
                    .authorized_client(record, endpoint.client.clone())
                    .await
            }
            Err(why) => {
                self.log_event(&format!("Connecting without a kept sign-in: {why}"));
                Ok(None)
            }
        }
    }

    /// Takes over the server's list of tools.
    fn apply_catalogue(&self, catalogue: ToolCatalogue) {
        let catalogue = Arc::new(catalogue);
        let mut state = self.lock_state();
        let previous = state.tools.catalogue.replace(catalogue.clone());
        let pins = state.tools.pins.clone();
        drop(state);
        if previous.is_none_or(|previous| previous.digest() != catalogue.digest()) {
            for why in &catalogue.left_out {
                self.log_event(why);
            }
            if pins.has_pending_changes(&catalogue) {
                self.log_event(
                    "Some of its tools are not as they were approved, and wait for a look.",
                );
            }
            self.save_pending_catalogue();
            self.bump_version();
        }
    }

    /// Stores the list of tools while it waits for an approval, and removes it afterwards.
    pub(super) fn save_pending_catalogue(&self) {
        let (Some(data_dir), id) = (&self.dependencies.data_dir, &self.settings.id) else {
            return;
        };
        let tools = self.lock_state().tools.clone();
        let Some(catalogue) = tools.catalogue else {
            return;
        };
        let saved = match tools.pins.has_pending_changes(&catalogue) {
            true => pending_catalogue::save_pending_catalogue(data_dir, id, &catalogue),
            false => pending_catalogue::remove_pending_catalogue(data_dir, id),
        };
        if let Err(fault) = saved {
            self.log_event(&format!("What waits for a look is not kept: {fault}"));
        }
    }

    /// Returns the stored list of tools that waits for an approval, if there is one.
    pub(super) fn load_pending_catalogue(&self) -> Option<Arc<ToolCatalogue>> {
        let data_dir = self.dependencies.data_dir.as_ref()?;
        let catalogue = pending_catalogue::load_pending_catalogue(data_dir, &self.settings.id)?;
        let pins = self.lock_state().tools.pins.clone();
        pins.has_pending_changes(&catalogue)
            .then(|| Arc::new(catalogue))
    }

    /// Resolves all references in the server's settings and returns how to start it, away from the async threads: the
    /// keychain may ask the person first.
    pub(super) async fn resolve_launch_async(self: &Arc<Self>) -> Result<LaunchPlan, String> {
        let core = self.clone();
        let plan = tokio::task::spawn_blocking(move || core.resolve_launch()).await;
        plan.unwrap_or_else(|_| Err("it could not be prepared".to_owned()))
    }

    /// Resolves all references in the server's settings and returns how to start it. May block.
    fn resolve_launch(&self) -> Result<LaunchPlan, String> {
        let lookup = self.dependencies.lookup.as_ref();
        let expand_all = |values: &[String]| -> Result<Vec<String>, String> {
            values
                .iter()
                .map(|value| expand_references(value, lookup))
                .collect()
        };
        let expand_map = |values: &std::collections::BTreeMap<String, String>| {
            let values = values.iter();
            values
                .map(|(name, value)| Ok((name.clone(), expand_references(value, lookup)?)))
                .collect::<Result<Vec<(String, String)>, String>>()
        };
        match &self.settings.transport {
            ServerTransport::Stdio {
                command,
                args,
                env,
                folder,
                sandbox,
            } => {
                let folder = folder
                    .as_deref()
                    .map(|folder| expand_references(folder, lookup));
                let workspace = sandbox
                    .as_ref()
                    .map(|sandbox| PathBuf::from(&sandbox.workspace));
                let default_folder = workspace.unwrap_or_else(|| self.dependencies.home.clone());
                let command = CompanionCommand {
                    program: expand_references(command, lookup)?,
                    args: expand_all(args)?,
                    folder: folder.transpose()?.map_or(default_folder, PathBuf::from),
                    inherited: self.dependencies.inherited.clone(),
                    env: expand_map(env)?,
                };
                if let Some(sandbox) = sandbox {
                    return Ok(LaunchPlan::Sandboxed(command, sandbox.clone()));
                }
                let companion = runtime::start_companion(&command);
                companion
                    .map(LaunchPlan::Program)
                    .map_err(|error| format!("its program could not be started: {error}"))
            }
            ServerTransport::Http {
                url,
                headers,
                client,
            } => {
                let url = expand_references(url, lookup)?;
                let endpoint = HttpEndpoint::new(&url, &expand_map(headers)?)?;
                if !self.supports_sign_in() {
                    return Ok(LaunchPlan::Http(endpoint, None));
                }
                let client = client.as_ref().map(|client| {
                    let secret = client.secret.as_deref();
                    let secret = secret
                        .map(|secret| expand_references(secret, lookup))
                        .transpose()?;
                    Ok::<_, String>((client.id.clone(), secret))
                });
                let signer = SignInClient {
                    server: self.settings.id.clone(),
                    url,
                    client: client.transpose()?,
                    vault: self.dependencies.vault.clone(),
                    renewal_lock: self.renewal_lock.clone(),
                };
                Ok(LaunchPlan::Http(endpoint, Some(signer)))
            }
        }
    }
}
