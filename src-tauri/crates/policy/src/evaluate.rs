//! The verdict on one call: every gate in order, the strictest wins, and a rule speaks before the mode.

use std::sync::Arc;

use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Digest, Gate, ToolMode, Trail, Verdict};

use crate::effects;
use crate::egress;
use crate::explanation;
use crate::explanation::{OTHERS_START, VERB_START};
use crate::host_access;
use crate::request::EvaluationRequest;
use crate::rules::traces::merge_traces;
use crate::rules::{Subject, SubjectKind};
use crate::rules_file;
use crate::scope;
use crate::shell::names_program_by_path;
use crate::skipped_asks;
use crate::watchdogs::Alarm;

/// A verdict with its reasons. Made by [`evaluate`] and by nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) shown_digest: Digest,
    trail: Arc<Trail>,
}

impl Judgement {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.trail.verdict
    }

    /// The reasons for the verdict.
    pub fn trail(&self) -> &Arc<Trail> {
        &self.trail
    }

    /// Returns the judgement with one more step that explains and does not decide.
    #[must_use]
    pub fn with_step(mut self, step: TrailStep) -> Self {
        let step = TrailStep {
            verdict: None,
            ..step
        };
        Arc::make_mut(&mut self.trail).steps.push(step);
        self
    }

    /// Digest that a consent must name. Empty unless the verdict is to ask: no other verdict has a use for a consent.
    pub fn shown_digest(&self) -> &Digest {
        &self.shown_digest
    }
}

