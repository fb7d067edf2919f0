//! The sentence that answers *why*: "Needs approval: …", "Denied by a rule: …", and what would happen otherwise.

use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::{Gate, RuleScope, ToolMode, Verdict};

use crate::rules::{NET_READ, RuleDecision, Subject, scope_label};
use crate::rules_file;

/// Beginning of the sentence about a reading verb that passes.
pub const VERB_START: &str = "You allowed ";

/// Beginning of the sentence about what is sent to others.
pub const OTHERS_START: &str = "Others read what is sent to ";

/// A mode as a person reads it.
pub fn mode_title(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Read => "Read",
        ToolMode::SafeWrite => "Safe write",
        ToolMode::Destructive => "Destructive",
        ToolMode::Local => "Local",
        ToolMode::External => "External",
    }
}

/// Describes the decision of the rules on one subject of a call as a sentence; none if no rule matched.
pub fn explain_piece(subject: &Subject<'_>, decision: &RuleDecision) -> Option<String> {
    let trace = decision.traces.first()?;
    let rule = match trace.rule.scope {
        RuleScope::Builtin => format!("built-in protection `{}`", format_rule_line(trace)),
        RuleScope::Manifest | RuleScope::User | RuleScope::Project | RuleScope::Session => [
            "`",
            &format_rule_line(trace),
            "` (",
            &describe_rule_source(trace),
            ")",
        ]
        .concat(),
    };
    let shown = subject.display_text();
    Some(match (trace.won, decision.traces.len() - 1) {
        (false, _) => format!("For {shown}, {rule} does not speak: {}.", trace.why),
        (true, 0) => [
            "For ",
            &shown,
            ", ",
            &rule,
            " says ",
            action_word(trace),
            ".",
        ]
        .concat(),
        (true, 1) => format!(
            "For {shown}, {rule} says {}, before 1 other rule: {}.",
            action_word(trace),
            trace.why
        ),
        (true, others) => format!(
            "For {shown}, {rule} says {}, before {others} other rules: {}.",
            action_word(trace),
            trace.why
        ),
    })
}

fn action_word(trace: &RuleTrace) -> &'static str {
    rules_file::verdict_word(Verdict::from(trace.rule.action))
}

/// Where a rule stands.
fn describe_rule_source(trace: &RuleTrace) -> String {
    let scope = scope_label(trace.rule.scope);
    if trace.rule.grant.is_some() {
        return [scope, ", granted on a card"].concat();
    }
    match (&trace.rule.file, trace.rule.line) {
        (Some(file), Some(line)) => [scope, ", ", file, ", line ", &line.to_string()].concat(),
        (Some(file), None) => [scope, ", ", file].concat(),
        (None, _) => scope.to_owned(),
    }
}

/// Returns the lead sentence and the sentence after it. `unspoken` is a subject of the call that no rule speaks of, if
/// that decided.
pub fn build_lead(
    verdict: Verdict,
    steps: &[TrailStep],
    unspoken: Option<&str>,
) -> (String, String) {
    let word = match verdict {
        Verdict::Allow => "Allowed",
        Verdict::Ask => "Needs approval",
        Verdict::Deny => "Denied",
    };
    let decided = steps
        .iter()
        .rev()
        .find(|step| step.verdict == Some(verdict) && step.gate != Gate::Mode);
    let reason = match decided.or(steps.first()) {
        Some(step) => find_reason(step, verdict, unspoken),
        None => Reason::Concern("no rule objects to it".to_owned()),
    };
    let lead = match reason {
        Reason::Rule(rule) => format!("{word} by {rule}."),
        Reason::Concern(concern) => format!("{word}: {concern}."),
    };
    (lead, describe_alternative(verdict, decided, steps))
}

/// The reason of a verdict.
enum Reason {
    /// A rule: "the rule `bash rm*`".
    Rule(String),
    /// Anything else, as a clause: "it cannot be undone".
    Concern(String),
}

fn find_reason(step: &TrailStep, verdict: Verdict, unspoken: Option<&str>) -> Reason {
    match (step.gate, deciding_rule(step, verdict), verdict) {
        (Gate::Effects, Some(trace), Verdict::Ask | Verdict::Deny) => {
            Reason::Rule(match trace.rule.permission.as_str() {
                NET_READ => describe_rule(trace, " on the response"),
                "fs.read" => describe_rule(trace, " on what it reads"),
                _ => describe_rule(trace, " on what it changes"),
            })
        }
        (Gate::Rules, Some(trace), _) => Reason::Rule(describe_rule(trace, "")),
        _ => Reason::Concern(describe_concern(step, verdict, unspoken)),
    }
}

