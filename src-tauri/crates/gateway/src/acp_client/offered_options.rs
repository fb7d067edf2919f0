//! What an agent offers to choose, in the three ways in which agents tell of it: the protocol's options, its modes, and
//! the models of agents that know no options yet.

use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionConfigSelectOptions, SessionModeState,
};
use protocol::UserError;
use protocol::session::agent_options::{AgentOption, AgentOptionValue};
use protocol::text::display_text::to_single_line;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::{
    AGENT_OPTION_ID_BYTES_MAX, AGENT_OPTION_TEXT_CHARS_MAX, AGENT_OPTION_VALUES_MAX,
    AGENT_OPTIONS_MAX,
};

/// Id of the option for the agent's mode, where the agent offers modes and no option for them.
const MODE_ID: &str = "mode";
/// Id of the option for the agent's model, where the agent offers models and no option for them.
const MODEL_ID: &str = "model";
/// Warning of a mode that is not the one in which the agent asks.
const MODE_WARNING: &str = "It may act without asking in this mode.";

/// What an agent offers, with the values in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OfferedOptions {
    config: Vec<SessionConfigOption>,
    modes: Option<SessionModeState>,
    models: Option<OfferedModels>,
}

/// The models of an agent that offers no option for them, which is no part of the protocol any more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfferedModels {
    current_model_id: String,
    available_models: Vec<OfferedModel>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfferedModel {
    model_id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

/// The request by which a value is set.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OptionRequest {
    /// `session/set_config_option`.
    Config(SessionConfigOptionValue),
    /// `session/set_mode`.
    Mode,
    /// `session/set_model`, as agents had it before there were options.
    Model,
}

impl OfferedOptions {
    /// Takes what the answer to a request to open a session offers. What cannot be read is not offered.
    pub fn from_opened(answer: &Value) -> Self {
        let config = answer.get("configOptions").and_then(Value::as_array);
        let config = config.into_iter().flatten();
        Self {
            config: config.filter_map(parse).collect(),
            modes: answer.get("modes").and_then(parse),
            models: answer.get("models").and_then(parse),
        }
    }

    /// Takes another list of the protocol's options.
    pub fn set_config(&mut self, config: Vec<SessionConfigOption>) {
        self.config = config;
    }

    /// Takes another mode.
    pub fn set_mode(&mut self, mode: &str) {
        if let Some(modes) = &mut self.modes {
            modes.current_mode_id = mode.to_owned().into();
        }
        if let Some(option) = self.config.iter_mut().find(|option| is_mode(option)) {
            set_value(option, mode);
        }
    }

    /// Takes a value that the agent has set.
    pub fn set_value(&mut self, id: &str, value: &str) {
        if let Some(option) = self.config.iter_mut().find(|one| *one.id.0 == *id) {
            set_value(option, value);
        } else if id == MODE_ID {
            self.set_mode(value);
        } else if let Some(models) = self.models.as_mut().filter(|_| id == MODEL_ID) {
            value.clone_into(&mut models.current_model_id);
        }
    }

    /// Returns the options as a person is shown them. `asking_mode` is the mode in which the agent asks, if it is known.
    pub fn to_options(&self, asking_mode: Option<&str>) -> Vec<AgentOption> {
        let mode = self.modes.as_ref().filter(|_| !self.has(is_mode));
        let model = self.models.as_ref().filter(|_| !self.has(is_model));
        let mut options: Vec<AgentOption> = mode.map(to_mode_option).into_iter().collect();
        options.extend(model.map(to_model_option));
        options.extend(self.config.iter().map(to_option));
        let mode = self.mode_id();
        for option in &mut options {
            option.values.retain(|value| is_id(&value.value));
            option.values.truncate(AGENT_OPTION_VALUES_MAX);
            if Some(option.id.as_str()) == mode {
                warn_of_modes(option, asking_mode);
            }
        }
        options.retain(|option| is_id(&option.id) && option.is_offered());
        options.truncate(AGENT_OPTIONS_MAX);
        options
    }

    /// Returns the request by which an option gets a value.
    ///
    /// # Errors
    /// There is no such option or value; the error lists what is offered.
    pub fn request_for(&self, id: &str, value: &str) -> Result<OptionRequest, UserError> {
        AgentOption::check_value(&self.to_options(None), id, value)?;
        let option = self.config.iter().find(|one| *one.id.0 == *id);
        Ok(match option.map(|option| &option.kind) {
            Some(SessionConfigKind::Boolean(_)) => {
                OptionRequest::Config(SessionConfigOptionValue::boolean(value == "true"))
            }
            Some(_) => OptionRequest::Config(SessionConfigOptionValue::value_id(value.to_owned())),
            None if id == MODE_ID => OptionRequest::Mode,
            None => OptionRequest::Model,
        })
    }

