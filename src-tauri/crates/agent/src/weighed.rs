//! What the verdict on a call is made from, apart from the rules: to judge it again when they change.

use policy::rules::RuleSet;
use policy::watchdog::Alarm;
use policy::{Classified, Facts, Judgement, Request};
use protocol::grounds::{Grounds, Tried};
use protocol::preview::UndoOutlook;
use protocol::{At, CallId, Digest};

use crate::config::Host;
use crate::limits::GROUNDS_BYTES_MAX;
use crate::session::Session;
use crate::stages::judged::UNLOOKED;

/// A call as it is weighed.
#[derive(Debug, Clone)]
pub(crate) struct Weighed {
    pub call: CallId,
    /// The tool's id.
    pub tool: String,
    pub classified: Classified,
    pub facts: Facts,
    pub undo: UndoOutlook,
    pub needs_person: bool,
    pub alarms: Vec<Alarm>,
    /// What it did when it ran for show; none if it did not.
    pub tried: Option<Tried>,
    /// Whether all is known that other rules would have to know.
    pub is_whole: bool,
}

/// What a verdict depends on beyond the call and the rules.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances {
    pub ask_for_everything: bool,
    pub headless: Option<&'static str>,
    /// Whether everything is approved that nobody looks at.
    pub approves_all: bool,
    pub now: At,
}

impl Circumstances {
    /// Those of a session at this moment.
    pub fn of(session: &Session) -> Self {
        let config = &session.shared.config;
        Self {
            ask_for_everything: session.shared.settings().ask_for_everything,
            headless: match config.host {
                Host::Person | Host::Headless { approve_all: true } => None,
                Host::Headless { approve_all: false } => {
                    Some("Nobody is there to ask, so asking means denying.")
                }
            },
            approves_all: config.host == (Host::Headless { approve_all: true }),
            now: config.clock.now(),
        }
    }
}

/// Why what came of a refused secret is not approved beforehand.
const UNSEEN: &str = "It was refused a secret, and nobody is there to see what came of that, so nothing of it is carried out.";

impl Weighed {
    /// What nobody approves without having seen it.
    fn unseen(&self, circumstances: Circumstances) -> Option<&'static str> {
        let tried = self.tried.as_ref()?;
        let has_missed = !tried.secrets.is_empty() && !tried.effects.is_empty() && !tried.for_real;
        (circumstances.approves_all && has_missed).then_some(UNSEEN)
    }

    /// What the judge is asked.
    pub fn request<'a>(
        &'a self,
        rules: &'a RuleSet,
        circumstances: Circumstances,
        shown: &'a dyn Fn() -> Digest,
    ) -> Request<'a> {
        Request {
            call: &self.call,
            tool: &self.tool,
            classified: &self.classified,
            facts: &self.facts,
            undo: &self.undo,
            needs_person: self.needs_person,
            rules,
            ask_for_everything: circumstances.ask_for_everything,
            headless: circumstances.headless.or(self.unseen(circumstances)),
            alarms: &self.alarms,
            tried: self.tried.as_ref(),
            now: circumstances.now,
            alone: false,
            shown,
        }
    }

    /// As it is kept with its verdict; none if it was not looked at, or is too long to be kept.
    pub fn grounds(&self) -> Option<Box<Grounds>> {
        let unlooked = |fact: &protocol::Fact| fact.unresolved.as_deref() == Some(UNLOOKED);
        let bytes: usize = self.facts.all().iter().map(|fact| fact.target.len()).sum();
        if self.facts.all().iter().any(unlooked) || bytes > GROUNDS_BYTES_MAX || !self.is_whole {
            return None;
        }
        let alarms = self.alarms.iter();
        Some(Box::new(Grounds {
            alarms: alarms
                .map(|one| (one.verdict, one.reason.clone()))
                .collect(),
            needs_person: self.needs_person,
            tried: self.tried.clone(),
            ..self.facts.kept()
        }))
    }

    /// The verdict by the rules that a session has now.
    pub fn judged(&self, session: &Session) -> Judgement {
        let rules = session.rules();
        policy::judge(&self.request(&rules, Circumstances::of(session), &nothing))
    }
}

/// Where no card is shown.
pub(crate) fn nothing() -> Digest {
    Digest(String::new())
}