/// Judges a call.
///
/// The gates are asked in the order below, and each adds a step to the trail. The strictest verdict of all gates wins:
/// deny before ask before allow. A step without a verdict only explains.
///
/// 1. `Gate::Mode`, the mode of the tool: a local call, a call of unknown mode and, with `ask_for_everything`, every
///    call asks; any other call is allowed. With `judges_effects`, a call that sends something to a server that others
///    read asks, and a call of unknown mode whose reading verb the person let pass before is allowed. A stricter default
///    of the rules files raises this verdict. With `rules_only`, that default takes its place, or ask if there is none.
///    A rule speaks before the mode: this verdict counts only for subjects that no rule decides (3).
/// 2. `Gate::Capability`, the capability check of the facts: denies an access that cannot be resolved or lies outside
///    the granted roots or the surface of the tool, and a private host that no rule names (of the hosts that a command
///    names, only a link-local one). Asks about facts that are not certain and about a root that is not open yet. If
///    only the arguments of somebody else's tool are known, a path outside asks instead, and so does an address of this
///    machine or its network, unless a rule names it. No other rule lifts the verdict of this gate.
/// 3. `Gate::Rules`, the rules: for each subject of the call, the verdict of the rule that wins, made stricter by
///    built-in protections and, for a folder that is read recursively, by denies that may match below. Where no rule
///    decides, the verdict of the mode holds, and at least ask for a command that is not plain or whose program is
///    named by a path; a subject that can only tighten is allowed then. A rule that only allows reaching a host does
///    not loosen the verdict of the mode if the call may change something there. The strictest subject counts. If the
///    rules could not be read, every call asks at least.
/// 4. `Gate::Undo`, the undo of a destructive call, not with `rules_only`: asks if the call cannot be undone, or only
///    after a dry run, and the mode decided for any of its subjects.
/// 5. `Gate::Interaction`, the interaction: asks if the tool needs a person's answer.
/// 6. `Gate::Watchdog`, each alarm of the watchdogs in turn: asks or denies. On a headless host, an alarm that asks
///    denies at once. Elsewhere, it only explains if a grant for exactly this call won (3), unless the alarm asks each
///    time anew.
/// 7. `Gate::Effects`, the effects of a dry run, if there was one: the rules judge every changed path and every answer
///    of a host. A deny, of the effects or of any gate before, stays. Otherwise the verdict on the effects replaces the
///    verdict so far, be it allow or ask, if the call itself was let through before, or if nothing but the mode or the
///    lack of a rule made a gate ask. An ask of a rule or of any other gate is not settled so, and none is with
///    `ask_for_everything` or if the rules could not be read: then the strictest verdict holds.
/// 8. `Gate::Capability` again, if the effects lie beyond the surface of the agent: denies, whatever came before.
/// 9. `Gate::SkippedAsks`, the person who skips asks for a while: lets a call through that would ask, if its effects are
///    known and can be taken back (M32).
/// 10. `Gate::Headless`, the headless host: turns an ask that is left into a deny, with the sentence of the host. An ask
///     that the effects of a dry run may settle is left as it is, if the call runs in a dry run first.
///
/// Effects of a dry run without network access do not count once rules let the call reach the remotes that it uses.
pub fn evaluate(request: &EvaluationRequest<'_>) -> Judgement {
    let request = &EvaluationRequest {
        dry_run: request
            .dry_run
            .filter(|_| !egress::is_dry_run_outdated(request)),
        ..*request
    };
    let mut mode = evaluate_mode(request);
    let scope = scope::check_scope(request.tool, request.facts, request.rules, request.now);
    let ruled = evaluate_rules(request, mode.verdict.unwrap_or(Verdict::Ask));
    if !ruled.by_mode {
        // A rule speaks, so no grant in the place of a mode decides.
        mode.rules.clear();
    }
    // The person who granted exactly this call saw what its watchdogs ask: another call, or another reason, needs
    // another grant.
    let granted = request.rules.find_exact_grant(request.facts);
    let passed = granted.is_some_and(|granted| {
        let mut spoke = ruled.step.rules.iter();
        spoke.any(|trace| trace.won && trace.rule == *granted)
    });
    let mut verdict = ruled.verdict.max(scope.verdict.unwrap_or(Verdict::Allow));
    let mut steps = vec![mode, scope, ruled.step];
    let undo = match request.rules_only {
        true => None,
        false => evaluate_undo(request, ruled.by_mode),
    };
    let more = undo.into_iter().chain(evaluate_interaction(request)).chain(
        request
            .alarms
            .iter()
            .map(|alarm| evaluate_alarm(alarm, passed, request)),
    );
    for step in more {
        verdict = verdict.max(step.verdict.unwrap_or(Verdict::Allow));
        steps.push(step);
    }
    if let Some(dry_run) = request.dry_run {
        let step = effects::evaluate_effects(request, dry_run);
        let shown = step.verdict.unwrap_or(Verdict::Ask);
        verdict = match (verdict.max(shown), dry_run.agreed) {
            (Verdict::Deny, _) => Verdict::Deny,
            (_, true) => shown,
            (_, false) if effects::can_settle_ask(request, &steps) => shown,
            (strictest, false) => strictest,
        };
        steps.push(step);
        if let Some(beyond) = effects::check_effects_scope(dry_run) {
            verdict = Verdict::Deny;
            steps.push(beyond);
        }
    }
    if let (Verdict::Ask, Some(skipped)) = (verdict, skipped_asks::skip_ask(request, &steps)) {
        verdict = Verdict::Allow;
        steps.push(skipped);
    }
    let waits_for_effects = request.dry_run_first
        && request.dry_run.is_none()
        && effects::can_settle_ask(request, &steps);
    if let (Verdict::Ask, Some(sentence), false) = (verdict, request.headless, waits_for_effects) {
        verdict = Verdict::Deny;
        // Whoever hears it has not seen the effects.
        let asking = |step: &&TrailStep| step.verdict == Some(Verdict::Ask);
        let effects = steps
            .iter()
            .filter(asking)
            .rfind(|step| step.gate == Gate::Effects);
        let text = match effects {
            Some(effects) => [sentence, " ", &effects.text].concat(),
            None => sentence.to_owned(),
        };
        steps.push(TrailStep::new(Gate::Headless, Verdict::Deny, text));
    }
    let (lead, otherwise) = explanation::build_lead(verdict, &steps, ruled.unspoken.as_deref());
    Judgement {
        call: request.call.clone(),
        tool: request.tool.to_owned(),
        shown_digest: match verdict {
            Verdict::Ask => (request.shown_digest)(),
            Verdict::Allow | Verdict::Deny => Digest(String::new()),
        },
        trail: Arc::new(Trail {
            verdict,
            lead,
            otherwise,
            steps,
        }),
    }
}

/// Returns the verdict of the mode alone (M02).
fn evaluate_mode(request: &EvaluationRequest<'_>) -> TrailStep {
    let default = request.rules.default_action().map(Verdict::from);
    if request.rules_only {
        let text = match default {
            Some(default) => format!(
                "The rules are judged alone. Where none matches, their file says {}.",
                rules_file::verdict_word(default)
            ),
            None => "The rules are judged alone. Where none matches, it asks.".to_owned(),
        };
        return TrailStep::new(Gate::Mode, default.unwrap_or(Verdict::Ask), text);
    }
    let mut step = mode_default_step(request);
    if let Some(default) = default.filter(|default| Some(*default) > step.verdict) {
        step.verdict = Some(default);
        step.text.push_str(&format!(
            " A rules file says {} where no rule matches.",
            rules_file::verdict_word(default)
        ));
    }
    step
}

