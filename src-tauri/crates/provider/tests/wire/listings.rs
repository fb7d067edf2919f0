//! The list of providers, and the lists of models.

use std::sync::Arc;

use protocol::UserError;
use protocol::model::{KeyState, ProviderKey, ProviderView};
use protocol::settings::{ProviderSettings, WireFormat};
use provider::{
    LOCAL_IDS, MemoryKeyStore, ProviderEnv, Providers, Script, ScriptedProvider, Timing,
};
use serde_json::json;

use crate::fake_endpoint::{Fake, Reply, provider, settings, timing};

fn view(id: &str, title: &str, base_url: &str, ready: bool, note: &str) -> ProviderView {
    ProviderView {
        id: id.to_owned(),
        title: title.to_owned(),
        base_url: base_url.to_owned(),
        ready,
        note: note.to_owned(),
        models: Vec::new(),
        key: key(KeyState::NotNeeded, None),
    }
}

fn key(state: KeyState, variable: Option<&str>) -> ProviderKey {
    ProviderKey {
        state,
        variable: variable.map(str::to_owned),
        can_be_kept: true,
    }
}

#[tokio::test]
async fn every_provider_says_where_it_stands() {
    let ollama = Fake::start([Reply::status(
        200,
        &json!({"models":[{"name":"qwen3:8b"}]}).to_string(),
    )])
    .await;
    let keys = MemoryKeyStore::new().with_env("ANTHROPIC_API_KEY", "sk-ant-123");
    let own = ProviderSettings {
        key_env: None,
        ..settings(WireFormat::Openai, "http://192.0.2.1:1234/v1")
    };
    let host = ollama.base_url.trim_start_matches("http://");
    let there = ProviderEnv::default().with_variable("OLLAMA_HOST", host);
    let list = Providers::with_env(&[own], Arc::new(keys), &there, timing()).with_provider(
        Arc::new(ScriptedProvider::with_id("demo", Script::default())),
        "Demo",
    );
    let no_key = |name: &str| {
        format!(
            "No key. Set the environment variable {name}, or store a key in the system keychain."
        )
    };
    let running = ProviderView {
        models: vec!["qwen3:8b".to_owned()],
        ..view("ollama", "Ollama", &ollama.base_url, true, "Running.")
    };
    assert_eq!(
        list.list_views().await,
        [
            ProviderView {
                key: key(KeyState::Found, Some("ANTHROPIC_API_KEY")),
                ..view(
                    "anthropic",
                    "Anthropic",
                    "https://api.anthropic.com/v1/",
                    true,
                    "Key from ANTHROPIC_API_KEY."
                )
            },
            ProviderView {
                key: key(KeyState::Missing, Some("OPENAI_API_KEY")),
                ..view(
                    "openai",
                    "OpenAI",
                    "https://api.openai.com/v1/",
                    false,
                    &no_key("OPENAI_API_KEY")
                )
            },
            ProviderView {
                key: key(KeyState::Missing, Some("GEMINI_API_KEY")),
                ..view(
                    "gemini",
                    "Google Gemini",
                    "https://generativelanguage.googleapis.com/v1beta/",
                    false,
                    &no_key("GEMINI_API_KEY")
                )
            },
            ProviderView {
                key: key(KeyState::Missing, Some("OPENROUTER_API_KEY")),
                ..view(
                    "openrouter",
                    "OpenRouter",
                    "https://openrouter.ai/api/v1/",
                    false,
                    &no_key("OPENROUTER_API_KEY")
                )
            },
            running,
            view(
                "fake",
                "Fake",
                "http://192.0.2.1:1234/v1/",
                true,
                "No key; none is sent."
            ),
            view("demo", "Demo", "", true, "Needs no key and no network."),
        ]
    );
}

