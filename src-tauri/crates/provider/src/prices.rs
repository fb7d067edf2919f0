//! The cost of a turn: published prices of well-known models, or the person's own.
//!
//! List prices in US dollars for a million tokens, as the three providers published them by early 2026. A model that
//! is not in the table has no price until the person sets one: a wrong price is worse than none.

use protocol::Usage;

/// Tokens of one turn, as finely as prices tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TokenCounts {
    /// Read, cached and written to the cache included.
    pub input: u64,
    /// Of these, read from the cache.
    pub cached: u64,
    /// Of these, written to the cache.
    pub cache_written: u64,
    /// Written by the model, reasoning included.
    pub output: u64,
}

/// Where the price of a provider's models comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Prices {
    /// From the table below.
    Published(PriceTable),
    /// From the person's settings; cached tokens count like any other.
    Set {
        input_usd_per_mtok: f64,
        output_usd_per_mtok: f64,
    },
    /// The provider says with each turn what it cost (OpenRouter).
    Reported,
    /// Not known.
    Unknown,
}

/// The provider that a price table is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PriceTable {
    Anthropic,
    Openai,
    Gemini,
}

/// Dollars for a million tokens: read, read from the cache, written to the cache, written by the model.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Price {
    input: f64,
    cached: f64,
    cache_written: f64,
    output: f64,
}