/// Returns the verdict on a call that sends something to a server that others read (M26); none for any other call.
fn evaluate_sending(request: &EvaluationRequest<'_>) -> Option<TrailStep> {
    let server = request.facts.sent_to_others()?;
    let text = format!("{OTHERS_START}`{server}`, and nothing takes it back.");
    (request.judges_effects && !request.ask_for_everything)
        .then(|| TrailStep::new(Gate::Mode, Verdict::Ask, text))
}

/// Returns the verdict on a call of a reading verb that the person let pass before (M26); none for any other call.
fn evaluate_verb(request: &EvaluationRequest<'_>) -> Option<TrailStep> {
    let default = request.rules.default_action().map(Verdict::from);
    if !request.judges_effects || request.ask_for_everything || default > Some(Verdict::Allow) {
        return None;
    }
    let permission = request.tool_class.verb_permission.as_deref()?;
    let grant = request.rules.find_verb_grant(permission)?;
    let trace = RuleTrace {
        rule: grant.clone(),
        won: true,
        why: "no rule speaks, and its name says that it reads".to_owned(),
    };
    Some(TrailStep {
        gate: Gate::Mode,
        verdict: Some(Verdict::Allow),
        text: format!("{VERB_START}a call of `{permission}` before in this session."),
        rules: vec![trace],
    })
}

fn mode_default_step(request: &EvaluationRequest<'_>) -> TrailStep {
    if let Some(step) = evaluate_sending(request).or_else(|| evaluate_verb(request)) {
        return step;
    }
    let is_secured = !matches!(request.undo, UndoAvailability::Unsecured { .. });
    let from = &request.tool_class.from;
    let (verdict, text) = match request.tool_class.mode {
        _ if request.ask_for_everything => (
            Verdict::Ask,
            "You asked to be asked about everything.".to_owned(),
        ),
        None => (
            Verdict::Ask,
            format!("No mode is known: {from}. Such a call asks."),
        ),
        Some(mode) => {
            let (verdict, default) = match mode {
                ToolMode::Read => (Verdict::Allow, "it runs"),
                ToolMode::SafeWrite => (Verdict::Allow, "it runs, and its diff is shown"),
                ToolMode::Destructive if is_secured => {
                    (Verdict::Allow, "it runs once a copy for undo was taken")
                }
                ToolMode::Destructive => (Verdict::Allow, "it runs only if it can be undone"),
                ToolMode::Local => (Verdict::Ask, "it asks"),
                ToolMode::External => (Verdict::Allow, "it runs, and is recorded"),
            };
            (
                verdict,
                [
                    explanation::mode_title(mode),
                    ", ",
                    from,
                    ". By default ",
                    default,
                    ".",
                ]
                .concat(),
            )
        }
    };
    TrailStep::new(Gate::Mode, verdict, text)
}

/// The result of the rules for a whole call.
struct RulesResult {
    step: TrailStep,
    /// The strictest verdict over all subjects.
    verdict: Verdict,
    /// Whether the mode decided for a subject, as it does where no rule speaks of the subject.
    by_mode: bool,
    /// A subject that no rule speaks of, where that decided and rules speak of other subjects.
    unspoken: Option<String>,
}

