//! The verdict on one call: every gate in order, the strictest wins, and a rule speaks before the mode.

use protocol::judge::TrailStep;
use protocol::preview::UndoOutlook;
use protocol::{CallId, Digest, Fact, Gate, RuleScope, ToolMode, Trail, Verdict};

use crate::classify::Classified;
use crate::explain;
use crate::rules::{RuleSet, Subject};
use crate::scope;

/// Everything that a verdict depends on.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool's id.
    pub tool: &'a str,
    /// Its mode, and where that comes from.
    pub classified: &'a Classified,
    /// What it touches, resolved.
    pub facts: &'a [Fact],
    /// Whether its effect could be taken back.
    pub undo: &'a UndoOutlook,
    /// Whether the tool needs a person's answer to run at all.
    pub needs_person: bool,
    /// The rules in force.
    pub rules: &'a RuleSet,
    /// The person wants to be asked about everything.
    pub ask_for_everything: bool,
    /// The sentence with which asking becomes denying, where no person is there (`S002-85`).
    pub headless: Option<&'a str>,
    /// Why a watchdog wants a person to look, if it does.
    pub watchdog: Option<&'a str>,
    /// Digest of exactly what is shown: what a consent must name.
    pub shown: &'a Digest,
}

/// A verdict with its reasons. Made by [`judge`] and by nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) shown: Digest,
    trail: Trail,
}

impl Judgement {
    /// What may happen.
    pub fn verdict(&self) -> Verdict {
        self.trail.verdict
    }

    /// Why.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// What a consent must name.
    pub fn shown(&self) -> &Digest {
        &self.shown
    }
}

/// Judges a call.
pub fn judge(request: &Request<'_>) -> Judgement {
    let mode = mode_step(request);
    let scope = scope::check(request.facts);
    let (rules, ruled) = rules_step(request, mode.verdict.unwrap_or(Verdict::Ask));
    let mut verdict = ruled.max(scope.verdict.unwrap_or(Verdict::Allow));
    let mut steps = vec![mode, scope, rules];
    let by_mode = steps[2].rules.iter().all(|trace| !trace.won);
    for step in [
        undo_step(request, by_mode),
        interaction_step(request),
        watchdog_step(request),
    ]
    .into_iter()
    .flatten()
    {
        verdict = verdict.max(step.verdict.unwrap_or(Verdict::Allow));
        steps.push(step);
    }
    if let (Verdict::Ask, Some(sentence)) = (verdict, request.headless) {
        verdict = Verdict::Deny;
        steps.push(TrailStep {
            gate: Gate::Headless,
            verdict: Some(Verdict::Deny),
            text: sentence.to_owned(),
            rules: Vec::new(),
        });
    }
    let (lead, otherwise) = explain::lead(verdict, &steps);
    Judgement {
        call: request.call.clone(),
        tool: request.tool.to_owned(),
        shown: request.shown.clone(),
        trail: Trail {
            verdict,
            lead,
            otherwise,
            steps,
        },
    }
}

/// What the mode alone would say (M02).
fn mode_step(request: &Request<'_>) -> TrailStep {
    let from = &request.classified.from;
    let (verdict, text) = match request.classified.mode {
        _ if request.ask_for_everything => (
            Verdict::Ask,
            "You asked to be asked about everything.".to_owned(),
        ),
        None => (
            Verdict::Ask,
            format!("No mode is known: {from}. Such a call asks."),
        ),
        Some(mode) => {
            let (verdict, alone) = match mode {
                ToolMode::Read => (Verdict::Allow, "it would run"),
                ToolMode::SafeWrite => (Verdict::Allow, "it would run, and show its diff"),
                ToolMode::Destructive => (
                    Verdict::Allow,
                    "it would run, once a copy for undo was taken",
                ),
                ToolMode::Local => (Verdict::Ask, "it waits for you"),
                ToolMode::External => (Verdict::Allow, "it would run, and be logged"),
            };
            (
                verdict,
                format!("{}, {from}. Alone {alone}.", explain::mode_title(mode)),
            )
        }
    };
    TrailStep {
        gate: Gate::Mode,
        verdict: Some(verdict),
        text,
        rules: Vec::new(),
    }
}

/// What the rules say of every fact; the mode speaks for a fact of which no rule speaks.
fn rules_step(request: &Request<'_>, by_mode: Verdict) -> (TrailStep, Verdict) {
    let facts: Vec<Option<&Fact>> = match request.facts {
        [] => vec![None],
        facts => facts.iter().map(Some).collect(),
    };
    let mut traces = Vec::new();
    let mut verdict = Verdict::Allow;
    for fact in facts {
        let subject = Subject {
            tool: request.tool,
            mode: request.classified.mode,
            fact,
        };
        let mut matched = request.rules.matching(&subject);
        let said = match matched.first_mut() {
            None => by_mode,
            Some(winner) => {
                let said = Verdict::from(winner.rule.action);
                // A project's file comes with the project, not from the person: until it is trusted it may tighten
                // but never loosen.
                if winner.rule.scope == RuleScope::Project && said < by_mode {
                    winner.why = "a project's rules may only tighten".to_owned();
                    by_mode
                } else {
                    said
                }
            }
        };
        verdict = verdict.max(said);
        for trace in matched {
            if !traces.contains(&trace) {
                traces.push(trace);
            }
        }
    }
    if let Some(why) = &request.rules.broken {
        let verdict = verdict.max(Verdict::Ask);
        let text = format!("The rules could not be read, so every call asks: {why}");
        return (
            TrailStep {
                gate: Gate::Rules,
                verdict: Some(verdict),
                text,
                rules: traces,
            },
            verdict,
        );
    }
    let text = match traces.len() {
        0 => "No rule matches; the mode speaks.".to_owned(),
        1 => "1 rule matches.".to_owned(),
        n => format!("{n} rules match."),
    };
    let said = (!traces.is_empty()).then_some(verdict);
    (
        TrailStep {
            gate: Gate::Rules,
            verdict: said,
            text,
            rules: traces,
        },
        verdict,
    )
}

/// A destructive call runs by itself only when it can be undone (M03).
fn undo_step(request: &Request<'_>, by_mode: bool) -> Option<TrailStep> {
    if request.classified.mode != Some(ToolMode::Destructive) {
        return None;
    }
    let (verdict, text) = match request.undo {
        UndoOutlook::NotNeeded => (None, "It changes nothing.".to_owned()),
        UndoOutlook::Secured => (
            Some(Verdict::Allow),
            "A copy is taken first, so it can be undone.".to_owned(),
        ),
        UndoOutlook::Unsecured { reason } => (
            by_mode.then_some(Verdict::Ask),
            format!("It cannot be undone: {reason}"),
        ),
    };
    Some(TrailStep {
        gate: Gate::Undo,
        verdict,
        text,
        rules: Vec::new(),
    })
}

/// What only a person can judge is denied at once where none is, so that the model hears the watchdog's own words.
fn watchdog_step(request: &Request<'_>) -> Option<TrailStep> {
    request.watchdog.map(|text| TrailStep {
        gate: Gate::Watchdog,
        verdict: Some(match request.headless {
            Some(_) => Verdict::Deny,
            None => Verdict::Ask,
        }),
        text: text.to_owned(),
        rules: Vec::new(),
    })
}

fn interaction_step(request: &Request<'_>) -> Option<TrailStep> {
    request.needs_person.then(|| TrailStep {
        gate: Gate::Interaction,
        verdict: Some(Verdict::Ask),
        text: "The tool needs your answer.".to_owned(),
        rules: Vec::new(),
    })
}