    /// Returns the id of the option for the agent's mode, if it has modes.
    pub fn mode_id(&self) -> Option<&str> {
        let option = self.config.iter().find(|option| is_mode(option));
        match option {
            Some(option) => Some(&option.id.0),
            None => self.modes.as_ref().map(|_| MODE_ID),
        }
    }

    /// Whether an option sets the agent's model, on which others may depend.
    pub fn is_model_id(&self, id: &str) -> bool {
        let option = self.config.iter().find(|one| *one.id.0 == *id);
        option.map_or(id == MODEL_ID, is_model)
    }

    fn has(&self, is_one: impl Fn(&SessionConfigOption) -> bool) -> bool {
        self.config.iter().any(is_one)
    }
}

fn parse<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Whether an id can be kept and sent.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= AGENT_OPTION_ID_BYTES_MAX
}

fn is_mode(option: &SessionConfigOption) -> bool {
    match &option.category {
        Some(category) => *category == SessionConfigOptionCategory::Mode,
        None => *option.id.0 == *MODE_ID,
    }
}

fn is_model(option: &SessionConfigOption) -> bool {
    match &option.category {
        Some(category) => *category == SessionConfigOptionCategory::Model,
        None => *option.id.0 == *MODEL_ID,
    }
}

fn set_value(option: &mut SessionConfigOption, value: &str) {
    match &mut option.kind {
        SessionConfigKind::Select(select) => select.current_value = value.to_owned().into(),
        SessionConfigKind::Boolean(boolean) => boolean.current_value = value == "true",
        _ => {}
    }
}

fn warn_of_modes(option: &mut AgentOption, asking_mode: Option<&str>) {
    let Some(asking) = asking_mode else {
        return;
    };
    for value in option.values.iter_mut().filter(|one| one.value != asking) {
        value.warning = Some(MODE_WARNING.to_owned());
    }
}

fn to_option(option: &SessionConfigOption) -> AgentOption {
    let (value, values) = match &option.kind {
        SessionConfigKind::Select(select) => {
            let values: Vec<&SessionConfigSelectOption> = match &select.options {
                SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect(),
                SessionConfigSelectOptions::Grouped(groups) => {
                    groups.iter().flat_map(|group| &group.options).collect()
                }
                _ => Vec::new(),
            };
            let values = values.into_iter().map(to_value).collect();
            (select.current_value.0.to_string(), values)
        }
        SessionConfigKind::Boolean(boolean) => {
            let values = vec![
                new_value("true", Some("On"), None),
                new_value("false", Some("Off"), None),
            ];
            (boolean.current_value.to_string(), values)
        }
        _ => (String::new(), Vec::new()),
    };
    AgentOption {
        id: option.id.0.to_string(),
        name: to_name(Some(&option.name), &option.id.0),
        description: to_line(option.description.as_deref()),
        value,
        values,
        is_chosen: false,
    }
}

fn to_value(option: &SessionConfigSelectOption) -> AgentOptionValue {
    let description = option.description.as_deref();
    new_value(&option.value.0, Some(&option.name), description)
}

fn to_mode_option(modes: &SessionModeState) -> AgentOption {
    let values = modes.available_modes.iter();
    let values =
        values.map(|mode| new_value(&mode.id.0, Some(&mode.name), mode.description.as_deref()));
    AgentOption {
        id: MODE_ID.to_owned(),
        name: "Mode".to_owned(),
        description: String::new(),
        value: modes.current_mode_id.0.to_string(),
        values: values.collect(),
        is_chosen: false,
    }
}

fn to_model_option(models: &OfferedModels) -> AgentOption {
    let values = models.available_models.iter().map(|model| {
        let description = model.description.as_deref();
        new_value(&model.model_id, model.name.as_deref(), description)
    });
    AgentOption {
        id: MODEL_ID.to_owned(),
        name: "Model".to_owned(),
        description: String::new(),
        value: models.current_model_id.clone(),
        values: values.collect(),
        is_chosen: false,
    }
}

fn new_value(value: &str, name: Option<&str>, description: Option<&str>) -> AgentOptionValue {
    AgentOptionValue {
        value: value.to_owned(),
        name: to_name(name, value),
        description: to_line(description),
        warning: None,
    }
}

