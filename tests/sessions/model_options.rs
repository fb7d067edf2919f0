//! The model of a session, chosen anew while it goes on.

use std::sync::Arc;

use agent::Host;
use protocol::model::{Effort, ModelChoice};
use protocol::query::{Answer, Query};
use protocol::session::agent_options::AgentOption;
use protocol::settings::{ProviderSettings, WireFormat};
use protocol::{Op, Settings, UserError};
use provider::Provider;
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, expect_variant, say_text};

async fn set_option(desk: &Fixture, option: &str, value: &str) -> Result<(), UserError> {
    let op = Op::SetAgentOption {
        session: desk.session.clone(),
        option: option.to_owned(),
        value: value.to_owned(),
    };
    desk.engine.submit(op).await.map(|_| ())
}

async fn list_options(desk: &Fixture) -> Vec<AgentOption> {
    let session = desk.session.clone();
    let answer = desk.query(Query::AgentOptions { session }).await;
    expect_variant!(answer, Answer::AgentOptions { options } => options)
}

async fn read_choice(desk: &Fixture) -> (ModelChoice, Option<Effort>) {
    let view = desk.snapshot().await.sessions.remove(0);
    (view.model, view.effort)
}

/// The choice stands on record: it holds after a restart, and the next turn is answered by that model.
#[tokio::test]
async fn another_model_and_its_effort_are_chosen_and_survive_a_restart() {
    let cast = ScriptedAgents::new([say_text("One."), say_text("Two.")], []);
    let provider: Arc<dyn Provider> = cast.clone();
    let mut desk = Fixture::with_provider(provider, Host::Person).await;
    desk.set_settings(Settings {
        providers: vec![ProviderSettings {
            id: "mine".to_owned(),
            title: "Mine".to_owned(),
            wire: WireFormat::Openai,
            base_url: "http://127.0.0.1:9/v1/".to_owned(),
            key_env: None,
            input_usd_per_mtok: None,
            output_usd_per_mtok: None,
        }],
        ..Settings::default()
    })
    .await;
    desk.start("Go.").await;
    desk.wait_until_ended().await;
    let [model] = list_options(&desk).await.try_into().unwrap();
    // No model of a provider is known yet, so the present one stands alone.
    let values: Vec<&str> = model.values.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(
        (model.id.as_str(), values),
        ("model", vec![model.value.as_str()])
    );

    set_option(&desk, "model", "mine/gpt-5").await.unwrap();
    set_option(&desk, "effort", "high").await.unwrap();
    let gpt = ModelChoice {
        provider: "mine".to_owned(),
        model: "gpt-5".to_owned(),
    };
    assert_eq!(read_choice(&desk).await, (gpt.clone(), Some(Effort::High)));
    let [model, effort] = list_options(&desk).await.try_into().unwrap();
    assert_eq!(
        (model.value.as_str(), effort.value.as_str()),
        ("mine/gpt-5", "high")
    );

    let desk = desk.restart().await;
    assert_eq!(read_choice(&desk).await, (gpt, Some(Effort::High)));
    // A model that takes no effort is not given one.
    set_option(&desk, "model", "mine/gpt-4o").await.unwrap();
    assert_eq!(read_choice(&desk).await.1, None);
    let fault = set_option(&desk, "effort", "high").await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "`mine/gpt-4o` takes no reasoning effort `high`. Choose `default`."
    );

    // The model that answers is the one chosen, from the next turn on.
    set_option(&desk, "model", "script/other").await.unwrap();
    let mut desk = desk;
    desk.send_message("And again.").await;
    desk.wait_until_ended().await;
    let asked: Vec<String> = cast.requests().into_iter().map(|one| one.model).collect();
    assert_eq!(asked, ["", "other"]);
}

#[tokio::test]
async fn what_is_no_model_or_option_is_an_error_that_says_what_is() {
    let mut desk = Fixture::new([say_text("One.")]).await;
    desk.start("Go.").await;
    desk.wait_until_ended().await;
    for (option, value, expected) in [
        ("model", "gpt", "`gpt` names no model of a provider."),
        (
            "model",
            "agent/codex",
            "`agent/codex` names no model of a provider.",
        ),
        ("mode", "plan", "This session has no option `mode`."),
    ] {
        let fault = set_option(&desk, option, value).await.unwrap_err();
        assert_eq!(fault.message, expected);
    }
    let fault = set_option(&desk, "model", "nobody/m").await.unwrap_err();
    assert!(fault.message.contains("nobody"), "{fault}");
}
