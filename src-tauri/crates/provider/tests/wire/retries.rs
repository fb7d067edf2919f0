//! Failures that are tried again, how often, and those that are not.

use protocol::settings::WireFormat;
use provider::{MemoryKeyStore, ProviderEnv, ProviderError, Providers, Timing};
use serde_json::json;

use crate::fake_endpoint::{
    Fake, Item, Reply, Then, WIRES, begin, played, provider, provider_with, settings, timing,
};
use crate::stream_formats::{event, expected, turn};

#[tokio::test]
async fn what_passes_is_tried_again() {
    let overloaded = [event(
        "error",
        &json!({"type":"error","error":{"type":"overloaded_error","message":"Busy"}}),
    )];
    for wire in WIRES {
        for trouble in [
            Reply::status(429, "{}"),
            Reply::status(429, "{}").with_header("retry-after", "0"),
            Reply::status(500, "oh"),
            Reply::status(503, ""),
            Reply::status(529, "{}"),
            Reply::frames(&[], Then::Break),
            Reply::frames(&[], Then::Close),
        ] {
            let good = Reply::frames(&turn(wire), Then::Close);
            let fake = Fake::start([trouble.clone(), trouble.clone(), good]).await;
            fake.break_off();
            let items = played(&*provider(wire, &fake)).await;
            let expected: Vec<Item> = expected(wire).into_iter().map(Ok).collect();
            assert_eq!(items, expected, "{wire:?} {trouble:?}");
            assert_eq!(fake.asked().len(), 3);
        }
    }
    let good = Reply::frames(&turn(WireFormat::Anthropic), Then::Close);
    let fake = Fake::start([Reply::frames(&overloaded, Then::Close), good]).await;
    let items = played(&*provider(WireFormat::Anthropic, &fake)).await;
    assert_eq!(items.len(), expected(WireFormat::Anthropic).len());
}

#[tokio::test]
async fn after_three_tries_it_says_so() {
    for wire in WIRES {
        let busy = Reply::status(503, r#"{"error":{"message":"Try later"}}"#);
        let fake = Fake::start(vec![busy; 4]).await;
        let error = begin(&*provider(wire, &fake)).await.err().unwrap();
        assert_eq!(
            error,
            ProviderError::Busy {
                provider: "Fake".to_owned(),
                status: 503,
                attempts: 3,
                retry_after_ms: None,
                message: "Try later".to_owned(),
            }
        );
        assert_eq!(fake.asked().len(), 3, "{wire:?}");
    }
}

#[tokio::test]
async fn a_wait_past_our_patience_is_left_to_the_person() {
    let very_long = "9".repeat(400);
    let too_long = "It asks to wait for more than a day. Choose another model.";
    for (asked, wait_ms, hint) in [
        ("30.001", 30_001, "It asks to wait 31 seconds."),
        ("3600", 3_600_000, "It asks to wait 3600 seconds."),
        ("86400", 86_400_000, "It asks to wait 86400 seconds."),
        ("86401", 86_401_000, too_long),
        ("99999999999999999999", u64::MAX, too_long),
        (very_long.as_str(), u64::MAX, too_long),
    ] {
        for wire in WIRES {
            let busy = Reply::status(429, "{}").with_header("retry-after", asked);
            let fake = Fake::start([busy]).await;
            let error = begin(&*provider(wire, &fake)).await.err().unwrap();
            assert_eq!(
                error,
                ProviderError::Busy {
                    provider: "Fake".to_owned(),
                    status: 429,
                    attempts: 1,
                    retry_after_ms: Some(wait_ms),
                    message: "{}".to_owned(),
                }
            );
            assert_eq!(error.hint(), hint, "{asked}");
            assert_eq!(fake.asked().len(), 1, "{wire:?} {asked}");
        }
    }
}

/// A wait that is none is not waited for: the request is tried again after a pause of ours.
#[tokio::test]
async fn a_wait_that_cannot_be_read_is_ours() {
    for asked in [
        "-1",
        "-99999999999999999999",
        "Wed, 21 Oct 2099 07:28:00 GMT",
        "1e400",
        "inf",
        "NaN",
        "soon",
        "",
    ] {
        for wire in WIRES {
            let busy = Reply::status(429, "{}").with_header("retry-after", asked);
            let good = Reply::frames(&turn(wire), Then::Close);
            let fake = Fake::start([busy, good]).await;
            let items = played(&*provider(wire, &fake)).await;
            let expected: Vec<Item> = expected(wire).into_iter().map(Ok).collect();
            assert_eq!(items, expected, "{wire:?} {asked}");
            assert_eq!(fake.asked().len(), 2, "{wire:?} {asked}");
        }
    }
}

#[tokio::test]
async fn what_does_not_pass_is_asked_once() {
    for status in [400, 401, 403, 413, 422] {
        let fake = Fake::start([Reply::status(status, "{}")]).await;
        assert!(begin(&*provider(WireFormat::Openai, &fake)).await.is_err());
        assert_eq!(fake.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_provider_that_never_begins_is_silent() {
    // The answer's head comes only after its first byte here, so nothing at all arrives.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/", listener.local_addr().unwrap());
    let keys = std::sync::Arc::new(MemoryKeyStore::new().with_env("FAKE_KEY", "sk-some-key"));
    let impatient = Timing {
        begin_ms: 100,
        ..timing()
    };
    let list = Providers::with_env(
        &[settings(WireFormat::Openai, &base_url)],
        keys,
        &ProviderEnv::default(),
        impatient,
    );
    let error = begin(&*list.get("fake").unwrap()).await.err().unwrap();
    let silent = ProviderError::Silent {
        provider: "Fake".to_owned(),
        silent_ms: 100,
    };
    assert_eq!(error, silent);
    drop(listener);
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let mut nobody = Fake::start([]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    nobody.base_url.clone_from(&base_url);
    let error = begin(&*provider_with(WireFormat::Ollama, &nobody, timing()))
        .await
        .err()
        .unwrap();
    let ProviderError::Unreachable {
        base_url: named,
        cause,
        ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(*named, base_url);
    assert!(cause.to_lowercase().contains("refused"), "{cause}");
}