#[tokio::test]
async fn ollama_that_does_not_run_is_said_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let keys = Arc::new(MemoryKeyStore::new().without_keychain());
    let there = ProviderEnv::default().with_variable("OLLAMA_HOST", &host);
    let list = Providers::with_env(&[], keys.clone(), &there, timing());
    let views = list.list_views().await;
    let note = format!("Not running at http://{host}/. Start it with `ollama serve`.");
    let keyless = ProviderKey {
        can_be_kept: false,
        ..key(KeyState::NotNeeded, None)
    };
    assert_eq!(
        views[4],
        ProviderView {
            key: keyless,
            ..view("ollama", "Ollama", &format!("http://{host}/"), false, &note)
        }
    );
    let unkept = ProviderKey {
        can_be_kept: false,
        ..key(KeyState::Missing, Some("OPENAI_API_KEY"))
    };
    assert_eq!(views[1].key, unkept);
    assert_eq!(
        views[1].note,
        "No key. Set the environment variable OPENAI_API_KEY (The system keychain cannot be used here)."
    );
    // One that takes the connection and says nothing does not hold the list up.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let quick = Timing {
        probe_ms: 50,
        ..timing()
    };
    let there = ProviderEnv::default().with_variable("OLLAMA_HOST", &host);
    let list = Providers::with_env(&[], keys, &there, quick);
    assert!(!list.list_views().await[4].ready);
}

#[test]
fn settings_that_do_not_work_are_named_and_left_out() {
    let ok = settings(WireFormat::Openai, "http://127.0.0.1:1/v1");
    let mut all = vec![ok.clone()];
    for id in LOCAL_IDS {
        all.push(ProviderSettings {
            id: id.to_owned(),
            ..ok.clone()
        });
    }
    all.push(ok.clone());
    all.push(ProviderSettings {
        id: "odd".to_owned(),
        base_url: "https://u:p@host/".to_owned(),
        ..ok.clone()
    });
    all.push(ProviderSettings {
        id: "rich".to_owned(),
        input_usd_per_mtok: Some(-1.0),
        ..ok
    });
    let keys = Arc::new(MemoryKeyStore::new());
    let list = Providers::with_env(&all, keys, &ProviderEnv::default(), timing());
    let messages: Vec<&str> = list
        .errors()
        .iter()
        .map(|fault| fault.message.as_str())
        .collect();
    assert_eq!(
        messages[..3],
        [
            "The provider “Fake” cannot be used: the id “demo” is built in.",
            "The provider “Fake” cannot be used: the id “script” is built in.",
            "The provider “Fake” cannot be used: the id “fake” is there twice.",
        ]
    );
    assert!(
        messages[3].contains("keys belong in the environment"),
        "{}",
        messages[3]
    );
    assert!(
        messages[4].contains("a price is not a number"),
        "{}",
        messages[4]
    );
    assert_eq!(messages.len(), 5);
    assert!(list.get("fake").is_ok());
    assert_eq!(
        list.get("odd").err(),
        Some(UserError::new(
            "There is no provider “odd”.",
            "Choose one of: anthropic, openai, gemini, openrouter, ollama, fake."
        ))
    );
}

#[tokio::test]
async fn models_are_listed_by_every_wire() {
    for (wire, list, path, names) in [
        (
            WireFormat::Anthropic,
            json!({"data":[{"id":"b"},{"id":"a"}],"has_more":false}),
            "/models?limit=1000",
            ["a", "b"],
        ),
        (
            WireFormat::Openai,
            json!({"object":"list","data":[{"id":"a"},{"id":"b"}]}),
            "/models",
            ["a", "b"],
        ),
        (
            WireFormat::Gemini,
            json!({"models":[{"name":"models/a"},{"name":"models/b"}]}),
            "/models?pageSize=1000",
            ["a", "b"],
        ),
        (
            WireFormat::Ollama,
            json!({"models":[{"name":"b"},{"name":"a"}]}),
            "/api/tags",
            ["a", "b"],
        ),
    ] {
        let fake = Fake::start([
            Reply::status(200, &list.to_string()),
            Reply::status(200, "<html>"),
        ])
        .await;
        let provider = provider(wire, &fake);
        assert_eq!(provider.models().await.unwrap(), names);
        assert_eq!(fake.asked()[0].path, path);
        let error = provider.models().await.unwrap_err();
        assert!(
            error.to_string().contains("its model list is not JSON"),
            "{error}"
        );
    }
}
