//! The sentence that answers *why*: "Asked, because …", and what would have happened otherwise.

use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::{Gate, RuleScope, ToolMode, Verdict};

use crate::rules::{NET_READ, RuleDecision, Subject, scope_label};
use crate::rules_file;

/// Beginning of the sentence about a reading verb that passes.
pub const VERB_START: &str = "You let through ";

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
        Verdict::Allow => "Let through",
        Verdict::Ask => "Asked",
        Verdict::Deny => "Denied",
    };
    let decided = steps
        .iter()
        .rev()
        .find(|step| step.verdict == Some(verdict) && step.gate != Gate::Mode);
    let because = match decided.or(steps.first()) {
        Some(step) => describe_reason(step, verdict, unspoken),
        None => "nothing speaks against it".to_owned(),
    };
    (
        [word, ", because ", &because, "."].concat(),
        describe_alternative(verdict, decided, steps),
    )
}

fn describe_reason(step: &TrailStep, verdict: Verdict, unspoken: Option<&str>) -> String {
    match step.gate {
        Gate::Effects => match (deciding_rule(step, verdict), verdict) {
            (Some(trace), Verdict::Ask | Verdict::Deny) if trace.rule.permission == NET_READ => {
                format!("of what came, {}", describe_rule(trace))
            }
            (Some(trace), Verdict::Ask | Verdict::Deny) => {
                format!("of what it changes, {}", describe_rule(trace))
            }
            (Some(_), Verdict::Allow) => "rules let through what it changes".to_owned(),
            (None, Verdict::Allow) => "nothing speaks against what it changes".to_owned(),
            (None, Verdict::Ask | Verdict::Deny) => describe_concern(&step.text),
        },
        Gate::Rules => match deciding_rule(step, verdict) {
            Some(trace) => describe_rule(trace),
            None if step.rules.is_empty() => "the rules could not be read".to_owned(),
            None if unspoken.is_some() => {
                format!("no rule speaks of {}", unspoken.unwrap_or_default())
            }
            None => "no rule that may loosen says otherwise".to_owned(),
        },
        Gate::Capability if verdict == Verdict::Allow => {
            "everything it touches lies in the workspace".to_owned()
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
            Some("Safe write") => "its change is bounded and can be seen",
            Some("Destructive") => "what it takes away can be brought back",
            Some("External") => "it only calls a service, and is logged",
            _ => "it only looks",
        }
        .to_owned(),
        Gate::Mode if step.text.starts_with("You asked") => {
            "you want to be asked about everything".to_owned()
        }
        Gate::Mode if step.text.starts_with("No mode") => {
            "nothing says what kind of call this is".to_owned()
        }
        Gate::Mode => "it touches your machine in ways that only you can judge".to_owned(),
        Gate::Watchdog | Gate::SkippedAsks | Gate::Consent => lowercase_start(&step.text),
    }
}

/// The rule of a step that made the verdict.
fn deciding_rule(step: &TrailStep, verdict: Verdict) -> Option<&RuleTrace> {
    let mut rules = step.rules.iter();
    rules.find(|trace| trace.won && Verdict::from(trace.rule.action) == verdict)
}

fn describe_rule(trace: &RuleTrace) -> String {
    match &trace.rule.reason {
        Some(reason) => ["a rule says so: ", reason.trim_end_matches('.')].concat(),
        None => ["the rule `", &format_rule_line(trace), "` says so"].concat(),
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
            "Without that rule this call would have run by itself.".to_owned()
        }
        (Verdict::Deny, Some(Gate::Rules), Some(Verdict::Ask)) => {
            "Without that rule you would have been asked.".to_owned()
        }
        (Verdict::Allow, Some(Gate::Rules), Some(Verdict::Ask)) => {
            "Without that rule you would have been asked.".to_owned()
        }
        (Verdict::Allow, Some(Gate::SkippedAsks), _) => {
            "Otherwise you would have been asked.".to_owned()
        }
        (Verdict::Ask, Some(Gate::Undo), _) => {
            "With a copy it would have run by itself.".to_owned()
        }
        (Verdict::Deny, Some(Gate::Headless), _) => {
            "With a person there, it would have asked.".to_owned()
        }
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
fn describe_concern(text: &str) -> String {
    match text.split_once(". ") {
        Some((_, concern))
            if ["It ", "The "]
                .iter()
                .any(|start| concern.starts_with(start)) =>
        {
            lowercase_start(concern)
        }
        Some((_, concern)) => concern.trim_end_matches('.').to_owned(),
        None => "what it changes is for you to judge".to_owned(),
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
