//! What a person's attention was spent on: the questions of agents, the answers, and what passed without a question.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::rule::backtest::{RecordedDecision, RuleSuggestion};
use crate::rule::evidence::Evidence;
use crate::rule::verdict::RuleTrace;
use crate::{At, CallId, Capability, Gate, Rule, RuleScope, SessionId, Trail, UndoEntry, Verdict};

/// What a person's attention was spent on in a stretch of time, as far as the record says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct AttentionReport {
    /// Beginning of the stretch.
    pub since: At,
    /// End of the stretch.
    pub until: At,
    /// Number of calls that agents proposed.
    pub calls: u64,
    /// Number of hours of the clock in which an agent proposed a call.
    pub hours: u64,
    /// The questions.
    pub questions: QuestionReport,
    /// Answers given in less than a second after the card was shown.
    pub quick: QuickAnswers,
    /// The rule that would have spared the person the most answers, of those that cover the fewest rejected calls; none if
    /// no rule would have spared several.
    pub rule: Option<RuleSuggestion>,
    /// Calls that ran without a question.
    pub unasked: UnaskedReport,
}

/// The questions of a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct QuestionReport {
    /// Number of questions. A card that is shown again after a dry run or an edit asks anew.
    pub total: u64,
    /// Average number of questions in each of these hours.
    pub per_hour: f64,
    /// Number of questions that the person answered.
    pub answered: u64,
    /// Number of questions that still wait.
    pub waiting: u64,
    /// How long agents waited, in all.
    pub waited_ms: u64,
    /// The median of the waits.
    pub median_ms: u64,
    /// The longest wait.
    pub longest_ms: u64,
    /// Number of questions whose end is not on record: they are in no wait.
    pub unknown_waits: u64,
    /// The questions by what asked, the most frequent first.
    pub by_cause: Vec<CauseQuestions>,
    /// The questions by tool and program, the most frequent first.
    pub by_tool: Vec<ToolQuestions>,
}

/// Questions with the same cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CauseQuestions {
    /// The cause.
    pub cause: QuestionCause,
    /// Number of questions.
    pub questions: u64,
    /// How long agents waited, in all.
    pub waited_ms: u64,
}

/// Questions about calls of one tool, and of one program if the tool runs programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolQuestions {
    /// The tool's id; none if it is not on record.
    pub tool: Option<String>,
    /// The program that the command names first, other than `cd`; none if the call runs no program, or its programs are not
    /// on record.
    pub program: Option<String>,
    /// Number of questions.
    pub questions: u64,
    /// How long agents waited, in all.
    pub waited_ms: u64,
}

/// What made a call ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum QuestionCause {
    /// No rule decided the call, and its mode asks.
    Mode,
    /// A rule says *ask*.
    Rule,
    /// The call touches a place that is not open, or that is not certain.
    Capability,
    /// A watchdog.
    Watchdog,
    /// The effects of a dry run.
    Effects,
    /// Some program runs or obeys by itself later on what the call writes.
    RunsLater,
    /// The call cannot be undone.
    Undo,
    /// The agent wants an answer of the person.
    Interaction,
    /// A server wants an answer of the person while its call runs.
    Server,
    /// The cause is not on record.
    Unknown,
}

impl QuestionCause {
    /// Finds the cause that a trail names: the last gate that asked, as the lead sentence does. What some program runs
    /// later on asks at several gates; the evidence of the verdict tells.
    pub fn find(trail: &Trail, evidence: Option<&Evidence>) -> Self {
        let mut asking = trail.steps.iter().rev();
        let decided =
            asking.find(|step| step.verdict == Some(Verdict::Ask) && step.gate != Gate::Mode);
        let Some(step) = decided else {
            return match trail.verdict {
                Verdict::Ask => Self::Mode,
                Verdict::Allow | Verdict::Deny => Self::Unknown,
            };
        };
        let says_ask =
            |trace: &&RuleTrace| trace.won && Verdict::from(trace.rule.action) == Verdict::Ask;
        let mut said = step.rules.iter().filter(says_ask).peekable();
        let has_rule = said.peek().is_some();
        let is_protected = has_rule && said.all(|trace| protects_later_runs(&trace.rule));
        let dry_run = evidence.and_then(|evidence| evidence.dry_run.as_ref());
        let plants = dry_run.is_some_and(|dry_run| !dry_run.later_runs.is_empty());
        let is_planned = evidence.is_some_and(|evidence| evidence.later_runs.contains(&step.text));
        match step.gate {
            Gate::Rules | Gate::Effects if is_protected => Self::RunsLater,
            Gate::Effects if plants => Self::RunsLater,
            Gate::Watchdog if is_planned => Self::RunsLater,
            Gate::Rules if has_rule => Self::Rule,
            Gate::Mode | Gate::Rules => Self::Mode,
            Gate::Capability => Self::Capability,
            Gate::Watchdog => Self::Watchdog,
            Gate::Effects => Self::Effects,
            Gate::Undo => Self::Undo,
            Gate::Interaction => Self::Interaction,
            Gate::SkippedAsks | Gate::Headless | Gate::Consent => Self::Unknown,
        }
    }
}

/// Whether a rule is built in and asks because some program runs or obeys what is written there: the other built-in rules
/// deny, or protect what is read.
fn protects_later_runs(rule: &Rule) -> bool {
    rule.scope == RuleScope::Builtin && rule.permission == Capability::FsWrite.as_str()
}

/// Answers given in less than [`QuickAnswers::BELOW_MS`] after the card was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct QuickAnswers {
    /// Number of such answers.
    pub total: u64,
    /// The latest of them, the newest first, at most [`QuickAnswers::LISTED_MAX`].
    pub latest: Vec<QuickAnswer>,
}

