//! What a run can use up, and how much of it a person lets it use.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a run can have too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Model turns.
    Turns,
    /// Calls.
    Calls,
    /// Tokens, read and written.
    Tokens,
    /// Cost, in US dollars.
    Cost,
    /// Time at work, in minutes, without the time that the run waited for a person.
    Time,
}

impl Limit {
    /// What it is counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "US dollars",
            Self::Time => "minutes",
        }
    }

    /// Its code in a chat (000).
    pub fn code(self) -> &'static str {
        match self {
            Self::Turns => "E_BUDGET_STEPS",
            Self::Calls => "E_BUDGET_TOOL_CALLS",
            Self::Tokens => "E_BUDGET_TOKENS",
            Self::Cost => "E_BUDGET_COST",
            Self::Time => "E_BUDGET_TIME",
        }
    }
}

/// How much one run may use before it stops and waits for the person's next word. 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Model turns.
    pub turns: u32,
    /// Calls.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// US dollars; a turn whose price is not known counts nothing.
    #[serde(deserialize_with = "deserialize_amount")]
    pub cost_usd: f64,
    /// Minutes at work; the time that the run waits for a person does not count.
    pub minutes: u32,
    /// After so many identical calls in a row, with the same result and nothing between that could change it, the next
    /// one asks if it may change something. One that only reads is never refused for it; the model is told.
    pub repeats: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            turns: 250,
            calls: 2_000,
            tokens: 50_000_000,
            cost_usd: 25.0,
            minutes: 240,
            repeats: 3,
        }
    }
}

/// An amount of money. What is below nothing, or no number, is an error: it must not pass for *no limit*.
fn deserialize_amount<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    match amount.is_finite() && amount >= 0.0 {
        true => Ok(amount),
        false => Err(serde::de::Error::custom(format!(
            "invalid amount `{amount}`, expected 0 or more US dollars"
        ))),
    }
}
