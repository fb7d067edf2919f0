//! What agents let a person choose: kept on record, set by the request that the agent knows, and set again when it starts.

use protocol::query::Answer;
use protocol::session::agent_options::AgentOption;
use protocol::{Op, SessionState, UserError};

use super::acp_agents::AgentDesk;

/// An agent that goes on with an earlier session.
const HELLO: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}}}
"#;
const TURN: &str = r#"-> {"id": 3, "method": "session/prompt"}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;
/// Modes and models as Gemini CLI offers them.
const MODES_AND_MODELS: &str = r#""modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}, {"id": "yolo", "name": "YOLO"}]}, "models": {"currentModelId": "flash", "availableModels": [{"modelId": "flash", "name": "Flash"}, {"modelId": "pro", "name": "Pro"}]}"#;

/// An agent's answer to the request that opens its session.
fn opened(method: &str, offered: &str) -> String {
    format!(
        r#"-> {{"id": 2, "method": "session/{method}"}}
<- {{"id": 2, "result": {{"sessionId": "s", {offered}}}}}
"#
    )
}

/// A model, and how much it thinks, which only `opus` lets a person choose.
fn config(model: &str, effort: Option<&str>) -> String {
    let effort = effort.map(|effort| {
        format!(
            r#", {{"id": "effort", "name": "Effort", "category": "thought_level", "type": "select", "currentValue": "{effort}", "options": [{{"value": "low", "name": "Low"}}, {{"value": "high", "name": "High"}}]}}"#
        )
    });
    format!(
        r#""configOptions": [{{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "{model}", "options": [{{"value": "opus", "name": "Opus"}}, {{"value": "haiku", "name": "Haiku"}}]}}{}]"#,
        effort.unwrap_or_default()
    )
}

/// A request to set an option, and the agent's answer to it.
fn set_config(id: u32, answer: &str) -> String {
    format!(
        "-> {{\"id\": {id}, \"method\": \"session/set_config_option\"}}\n<- {{\"id\": {id}, {answer}}}\n"
    )
}

impl AgentDesk {
    async fn set_option(&self, option: &str, value: &str) -> Result<(), UserError> {
        let op = Op::SetAgentOption {
            session: self.desk.session.clone(),
            option: option.to_owned(),
            value: value.to_owned(),
        };
        self.desk.engine.submit(op).await.map(drop)
    }

    async fn options(&self) -> Vec<AgentOption> {
        let session = self.desk.session.clone();
        let query = protocol::query::Query::AgentOptions { session };
        match self.desk.engine.query(query).await.unwrap() {
            Answer::AgentOptions { options } => options,
            other => panic!("{other:?}"),
        }
    }

    /// Each option with its value; `*` if a person chose it.
    async fn values(&self) -> Vec<String> {
        let options = self.options().await.into_iter();
        let options = options.map(|option| {
            let mark = if option.is_chosen { "*" } else { "" };
            format!("{}={}{mark}", option.id, option.value)
        });
        options.collect()
    }

    /// The requests of these methods that the agent was sent, each with this parameter.
    fn requests(&self, method: &str, parameter: &str) -> Vec<String> {
        let answers = self.answers();
        let sent = answers.lines().filter_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_one = message.get("method")?.as_str()? == method;
            is_one.then(|| message["params"][parameter].to_string())
        });
        sent.collect()
    }

    async fn warnings(&self) -> Vec<String> {
        let (_, notices) = self.texts().await;
        let mut warnings = notices;
        warnings.retain(|text| !text.contains("answers in this session"));
        warnings
    }
}

