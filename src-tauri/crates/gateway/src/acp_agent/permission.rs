//! A card as an editor's question for permission: the choices that it offers, and the decision that an answer means.

use agent::Engine;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
};
use protocol::query::{Answer, Query};
use protocol::rule::grants::{GrantOffer, GrantRequest, GrantScope};
use protocol::text::display_text::to_single_line;
use protocol::{Assurance, CallView, Decision, Preview, RuleAction, SessionId};

/// Longest name of a choice, in characters.
const NAME_CHARS_MAX: usize = 120;

/// Choices of a card, each with its decision.
pub(super) struct Choices(Vec<Choice>);

struct Choice {
    id: String,
    name: String,
    kind: PermissionOptionKind,
    decision: Decision,
}

impl Choices {
    /// Lists what a person may answer to a waiting call.
    pub async fn for_call(desk: &Engine, session: &SessionId, view: &CallView) -> Self {
        let mut choices = vec![Choice {
            id: "allow".to_owned(),
            name: "Allow once".to_owned(),
            kind: PermissionOptionKind::AllowOnce,
            decision: Decision::allow(),
        }];
        if can_run_dry(&view.preview) {
            choices.push(Choice {
                id: "dry_run".to_owned(),
                name: "Show its effects first".to_owned(),
                kind: PermissionOptionKind::AllowOnce,
                decision: Decision::DryRun,
            });
        }
        choices.extend(list_grants(desk, session, view).await);
        choices.push(Choice {
            id: "reject".to_owned(),
            name: "Reject".to_owned(),
            kind: PermissionOptionKind::RejectOnce,
            decision: Decision::reject(""),
        });
        Self(choices)
    }

    /// Returns the choices as an editor offers them.
    pub fn to_options(&self) -> Vec<PermissionOption> {
        let options = self.0.iter().map(|choice| {
            PermissionOption::new(choice.id.clone(), choice.name.clone(), choice.kind)
        });
        options.collect()
    }

    /// Returns the decision that an answer means: none if the editor could not ask, or the person did not want to decide.
    /// An answer that is none of the choices rejects the call.
    pub fn decide(
        self,
        answer: Result<RequestPermissionResponse, agent_client_protocol::Error>,
    ) -> Option<Decision> {
        match answer.map(|answer| answer.outcome) {
            Ok(RequestPermissionOutcome::Selected(selected)) => {
                let mut choices = self.0.into_iter();
                let chosen = choices.find(|choice| *choice.id == *selected.option_id.0);
                Some(chosen.map_or_else(
                    || Decision::reject("The editor gave an answer that was not offered."),
                    |choice| choice.decision,
                ))
            }
            Ok(_) | Err(_) => None,
        }
    }
}

/// Returns whether a card shows a command that can run without real changes first.
fn can_run_dry(preview: &Preview) -> bool {
    matches!(preview, Preview::Command(command) if command.assurance == Some(Assurance::Speculative))
}

/// Lists the narrowest grant that the card offers, for each of its durations. A grant that would override a rule is left
/// to the card in the app, which says so.
async fn list_grants(desk: &Engine, session: &SessionId, view: &CallView) -> Vec<Choice> {
    let query = Query::Offers {
        session: session.clone(),
        call: view.call.id.clone(),
    };
    let Ok(Answer::Offers(offers)) = desk.query(query).await else {
        return Vec::new();
    };
    let narrowest = offers
        .offers
        .into_iter()
        .find(|offer| offer.action == RuleAction::Allow && offer.overrides.is_none());
    let Some(offer) = narrowest else {
        return Vec::new();
    };
    let durations = offer.lasts.iter();
    durations
        .map(|lasts| grant_choice(&offer, *lasts))
        .collect()
}

fn grant_choice(offer: &GrantOffer, lasts: GrantScope) -> Choice {
    let rule = match (offer.exactly, &offer.pattern) {
        (true, _) => "exactly this call".to_owned(),
        (false, Some(pattern)) => format!("{} {pattern}", offer.permission),
        (false, None) => offer.permission.clone(),
    };
    let (id, words) = match lasts {
        GrantScope::Session => ("always_session", "in this session"),
        GrantScope::Project => ("always_project", "in this project"),
        GrantScope::Everywhere => ("always_everywhere", "everywhere"),
    };
    Choice {
        id: id.to_owned(),
        name: to_single_line(&format!("Always {words}: {rule}"), NAME_CHARS_MAX),
        kind: PermissionOptionKind::AllowAlways,
        decision: Decision::allow_always(GrantRequest {
            lasts,
            permission: offer.permission.clone(),
            pattern: offer.pattern.clone(),
            exactly: offer.exactly,
            until_ms: None,
            max_uses: None,
        }),
    }
}
