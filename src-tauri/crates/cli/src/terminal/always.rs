//! *Always…* on a card: the rules that may go along with an answer, chosen by a digit.

use protocol::Action;
use protocol::ledger::{Always, GrantScope, Offer, Offers};

use super::wrap::one_line;

/// Rules that can be chosen, one for each digit.
const CHOICES_MAX: usize = 9;

/// A rule that may go along with an answer, and how long it would hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    offer: Offer,
    lasts: GrantScope,
}

impl Choice {
    /// It in a line.
    pub fn words(&self) -> String {
        let Offer {
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
        let rule = one_line(&rule);
        let words = one_line(words);
        let covers = match words.is_empty() || rule.contains(&words) {
            true => String::new(),
            false => format!(" ({words})"),
        };
        format!("{rule}, {}{covers}", self.lasts_words())
    }

    /// How long it would hold.
    pub fn lasts_words(&self) -> &'static str {
        match self.lasts {
            GrantScope::Session => "in this session",
            GrantScope::Project => "in this project",
            GrantScope::Everywhere => "everywhere",
        }
    }

    /// The rule of a file that it would override, in a sentence; empty for none.
    pub fn overrides(&self) -> String {
        let Some(rule) = &self.offer.overrides else {
            return String::new();
        };
        let pattern = rule.pattern.as_deref().unwrap_or("*");
        let rule = one_line(&format!("{} `{pattern}`", rule.permission));
        format!("It overrides the rule {rule}, which asks.")
    }

    /// It as a decision names it.
    pub fn always(&self) -> Always {
        Always {
            lasts: self.lasts,
            permission: self.offer.permission.clone(),
            pattern: self.offer.pattern.clone(),
            exactly: self.offer.exactly,
            until_ms: None,
            max_uses: None,
        }
    }
}

/// What may go along with an answer that allows, the narrowest and shortest first.
pub(super) fn choices(offers: &Offers) -> Vec<Choice> {
    let allowed = offers
        .offers
        .iter()
        .filter(|offer| offer.action == Action::Allow);
    let each = allowed.flat_map(|offer| {
        let offer = offer.clone();
        let lasts = offer.lasts.clone();
        lasts.into_iter().map(move |lasts| Choice {
            offer: offer.clone(),
            lasts,
        })
    });
    each.take(CHOICES_MAX).collect()
}

/// The choice of a digit.
pub(super) fn chosen(choices: &[Choice], digit: char) -> Option<&Choice> {
    let number = digit.to_digit(10)?.checked_sub(1)?;
    choices.get(number as usize)
}
