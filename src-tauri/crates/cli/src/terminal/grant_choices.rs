//! *Always…* on a card: the grants that an answer can carry, chosen by a digit.

use protocol::RuleAction;
use protocol::rule::grants::{GrantOffer, GrantOffers, GrantRequest, GrantScope};

use super::text_wrap::escape_to_one_line;

/// Maximum number of grants to choose from, one for each digit.
const GRANT_CHOICES_MAX: usize = 9;

/// A grant that an answer can carry, with its duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GrantChoice {
    offer: GrantOffer,
    duration: GrantScope,
}

impl GrantChoice {
    /// Describes the grant in a line.
    pub fn describe(&self) -> String {
        let GrantOffer {
            permission,
            pattern,
            words,
            exactly,
            ..
        } = &self.offer;
        let rule = match (exactly, pattern) {
            (true, _) => "exactly this call".to_owned(),
            (false, Some(pattern)) => format!("{permission} `{pattern}`"),
            (false, None) => permission.clone(),
        };
        let rule = escape_to_one_line(&rule);
        let words = escape_to_one_line(words);
        let covers = match words.is_empty() || rule.contains(&words) {
            true => String::new(),
            false => format!(" ({words})"),
        };
        format!("{rule}, {}{covers}", self.describe_duration())
    }

    /// Describes the duration of the grant.
    pub fn describe_duration(&self) -> &'static str {
        match self.duration {
            GrantScope::Session => "in this session",
            GrantScope::Project => "in this project",
            GrantScope::Everywhere => "everywhere",
        }
    }

    /// Describes the rule of a file that the grant would override, in a sentence; empty for none.
    pub fn describe_override(&self) -> String {
        let Some(rule) = &self.offer.overrides else {
            return String::new();
        };
        let pattern = rule.pattern.as_deref().unwrap_or("*");
        let rule = escape_to_one_line(&format!("{} `{pattern}`", rule.permission));
        format!("It overrides the rule {rule}, which asks.")
    }

    /// Returns the grant request for a decision.
    pub fn to_always(&self) -> GrantRequest {
        GrantRequest {
            lasts: self.duration,
            permission: self.offer.permission.clone(),
            pattern: self.offer.pattern.clone(),
            exactly: self.offer.exactly,
            until_ms: None,
            max_uses: None,
        }
    }
}

/// Returns the grants that allowing can carry, the narrowest and shortest first.
pub(super) fn list_grant_choices(offers: &GrantOffers) -> Vec<GrantChoice> {
    let allowed = offers
        .offers
        .iter()
        .filter(|offer| offer.action == RuleAction::Allow);
    let each = allowed.flat_map(|offer| {
        let offer = offer.clone();
        let lasts = offer.lasts.clone();
        lasts.into_iter().map(move |lasts| GrantChoice {
            offer: offer.clone(),
            duration: lasts,
        })
    });
    each.take(GRANT_CHOICES_MAX).collect()
}

/// Returns the choice for a digit.
pub(super) fn choose_by_digit(choices: &[GrantChoice], digit: char) -> Option<&GrantChoice> {
    let number = digit.to_digit(10)?.checked_sub(1)?;
    choices.get(number as usize)
}
