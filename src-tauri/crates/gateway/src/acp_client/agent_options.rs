//! The options of one running agent: what it offers is kept on record, and what a person chose is set.

use std::collections::{BTreeMap, BTreeSet};

use agent::AgentOptionRecord;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionId, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionModeRequest,
};
use agent_client_protocol::{Agent, Error, UntypedMessage};
use parking_lot::Mutex;
use protocol::session::agent_options::AgentOption;
use protocol::{NoticeLevel, UserError};
use serde_json::{Value, json};

use super::faults::describe_error;
use super::offered_options::{OfferedOptions, OptionRequest};
use crate::limits::AGENT_OPTION_MAX;

/// The options of an agent in its session.
pub(super) struct AgentOptions {
    /// Name of the agent for people.
    title: String,
    /// Mode of the agent in which it asks, if it is known.
    asking_mode: Option<String>,
    record: AgentOptionRecord,
    state: Mutex<OptionsState>,
}

#[derive(Default)]
struct OptionsState {
    offered: OfferedOptions,
    /// Values that a person chose and that are in force, by the options.
    chosen: BTreeMap<String, String>,
    /// The mode that was told of last.
    told_mode: Option<String>,
    /// Whether the session is open and the person's choices are set. What is offered before is not recorded yet.
    is_open: bool,
}

impl AgentOptions {
    /// Returns no options until the agent's session is open.
    pub fn new(title: String, asking_mode: Option<String>, record: AgentOptionRecord) -> Self {
        let state = OptionsState {
            told_mode: asking_mode.clone(),
            ..OptionsState::default()
        };
        Self {
            title,
            asking_mode,
            record,
            state: Mutex::new(state),
        }
    }

    /// Takes what the answer to a request to open the session offers.
    pub fn take_opened(&self, answer: &Value) {
        self.state.lock().offered = OfferedOptions::from_opened(answer);
    }

    /// Takes what an update says of the options, also between turns.
    pub fn handle_update(&self, update: &SessionUpdate) {
        match update {
            SessionUpdate::ConfigOptionUpdate(update) => {
                let options = update.config_options.clone();
                self.change(|state| state.offered.set_config(options));
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                self.change(|state| state.offered.set_mode(&update.current_mode_id.0));
            }
            _ => {}
        }
    }

    /// Sets the mode in which the agent asks, unless it is in it.
    pub async fn set_asking_mode(&self, setter: &OptionSetter<'_>) -> Result<(), UserError> {
        match self.find_mode() {
            Some(mode) if Some(&*mode.value) != self.asking_mode.as_deref() => {
                self.send_asking_mode(setter, &mode).await
            }
            _ => Ok(()),
        }
    }

    /// Sets the mode in which the agent asks, also if it is in it.
    pub async fn confirm_asking_mode(&self, setter: &OptionSetter<'_>) -> Result<(), UserError> {
        match self.find_mode() {
            Some(mode) => self.send_asking_mode(setter, &mode).await,
            None => Ok(()),
        }
    }

    /// Returns the option by which the agent's mode is set, if it has one.
    fn find_mode(&self) -> Option<AgentOption> {
        let state = self.state.lock();
        let mut options = state.offered.to_options(None).into_iter();
        options.find(|option| Some(option.id.as_str()) == state.offered.mode_id())
    }

    async fn send_asking_mode(
        &self,
        setter: &OptionSetter<'_>,
        mode: &AgentOption,
    ) -> Result<(), UserError> {
        let asking = self.asking_mode.as_deref();
        let asking =
            asking.filter(|asking| mode.values.iter().any(|value| value.value == **asking));
        match asking {
            Some(asking) => self.send_value(setter, &mode.id, asking).await,
            None => Ok(()),
        }
    }

    /// Sets what a person chose before the agent started, and puts on record what it offers.
    ///
    /// # Errors
    /// It does not offer what was chosen before it ever offered anything.
    pub async fn set_choices(&self, setter: &OptionSetter<'_>) -> Result<(), UserError> {
        let mut tried = BTreeSet::new();
        let mut first_fault = None;
        // Another choice may be made meanwhile.
        while let Some(choice) = self.next_choice(&tried) {
            tried.insert((choice.id.clone(), choice.value.clone()));
            let is_in_force = self.is_in_force(&choice);
            let set = match is_in_force {
                true => Ok(()),
                false => self.send_value(setter, &choice.id, &choice.value).await,
            };
            match set {
                Ok(()) => self.keep_choice(&choice.id, &choice.value),
                Err(fault) if choice.is_offered() => {
                    self.record.add_notice(NoticeLevel::Warning, fault);
                }
                Err(fault) => first_fault = first_fault.or(Some(fault)),
            }
        }
        self.change(|state| state.is_open = true);
        first_fault.map_or(Ok(()), Err)
    }

    /// Sets an option for a person.
    ///
    /// # Errors
    /// The agent does not offer this, refuses it, or does not answer.
    pub async fn choose(
        &self,
        setter: &OptionSetter<'_>,
        id: &str,
        value: &str,
    ) -> Result<(), UserError> {
        self.send_value(setter, id, value).await?;
        self.keep_choice(id, value);
        Ok(())
    }

