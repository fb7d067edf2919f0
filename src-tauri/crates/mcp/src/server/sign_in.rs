//! Signs a person in to a server and out of it: begins the sign-in, waits for the person, and reconnects the server
//! afterwards.

use std::sync::Arc;

use protocol::UserError;
use protocol::server::mcp_servers::{ServerTransport, SignInState};
use tokio_util::sync::CancellationToken;

use super::lifecycle::LaunchPlan;
use super::{McpServer, ServerCore};
use crate::connection::{HttpEndpoint, ServerConnection};
use crate::limits::SIGN_IN_TIMEOUT;
use crate::oauth::challenge::{AuthChallenge, ChallengeStore, remove_challenge};
use crate::oauth::{PendingSignIn, RevocationResult, SignInClient, SignInError};

/// Reason for closing a connection that is opened anew.
const RECONNECT_REASON: &str = "it is connected anew, since the person signed in or out";

/// Reason why a server with an authentication header supports no sign-in.
const AUTHENTICATED_BY_HEADER: &str = "a header of its own says who asks";
const IS_LOCAL_PROGRAM: &str = "it is a program of this machine";

/// Next step where no sign-in can begin.
const CHECK_SETUP_HINT: &str =
    "Look at how the server is set up, and at what its makers say of signing in.";

/// Next step where a sign-in could not be stored.
const USE_HEADER_HINT: &str = "What you sign in with is kept in the keychain. Without one, set the server up with a header \
     `Authorization` whose value names an environment variable: `Bearer ${NAME}`.";

impl McpServer {
    /// Begins to sign the person in; the server's view then contains the URL to open. Ends an earlier sign-in that
    /// still waits.
    ///
    /// # Errors
    /// The server requires no sign-in, no authorization server is found, or the sign-in could not be stored.
    pub async fn sign_in(&self) -> Result<(), UserError> {
        let core = &self.core;
        let pending = tokio::time::timeout(core.timeout(), core.begin_sign_in()).await;
        let late_error = || format!("nobody answered within {} ms", core.settings.timeout_ms);
        let pending = pending.unwrap_or_else(|_| Err(late_error().into()));
        let pending = pending.map_err(|why| core.sign_in_error(&why))?;
        core.spawn_sign_in_wait(pending);
        Ok(())
    }

    /// Removes the stored sign-in and cancels a sign-in that waits for the person; then asks the authorization server
    /// to revoke it.
    ///
    /// # Errors
    /// The server supports no sign-in, or the keychain is not available, and nothing changed; or the sign-in is removed
    /// here, and the authorization server could not be asked to revoke it.
    pub async fn sign_out(&self) -> Result<(), UserError> {
        let core = &self.core;
        let id = &core.settings.id;
        let reject = |why: &str| {
            Err(UserError::new(
                format!("Nobody signs in to `{id}`: {why}."),
                "There is nothing to sign out of. What it is given to know you by stands in its settings.",
            ))
        };
        let keychain_error = |why: String| {
            let message = format!("What you signed in to `{id}` with is still kept: {why}");
            UserError::new(
                message,
                "Unlock the keychain of this machine, then try again.",
            )
        };
        let revocation = match core.resolve_launch_async().await.map_err(keychain_error)? {
            LaunchPlan::Http(_, Some(signer)) => {
                signer.revoke_sign_in().await.map_err(keychain_error)?
            }
            LaunchPlan::Http(_, None) => return reject(AUTHENTICATED_BY_HEADER),
            LaunchPlan::Program(_) | LaunchPlan::Sandboxed(..) => return reject(IS_LOCAL_PROGRAM),
        };
        core.log_event("Signed out.");
        let mut state = core.lock_state();
        (state.sign_in, state.sign_in_guard) = (None, None);
        drop(state);
        core.reconnect();
        match revocation {
            None | Some(RevocationResult::Revoked) => Ok(()),
            Some(RevocationResult::Unsupported) => {
                core.log_event("Who signed you in takes nothing back: what they gave is good until it expires.");
                Ok(())
            }
            Some(RevocationResult::Failed(why)) => Err(UserError::new(
                format!(
                    "You are signed out of `{id}` here, but who signed you in could not be told: {why}."
                ),
                "End it in your account there too.",
            )),
        }
    }

    /// Takes over the authentication challenge of another server object, which could not be switched on.
    pub fn copy_challenge_from(&self, other: &Self) {
        if let Some(challenge) = other.core.handler.challenge() {
            self.core.handler.set_challenge(challenge);
        }
    }
}

/// Whether a person can sign in to a server with this transport: only where no header authenticates them.
pub fn supports_sign_in(transport: &ServerTransport) -> bool {
    match transport {
        ServerTransport::Stdio { .. } => false,
        ServerTransport::Http { headers, .. } => {
            let mut names = headers.keys();
            !names.any(|name| name.eq_ignore_ascii_case("authorization"))
        }
    }
}

impl ServerCore {
    pub(super) fn supports_sign_in(&self) -> bool {
        supports_sign_in(&self.settings.transport)
    }

    /// Whether the server requires authentication before anything else, whether it challenged `initialize` or a later
    /// request.
    pub(super) fn needs_authentication(&self) -> bool {
        let challenge = self.handler.challenge();
        challenge.is_some_and(|challenge| !challenge.is_more)
    }

    /// Returns the person's sign-in state at the server.
    pub(super) fn sign_in_status(&self) -> Option<SignInState> {
        let current = self.lock_state().sign_in.clone();
        let is_needed = self.supports_sign_in() && self.find_challenge().is_some();
        match current {
            None | Some(SignInState::Done) if is_needed => Some(SignInState::Needed { why: None }),
            current => current,
        }
    }