/// Returns a name in one line, or the id if there is none.
fn to_name(name: Option<&str>, id: &str) -> String {
    let name = to_line(name);
    match name.is_empty() {
        true => to_line(Some(id)),
        false => name,
    }
}

fn to_line(text: Option<&str>) -> String {
    to_single_line(text.unwrap_or_default().trim(), AGENT_OPTION_TEXT_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What Gemini CLI offers: modes and models, and no options.
    fn modes_and_models() -> OfferedOptions {
        OfferedOptions::from_opened(&json!({
            "modes": { "currentModeId": "default", "availableModes": [
                { "id": "default", "name": "Default", "description": "Prompts for approval" },
                { "id": "yolo", "name": "YOLO" },
            ] },
            "models": { "currentModelId": "flash", "availableModels": [{ "modelId": "pro" }] },
        }))
    }

    /// What Codex offers: everything as options, and the modes once more.
    fn config() -> OfferedOptions {
        OfferedOptions::from_opened(&json!({
            "modes": { "currentModeId": "agent", "availableModes": [{ "id": "agent", "name": "Agent" }] },
            "configOptions": [
                { "id": "permission", "name": "Mode", "category": "mode", "type": "select", "currentValue": "agent", "options": [
                    { "value": "read-only", "name": "Read-only" }, { "value": "agent", "name": "Auto" } ] },
                { "id": "effort", "name": "Effort", "category": "thought_level", "type": "select", "currentValue": "low", "options": [
                    { "group": "g", "name": "All", "options": [{ "value": "low", "name": "Low" }, { "value": "high", "name": "" }] } ] },
                { "id": "fast", "name": "Fast", "type": "boolean", "currentValue": false },
                { "id": "odd", "name": "Odd", "type": "slider", "currentValue": 3 },
                { "id": "none", "name": "None", "type": "select", "currentValue": "", "options": [] },
            ],
        }))
    }

    fn summary(offered: &OfferedOptions, asking: Option<&str>) -> Vec<String> {
        let options = offered.to_options(asking);
        let options = options.iter().map(|option| {
            let values = option.values.iter().map(|value| {
                let warned = if value.warning.is_some() { "!" } else { "" };
                format!("{}={}{warned}", value.value, value.name)
            });
            let values: Vec<String> = values.collect();
            format!("{} {} [{}]", option.id, option.value, values.join(" "))
        });
        options.collect()
    }

    #[test]
    fn modes_and_models_are_options_too() {
        assert_eq!(
            summary(&modes_and_models(), Some("default")),
            [
                "mode default [default=Default yolo=YOLO!]",
                "model flash [pro=pro]"
            ]
        );
    }

    #[test]
    fn an_option_of_the_protocol_takes_the_place_of_the_modes_and_what_is_unreadable_is_left_out() {
        assert_eq!(
            summary(&config(), Some("read-only")),
            [
                "permission agent [read-only=Read-only agent=Auto!]",
                "effort low [low=Low high=high]",
                "fast false [true=On false=Off]",
            ]
        );
    }

    #[test]
    fn each_value_is_set_by_the_request_that_the_agent_knows() {
        let mode = |value: &str| {
            OptionRequest::Config(SessionConfigOptionValue::value_id(value.to_owned()))
        };
        let on = OptionRequest::Config(SessionConfigOptionValue::boolean(true));
        let (old, new) = (modes_and_models(), config());
        assert_eq!(old.request_for("mode", "yolo"), Ok(OptionRequest::Mode));
        assert_eq!(old.request_for("model", "pro"), Ok(OptionRequest::Model));
        assert_eq!(
            new.request_for("permission", "read-only"),
            Ok(mode("read-only"))
        );
        assert_eq!(new.request_for("fast", "true"), Ok(on));
        assert!(new.request_for("mode", "agent").is_err());
        assert!(new.request_for("fast", "perhaps").is_err());
    }

    #[test]
    fn a_value_that_was_set_is_in_force() {
        let (mut old, mut new) = (modes_and_models(), config());
        old.set_value("mode", "yolo");
        old.set_value("model", "pro");
        new.set_value("fast", "true");
        new.set_mode("read-only");
        let values = |offered: &OfferedOptions| {
            let options = offered.to_options(None).into_iter();
            options.map(|option| option.value).collect::<Vec<_>>()
        };
        assert_eq!(values(&old), ["yolo", "pro"]);
        assert_eq!(values(&new), ["read-only", "low", "true"]);
    }
}
