//! Stage 10: the call stands on the desk until a person says what is to become of it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use policy::{Answers, Consent, Judgement};
use protocol::{CallState, Decision, EventBody, Fault, Plan, ToolCall, ToolError, Verdict};
use runtime::Watch;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::found::Called;
use super::prepared::Ready;
use super::{Ended, finish, stopped};
use crate::config::Host;
use crate::session::Session;
use crate::waiting::Waiting;
use crate::weighed::Weighed;
use crate::{grant, way_out};

/// What came of asking.
pub(crate) enum Answer {
    /// Go.
    Go(Go),
    /// A file changed while the call waited: it must be shown anew.
    Changed(String),
    /// Other rules decide it now.
    Ruled(String),
    /// The person wants to see first what it does, with a way to these hosts.
    Try { hosts: Vec<String> },
    /// The person wants other arguments.
    Edited(Map<String, Value>),
}

/// What is to go.
pub(crate) struct Go {
    /// What was shown, or a part of it.
    pub plan: Plan,
    pub consent: Option<Consent>,
    pub said: Said,
    /// With a way to which hosts it is to run for real; none where that was not said.
    pub in_place: Option<Vec<String>>,
}

impl Go {
    /// With a way to which hosts it runs for real: a person said so, or nothing better holds here; none where it does not.
    pub fn for_real(
        &mut self,
        session: &Session,
        ready: &Ready,
        open: &[String],
    ) -> Result<Option<Vec<String>>, Ended> {
        let hosts = match self.in_place.take() {
            Some(hosts) if !hosts.is_empty() => hosts,
            said => return Ok(said.or_else(|| ready.in_place.then(|| open.to_vec()))),
        };
        let now = session.shared.config.clock.now();
        let named = way_out::named(&hosts, &session.rules(), now);
        let refused = |fault: Fault| finish::failed(&ToolError::Failed(fault.message));
        Ok(Some(named.map_err(refused)?))
    }
}

impl Answer {
    /// It is tried out first, with no way out.
    pub fn sealed() -> Self {
        Self::Try { hosts: Vec::new() }
    }

    /// Nobody had to be asked.
    pub fn unasked(session: &Session, ready: &Ready) -> Self {
        Self::Go(Go {
            plan: ready.plan.clone(),
            consent: None,
            said: Said::default(),
            in_place: session.shared.config.in_place.clone(),
        })
    }
}

/// What the person wants the agent to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// The arguments that the person put in place of the agent's.
    pub edited: Option<Map<String, Value>>,
    /// A word for the agent; empty for none.
    pub note: String,
    /// Which parts were left out; none if none.
    pub left_out: Option<String>,
}

impl Said {
    /// What the agent is told after the result, one paragraph each.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let edited = self.edited.as_ref().map(|arguments| {
            let arguments = Value::Object(arguments.clone());
            format!("The person changed the arguments first. What was done: {arguments}")
        });
        let note = self.note.trim();
        let note = (!note.is_empty()).then(|| format!("Note from the person: {note}"));
        [edited, self.left_out.clone(), note].into_iter().flatten()
    }
}

/// What stands on the desk.
pub(crate) struct Card<'a> {
    judgement: &'a Judgement,
    ready: &'a Ready,
    weighed: Arc<Weighed>,
    /// What changed since it was shown before.
    refreshed: Option<String>,
}

impl<'a> Card<'a> {
    /// The card of a call that is asked about.
    pub fn new(
        judgement: &'a Judgement,
        ready: &'a Ready,
        weighed: Arc<Weighed>,
        refreshed: Option<String>,
    ) -> Self {
        Self {
            judgement,
            ready,
            weighed,
            refreshed,
        }
    }
}