/// Evaluates the rules for every subject of the call; `otherwise` is the verdict where no rule matches.
fn evaluate_rules(request: &EvaluationRequest<'_>, otherwise: Verdict) -> RulesResult {
    let mut traces: Vec<RuleTrace> = Vec::new();
    let mut reasons = Vec::new();
    let mut verdict = Verdict::Allow;
    let mut by_mode = false;
    let mut unspoken: Option<(Verdict, String)> = None;
    let subjects = Subject::from_facts(request.tool, request.tool_class.mode, request.facts);
    for subject in &subjects {
        let decision = request
            .rules
            .evaluate_subject(subject, request.now, otherwise);
        let beyond = host_access::find_unlisted_change(request, subject, &decision);
        by_mode |= (decision.verdict.is_none() || beyond.is_some()) && !subject.tightens;
        let rule_verdict = match (decision.verdict, subject.tightens) {
            (Some(decision), _) if beyond.is_some() => decision.max(otherwise),
            (Some(decision), _) => decision,
            (None, true) => Verdict::Allow,
            // Nothing may allow what is not certain to be all that runs.
            (None, false) => match subject.seen {
                SubjectKind::Command { plain: false, .. } => otherwise.max(Verdict::Ask),
                SubjectKind::Command { ref words, .. } if names_program_by_path(words) => {
                    otherwise.max(Verdict::Ask)
                }
                SubjectKind::Command { plain: true, .. }
                | SubjectKind::WholeCall { .. }
                | SubjectKind::Path(_)
                | SubjectKind::Effect(_)
                | SubjectKind::Host(_)
                | SubjectKind::Response(_) => otherwise,
            },
        };
        verdict = verdict.max(rule_verdict);
        let is_unspoken = (decision.silent || beyond.is_some()) && !subject.tightens;
        if is_unspoken
            && unspoken
                .as_ref()
                .is_none_or(|(known, _)| *known < rule_verdict)
        {
            unspoken = Some((
                rule_verdict,
                beyond.unwrap_or_else(|| subject.display_text()),
            ));
        }
        reasons.extend(explanation::explain_piece(subject, &decision));
        merge_traces(&mut traces, decision.traces);
    }
    for trace in &mut traces {
        if trace.won && Verdict::from(trace.rule.action) < verdict {
            trace
                .why
                .push_str("; overruled by something stricter in the same call");
        }
    }
    // The rules that decided come first.
    traces.sort_by_key(|trace| {
        std::cmp::Reverse((
            trace.won,
            trace.won.then(|| Verdict::from(trace.rule.action)),
        ))
    });
    if let (Some((_, piece)), false) = (&unspoken, traces.is_empty()) {
        reasons.push(format!("No rule speaks of {piece}."));
    }
    let broken = request.rules.broken.as_ref();
    let text = match (broken, traces.is_empty()) {
        (Some(why), _) => format!("The rules could not be read, so every call asks: {why}"),
        (None, true) if request.rules_only => "No rule matches.".to_owned(),
        (None, true) => "No rule matches, so the default applies.".to_owned(),
        (None, false) => reasons.join(" "),
    };
    if broken.is_some() {
        verdict = verdict.max(Verdict::Ask);
    }
    let speaks = broken.is_some() || !traces.is_empty();
    let step = TrailStep {
        gate: Gate::Rules,
        verdict: speaks.then_some(verdict),
        text,
        rules: traces,
    };
    RulesResult {
        step,
        verdict,
        by_mode,
        unspoken: unspoken
            .filter(|(rule_verdict, _)| speaks && *rule_verdict == verdict)
            .map(|(_, piece)| piece),
    }
}

/// Judges whether a destructive call can be undone: only then does it run by itself (M03).
fn evaluate_undo(request: &EvaluationRequest<'_>, by_mode: bool) -> Option<TrailStep> {
    if request.tool_class.mode != Some(ToolMode::Destructive) {
        return None;
    }
    let (verdict, text) = match request.undo {
        UndoAvailability::NotNeeded => (None, "It changes nothing.".to_owned()),
        UndoAvailability::Secured => (
            Some(Verdict::Allow),
            "A copy is taken first, so it can be undone.".to_owned(),
        ),
        UndoAvailability::Captured => (
            by_mode.then_some(Verdict::Ask),
            "What it changes is known after a dry run; then it can be undone.".to_owned(),
        ),
        UndoAvailability::Snapshot => (
            Some(Verdict::Allow),
            "A snapshot of the whole workspace is taken first, so it can be undone.".to_owned(),
        ),
        UndoAvailability::Unsecured { reason } => (
            by_mode.then_some(Verdict::Ask),
            format!("It cannot be undone: {reason}"),
        ),
    };
    Some(TrailStep::new(Gate::Undo, verdict, text))
}

/// Judges an alarm. One that asks is denied at once on a headless host, so that the model gets the watchdog's own
/// reason.
fn evaluate_alarm(alarm: &Alarm, passed: bool, request: &EvaluationRequest<'_>) -> TrailStep {
    let (verdict, text) = match (alarm.verdict, request.headless) {
        (Verdict::Ask, Some(_)) => (Some(Verdict::Deny), alarm.reason.clone()),
        (Verdict::Ask, None) if passed && !alarm.each_time => (
            None,
            format!(
                "{} You let exactly this call pass from now on.",
                alarm.reason
            ),
        ),
        (verdict, _) => (Some(verdict), alarm.reason.clone()),
    };
    TrailStep::new(Gate::Watchdog, verdict, text)
}

fn evaluate_interaction(request: &EvaluationRequest<'_>) -> Option<TrailStep> {
    request.needs_person.then(|| {
        TrailStep::new(
            Gate::Interaction,
            Verdict::Ask,
            "The tool needs your answer.",
        )
    })
}
