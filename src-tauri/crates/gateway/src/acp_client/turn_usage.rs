//! What an agent tells of the tokens, the cost, and the context of a turn.

use agent_client_protocol::v1::schema::{self, UsageUpdate};
use protocol::{ContextUse, Usage};

use crate::limits::AGENT_TURN_TOKENS_MAX;

/// Currency in which costs are counted.
const CURRENCY: &str = "USD";

/// Use of a turn, as far as the agent tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TurnUsage {
    /// What the agent's session cost so far, in US dollars.
    pub cost_usd: Option<f64>,
    /// How much of its model's context is in use.
    pub context: Option<ContextUse>,
    tokens: Usage,
}

impl TurnUsage {
    /// Takes what the agent tells in the middle of a turn.
    pub fn take_update(&mut self, update: &UsageUpdate) {
        let cost = update
            .cost
            .as_ref()
            .filter(|cost| cost.currency == CURRENCY);
        self.cost_usd = cost.map(|cost| cost.amount).or(self.cost_usd);
        if update.used > 0 {
            self.context = Some(ContextUse {
                used: update.used,
                size: update.size,
            });
        }
    }

    /// Adds what the agent tells at the end of a prompt. Agents count the tokens of the prompt alone, although the protocol
    /// says otherwise; and some count cached tokens and reasoning apart, which the sum shows.
    pub fn add_prompt(&mut self, told: &schema::Usage) {
        let bounded = |tokens: u64| tokens.min(AGENT_TURN_TOKENS_MAX);
        let optional = |tokens: Option<u64>| bounded(tokens.unwrap_or_default());
        let (read, written) = (bounded(told.input_tokens), bounded(told.output_tokens));
        let cached = optional(told.cached_read_tokens);
        let (new_in_cache, thought) = (
            optional(told.cached_write_tokens),
            optional(told.thought_tokens),
        );
        let apart = read + written + cached + new_in_cache + thought;
        let is_apart = bounded(told.total_tokens) >= apart;
        let prompt = Usage {
            input_tokens: match is_apart {
                true => read + cached + new_in_cache,
                false => read,
            },
            cached_tokens: cached,
            output_tokens: match is_apart {
                true => written + thought,
                false => written,
            },
            cost_usd: None,
        };
        self.tokens = self.tokens.plus(prompt);
    }

    /// Returns the usage of the turn, before which the agent's session had cost so much.
    pub fn to_usage(self, cost_before: Option<f64>) -> Usage {
        let cost = self.cost_usd;
        Usage {
            cost_usd: cost.map(|cost| (cost - cost_before.unwrap_or(0.0)).max(0.0)),
            ..self.tokens
        }
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::Cost;

    use super::*;

    fn tokens(told: &schema::Usage) -> (u64, u64, u64) {
        let mut usage = TurnUsage::default();
        usage.add_prompt(told);
        let usage = usage.to_usage(None);
        (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    }

    #[test]
    fn cached_tokens_and_reasoning_are_counted_once() {
        let apart = schema::Usage::new(1_111, 10, 100).cached_read_tokens(1_000);
        assert_eq!(tokens(&apart.thought_tokens(1)), (1_010, 1_000, 101));
        let included = schema::Usage::new(1_110, 1_010, 100).cached_read_tokens(1_000);
        assert_eq!(tokens(&included.thought_tokens(1)), (1_010, 1_000, 100));
    }

    #[test]
    fn prompts_of_a_turn_add_up_and_numbers_without_sense_are_bounded() {
        let mut usage = TurnUsage::default();
        usage.add_prompt(&schema::Usage::new(3, 1, 2));
        usage.add_prompt(&schema::Usage::new(u64::MAX, u64::MAX, 2));
        assert_eq!(usage.to_usage(None).output_tokens, 4);
        assert_eq!(usage.to_usage(None).input_tokens, 1 + AGENT_TURN_TOKENS_MAX);
    }

    #[test]
    fn the_cost_of_a_turn_is_what_the_session_cost_more_in_dollars() {
        let mut usage = TurnUsage::default();
        usage.take_update(&UsageUpdate::new(10, 100).cost(Cost::new(0.5, "USD")));
        usage.take_update(&UsageUpdate::new(0, 100).cost(Cost::new(9.0, "EUR")));
        assert_eq!(usage.to_usage(Some(0.25)).cost_usd, Some(0.25));
        assert_eq!(
            usage.context,
            Some(ContextUse {
                used: 10,
                size: 100
            })
        );
    }
}