/// Puts the call on the desk and waits: for a decision, other rules that decide, a change of what is shown, the end of the
/// run, or expiry.
pub(crate) async fn ask(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    card: Card<'_>,
) -> Result<Answer, Ended> {
    let Card {
        judgement,
        ready,
        weighed,
        refreshed,
    } = card;
    if session.shared.config.host == (Host::Headless { approve_all: true }) {
        return approved_beforehand(session, called, judgement, ready);
    }
    // Watch before showing: a change in between would go unseen.
    let mut watch = Watch::new(&session.hands.workspace, &ready.plan.paths()).ok();
    let (sender, mut decision) = oneshot::channel();
    let expires_after = session.shared.settings().expire_after_min;
    let expires_at = (expires_after > 0)
        .then(|| session.shared.config.clock.now() + i64::from(expires_after) * 60_000);
    session.put_on_desk(
        call.id.clone(),
        Waiting {
            shown: judgement.shown().clone(),
            preview: ready.preview.clone(),
            weighed: weighed.clone(),
            answer: sender,
        },
    );
    session.at_work();
    session
        .journal
        .keep(EventBody::CallWaits {
            call: call.id.clone(),
            digest: judgement.shown().clone(),
            grants: crate::grants::grants(ready, &grant::offers(session, &weighed)),
            refreshed,
            expires_at,
        })
        .await?;

    let stop = session.stop_token();
    let change = async {
        match &mut watch {
            Some(watch) => watch.changed().await,
            None => pending().await,
        }
    };
    let expiry = async {
        match expires_after {
            0 => pending().await,
            minutes => tokio::time::sleep(Duration::from_secs(u64::from(minutes) * 60)).await,
        }
    };
    let mut read = session.rules_read();
    let ruled = async {
        while weighed.judged(session).verdict() == Verdict::Ask {
            if read.changed().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    let answer = tokio::select! {
        biased;
        decided = &mut decision => match decided {
            Ok(decided) => said(decided, judgement, ready),
            Err(_) => Err(stopped::outcome(session, CallState::Interrupted).into()),
        },
        () = session.shared.closing.cancelled() => return Err(Ended::Closing),
        () = stop.cancelled() => Err(stopped::outcome(session, CallState::Interrupted).into()),
        () = ruled => Ok(Answer::Ruled("The rules changed.".to_owned())),
        () = session.hands.workspace.until_opened(&ready.opens) => {
            Ok(Answer::Ruled("A place that it needs was opened.".to_owned()))
        }
        () = change => Ok(Answer::Changed("The file changed, so what is shown is new.".to_owned())),
        () = expiry => Err(finish::expired(expires_after)),
    };
    // Whoever decides takes the call from the desk first. If somebody did just now, that decision holds.
    let decided = session.take_from_desk(&call.id).is_none();
    session.at_work();
    if decided
        && !matches!(
            answer,
            Ok(Answer::Go(_) | Answer::Try { .. } | Answer::Edited(_))
        )
        && let Ok(decided) = decision.try_recv()
    {
        return said(decided, judgement, ready);
    }
    answer
}

fn said(decision: Decision, judgement: &Judgement, ready: &Ready) -> Result<Answer, Ended> {
    let consent = |answers| {
        Some(Consent {
            shown: judgement.shown().clone(),
            answers,
        })
    };
    let go = |plan, consent, said| {
        Ok(Answer::Go(Go {
            plan,
            consent,
            said,
            in_place: None,
        }))
    };
    match decision {
        Decision::Allow {
            hunks: None, note, ..
        } => go(
            ready.plan.clone(),
            consent(None),
            Said {
                note,
                ..Said::default()
            },
        ),
        Decision::Allow {
            hunks: Some(hunks),
            note,
            ..
        } => {
            let plan = tools::diff::select_plan(&ready.plan, &ready.preview, &hunks)
                .map_err(|error| finish::failed(&error))?;
            let left_out = tools::diff::left_out(&ready.preview, &hunks);
            go(
                plan,
                consent(None),
                Said {
                    note,
                    left_out,
                    ..Said::default()
                },
            )
        }
        Decision::Answer { answers } => go(
            ready.plan.clone(),
            consent(Some(Answers::Given(answers))),
            Said::default(),
        ),
        Decision::Skip => go(
            ready.plan.clone(),
            consent(Some(Answers::Declined)),
            Said::default(),
        ),
        Decision::DryRun => Ok(Answer::sealed()),
        Decision::WithNetwork { hosts } => Ok(Answer::Try { hosts }),
        Decision::InPlace { hosts } => Ok(Answer::Go(Go {
            plan: Plan::None,
            consent: consent(None),
            said: Said::default(),
            in_place: Some(hosts),
        })),
        Decision::Edit { arguments } => Ok(Answer::Edited(arguments)),
        Decision::Reject { note, stop, .. } => Err(finish::rejected(&note, stop)),
    }
}

/// The caller approved beforehand whatever would ask; a question stays unanswered, for nobody invents answers.
fn approved_beforehand(
    session: &Session,
    called: &Called<'_>,
    judgement: &Judgement,
    ready: &Ready,
) -> Result<Answer, Ended> {
    if called.interface().safety.requires_user_interaction {
        return Err(finish::unanswered(called));
    }
    Ok(Answer::Go(Go {
        plan: ready.plan.clone(),
        consent: Some(Consent {
            shown: judgement.shown().clone(),
            answers: None,
        }),
        said: Said::default(),
        in_place: session.shared.config.in_place.clone(),
    }))
}