/// Describes why a step made the verdict where no single rule did.
fn describe_concern(step: &TrailStep, verdict: Verdict, unspoken: Option<&str>) -> String {
    match step.gate {
        Gate::Effects => match (deciding_rule(step, verdict), verdict) {
            (Some(_), _) => "rules allow what it changes".to_owned(),
            (None, Verdict::Allow) => "no rule objects to what it changes".to_owned(),
            (None, Verdict::Ask | Verdict::Deny) => describe_effects_concern(&step.text),
        },
        Gate::Rules if step.rules.is_empty() => "the rules cannot be read".to_owned(),
        Gate::Rules => match unspoken {
            Some(subject) => format!("no rule covers {subject}"),
            None => "no trusted rule allows it".to_owned(),
        },
        Gate::Capability if verdict == Verdict::Allow => {
            "everything it touches is in the workspace".to_owned()
        }
        Gate::Capability => lowercase_start(&step.text),
        Gate::Undo if verdict == Verdict::Allow => {
            "a copy is taken first, so it can be undone".to_owned()
        }
        Gate::Undo => lowercase_start(&step.text),
        Gate::Interaction => "the agent needs your answer".to_owned(),
        Gate::Headless => lowercase_start(&step.text),
        Gate::Mode if step.text.starts_with("The rules are judged alone") => {
            "no rule matches".to_owned()
        }
        Gate::Mode
            if [VERB_START, OTHERS_START]
                .iter()
                .any(|start| step.text.starts_with(start)) =>
        {
            lowercase_start(&step.text)
        }
        Gate::Mode if verdict == Verdict::Allow => match step.text.split(',').next() {
            Some("Safe write") => "its change is limited and shown",
            Some("Destructive") => "what it deletes can be restored",
            Some("External") => "it only calls a service, and the call is recorded",
            _ => "it only reads",
        }
        .to_owned(),
        Gate::Mode if step.text.starts_with("You asked") => {
            "you want to approve everything".to_owned()
        }
        Gate::Mode if step.text.starts_with("No mode") => {
            "nothing says what kind of call this is".to_owned()
        }
        Gate::Mode => "it runs on your machine, and no rule allows it".to_owned(),
        Gate::Watchdog | Gate::SkippedAsks | Gate::Consent => lowercase_start(&step.text),
    }
}

/// The rule of a step that made the verdict.
fn deciding_rule(step: &TrailStep, verdict: Verdict) -> Option<&RuleTrace> {
    let mut rules = step.rules.iter();
    rules.find(|trace| trace.won && Verdict::from(trace.rule.action) == verdict)
}

/// Describes a rule that decides about a part of a call: "a rule on what it changes: keys stay here".
fn describe_rule(trace: &RuleTrace, about: &str) -> String {
    match &trace.rule.reason {
        Some(reason) => format!("a rule{about}: {}", reason.trim_end_matches('.')),
        None => format!("the rule `{}`{about}", format_rule_line(trace)),
    }
}

fn describe_alternative(
    verdict: Verdict,
    decided: Option<&TrailStep>,
    steps: &[TrailStep],
) -> String {
    let by_mode = steps.first().and_then(|step| step.verdict);
    match (verdict, decided.map(|step| step.gate), by_mode) {
        (Verdict::Ask | Verdict::Deny, Some(Gate::Rules), Some(Verdict::Allow)) => {
            "Without that rule it would run without asking.".to_owned()
        }
        (Verdict::Deny, Some(Gate::Rules), Some(Verdict::Ask)) => {
            "Without that rule you would be asked.".to_owned()
        }
        (Verdict::Allow, Some(Gate::Rules), Some(Verdict::Ask)) => {
            "Without that rule you would be asked.".to_owned()
        }
        (Verdict::Allow, Some(Gate::SkippedAsks), _) => "Otherwise you would be asked.".to_owned(),
        (Verdict::Ask, Some(Gate::Undo), _) => {
            "With a copy it would run without asking.".to_owned()
        }
        (Verdict::Deny, Some(Gate::Headless), _) => "With someone to ask, it would ask.".to_owned(),
        _ => String::new(),
    }
}

fn format_rule_line(trace: &RuleTrace) -> String {
    match &trace.rule.pattern {
        Some(pattern) => [&trace.rule.permission, " ", pattern].concat(),
        None => trace.rule.permission.clone(),
    }
}

/// Describes why effects ask that no rule speaks of: what is said of them after their count.
fn describe_effects_concern(text: &str) -> String {
    match text.split_once(". ") {
        Some((_, concern))
            if ["It ", "The "]
                .iter()
                .any(|start| concern.starts_with(start)) =>
        {
            lowercase_start(concern)
        }
        Some((_, concern)) => concern.trim_end_matches('.').to_owned(),
        None => "no rule covers what it changes".to_owned(),
    }
}

/// Returns a sentence as the second half of another one.
fn lowercase_start(sentence: &str) -> String {
    let trimmed = sentence.trim_end_matches('.');
    let mut chars = trimmed.chars();
    match chars.next() {
        Some(first) if !trimmed.starts_with("I ") => first.to_lowercase().chain(chars).collect(),
        _ => trimmed.to_owned(),
    }
}
