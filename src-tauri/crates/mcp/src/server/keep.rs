//! Keeps one server connected: starts it, stays with it, lists its tools anew, and tries again when it is lost.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::servers::{ServerRoom, ServerWay, SignIn};
use rmcp::transport::auth::AuthClient;
use runtime::{Companion, CompanionCommand};
use tokio::time::Instant;

use super::{Core, Phase};
use crate::catalogue::Catalogue;
use crate::limits::{RELIST_EVERY, STEADY_AFTER};
use crate::link::{Failure, Far, Link, Unopened, Way};
use crate::refs::expand;
use crate::seen;
use crate::sign::Signer;

/// What a connection begins with, its references looked up.
pub(super) enum Start {
    Program(Companion),
    /// A program that is to be started in a room.
    InRoom(CompanionCommand, ServerRoom),
    /// An address, and how a person signs in to it where they can.
    Address(Far, Option<Signer>),
}

impl Core {
    /// Connects, and again whenever the connection is lost, for as long as there is somebody.
    pub(super) async fn keep(self: &Arc<Self>) {
        let mut failed = 0;
        let mut lost = None;
        loop {
            self.phase.send_replace(Phase::Starting { lost });
            self.log(&format!("Started: {}", self.settings.way.told()));
            let opened = tokio::time::timeout(self.timeout(), self.open()).await;
            let late = || format!("it did not begin within {} ms", self.settings.timeout_ms);
            let (why, is_unknown) = match opened.unwrap_or_else(|_| Err(late().into())) {
                Err(unopened) => {
                    if unopened.challenge.is_some() {
                        self.handler.challenged(unopened.challenge);
                        self.keep_challenge();
                    }
                    (unopened.why, self.is_unknown())
                }
                Ok(link) => {
                    let since = Instant::now();
                    self.phase.send_replace(Phase::Ready(link.clone()));
                    self.attend(&link).await;
                    if since.elapsed() >= STEADY_AFTER {
                        failed = 0;
                    }
                    (link.why_gone().await, self.is_unknown())
                }
            };
            if is_unknown && self.signs_in() {
                // Whoever is asked again without a sign-in says the same.
                self.log("It wants to know who asks: sign in to it.");
                self.phase.send_replace(Phase::NeedsSignIn);
                self.now.notified().await;
                (failed, lost) = (0, None);
                continue;
            }
            let pauses = &self.ground.retry_after;
            let retry = pauses.get(failed).or(pauses.last());
            let retry = retry.copied().unwrap_or(STEADY_AFTER);
            failed = failed.saturating_add(1);
            self.log(&format!(
                "Unavailable: {why}. Tried again in {} s.",
                retry.as_secs()
            ));
            lost = Some(why.clone());
            self.phase.send_replace(Phase::Unavailable { why, retry });
            tokio::select! {
                () = tokio::time::sleep(retry) => {}
                () = self.now.notified() => (failed, lost) = (0, None),
            }
        }
    }

    /// Stays with a connection to its end, and lists the tools anew when they may be others.
    async fn attend(&self, link: &Link) {
        loop {
            tokio::select! {
                () = link.gone.cancelled() => return,
                () = self.handler.relist.notified() => {}
            }
            // A server that says so all the time is asked now and then.
            tokio::time::sleep(RELIST_EVERY).await;
            match link.list(self.timeout()).await {
                Ok(catalogue) => self.take(catalogue),
                Err(failure) => self.log(&format!(
                    "Its list of tools could not be read: {failure:?}."
                )),
            }
        }
    }

    async fn open(self: &Arc<Self>) -> Result<Arc<Link>, Unopened> {
        let is_legacy = self.kept().is_legacy;
        let opened = match self.greet(is_legacy).await {
            // Some servers of 2025 answer whatever they are asked.
            Err(unopened) if unopened.is_puzzled && !is_legacy => self.greet(true).await,
            opened => opened,
        };
        let link = opened?;
        self.kept().is_legacy = link.is_legacy();
        self.log(&format!(
            "Connected to `{}` {}, by the protocol of {}.",
            link.said.name, link.said.version, link.said.protocol
        ));
        let listed = link.list(self.timeout()).await;
        if listed.is_err() {
            self.keep_challenge();
        }
        let catalogue = listed.map_err(|failure| match failure {
            Failure::Gone(why) | Failure::Strange(why) => why,
            Failure::Refused(said) => format!("it would not list its tools: {said}"),
            Failure::Elsewhere(_) => "it would not list its tools".to_owned(),
            Failure::Cancelled | Failure::TimedOut => {
                "it did not list its tools in time".to_owned()
            }
        })?;
        self.take(catalogue);
        self.forget_challenge(false);
        link.subscribe();
        Ok(Arc::new(link))
    }