    fn sign_in_error(&self, why: &SignInError) -> UserError {
        let (why, hint) = match why {
            SignInError::NoKeychain(why) => (why, USE_HEADER_HINT),
            SignInError::Other(why) => (why, CHECK_SETUP_HINT),
        };
        let message = format!(
            "Signing in to `{}` could not begin: {}.",
            self.settings.id,
            why.trim_end_matches('.')
        );
        UserError::new(message, hint)
    }

    async fn begin_sign_in(self: &Arc<Self>) -> Result<PendingSignIn, SignInError> {
        let (endpoint, signer) = match self.resolve_launch_async().await? {
            LaunchPlan::Http(endpoint, Some(signer)) => (endpoint, signer),
            LaunchPlan::Http(_, None) => {
                return Err(AUTHENTICATED_BY_HEADER.to_owned().into());
            }
            LaunchPlan::Program(_) | LaunchPlan::Sandboxed(..) => {
                return Err(IS_LOCAL_PROGRAM.to_owned().into());
            }
        };
        let challenge = match self.find_challenge() {
            Some(challenge) => challenge,
            None => self.request_challenge(endpoint).await?,
        };
        self.begin_with_signer(&signer, &challenge).await
    }

    /// Returns the server's authentication challenge, asking for it if there was none yet. Some servers answer
    /// `initialize` without authentication and only challenge the next request.
    async fn request_challenge(&self, endpoint: HttpEndpoint) -> Result<AuthChallenge, String> {
        let connection =
            match ServerConnection::open(endpoint.into_unsigned(), self.handler.clone(), false)
                .await
            {
                Ok(connection) => connection,
                Err(error) => return error.challenge.ok_or(error.why),
            };
        // The tools that the server lists without authentication do not matter.
        let _ = connection.list_tools(self.timeout()).await;
        let challenge = self.handler.challenge();
        challenge.ok_or_else(|| "it asks nobody to sign in".to_owned())
    }

    /// Returns the authentication challenge that this process or an earlier one received.
    fn find_challenge(&self) -> Option<AuthChallenge> {
        let stored = || self.challenge_store()?.load();
        self.handler.challenge().or_else(stored)
    }

    fn challenge_store(&self) -> Option<ChallengeStore<'_>> {
        match &self.settings.transport {
            ServerTransport::Stdio { .. } => None,
            ServerTransport::Http { url, .. } => Some(ChallengeStore {
                data_dir: self.dependencies.data_dir.as_deref()?,
                server: &self.settings.id,
                url,
            }),
        }
    }

    /// Stores the authentication challenge for a process that signs in later.
    pub(super) fn save_challenge(&self) {
        if let (Some(store), Some(challenge)) = (self.challenge_store(), self.handler.challenge())
            && let Err(fault) = store.save(&challenge)
        {
            self.log_event(&format!("How to sign in is not kept: {fault}"));
        }
    }

    /// Removes the challenge once the server accepts the person, except for one that requires more scopes, which only a
    /// new sign-in settles.
    pub(super) fn clear_challenge(&self, signed_in: bool) {
        let Some(store) = self.challenge_store() else {
            return;
        };
        if store
            .load()
            .is_some_and(|challenge| signed_in || !challenge.is_more)
            && let Err(fault) = remove_challenge(store.data_dir, store.server)
        {
            self.log_event(&format!("How it wanted a sign-in is still kept: {fault}"));
        }
    }

    async fn begin_with_signer(
        &self,
        signer: &SignInClient,
        challenge: &AuthChallenge,
    ) -> Result<PendingSignIn, SignInError> {
        let pending = signer.begin_sign_in(challenge).await?;
        self.log_event(&format!("Signing in begins at {}.", pending.host));
        Ok(pending)
    }

    /// Waits for the person to sign in, until the timeout.
    fn spawn_sign_in_wait(self: &Arc<Self>, pending: PendingSignIn) {
        let stop = self.stop.child_token();
        let mut state = self.lock_state();
        state.sign_in = Some(SignInState::Waiting {
            url: pending.url.clone(),
            host: pending.host.clone(),
        });
        state.sign_in_guard = Some(stop.clone().drop_guard());
        drop(state);
        let core = self.clone();
        tokio::spawn(async move {
            let finished = tokio::time::timeout(SIGN_IN_TIMEOUT, pending.complete());
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                finished = finished => {
                    let late_error = || Err("nobody signed in for ten minutes".to_owned());
                    core.record_sign_in_result(&stop, finished.unwrap_or_else(|_| late_error()));
                }
            }
        });
    }

    fn record_sign_in_result(&self, stop: &CancellationToken, finished: Result<(), String>) {
        let mut state = self.lock_state();
        // Another one may wait by now, or none.
        if stop.is_cancelled() {
            return;
        }
        let (sign_in, message) = match &finished {
            Ok(()) => (SignInState::Done, "Signed in.".to_owned()),
            Err(why) => {
                let why = why.trim_end_matches('.').to_owned();
                let message = format!("Nobody is signed in: {why}.");
                (SignInState::Needed { why: Some(why) }, message)
            }
        };
        state.sign_in = Some(sign_in);
        state.sign_in_guard = None;
        drop(state);
        self.log_event(&message);
        if finished.is_ok() {
            self.handler.set_challenge(None);
            self.clear_challenge(true);
            self.reconnect();
        }
    }

    /// Reconnects the server if it is connected, or waits to be.
    fn reconnect(&self) {
        let connection = self.phase.borrow().connection().cloned();
        match connection {
            Some(connection) => {
                connection.close(RECONNECT_REASON);
                self.retry_now.notify_one();
            }
            None => self.clear_failure(),
        }
    }
}
