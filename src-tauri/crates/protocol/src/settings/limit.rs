//! Limits on the resources that a run can use up, as the person sets them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A resource of a run that can be limited.
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
    /// Time at work, in minutes, without the time in which the run waited for you.
    Time,
}

impl Limit {
    /// Returns the unit of the limit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "US dollars",
            Self::Time => "minutes",
        }
    }

    /// Returns the code of the limit in a chat (000).
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

/// Limits of one run, at which the run stops and waits for your next message. 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Model turns.
    pub turns: u32,
    /// Calls.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// US dollars; a turn whose price is not known adds nothing.
    #[serde(deserialize_with = "deserialize_amount")]
    pub cost_usd: f64,
    /// Minutes at work, without the time in which the run waits for you.
    pub minutes: u32,
    /// Number of identical calls in a row, with the same result and nothing in between that could change it, after
    /// which the next one asks if it may change something. A call that only reads is never refused for this; the model
    /// is told.
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

/// Deserialises an amount of money. A negative amount, or one that is not a number, is an error: it must not pass for
/// *no limit*.
fn deserialize_amount<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    match amount.is_finite() && amount >= 0.0 {
        true => Ok(amount),
        false => Err(serde::de::Error::custom(format!(
            "invalid amount `{amount}`, expected 0 or more US dollars"
        ))),
    }
}
