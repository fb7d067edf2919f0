//! The model that answers a request, and its parameters.

use protocol::model::TEMPERATURE_RANGE;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::{INSTANCE_CHARS_MAX, INSTANCES_MAX};

/// The model that answers, and its parameters. Anything left out is taken from the session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestConfig {
    /// Id of a configured provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Sampling temperature of the model, from 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How long the model thinks before it answers; the model's default if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Names of the session's tools that may be called; none if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The instances that the request is about, by name, each with its initial state. A call selects one of them with
    /// `_instance` (`S004-13`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub instances: Map<String, Value>,
}

/// Thinking level: how long a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Short thinking.
    Low,
    /// Thinking as long as most work needs.
    Medium,
    /// Long thinking.
    High,
}

impl Thinking {
    /// Returns the level as it is written after a model's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl RequestConfig {
    /// Returns the problem of the configuration, if there is one.
    pub(crate) fn find_problem(&self) -> Option<String> {
        let temperature = self.temperature.unwrap_or_default();
        if !TEMPERATURE_RANGE.contains(&temperature) {
            return Some("`temperature` must be from 0 to 2".to_owned());
        }
        if self.instances.len() > INSTANCES_MAX {
            return Some(format!("there can be {INSTANCES_MAX} instances"));
        }
        let mut instances = self.instances.iter();
        instances.find_map(|(name, state)| {
            if name.is_empty() || name.chars().count() > INSTANCE_CHARS_MAX {
                return Some(format!(
                    "the name of an instance must have 1 to {INSTANCE_CHARS_MAX} characters"
                ));
            }
            (!state.is_object())
                .then(|| format!("the state of the instance `{name}` must be an object"))
        })
    }
}