/// A name, its price, and the price of a turn that reads more than 200,000 tokens where that differs.
type PriceRow = (&'static str, Price, Option<Price>);

const LONG_TOKENS_MIN: u64 = 200_000;

/// Anthropic: reading from the cache costs a tenth, writing to it (for five minutes) a quarter more.
const fn anthropic_price(input: f64, output: f64) -> Price {
    Price {
        input,
        cached: input * 0.1,
        cache_written: input * 1.25,
        output,
    }
}

/// OpenAI and Gemini: writing to the cache costs nothing extra.
const fn plain_price(input: f64, cached: f64, output: f64) -> Price {
    Price {
        input,
        cached,
        cache_written: input,
        output,
    }
}

const ANTHROPIC_PRICES: &[PriceRow] = &[
    ("claude-opus-4-6", anthropic_price(5.0, 25.0), None),
    ("claude-opus-4-5", anthropic_price(5.0, 25.0), None),
    ("claude-opus-4-1", anthropic_price(15.0, 75.0), None),
    ("claude-opus-4", anthropic_price(15.0, 75.0), None),
    ("claude-sonnet-4-6", anthropic_price(3.0, 15.0), None),
    ("claude-sonnet-4-5", anthropic_price(3.0, 15.0), None),
    ("claude-sonnet-4", anthropic_price(3.0, 15.0), None),
    ("claude-haiku-4-5", anthropic_price(1.0, 5.0), None),
    ("claude-3-7-sonnet", anthropic_price(3.0, 15.0), None),
    ("claude-3-5-sonnet", anthropic_price(3.0, 15.0), None),
    ("claude-3-5-haiku", anthropic_price(0.8, 4.0), None),
];

const OPENAI_PRICES: &[PriceRow] = &[
    ("gpt-5.2", plain_price(1.75, 0.175, 14.0), None),
    ("gpt-5.1", plain_price(1.25, 0.125, 10.0), None),
    ("gpt-5", plain_price(1.25, 0.125, 10.0), None),
    ("gpt-5-mini", plain_price(0.25, 0.025, 2.0), None),
    ("gpt-5-nano", plain_price(0.05, 0.005, 0.4), None),
    ("gpt-4.1", plain_price(2.0, 0.5, 8.0), None),
    ("gpt-4.1-mini", plain_price(0.4, 0.1, 1.6), None),
    ("gpt-4.1-nano", plain_price(0.1, 0.025, 0.4), None),
    ("gpt-4o", plain_price(2.5, 1.25, 10.0), None),
    ("gpt-4o-mini", plain_price(0.15, 0.075, 0.6), None),
    ("o3", plain_price(2.0, 0.5, 8.0), None),
    ("o4-mini", plain_price(1.1, 0.275, 4.4), None),
];

const GEMINI_PRICES: &[PriceRow] = &[
    (
        "gemini-3-pro-preview",
        plain_price(2.0, 0.2, 12.0),
        Some(plain_price(4.0, 0.4, 18.0)),
    ),
    (
        "gemini-2.5-pro",
        plain_price(1.25, 0.125, 10.0),
        Some(plain_price(2.5, 0.25, 15.0)),
    ),
    ("gemini-2.5-flash", plain_price(0.3, 0.03, 2.5), None),
    ("gemini-2.5-flash-lite", plain_price(0.1, 0.01, 0.4), None),
    ("gemini-2.0-flash", plain_price(0.1, 0.025, 0.4), None),
];

impl Prices {
    /// The usage of a turn with its cost. `reported_usd` is what the provider said itself.
    pub(crate) fn usage_with_cost(
        self,
        model: &str,
        tokens: TokenCounts,
        reported_usd: Option<f64>,
    ) -> Usage {
        let cost_usd = match self {
            Self::Published(publisher) => find_published_price(publisher, model, tokens.input)
                .map(|price| calculate_cost(price, tokens)),
            Self::Set {
                input_usd_per_mtok,
                output_usd_per_mtok,
            } => Some(calculate_cost(
                plain_price(input_usd_per_mtok, input_usd_per_mtok, output_usd_per_mtok),
                tokens,
            )),
            Self::Reported => reported_usd,
            Self::Unknown => None,
        };
        Usage {
            input_tokens: tokens.input,
            cached_tokens: tokens.cached,
            output_tokens: tokens.output,
            cost_usd,
        }
    }
}

fn find_published_price(publisher: PriceTable, model: &str, input_tokens: u64) -> Option<Price> {
    let rows = match publisher {
        PriceTable::Anthropic => ANTHROPIC_PRICES,
        PriceTable::Openai => OPENAI_PRICES,
        PriceTable::Gemini => GEMINI_PRICES,
    };
    rows.iter()
        .find(|(name, _, _)| is_model_name(model, name))
        .map(|(_, price, long)| match long {
            Some(long) if input_tokens > LONG_TOKENS_MIN => *long,
            _ => *price,
        })
}

/// Whether `model` is `name`, with or without the date of a release behind it. `gpt-5-pro` is not `gpt-5`.
fn is_model_name(model: &str, name: &str) -> bool {
    match model.strip_prefix(name) {
        Some("" | "-latest") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|date| {
            date.len() >= 8
                && date
                    .chars()
                    .all(|letter| letter.is_ascii_digit() || letter == '-')
        }),
        None => false,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a turn has far fewer than 2^52 tokens"
)]
fn calculate_cost(price: Price, tokens: TokenCounts) -> f64 {
    let fresh = tokens
        .input
        .saturating_sub(tokens.cached)
        .saturating_sub(tokens.cache_written);
    (fresh as f64 * price.input
        + tokens.cached as f64 * price.cached
        + tokens.cache_written as f64 * price.cache_written
        + tokens.output as f64 * price.output)
        / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_counts(input: u64, cached: u64, cache_written: u64, output: u64) -> TokenCounts {
        TokenCounts {
            input,
            cached,
            cache_written,
            output,
        }
    }

    #[test]
    fn turns_cost_what_the_table_says() {
        let million = token_counts(1_000_000, 0, 0, 1_000_000);
        for (publisher, model, tokens, usd) in [
            (
                PriceTable::Anthropic,
                "claude-sonnet-4-5",
                million,
                Some(18.0),
            ),
            (
                PriceTable::Anthropic,
                "claude-sonnet-4-5-20250929",
                million,
                Some(18.0),
            ),
            (
                PriceTable::Anthropic,
                "claude-haiku-4-5",
                token_counts(3_000_000, 1_000_000, 1_000_000, 0),
                Some(1.0 + 0.1 + 1.25),
            ),
            (PriceTable::Openai, "gpt-5-2025-08-07", million, Some(11.25)),
            (PriceTable::Openai, "gpt-5-pro", million, None),
            (PriceTable::Openai, "gpt-5.9", million, None),
            (
                PriceTable::Gemini,
                "gemini-2.5-pro",
                token_counts(100_000, 0, 0, 0),
                Some(0.125),
            ),
            (
                PriceTable::Gemini,
                "gemini-2.5-pro",
                token_counts(400_000, 0, 0, 0),
                Some(1.0),
            ),
            (
                PriceTable::Gemini,
                "gemini-2.5-flash-lite",
                token_counts(1_000_000, 0, 0, 0),
                Some(0.1),
            ),
        ] {
            let got = Prices::Published(publisher)
                .usage_with_cost(model, tokens, None)
                .cost_usd;
            match (got, usd) {
                (Some(got), Some(usd)) => assert!((got - usd).abs() < 1e-9, "{model}: {got}"),
                (got, usd) => assert_eq!(got, usd, "{model}"),
            }
        }
    }

    #[test]
    fn own_reported_and_unknown_prices() {
        let set = Prices::Set {
            input_usd_per_mtok: 1.0,
            output_usd_per_mtok: 2.0,
        };
        let used = token_counts(1_000_000, 500_000, 0, 500_000);
        assert_eq!(set.usage_with_cost("any", used, None).cost_usd, Some(2.0));
        assert_eq!(
            Prices::Reported
                .usage_with_cost("any", used, Some(0.25))
                .cost_usd,
            Some(0.25)
        );
        assert_eq!(
            Prices::Reported.usage_with_cost("any", used, None).cost_usd,
            None
        );
        assert_eq!(
            Prices::Unknown
                .usage_with_cost("any", used, Some(0.25))
                .cost_usd,
            None
        );
    }
}