/// Waits until the agent's turn is over.
async fn start(agent: &str, wire: &str) -> AgentDesk {
    let mut place = AgentDesk::new(agent, wire).await;
    place.start("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    place
}

#[tokio::test]
async fn modes_and_models_are_known_and_set_and_a_mode_that_may_not_ask_warns() {
    let set = r#"-> {"id": 4, "method": "session/set_mode"}
<- {"id": 4, "result": {}}
-> {"id": 5, "method": "session/set_model"}
<- {"id": 5, "result": {}}
"#;
    let wire = format!("{HELLO}{}{TURN}{set}", opened("new", MODES_AND_MODELS));
    let place = start("gemini-cli", &wire).await;
    assert_eq!(place.values().await, ["mode=default", "model=flash"]);
    let mode = place.options().await.remove(0);
    let warned: Vec<(String, bool)> = mode
        .values
        .into_iter()
        .map(|value| (value.name, value.warning.is_some()))
        .collect();
    assert_eq!(
        warned,
        [("Default".to_owned(), false), ("YOLO".to_owned(), true)]
    );
    place.set_option("mode", "yolo").await.unwrap();
    place.set_option("model", "pro").await.unwrap();
    assert_eq!(place.requests("session/set_mode", "modeId"), ["\"yolo\""]);
    assert_eq!(place.requests("session/set_model", "modelId"), ["\"pro\""]);
    assert_eq!(place.values().await, ["mode=yolo*", "model=pro*"]);
    assert_eq!(
        place.warnings().await,
        ["Gemini CLI is in its mode `yolo`, in which it may act without asking."]
    );
}

#[tokio::test]
async fn what_is_not_offered_any_more_is_refused_with_a_list_of_what_is() {
    let haiku = format!(r#""result": {{{}}}"#, config("haiku", None));
    let wire = format!(
        "{HELLO}{}{TURN}{}",
        opened("new", &config("opus", Some("low"))),
        set_config(4, &haiku)
    );
    let place = start("unknown", &wire).await;
    assert_eq!(place.values().await, ["model=opus", "effort=low"]);
    place.set_option("model", "haiku").await.unwrap();
    assert_eq!(place.values().await, ["model=haiku*"]);
    assert_eq!(
        place.set_option("effort", "high").await,
        Err(UserError::new(
            "The agent has no option `effort`.",
            "It offers model (opus, haiku)."
        ))
    );
    assert_eq!(
        place.set_option("model", "sonnet").await,
        Err(UserError::new(
            "The agent's option `model` has no value `sonnet`.",
            "It offers model (opus, haiku)."
        ))
    );
}

#[tokio::test]
async fn a_value_that_the_agent_refuses_is_not_in_force() {
    let refused = r#""error": {"code": -32602, "message": "not in your plan"}"#;
    let wire = format!(
        "{HELLO}{}{TURN}{}#exit 1\n",
        opened("new", &config("opus", Some("low"))),
        set_config(4, refused)
    );
    let place = start("unknown", &wire).await;
    let fault = place.set_option("model", "haiku").await.unwrap_err();
    assert_eq!(
        fault.message,
        "acp_agent did not set its option `model` to `haiku`: not in your plan."
    );
    assert_eq!(place.values().await, ["model=opus", "effort=low"]);
}

#[tokio::test]
async fn an_agent_that_ends_while_an_option_is_set_is_an_error_and_no_wait() {
    let wire = format!(
        "{HELLO}{}{TURN}-> {{\"id\": 4, \"method\": \"session/set_config_option\"}}\n#exit 1\n",
        opened("new", &config("opus", Some("low")))
    );
    let place = start("unknown", &wire).await;
    let fault = place.set_option("model", "haiku").await.unwrap_err();
    assert_eq!(
        fault.message,
        "acp_agent did not set its option `model` to `haiku`: it ended."
    );
    assert_eq!(place.values().await, ["model=opus", "effort=low"]);
}

#[tokio::test]
async fn two_choices_at_once_are_both_in_force_whichever_is_answered_first() {
    let both = format!(r#""result": {{{}}}"#, config("haiku", Some("high")));
    let wire = format!(
        r#"{HELLO}{}{TURN}-> {{"id": 4, "method": "session/set_config_option"}}
-> {{"id": 5, "method": "session/set_config_option"}}
<- {{"id": 5, {both}}}
<- {{"id": 4, {both}}}
"#,
        opened("new", &config("opus", Some("low")))
    );
    let place = start("unknown", &wire).await;
    let (model, effort) = tokio::join!(
        place.set_option("model", "haiku"),
        place.set_option("effort", "high")
    );
    assert_eq!((model, effort), (Ok(()), Ok(())));
    assert_eq!(place.values().await, ["model=haiku*", "effort=high*"]);
}

#[tokio::test]
async fn what_the_agent_changes_between_turns_is_known_and_is_no_choice_of_the_person() {
    let changed = r#"#await change
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}}
-> {"id": 4, "method": "session/prompt"}
<- {"id": 4, "result": {"stopReason": "end_turn"}}
"#;
    let wire = format!("{HELLO}{}{TURN}{changed}", opened("new", MODES_AND_MODELS));
    let mut place = start("gemini-cli", &wire).await;
    place.wait_until_awaited("change").await;
    place.signal("change");
    place.desk.send_message("And now?").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.values().await, ["mode=yolo", "model=flash"]);
    assert_eq!(
        place.warnings().await,
        ["Gemini CLI is in its mode `yolo`, in which it may act without asking."]
    );
}