impl QuickAnswers {
    /// An answer that comes sooner than this after its card was given without reading the card.
    pub const BELOW_MS: u64 = 1_000;
    /// Maximum number of answers that are listed.
    pub const LISTED_MAX: usize = 20;
}

/// An answer that was given in less than a second after the card was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct QuickAnswer {
    /// The call's session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When the card was shown.
    pub at: At,
    /// Time from the card to the answer.
    pub after_ms: u64,
    /// The tool's id; none if it is not on record.
    pub tool: Option<String>,
    /// Target of the call, secrets masked.
    pub target: String,
    /// The person's decision; none for other answers, such as to a form.
    pub person: Option<RecordedDecision>,
}

/// Calls that ran without a question, by whether and how their effects can be undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UnaskedReport {
    /// Number of calls.
    pub total: u64,
    /// Number of calls that change nothing.
    pub not_needed: u64,
    /// Number of calls before which a copy for undo was taken.
    pub secured: u64,
    /// Number of calls whose changes were captured by a dry run, and can be undone.
    pub captured: u64,
    /// Number of calls before which a snapshot of the workspace was taken.
    pub snapshot: u64,
    /// Number of calls that cannot be undone.
    pub unsecured: u64,
    /// Number of calls of which this is not on record.
    pub unknown: u64,
    /// Number of history entries of these calls that can still be undone.
    pub undoable: u64,
    /// The latest of these entries, the newest first, at most [`UnaskedReport::LISTED_MAX`].
    pub latest: Vec<UndoEntry>,
}

impl UnaskedReport {
    /// Maximum number of history entries that are listed.
    pub const LISTED_MAX: usize = 20;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleAction;
    use crate::rule::evidence::DryRunEvidence;
    use crate::rule::verdict::TrailStep;

    fn trail(verdict: Verdict, steps: Vec<TrailStep>) -> Trail {
        Trail {
            verdict,
            lead: String::new(),
            otherwise: String::new(),
            steps,
        }
    }

    fn rule_step(action: RuleAction) -> TrailStep {
        scoped_step(RuleScope::User, "bash", action)
    }

    fn scoped_step(scope: RuleScope, permission: &str, action: RuleAction) -> TrailStep {
        let rule = Rule {
            permission: permission.to_owned(),
            pattern: None,
            action,
            reason: None,
            scope,
            file: None,
            line: None,
            expires_ms: None,
            max_uses: None,
            grant: None,
        };
        TrailStep {
            rules: vec![RuleTrace {
                rule,
                won: true,
                why: String::new(),
            }],
            ..TrailStep::new(Gate::Rules, Verdict::Ask, "")
        }
    }

    #[test]
    fn the_cause_is_the_last_gate_that_asked() {
        let mode = || TrailStep::new(Gate::Mode, Verdict::Ask, "");
        let quiet = || TrailStep::new(Gate::Rules, None, "");
        let gate = |gate| TrailStep::new(gate, Verdict::Ask, "");
        for (steps, expected) in [
            (vec![mode(), quiet()], QuestionCause::Mode),
            (
                vec![mode(), rule_step(RuleAction::Ask)],
                QuestionCause::Rule,
            ),
            // One command of the line has a rule, another has none.
            (
                vec![mode(), rule_step(RuleAction::Allow)],
                QuestionCause::Mode,
            ),
            (
                vec![mode(), rule_step(RuleAction::Ask), gate(Gate::Watchdog)],
                QuestionCause::Watchdog,
            ),
            (
                vec![mode(), quiet(), gate(Gate::Effects)],
                QuestionCause::Effects,
            ),
            (
                vec![gate(Gate::Capability), quiet()],
                QuestionCause::Capability,
            ),
            (
                vec![scoped_step(RuleScope::Builtin, "fs.write", RuleAction::Ask)],
                QuestionCause::RunsLater,
            ),
            (
                vec![scoped_step(RuleScope::Builtin, "fs.read", RuleAction::Ask)],
                QuestionCause::Rule,
            ),
            (
                vec![scoped_step(RuleScope::User, "fs.write", RuleAction::Ask)],
                QuestionCause::Rule,
            ),
            (vec![gate(Gate::Undo)], QuestionCause::Undo),
            (vec![gate(Gate::Interaction)], QuestionCause::Interaction),
        ] {
            let asked = trail(Verdict::Ask, steps);
            assert_eq!(QuestionCause::find(&asked, None), expected, "{asked:?}");
        }
        let allowed = trail(Verdict::Allow, vec![quiet()]);
        assert_eq!(QuestionCause::find(&allowed, None), QuestionCause::Unknown);
    }

    #[test]
    fn what_runs_later_is_the_cause_at_whichever_gate_it_asks() {
        let says = || vec!["npm runs this.".to_owned()];
        let planned = Evidence {
            later_runs: says(),
            ..Evidence::default()
        };
        let captured = Evidence {
            dry_run: Some(DryRunEvidence {
                later_runs: says(),
                ..DryRunEvidence::default()
            }),
            ..Evidence::default()
        };
        let (watchdog, effects) = (Gate::Watchdog, Gate::Effects);
        for (evidence, gate, text, expected) in [
            (
                &planned,
                watchdog,
                "npm runs this.",
                QuestionCause::RunsLater,
            ),
            (
                &planned,
                watchdog,
                "It holds a key.",
                QuestionCause::Watchdog,
            ),
            (&planned, effects, "", QuestionCause::Effects),
            (&captured, effects, "", QuestionCause::RunsLater),
            (
                &captured,
                watchdog,
                "npm runs this.",
                QuestionCause::Watchdog,
            ),
        ] {
            let asked = trail(Verdict::Ask, vec![TrailStep::new(gate, Verdict::Ask, text)]);
            assert_eq!(QuestionCause::find(&asked, Some(evidence)), expected);
        }
    }
}
