//! Recorded calls, ready to be judged again: by the one judge, with what their verdicts were made from.

use policy::watchdog::Alarm;
use policy::{Classified, Facts, Request, RuleSet};
use protocol::backtest::{BacktestCall, PersonSaid};
use protocol::grounds::Tried;
use protocol::preview::UndoOutlook;
use protocol::{At, Capability, ToolKind, ToolMode, Verdict, redact};
use record::JudgedCall;

use crate::weighed::nothing;

/// Why a recorded call cannot be judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lack {
    /// What its verdict was made from was not kept.
    Grounds,
    /// It was, and cannot be read.
    Damaged,
}

impl Lack {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Grounds => "It was denied before it was looked at, or is too long to be kept.",
            Self::Damaged => "What its verdict was made from cannot be read.",
        }
    }
}

/// A recorded call with what its verdict was made from.
pub(super) struct Recorded<'a> {
    pub call: &'a JudgedCall,
    classified: Classified,
    facts: Facts,
    undo: UndoOutlook,
    needs_person: bool,
    alarms: Vec<Alarm>,
    tried: Option<Tried>,
}

impl<'a> Recorded<'a> {
    /// Reads a call's grounds.
    pub fn of(call: &'a JudgedCall) -> Result<Self, Lack> {
        let (mut grounds, undo) = call
            .grounds()
            .map_err(|_| Lack::Damaged)?
            .ok_or(Lack::Grounds)?;
        let alarms = std::mem::take(&mut grounds.alarms).into_iter();
        let tried = grounds.tried.take();
        Ok(Self {
            call,
            classified: classified(call.mode),
            undo,
            needs_person: grounds.needs_person,
            facts: Facts::of_kept(grounds),
            tried,
            alarms: alarms
                .map(|(verdict, reason)| Alarm {
                    verdict,
                    reason,
                    each_time: true,
                })
                .collect(),
        })
    }

    /// What the judge is asked, with these rules.
    pub fn request<'b>(
        &'b self,
        rules: &'b RuleSet,
        ask_for_everything: bool,
        now: At,
    ) -> Request<'b> {
        Request {
            call: &self.call.call,
            tool: &self.call.tool,
            classified: &self.classified,
            facts: &self.facts,
            undo: &self.undo,
            needs_person: self.needs_person,
            rules,
            ask_for_everything,
            headless: None,
            alarms: &self.alarms,
            tried: self.tried.as_ref(),
            now,
            alone: false,
            shown: &nothing,
        }
    }

    /// Whether any of some rules speaks of it. Where none does, they change nothing.
    pub fn concerns(&self, rules: &RuleSet, now: At) -> bool {
        let mut facts = self.facts.all().iter();
        // A rule that names a host may open it, beside what it says.
        facts.any(|fact| fact.capability == Capability::NetFetch)
            || rules.speaks_of(&self.call.tool, self.call.mode, &self.facts, now)
            || policy::effects::are_spoken_of(&self.request(rules, false, now))
    }

    /// As an example of what would change.
    pub fn example(&self, from: Verdict, to: Verdict) -> BacktestCall {
        BacktestCall {
            session: self.call.session.clone(),
            call: self.call.call.clone(),
            at: self.call.at,
            tool: self.call.tool.clone(),
            target: redact::text(&self.call.target).0.into_owned(),
            from,
            to,
            person: self.call.said,
        }
    }

    pub fn was_rejected(&self) -> bool {
        self.call.said == Some(PersonSaid::Rejected)
    }
}

fn classified(mode: Option<ToolMode>) -> Classified {
    Classified {
        mode,
        from: "on record".to_owned(),
        kind: ToolKind::Other,
    }
}
