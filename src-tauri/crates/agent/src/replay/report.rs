//! What became of each replayed call, and the sums.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::view::effects::{EffectKind, NetworkContact, Refusal};
use protocol::view::exact_name::ExactName;
use protocol::view::preview::{FileDiff, UndoAvailability};
use protocol::{CallState, CallView, Gate, Preview, Trail, Verdict};
use serde::{Deserialize, Serialize};

use super::{ReplayAnswer, ReplayCall};

/// Result of a replayed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The call would run without a question.
    Passed,
    /// The call would ask a person.
    Asked,
    /// The call would not run.
    Denied,
    /// The call could not be made: there is no such tool, its arguments do not fit, or it broke off.
    Failed,
}

impl ReplayVerdict {
    /// Returns the name, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Asked => "asked",
            Self::Denied => "denied",
            Self::Failed => "failed",
        }
    }
}

/// Report on a replayed call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayedCall {
    /// Id of the call.
    pub id: String,
    /// Name of its session, if it has one.
    pub session: Option<String>,
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// Target of the call.
    pub target: String,
    /// Result of the replay.
    pub verdict: ReplayVerdict,
    /// Reason in one sentence.
    pub cause: String,
    /// Gates that asked, or that denied the call.
    pub gates: Vec<Gate>,
    /// Answer to the call, if it asked for one that can be given in advance.
    pub answer: Option<ReplayAnswer>,
    /// State in which the call ended; none if it was not made.
    pub state: Option<CallState>,
    /// Why the call did not run although it passed or was approved, if so.
    pub not_run: Option<String>,
    /// Changes of the call. If it did not run to its end they are those that it would have made, as far as known.
    pub effects: ReplayEffects,
    /// Whether the changes can be undone; none if the call was not made.
    pub undo: Option<UndoAvailability>,
    /// Number of paths in the undo entry, if the call made one.
    pub undo_paths: Option<u64>,
    /// All gates, where the call asked, or at the end.
    pub trail: Option<Arc<Trail>>,
    /// Duration of judging and running, in microseconds.
    pub took_us: u64,
}

/// Changes that a call made, or would make.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayEffects {
    /// Number of changed paths.
    pub paths: u64,
    /// The changed paths; of a deleted folder's content the first ones.
    pub changes: Vec<ChangedPath>,
    /// Attempts that the sandbox refused.
    pub refused: Vec<Refusal>,
    /// Hosts that a command reached, because rules open them.
    pub reached: Vec<NetworkContact>,
}

/// A changed path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedPath {
    /// Kind of change.
    pub kind: EffectKind,
    /// Path relative to the workspace.
    pub path: String,
    /// The exact path, where `path` differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_exact: Option<ExactName>,
    /// Previous path, if it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What a call asked, and how it was answered.
pub(super) struct AskedQuestion {
    pub trail: Option<Arc<Trail>>,
    pub answer: Option<ReplayAnswer>,
}

/// A call that was made, and what it asked first.
pub(super) struct FinishedCall {
    pub view: Box<CallView>,
    pub asked: Option<AskedQuestion>,
}

impl FinishedCall {
    pub fn into_report(self, call: ReplayCall) -> ReplayedCall {
        let Self { view, asked } = self;
        let state = view.state;
        let verdict = match &asked {
            Some(_) => ReplayVerdict::Asked,
            None => verdict_for(state),
        };
        let message = view.outcome.as_ref().map(|outcome| outcome.message.clone());
        let message = message.unwrap_or_default();
        let answer = asked.as_ref().and_then(|asked| asked.answer);
        let trail = match asked {
            Some(asked) => asked.trail,
            None => view.trail,
        };
        let reason = trail.as_ref().map(|trail| trail.lead.clone());
        let cause = match verdict {
            ReplayVerdict::Failed => message.clone(),
            ReplayVerdict::Passed | ReplayVerdict::Asked | ReplayVerdict::Denied => {
                reason.unwrap_or_else(|| message.clone())
            }
        };
        ReplayedCall {
            id: call.id,
            session: call.session,
            tool: view.tool,
            target: view.target,
            verdict,
            cause,
            gates: trail.as_deref().map(deciding_gates).unwrap_or_default(),
            answer,
            state: Some(state),
            not_run: (state == CallState::Skipped).then_some(message),
            effects: ReplayEffects::from_preview(view.preview),
            undo: Some(view.undo_availability),
            undo_paths: view.undo.map(|entry| entry.paths),
            trail,
            took_us: 0,
        }
    }
}

fn verdict_for(state: CallState) -> ReplayVerdict {
    match state {
        CallState::Done | CallState::Skipped | CallState::Undone => ReplayVerdict::Passed,
        CallState::Denied | CallState::Rejected | CallState::Expired => ReplayVerdict::Denied,
        CallState::Proposed
        | CallState::Waiting
        | CallState::Running
        | CallState::Failed
        | CallState::Interrupted => ReplayVerdict::Failed,
    }
}

