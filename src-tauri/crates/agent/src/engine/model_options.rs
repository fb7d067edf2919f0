//! The model of a session and its reasoning effort, as options that a person sets like those of an agent.

use std::sync::Arc;

use protocol::event::SessionEvent;
use protocol::model::{Effort, ProviderView};
use protocol::op::OpReceipt;
use protocol::session::agent_options::{AgentOption, AgentOptionValue};
use protocol::view::entry::SessionView;
use protocol::{ModelChoice, UserError};

use crate::session::Session;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::is_manual;

/// Ids of the options.
const MODEL_OPTION: &str = "model";
const EFFORT_OPTION: &str = "effort";

/// The value of an effort that is left to the model's name or its provider.
const DEFAULT_EFFORT: &str = "default";

/// Efforts with their names for people.
const EFFORT_NAMES: [(Effort, &str, &str); 4] = [
    (Effort::None, "none", "None"),
    (Effort::Low, "low", "Low"),
    (Effort::Medium, "medium", "Medium"),
    (Effort::High, "high", "High"),
];

/// Returns the options of a session in which a model of a provider answers; none if nobody can choose the model.
pub(crate) async fn list_model_options(
    engine: &EngineState,
    session: &SessionView,
) -> Vec<AgentOption> {
    if !has_model_options(&session.model, session.parent.is_some()) {
        return Vec::new();
    }
    let providers = engine.providers();
    let views = providers.list_views().await;
    let efforts = providers.list_efforts(&session.model);
    let model = AgentOption {
        id: MODEL_OPTION.to_owned(),
        name: "Model".to_owned(),
        description: "Answers from the next turn on".to_owned(),
        value: format_model(&session.model),
        values: list_models(&session.model, &views),
        is_chosen: false,
    };
    let effort = (!efforts.is_empty()).then(|| effort_option(session.effort, efforts));
    [model].into_iter().chain(effort).collect()
}

/// Sets the model of a session, or its effort, from the next turn on.
pub(crate) async fn set_model_option(
    engine: &Arc<EngineState>,
    session: &Arc<Session>,
    option: &str,
    value: &str,
) -> Result<OpReceipt, UserError> {
    let present = session.model();
    if !has_model_options(&present, session.parent().is_some()) {
        return Err(UserError::new(
            format!("This session has no option `{option}`."),
            "Begin a session with the model that you want.",
        ));
    }
    let present_effort = session.with_conversation(|conversation| conversation.options.effort);
    let (model, effort) = match option {
        MODEL_OPTION => {
            let model = parse_model(value)?;
            engine.check_model(&model)?;
            // An effort that the model does not take would be refused.
            let efforts = engine.providers().list_efforts(&model);
            let effort = present_effort.filter(|effort| efforts.contains(effort));
            (model, effort)
        }
        EFFORT_OPTION => {
            let efforts = engine.providers().list_efforts(&present);
            let effort = parse_effort(&present, efforts, value)?;
            (present, effort)
        }
        _ => {
            return Err(UserError::new(
                format!("This session has no option `{option}`."),
                format!("It has `{MODEL_OPTION}` and `{EFFORT_OPTION}`."),
            ));
        }
    };
    let _nobody_else = session.lock.acquire(&session.tool_context.folder)?;
    let changed = SessionEvent::ModelChanged {
        model: model.clone(),
        effort,
    };
    session.journal.record_synced(changed).await?;
    session.choose_model(model, effort);
    Ok(OpReceipt::default())
}

/// Whether a model of a provider answers, and no request of another session names it.
fn has_model_options(model: &ModelChoice, is_sub_agent: bool) -> bool {
    !is_sub_agent && !is_manual(&model.provider)
}

fn format_model(model: &ModelChoice) -> String {
    format!("{}/{}", model.provider, model.model)
}

/// Parses `PROVIDER/MODEL`. The name of a model may itself have a slash.
fn parse_model(value: &str) -> Result<ModelChoice, UserError> {
    match value.split_once('/') {
        Some((provider, model)) if !is_manual(provider) => Ok(ModelChoice {
            provider: provider.to_owned(),
            model: model.to_owned(),
        }),
        _ => Err(UserError::new(
            format!("`{value}` names no model of a provider."),
            "Write PROVIDER/MODEL, such as `openai/gpt-5`.",
        )),
    }
}

fn parse_effort(
    model: &ModelChoice,
    efforts: &[Effort],
    value: &str,
) -> Result<Option<Effort>, UserError> {
    if value == DEFAULT_EFFORT {
        return Ok(None);
    }
    let named = EFFORT_NAMES.iter().find(|(_, id, _)| *id == value);
    let effort = named.map(|(effort, ..)| *effort);
    if effort.is_some_and(|effort| efforts.contains(&effort)) {
        return Ok(effort);
    }
    let offered: Vec<&str> = efforts
        .iter()
        .map(|effort| effort_names(*effort).0)
        .collect();
    Err(UserError::new(
        format!(
            "`{}` takes no reasoning effort `{value}`.",
            format_model(model)
        ),
        match offered.is_empty() {
            true => format!("Choose `{DEFAULT_EFFORT}`."),
            false => format!("Choose {DEFAULT_EFFORT}, {}.", offered.join(", ")),
        },
    ))
}

/// The models of the providers that can be asked now, and the present one.
fn list_models(present: &ModelChoice, providers: &[ProviderView]) -> Vec<AgentOptionValue> {
    let ready = providers.iter().filter(|provider| provider.ready);
    let mut values: Vec<AgentOptionValue> = ready
        .flat_map(|provider| {
            provider.models.iter().map(|model| {
                let choice = ModelChoice {
                    provider: provider.id.clone(),
                    model: model.clone(),
                };
                model_value(&choice, &provider.title)
            })
        })
        .collect();
    if !values
        .iter()
        .any(|value| value.value == format_model(present))
    {
        let title = providers.iter().find(|view| view.id == present.provider);
        let title = title.map_or(present.provider.as_str(), |view| &view.title);
        values.insert(0, model_value(present, title));
    }
    values
}

fn model_value(model: &ModelChoice, title: &str) -> AgentOptionValue {
    let name = match model.model.is_empty() {
        true => title,
        false => &model.model,
    };
    option_value(&format_model(model), name, title)
}

fn option_value(value: &str, name: &str, description: &str) -> AgentOptionValue {
    AgentOptionValue {
        value: value.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        warning: None,
    }
}

fn effort_option(present: Option<Effort>, efforts: &[Effort]) -> AgentOption {
    let offered = efforts.iter().map(|effort| {
        let (id, name) = effort_names(*effort);
        option_value(id, name, "")
    });
    let default = option_value(
        DEFAULT_EFFORT,
        "Default",
        "As the model or its provider has it",
    );
    AgentOption {
        id: EFFORT_OPTION.to_owned(),
        name: "Effort".to_owned(),
        description: "How much the model reasons before it answers".to_owned(),
        value: present
            .map_or(DEFAULT_EFFORT, |effort| effort_names(effort).0)
            .to_owned(),
        values: [default].into_iter().chain(offered).collect(),
        is_chosen: false,
    }
}

/// Returns the id of an effort, and its name for people.
fn effort_names(effort: Effort) -> (&'static str, &'static str) {
    let named = EFFORT_NAMES.iter().find(|(known, ..)| *known == effort);
    named.map_or((DEFAULT_EFFORT, "Default"), |(_, id, name)| (id, name))
}