    /// Makes a connection, with nothing asked over it.
    async fn greet(self: &Arc<Self>, is_legacy: bool) -> Result<Link, Unopened> {
        let core = self.clone();
        // The keychain may ask the person first.
        let looked_up = tokio::task::spawn_blocking(move || core.way());
        let way = looked_up
            .await
            .map_err(|_| "it could not be prepared".to_owned())??;
        let way = match way {
            Start::Program(companion) => Way::Stdio(companion),
            Start::InRoom(command, room) => {
                Way::Stdio(self.ground.rooms.accompany(&command, &room).await?)
            }
            Start::Address(far, None) => far.unsigned(),
            Start::Address(far, Some(signer)) => match self.signed_in(&signer, &far).await? {
                Some(client) => {
                    self.kept().sign_in.get_or_insert(SignIn::Done);
                    far.signed(client)
                }
                None => far.unsigned(),
            },
        };
        Link::open(way, self.handler.clone(), is_legacy).await
    }

    /// A client with what the person signed in with; none if they did not. Where the keychain cannot be asked nothing is kept
    /// in it, so the server is tried without: most ask for no sign-in.
    async fn signed_in(
        &self,
        signer: &Signer,
        far: &Far,
    ) -> Result<Option<AuthClient<reqwest::Client>>, String> {
        match signer.record().await {
            Ok(None) => Ok(None),
            Ok(Some(record)) => signer.client(record, far.client.clone()).await,
            Err(why) => {
                self.log(&format!("Connecting without a kept sign-in: {why}"));
                Ok(None)
            }
        }
    }

    /// Takes over what the server lists.
    fn take(&self, catalogue: Catalogue) {
        let catalogue = Arc::new(catalogue);
        let mut kept = self.kept();
        let before = kept.catalogue.replace(catalogue.clone());
        let pins = kept.pins.clone();
        drop(kept);
        if before.is_none_or(|before| before.digest() != catalogue.digest()) {
            for why in &catalogue.left_out {
                self.log(why);
            }
            if pins.waits(&catalogue) {
                self.log("Some of its tools are not as they were approved, and wait for a look.");
            }
            self.keep_seen();
            self.changed();
        }
    }

    /// Keeps what waits for an approval for as long as it does.
    pub(super) fn keep_seen(&self) {
        let (Some(data_dir), id) = (&self.ground.data_dir, &self.settings.id) else {
            return;
        };
        let (pins, catalogue) = {
            let kept = self.kept();
            (kept.pins.clone(), kept.catalogue.clone())
        };
        let Some(catalogue) = catalogue else { return };
        let kept = match pins.waits(&catalogue) {
            true => seen::keep(data_dir, id, &catalogue),
            false => seen::forget(data_dir, id),
        };
        if let Err(fault) = kept {
            self.log(&format!("What waits for a look is not kept: {fault}"));
        }
    }

    /// What it listed last and waits for an approval, as far as that was kept.
    pub(super) fn seen(&self) -> Option<Arc<Catalogue>> {
        let data_dir = self.ground.data_dir.as_ref()?;
        let seen = seen::load(data_dir, &self.settings.id)?;
        self.kept().pins.waits(&seen).then(|| Arc::new(seen))
    }

    /// The way to the server with everything looked up. May block.
    pub(super) fn way(&self) -> Result<Start, String> {
        let lookup = self.ground.lookup.as_ref();
        let all = |values: &[String]| -> Result<Vec<String>, String> {
            values.iter().map(|value| expand(value, lookup)).collect()
        };
        let named = |values: &std::collections::BTreeMap<String, String>| {
            let values = values.iter();
            values
                .map(|(name, value)| Ok((name.clone(), expand(value, lookup)?)))
                .collect::<Result<Vec<(String, String)>, String>>()
        };
        match &self.settings.way {
            ServerWay::Stdio {
                command,
                args,
                env,
                folder,
                room,
            } => {
                let folder = folder.as_deref().map(|folder| expand(folder, lookup));
                let of_room = room.as_ref().map(|room| PathBuf::from(&room.workspace));
                let usual = of_room.unwrap_or_else(|| self.ground.home.clone());
                let command = CompanionCommand {
                    program: expand(command, lookup)?,
                    args: all(args)?,
                    folder: folder.transpose()?.map_or(usual, PathBuf::from),
                    inherited: self.ground.inherited.clone(),
                    env: named(env)?,
                };
                if let Some(room) = room {
                    return Ok(Start::InRoom(command, room.clone()));
                }
                let companion = runtime::accompany(&command);
                companion
                    .map(Start::Program)
                    .map_err(|error| format!("its program could not be started: {error}"))
            }
            ServerWay::Http {
                url,
                headers,
                client,
            } => {
                let url = expand(url, lookup)?;
                let far = Far::new(&url, &named(headers)?)?;
                if !self.signs_in() {
                    return Ok(Start::Address(far, None));
                }
                let client = client.as_ref().map(|client| {
                    let secret = client.secret.as_deref();
                    let secret = secret.map(|secret| expand(secret, lookup)).transpose()?;
                    Ok::<_, String>((client.id.clone(), secret))
                });
                let signer = Signer {
                    server: self.settings.id.clone(),
                    url,
                    client: client.transpose()?,
                    vault: self.ground.vault.clone(),
                    renewing: self.renewing.clone(),
                };
                Ok(Start::Address(far, Some(signer)))
            }
        }
    }
}