    /// Returns a choice on record that was not tried yet: first that of the model, on which other options may depend.
    fn next_choice(&self, tried: &BTreeSet<(String, String)>) -> Option<AgentOption> {
        let state = self.state.lock();
        let mut left = self.record.options();
        left.retain(|option| {
            option.is_chosen && !tried.contains(&(option.id.clone(), option.value.clone()))
        });
        left.sort_by_key(|option| !state.offered.is_model_id(&option.id));
        left.into_iter().next()
    }

    fn is_in_force(&self, choice: &AgentOption) -> bool {
        let options = self.state.lock().offered.to_options(None);
        let mut options = options.iter();
        options.any(|option| option.id == choice.id && option.value == choice.value)
    }

    fn keep_choice(&self, id: &str, value: &str) {
        self.change(|state| {
            state.chosen.insert(id.to_owned(), value.to_owned());
        });
    }

    async fn send_value(
        &self,
        setter: &OptionSetter<'_>,
        id: &str,
        value: &str,
    ) -> Result<(), UserError> {
        let request = self.state.lock().offered.request_for(id, value)?;
        let config = setter.send(request, id, value).await.map_err(|why| {
            UserError::new(
                format!(
                    "{} did not set its option `{id}` to `{value}`: {why}.",
                    self.title
                ),
                "Choose another value.",
            )
        })?;
        self.change(|state| match config {
            Some(config) => state.offered.set_config(config),
            None => state.offered.set_value(id, value),
        });
        Ok(())
    }

    /// Changes the state, and records what came of it once the session is open.
    fn change(&self, change: impl FnOnce(&mut OptionsState)) {
        let mut state = self.state.lock();
        change(&mut state);
        if !state.is_open {
            return;
        }
        let mut options = state.offered.to_options(self.asking_mode.as_deref());
        self.tell_mode(&mut state, &options);
        let is_in_force = |id: &str, value: &str| {
            let mut options = options.iter();
            options.any(|option| option.id == id && option.value == value)
        };
        state.chosen.retain(|id, value| is_in_force(id, value));
        for option in &mut options {
            option.is_chosen = state.chosen.contains_key(&option.id);
        }
        self.record.update(options);
    }

    /// Warns of another mode, if it is not the one in which the agent asks.
    fn tell_mode(&self, state: &mut OptionsState, options: &[AgentOption]) {
        let mode_id = state.offered.mode_id();
        let option = options.iter().find(|one| Some(one.id.as_str()) == mode_id);
        let mode = option.map(|option| option.value.clone());
        if let (Some(asking), Some(mode)) = (&self.asking_mode, &mode)
            && asking != mode
            && state.told_mode.as_ref() != Some(mode)
        {
            let fault = UserError::new(
                format!(
                    "{} is in its mode `{mode}`, in which it may act without asking.",
                    self.title
                ),
                "Its commands are not judged then, unless its hooks are connected.",
            );
            self.record.add_notice(NoticeLevel::Warning, fault);
        }
        state.told_mode = mode;
    }
}

/// Sends values of options to an agent.
pub(super) struct OptionSetter<'a> {
    pub connection: &'a ConnectionTo<Agent>,
    pub session: &'a SessionId,
}

impl OptionSetter<'_> {
    /// Sets a value, and returns the protocol's options as they are then, if the agent says so.
    ///
    /// # Errors
    /// Why it was not set, as half a sentence.
    async fn send(
        &self,
        request: OptionRequest,
        id: &str,
        value: &str,
    ) -> Result<Option<Vec<SessionConfigOption>>, String> {
        let sent = tokio::time::timeout(AGENT_OPTION_MAX, self.request(request, id, value));
        match sent.await {
            Ok(Ok(config)) => Ok(config.filter(|config| !config.is_empty())),
            Ok(Err(error)) => Err(describe_error(&error)),
            Err(_) => {
                let seconds = AGENT_OPTION_MAX.as_secs();
                Err(format!("it did not answer within {seconds} s"))
            }
        }
    }

    async fn request(
        &self,
        request: OptionRequest,
        id: &str,
        value: &str,
    ) -> Result<Option<Vec<SessionConfigOption>>, Error> {
        let session = self.session.clone();
        match request {
            OptionRequest::Config(value) => {
                let request = SetSessionConfigOptionRequest::new(session, id.to_owned(), value);
                let set = self.connection.send_request(request).block_task().await?;
                Ok(Some(set.config_options))
            }
            OptionRequest::Mode => {
                let request = SetSessionModeRequest::new(session, value.to_owned());
                self.connection.send_request(request).block_task().await?;
                Ok(None)
            }
            OptionRequest::Model => {
                let params = json!({ "sessionId": session, "modelId": value });
                let request = UntypedMessage::new("session/set_model", params)?;
                self.connection.send_request(request).block_task().await?;
                Ok(None)
            }
        }
    }
}