/// Returns the gates that made a call ask, or be denied.
fn deciding_gates(trail: &Trail) -> Vec<Gate> {
    let steps = trail.steps.iter();
    let decides = |verdict: Option<Verdict>| {
        trail.verdict != Verdict::Allow && verdict == Some(trail.verdict)
    };
    steps
        .filter(|step| decides(step.verdict))
        .map(|step| step.gate)
        .collect()
}

impl ReplayedCall {
    /// Returns the report on a call that could not be made, for this reason.
    pub fn failed(id: String, session: Option<String>, tool: String, cause: String) -> Self {
        Self {
            id,
            session,
            tool,
            target: String::new(),
            verdict: ReplayVerdict::Failed,
            cause,
            gates: Vec::new(),
            answer: None,
            state: None,
            not_run: None,
            effects: ReplayEffects::default(),
            undo: None,
            undo_paths: None,
            trail: None,
            took_us: 0,
        }
    }

    pub(super) fn with_time(self, took: Duration) -> Self {
        Self {
            took_us: as_micros(took),
            ..self
        }
    }

    /// Returns the gates by their names, for a person: `rules and effects`; `nothing` if there are none.
    pub fn gate_names(&self) -> String {
        let names = self.gates.iter();
        let names: Vec<_> = names
            .map(|gate| format!("{gate:?}").to_lowercase())
            .collect();
        match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(" and "),
        }
    }
}

impl ReplayEffects {
    fn from_preview(preview: Preview) -> Self {
        match preview {
            Preview::Effects(shown) => {
                let effects = shown.effects;
                let changes = effects.changes.into_iter().map(|effect| ChangedPath {
                    kind: effect.kind,
                    path: effect.path,
                    path_exact: effect.path_exact,
                    from: effect.from,
                });
                Self {
                    refused: effects.refused,
                    reached: effects.reached,
                    ..Self::from_changes(changes.collect())
                }
            }
            Preview::Diff { files } => {
                Self::from_changes(files.into_iter().map(change_of_file).collect())
            }
            Preview::Loss(loss) => {
                let shown = loss.shown.into_iter().map(|item| ChangedPath {
                    kind: EffectKind::Deleted,
                    path: item.path,
                    path_exact: None,
                    from: None,
                });
                Self {
                    paths: loss.files + loss.folders,
                    changes: shown.collect(),
                    ..Self::default()
                }
            }
            Preview::Nothing
            | Preview::Command(_)
            | Preview::Form { .. }
            | Preview::Response(_)
            | Preview::Todo { .. }
            | Preview::Plan { .. }
            | Preview::Request(_) => Self::default(),
        }
    }

    fn from_changes(changes: Vec<ChangedPath>) -> Self {
        Self {
            paths: changes.len() as u64,
            changes,
            ..Self::default()
        }
    }
}

fn change_of_file(file: FileDiff) -> ChangedPath {
    let kind = match (file.gone, file.from.is_some(), file.exists) {
        (true, _, _) => EffectKind::Deleted,
        (false, true, _) => EffectKind::Renamed,
        (false, false, true) => EffectKind::Changed,
        (false, false, false) => EffectKind::Added,
    };
    ChangedPath {
        kind,
        path: file.path,
        path_exact: None,
        from: file.from,
    }
}

/// The sums of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReplaySums {
    /// All calls.
    pub calls: u64,
    /// Calls that passed.
    pub passed: u64,
    /// Calls that passed, or were approved, and did not run because they reach beyond the workspace.
    pub not_run: u64,
    /// Calls that asked.
    pub asked: u64,
    /// Calls that asked, by the gates that made them ask.
    pub asked_by: BTreeMap<String, u64>,
    /// Calls that were denied.
    pub denied: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Time of all calls together, in microseconds.
    pub took_us: u64,
    /// Time of one call on average, in microseconds.
    pub took_us_per_call: u64,
}

impl ReplaySums {
    /// Counts a call.
    pub fn add(&mut self, call: &ReplayedCall) {
        self.calls += 1;
        self.not_run += u64::from(call.not_run.is_some());
        self.took_us = self.took_us.saturating_add(call.took_us);
        self.took_us_per_call = self.took_us / self.calls;
        match call.verdict {
            ReplayVerdict::Passed => self.passed += 1,
            ReplayVerdict::Asked => {
                self.asked += 1;
                *self.asked_by.entry(call.gate_names()).or_default() += 1;
            }
            ReplayVerdict::Denied => self.denied += 1,
            ReplayVerdict::Failed => self.failed += 1,
        }
    }
}

fn as_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
