//! Where requests go: by the settings, by the environment, or to the provider's own address, and never elsewhere.

use std::sync::Arc;

use protocol::settings::{ProviderSettings, WireFormat};
use provider::{MemoryKeyStore, ProviderEnv, Providers};
use serde_json::json;

use crate::fake_endpoint::{Fake, Reply, played, settings, timing};

const MODELS: [(&str, &str, &str); 3] = [
    ("anthropic", "ANTHROPIC_BASE_URL", "/v1/messages"),
    ("openai", "OPENAI_BASE_URL", "/chat/completions"),
    (
        "gemini",
        "GOOGLE_GEMINI_BASE_URL",
        "/v1beta/models/some-model:streamGenerateContent?alt=sse",
    ),
];

fn keys() -> Arc<MemoryKeyStore> {
    let keys = MemoryKeyStore::new()
        .with_env("ANTHROPIC_API_KEY", "key-of-a-proxy")
        .with_env("OPENAI_API_KEY", "key-of-a-proxy")
        .with_env("GEMINI_API_KEY", "key-of-a-proxy");
    Arc::new(keys)
}

fn list(own: &[ProviderSettings], surroundings: &ProviderEnv) -> Providers {
    Providers::with_env(own, keys(), surroundings, timing())
}

fn wire(id: &str) -> WireFormat {
    match id {
        "anthropic" => WireFormat::Anthropic,
        "gemini" => WireFormat::Gemini,
        _ => WireFormat::Openai,
    }
}

/// The key of a company's proxy goes to the proxy, with the path that the vendor's own client would ask for.
#[tokio::test]
async fn a_base_url_of_the_environment_is_where_requests_go() {
    for (id, variable, path) in MODELS {
        let fake = Fake::start([Reply::status(400, "no")]).await;
        let there =
            ProviderEnv::default().with_variable(variable, fake.base_url.trim_end_matches('/'));
        let list = list(&[], &there);
        assert_eq!(list.errors(), []);
        let said = played(&*list.get(id).unwrap()).await;
        assert_eq!(said.len(), 1, "{id}: {said:?}");
        let asked = fake.asked();
        assert_eq!(asked[0].path, path, "{id}");
        assert!(
            format!("{:?}", asked[0].headers).contains("key-of-a-proxy"),
            "{id}"
        );
        let views = list.list_views().await;
        let view = views.iter().find(|view| view.id == id).unwrap();
        let told = format!("Requests go to {}, as {variable} says.", view.base_url);
        assert!(view.base_url.starts_with(&fake.base_url), "{view:?}");
        assert!(view.note.ends_with(&told), "{view:?}");
    }
}

/// Settings of a person are stronger than the environment; without both it is the provider's own address.
#[tokio::test]
async fn the_settings_are_stronger_than_the_environment() {
    for (id, variable, _) in MODELS {
        let fake = Fake::start([Reply::status(400, &json!({ "error": "no" }).to_string())]).await;
        let own = ProviderSettings {
            id: id.to_owned(),
            title: String::new(),
            key_env: None,
            ..settings(wire(id), &fake.base_url)
        };
        let there = ProviderEnv::default().with_variable(variable, "http://127.0.0.1:1/");
        let list = list(&[own], &there);
        assert_eq!(list.errors(), []);
        played(&*list.get(id).unwrap()).await;
        let asked = fake.asked();
        assert!(
            format!("{:?}", asked[0].headers).contains("key-of-a-proxy"),
            "{id}: the key stays the built-in one's"
        );
        let views = list.list_views().await;
        let view = views.iter().find(|view| view.id == id).unwrap();
        assert!(view.note.ends_with("as the settings say."), "{view:?}");
        assert_eq!(views.iter().filter(|view| view.id == id).count(), 1);
    }
    let blank = ProviderEnv::default()
        .with_variable("ANTHROPIC_BASE_URL", " ")
        .with_variable("OPENAI_BASE_URL", "");
    let addresses = list(&[], &blank).addresses();
    let urls: Vec<_> = addresses
        .iter()
        .flat_map(|it| it.base_url.clone())
        .collect();
    assert_eq!(
        urls,
        [
            "https://api.anthropic.com/v1/",
            "https://api.openai.com/v1/",
            "https://generativelanguage.googleapis.com/v1beta/",
            "https://openrouter.ai/api/v1/",
            "http://127.0.0.1:11434/",
        ]
    );
}

/// An address that cannot be used is an error with its name: the key does not go to the vendor instead.
#[tokio::test]
async fn what_cannot_be_used_is_an_error_and_no_way_to_the_vendor() {
    for (id, variable, value, told) in [
        (
            "anthropic",
            "ANTHROPIC_BASE_URL",
            "proxy.example",
            "cannot be read",
        ),
        ("openai", "OPENAI_BASE_URL", "ftp://proxy.example/", "ftp:"),
        (
            "gemini",
            "GOOGLE_GEMINI_BASE_URL",
            "https://me:word@proxy.example/",
            "keys belong in the environment",
        ),
        (
            "openai",
            "OPENAI_BASE_URL",
            "https://\u{fffd}.example/",
            "not text",
        ),
        ("ollama", "OLLAMA_HOST", "a b", "OLLAMA_HOST"),
    ] {
        let list = list(&[], &ProviderEnv::default().with_variable(variable, value));
        let fault = list.get(id).err().unwrap();
        assert!(
            fault
                .message
                .starts_with(&format!("{variable} cannot be used: "))
                && fault.message.contains(told)
                && !fault.message.contains("word@"),
            "{fault}"
        );
        assert!(fault.hint.starts_with("Set it to "), "{fault}");
        assert_eq!(list.errors(), std::slice::from_ref(&fault));
        let views = list.list_views().await;
        let view = views.iter().find(|view| view.id == id).unwrap();
        assert_eq!((view.ready, view.note.clone()), (false, fault.to_string()));
    }
    let wrong_wire = ProviderSettings {
        id: "anthropic".to_owned(),
        ..settings(WireFormat::Openai, "https://proxy.example/")
    };
    let wrong_address = ProviderSettings {
        id: "anthropic".to_owned(),
        ..settings(WireFormat::Anthropic, "nowhere")
    };
    for (own, told) in [
        (wrong_wire, "speaks another wire format"),
        (wrong_address, "cannot be read"),
    ] {
        let list = list(&[own], &ProviderEnv::default());
        let fault = list.get("anthropic").err().unwrap();
        assert!(fault.message.contains(told), "{fault}");
        assert_eq!(list.errors(), [fault]);
    }
}
