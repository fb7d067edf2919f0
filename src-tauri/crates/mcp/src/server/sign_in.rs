//! Signing in to a server and out of it, as a person does: begun, waited for, and then the server is connected anew.

use std::sync::Arc;

use protocol::Fault;
use protocol::servers::{ServerWay, SignIn};
use tokio_util::sync::CancellationToken;

use super::keep::Start;
use super::{Core, Phase, Server};
use crate::limits::SIGN_IN_MAX;
use crate::link::{Far, Link};
use crate::sign::challenge::{Challenge, KeptChallenge, forget};
use crate::sign::{Begun, NotBegun, Signer, TakenBack};

/// Why a connection was closed that is made anew.
const ANEW: &str = "it is connected anew, since the person signed in or out";

/// Why nobody signs in to some servers.
const HEADER: &str = "a header of its own says who asks";
const PROGRAM: &str = "it is a program of this machine";

/// The way on where no sign-in can begin.
const LOOK_AT_SETUP: &str =
    "Look at how the server is set up, and at what its makers say of signing in.";

/// The way on where nothing that is signed in with could be kept.
const USE_HEADER: &str = "What you sign in with is kept in the keychain. Without one, set the server up with a header \
     `Authorization` whose value names an environment variable: `Bearer ${NAME}`.";

impl Server {
    /// Begins to sign the person in: its view then tells the address that they open. Whoever waited before waits no more.
    ///
    /// # Errors
    /// It asks nobody to sign in, nobody says where, or what they signed in with could not be kept.
    pub async fn sign_in(&self) -> Result<(), Fault> {
        let core = &self.core;
        let begun = tokio::time::timeout(core.timeout(), core.begin()).await;
        let late = || format!("nobody answered within {} ms", core.settings.timeout_ms);
        let begun = begun.unwrap_or_else(|_| Err(late().into()));
        let begun = begun.map_err(|why| core.not_begun(&why))?;
        core.wait_for(begun);
        Ok(())
    }

    /// Forgets what the person signed in with, and whatever waits for them to sign in; then has it taken back by whoever gave
    /// it.
    ///
    /// # Errors
    /// Nobody signs in to such a server, or the keychain cannot be asked, and nothing changed; or it is forgotten here, and who
    /// gave it could not be told.
    pub async fn sign_out(&self) -> Result<(), Fault> {
        let core = &self.core;
        let id = &core.settings.id;
        let nobody = |why: &str| {
            Err(Fault::new(
                format!("Nobody signs in to `{id}`: {why}."),
                "There is nothing to sign out of. What it is given to know you by stands in its settings.",
            ))
        };
        let wrong = |why: String| {
            let told = format!("What you signed in to `{id}` with is still kept: {why}");
            Fault::new(told, "Unlock the keychain of this machine, then try again.")
        };
        let taken_back = match core.start().await.map_err(wrong)? {
            Start::Address(_, Some(signer)) => signer.forget().await.map_err(wrong)?,
            Start::Address(_, None) => return nobody(HEADER),
            Start::Program(_) | Start::InRoom(..) => return nobody(PROGRAM),
        };
        core.log("Signed out.");
        let mut kept = core.kept();
        (kept.sign_in, kept.waiting) = (None, None);
        drop(kept);
        core.anew();
        match taken_back {
            None | Some(TakenBack::Done) => Ok(()),
            Some(TakenBack::NotOffered) => {
                core.log("Who signed you in takes nothing back: what they gave is good until it expires.");
                Ok(())
            }
            Some(TakenBack::Failed(why)) => Err(Fault::new(
                format!(
                    "You are signed out of `{id}` here, but who signed you in could not be told: {why}."
                ),
                "End it in your account there too.",
            )),
        }
    }

    /// Takes over from one that could not be switched on what it said when it wanted to know who asks.
    pub fn heed(&self, other: &Self) {
        if let Some(challenge) = other.core.handler.challenge() {
            self.core.handler.challenged(challenge);
        }
    }
}

/// Whether a person can sign in to such a server: where nothing else says who they are.
pub fn signs_in(way: &ServerWay) -> bool {
    match way {
        ServerWay::Stdio { .. } => false,
        ServerWay::Http { headers, .. } => {
            let mut names = headers.keys();
            !names.any(|name| name.eq_ignore_ascii_case("authorization"))
        }
    }
}

impl Core {
    pub(super) fn signs_in(&self) -> bool {
        signs_in(&self.settings.way)
    }

    /// Whether it wants to know who asks before anything else, whether it said so when it was greeted or only later.
    pub(super) fn is_unknown(&self) -> bool {
        let challenge = self.handler.challenge();
        challenge.is_some_and(|challenge| !challenge.is_more)
    }

    /// How the person stands to it.
    pub(super) fn sign_in_told(&self) -> Option<SignIn> {
        let told = self.kept().sign_in.clone();
        let wants = self.signs_in() && self.challenge().is_some();
        match told {
            None | Some(SignIn::Done) if wants => Some(SignIn::Needed { why: None }),
            told => told,
        }
    }

    async fn start(self: &Arc<Self>) -> Result<Start, String> {
        let core = self.clone();
        let looked_up = tokio::task::spawn_blocking(move || core.way()).await;
        looked_up.unwrap_or_else(|_| Err("it could not be prepared".to_owned()))
    }