/// The model goes first, because the other options depend on it.
#[tokio::test]
async fn choices_are_set_again_when_the_agent_starts_anew_and_one_that_vanished_is_told() {
    let chosen = |model, effort| format!(r#""result": {{{}}}"#, config(model, Some(effort)));
    let wire = format!(
        "{HELLO}{}{TURN}{}{}",
        opened("new", &config("haiku", Some("low"))),
        set_config(4, &chosen("haiku", "high")),
        set_config(5, &chosen("opus", "high")),
    );
    let place = start("unknown", &wire).await;
    place.set_option("effort", "high").await.unwrap();
    place.set_option("model", "opus").await.unwrap();

    let again = format!(
        "{HELLO}{}{}{}{TURN}",
        opened("resume", &config("haiku", Some("low"))),
        set_config(4, &chosen("opus", "low")),
        set_config(5, &chosen("opus", "high")),
    );
    let mut place = place.restart(&again).await;
    assert_eq!(place.values().await, ["model=opus*", "effort=high*"]);
    place.desk.send_message("And now?").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let set = place.requests("session/set_config_option", "value");
    assert_eq!(set, ["\"high\"", "\"opus\"", "\"opus\"", "\"high\""]);
    assert_eq!(place.values().await, ["model=opus*", "effort=high*"]);

    let without = format!("{HELLO}{}{TURN}", opened("resume", &config("opus", None)));
    let mut place = place.restart(&without).await;
    place.desk.send_message("And now?").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        place.warnings().await,
        ["The agent has no option `effort`."]
    );
}

/// As `countersign run --agent X --option ID=VALUE` does it: nothing is known of the agent yet.
#[tokio::test]
async fn a_choice_before_the_agent_starts_is_set_or_ends_the_turn_with_what_is_offered() {
    let set = format!(r#""result": {{{}}}"#, config("haiku", Some("low")));
    let offered = opened("new", &config("opus", Some("low")));
    let wire = format!("{HELLO}{offered}{}{TURN}", set_config(4, &set));
    let mut place = AgentDesk::new("unknown", &wire).await;
    place.open().await;
    place.set_option("model", "haiku").await.unwrap();
    place.desk.send_message("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.values().await, ["model=haiku*", "effort=low"]);

    let mut place = AgentDesk::new("unknown", &format!("{HELLO}{offered}{TURN}")).await;
    place.open().await;
    place.set_option("speed", "fast").await.unwrap();
    place.desk.send_message("Go.").await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Failed);
    assert_eq!(
        place.turn_errors().await,
        ["The agent has no option `speed`."]
    );
    assert_eq!(place.values().await, ["model=opus", "effort=low"]);
}

#[tokio::test]
async fn a_session_in_which_a_model_answers_has_no_option_of_an_agent() {
    let mut desk = support::Fixture::new([support::say_text("Hello.")]).await;
    desk.start("Hello.").await;
    let op = Op::SetAgentOption {
        session: desk.session.clone(),
        option: "mode".to_owned(),
        value: "plan".to_owned(),
    };
    let fault = desk.engine.submit(op).await.unwrap_err();
    assert_eq!(fault.message, "This session has no option `mode`.");
}
