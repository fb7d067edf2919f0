//! What the agent of somebody else lets a person choose in its session: its mode, its model, and whatever else it offers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UserError;

/// An option that a session's agent offers, with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentOption {
    /// The agent's own id of it: `mode`, `model`.
    pub id: String,
    /// Name for people, in one line; the id if the agent gives none.
    pub name: String,
    /// What it is about, in one line; empty if the agent does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub description: String,
    /// The value in force: one of `values`.
    pub value: String,
    /// The values to choose from, in the agent's order; none as long as the agent has not offered the option.
    pub values: Vec<AgentOptionValue>,
    /// Whether a person chose the value: it is set again whenever the agent starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub is_chosen: bool,
}

/// A value that an option of an agent can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentOptionValue {
    /// The agent's own id of it.
    pub value: String,
    /// Name for people, in one line; the id if the agent gives none.
    pub name: String,
    /// What it does, in one line; empty if the agent does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub description: String,
    /// Why it is less safe than another value; none if nothing is known against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub warning: Option<String>,
}

impl AgentOption {
    /// Returns a value that was chosen for an option before the agent offered any.
    pub fn before_offer(id: &str, value: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: id.to_owned(),
            description: String::new(),
            value: value.to_owned(),
            values: Vec::new(),
            is_chosen: true,
        }
    }

    /// Whether the agent has offered the option.
    pub fn is_offered(&self) -> bool {
        !self.values.is_empty()
    }

    /// Checks that one of these options can have a value.
    ///
    /// # Errors
    /// There is no such option, or it has no such value; the error lists what is offered.
    pub fn check_value(offered: &[Self], id: &str, value: &str) -> Result<(), UserError> {
        let offered: Vec<&Self> = offered.iter().filter(|one| one.is_offered()).collect();
        let Some(option) = offered.iter().find(|one| one.id == id) else {
            let hint = match offered.is_empty() {
                true => "It offers none at all.".to_owned(),
                false => {
                    let all: Vec<String> = offered.iter().map(|one| one.summary()).collect();
                    format!("It offers {}.", all.join("; "))
                }
            };
            return Err(UserError::new(
                format!("The agent has no option `{id}`."),
                hint,
            ));
        };
        match option.values.iter().any(|one| one.value == value) {
            true => Ok(()),
            false => Err(UserError::new(
                format!("The agent's option `{id}` has no value `{value}`."),
                format!("It offers {}.", option.summary()),
            )),
        }
    }

    /// Returns the option with its values: `mode (default, plan)`.
    fn summary(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|one| one.value.as_str()).collect();
        format!("{} ({})", self.id, values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode() -> AgentOption {
        let values = ["default", "plan"].map(|value| AgentOptionValue {
            value: value.to_owned(),
            name: value.to_owned(),
            description: String::new(),
            warning: None,
        });
        AgentOption {
            values: values.to_vec(),
            is_chosen: false,
            ..AgentOption::before_offer("mode", "default")
        }
    }

    #[test]
    fn what_is_not_offered_is_an_error_that_lists_what_is() {
        let offered = [mode(), AgentOption::before_offer("speed", "fast")];
        let check = |id, value| AgentOption::check_value(&offered, id, value);
        assert_eq!(check("mode", "plan"), Ok(()));
        assert_eq!(
            check("speed", "fast"),
            Err(UserError::new(
                "The agent has no option `speed`.",
                "It offers mode (default, plan)."
            ))
        );
        assert_eq!(
            check("mode", "yolo"),
            Err(UserError::new(
                "The agent's option `mode` has no value `yolo`.",
                "It offers mode (default, plan)."
            ))
        );
        assert_eq!(
            AgentOption::check_value(&[], "mode", "plan").map_err(|fault| fault.hint),
            Err("It offers none at all.".to_owned())
        );
    }
}