    fn not_begun(&self, why: &NotBegun) -> Fault {
        let (why, hint) = match why {
            NotBegun::NoKeychain(why) => (why, USE_HEADER),
            NotBegun::Other(why) => (why, LOOK_AT_SETUP),
        };
        let told = format!(
            "Signing in to `{}` could not begin: {}.",
            self.settings.id,
            why.trim_end_matches('.')
        );
        Fault::new(told, hint)
    }

    async fn begin(self: &Arc<Self>) -> Result<Begun, NotBegun> {
        let (far, signer) = match self.start().await? {
            Start::Address(far, Some(signer)) => (far, signer),
            Start::Address(_, None) => {
                return Err(HEADER.to_owned().into());
            }
            Start::Program(_) | Start::InRoom(..) => return Err(PROGRAM.to_owned().into()),
        };
        let challenge = match self.challenge() {
            Some(challenge) => challenge,
            None => self.challenge_of(far).await?,
        };
        self.begun(&signer, &challenge).await
    }

    /// How it says that it wants to know who asks, where nobody asked it yet. Some greet everybody and want to know it for
    /// whatever comes next.
    async fn challenge_of(&self, far: Far) -> Result<Challenge, String> {
        let link = match Link::open(far.unsigned(), self.handler.clone(), false).await {
            Ok(link) => link,
            Err(unopened) => return unopened.challenge.ok_or(unopened.why),
        };
        // What it lists to a stranger does not matter.
        let _ = link.list(self.timeout()).await;
        let challenge = self.handler.challenge();
        challenge.ok_or_else(|| "it asks nobody to sign in".to_owned())
    }

    /// How it said that it wants to know who asks, to this process or to one before.
    fn challenge(&self) -> Option<Challenge> {
        let kept = || self.kept_challenge()?.load();
        self.handler.challenge().or_else(kept)
    }

    fn kept_challenge(&self) -> Option<KeptChallenge<'_>> {
        match &self.settings.way {
            ServerWay::Stdio { .. } => None,
            ServerWay::Http { url, .. } => Some(KeptChallenge {
                data_dir: self.ground.data_dir.as_deref()?,
                server: &self.settings.id,
                url,
            }),
        }
    }

    /// Keeps how it said that it wants to know who asks, for a process that signs in later.
    pub(super) fn keep_challenge(&self) {
        if let (Some(kept), Some(challenge)) = (self.kept_challenge(), self.handler.challenge())
            && let Err(fault) = kept.keep(&challenge)
        {
            self.log(&format!("How to sign in is not kept: {fault}"));
        }
    }

    /// It knows who asks: what was kept is over, but for what it wants beyond that, which only signing in settles.
    pub(super) fn forget_challenge(&self, signed_in: bool) {
        let Some(kept) = self.kept_challenge() else {
            return;
        };
        if kept.load().is_some_and(|known| signed_in || !known.is_more)
            && let Err(fault) = forget(kept.data_dir, kept.server)
        {
            self.log(&format!("How it wanted a sign-in is still kept: {fault}"));
        }
    }

    async fn begun(&self, signer: &Signer, challenge: &Challenge) -> Result<Begun, NotBegun> {
        let begun = signer.begin(challenge).await?;
        self.log(&format!("Signing in begins at {}.", begun.host));
        Ok(begun)
    }

    /// Waits for the person, for as long as they may take.
    fn wait_for(self: &Arc<Self>, begun: Begun) {
        let stop = self.stop.child_token();
        let mut kept = self.kept();
        kept.sign_in = Some(SignIn::Waiting {
            url: begun.url.clone(),
            host: begun.host.clone(),
        });
        kept.waiting = Some(stop.clone().drop_guard());
        drop(kept);
        let core = self.clone();
        tokio::spawn(async move {
            let finished = tokio::time::timeout(SIGN_IN_MAX, begun.finish());
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                finished = finished => {
                    let late = || Err("nobody signed in for ten minutes".to_owned());
                    core.finished(&stop, finished.unwrap_or_else(|_| late()));
                }
            }
        });
    }

    fn finished(&self, stop: &CancellationToken, finished: Result<(), String>) {
        let mut kept = self.kept();
        // Another one may wait by now, or none.
        if stop.is_cancelled() {
            return;
        }
        let (sign_in, told) = match &finished {
            Ok(()) => (SignIn::Done, "Signed in.".to_owned()),
            Err(why) => {
                let why = why.trim_end_matches('.').to_owned();
                let told = format!("Nobody is signed in: {why}.");
                (SignIn::Needed { why: Some(why) }, told)
            }
        };
        kept.sign_in = Some(sign_in);
        kept.waiting = None;
        drop(kept);
        self.log(&told);
        if finished.is_ok() {
            self.handler.challenged(None);
            self.forget_challenge(true);
            self.anew();
        }
    }

    /// Connects it anew if it is connected, or waits to be.
    fn anew(&self) {
        let ready = match &*self.phase.borrow() {
            Phase::Ready(link) => Some(link.clone()),
            Phase::Idle
            | Phase::Starting { .. }
            | Phase::Unavailable { .. }
            | Phase::NeedsSignIn => None,
        };
        match ready {
            Some(link) => {
                link.close(ANEW);
                self.now.notify_one();
            }
            None => self.forget_failure(),
        }
    }
}
