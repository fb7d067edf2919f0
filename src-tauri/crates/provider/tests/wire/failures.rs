//! Bad turns: cut, malformed, slow, stopped, reported, redirected.

use futures::StreamExt;
use protocol::settings::WireFormat;
use protocol::{FaultCause, UserError};
use provider::{Chunk, ProviderError, Timing};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fake_endpoint::{
    Fake, Item, KEY, Reply, Then, WIRES, begin, played, provider, provider_with, request, timing,
};
use crate::stream_formats::{data, event, expected, frames_to_text, line, malformed, turn};

fn fake_error(make: impl FnOnce(String) -> ProviderError) -> ProviderError {
    make("Fake".to_owned())
}

/// Items before the failure: the thoughts and the first piece of text.
fn before(wire: WireFormat) -> Vec<Item> {
    expected(wire).into_iter().take(3).map(Ok).collect()
}

#[tokio::test]
async fn a_cut_stream_is_a_cut_and_what_came_stands() {
    for wire in WIRES {
        let frames = &turn(wire)[..frames_to_text(wire)];
        let mut torn = frames.to_vec();
        let next = &turn(wire)[frames_to_text(wire)];
        torn.push(next[..next.len() / 2].to_owned());
        for (frames, then) in [
            (frames, Then::Close),
            (frames, Then::Break),
            (&torn[..], Then::Close),
            (&torn[..], Then::Break),
        ] {
            let fake = Fake::start([Reply::frames(frames, then)]).await;
            let mut stream = begin(&*provider(wire, &fake)).await.unwrap();
            for item in before(wire) {
                assert_eq!(stream.next().await, Some(item), "{wire:?} {then:?}");
            }
            fake.break_off();
            let cut = fake_error(|provider| ProviderError::Cut { provider });
            assert_eq!(stream.next().await, Some(Err(cut)), "{wire:?} {then:?}");
            assert_eq!(stream.next().await, None);
            assert_eq!(
                fake.asked().len(),
                1,
                "nothing is asked twice after the first chunk"
            );
        }
    }
}

#[tokio::test]
async fn calls_of_a_cut_turn_do_not_come() {
    for wire in WIRES {
        let mut frames = turn(wire);
        frames.pop();
        if wire == WireFormat::Openai {
            // Without the mark and without the reason to stop.
            frames.truncate(frames.len() - 2);
        }
        let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        let cut = fake_error(|provider| ProviderError::Cut { provider });
        assert_eq!(items.last(), Some(&Err(cut)), "{wire:?}");
        let calls = items
            .iter()
            .filter(|item| matches!(item, Ok(Chunk::Call { .. })));
        assert_eq!(calls.count(), 0, "{wire:?}");
    }
}

#[tokio::test]
async fn malformed_json_is_named() {
    for wire in WIRES {
        let mut frames = turn(wire);
        frames.insert(frames_to_text(wire), malformed(wire));
        let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        assert_eq!(items[..3], before(wire), "{wire:?}");
        let [Err(ProviderError::Malformed { what, .. })] = &items[3..] else {
            panic!("{wire:?}: {items:?}")
        };
        assert!(what.contains("not JSON") && what.contains("oops"), "{what}");
    }
}

#[tokio::test]
async fn a_frame_that_ends_too_early_with_more_behind_it_is_malformed() {
    for wire in WIRES {
        let mut frames = turn(wire);
        let early = malformed(wire).replace(" oops}", "");
        frames.insert(frames_to_text(wire), early);
        let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        assert!(
            matches!(items.last(), Some(Err(ProviderError::Malformed { .. }))),
            "{wire:?}: {items:?}"
        );
    }
}

#[tokio::test]
async fn a_web_page_is_no_stream() {
    for wire in WIRES {
        let page = Reply::status(200, "<html>\n\n<body>Welcome!</body>\n\n</html>");
        let fake = Fake::start(vec![page; 3]).await;
        let error = begin(&*provider(wire, &fake)).await.err().unwrap();
        let ProviderError::Malformed { what, .. } = &error else {
            panic!("{wire:?}: {error:?}")
        };
        assert!(
            what.contains("not JSON") || what.contains("stream of events"),
            "{what}"
        );
        assert!(error.hint().contains("base URL"));
    }
}

#[tokio::test]
async fn a_silent_stream_ends_with_an_error() {
    for wire in WIRES {
        let frames = &turn(wire)[..frames_to_text(wire)];
        let fake = Fake::start([Reply::frames(frames, Then::Hang)]).await;
        let impatient = Timing {
            idle_ms: 150,
            ..timing()
        };
        let items = played(&*provider_with(wire, &fake, impatient)).await;
        let mut expected = before(wire);
        expected.push(Err(fake_error(|provider| ProviderError::Silent {
            provider,
            silent_ms: 150,
        })));
        assert_eq!(items, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn a_stop_ends_the_stream_at_once() {
    for wire in WIRES {
        let frames = &turn(wire)[..frames_to_text(wire)];
        let fake = Fake::start([Reply::frames(frames, Then::Hang)]).await;
        let cancel = CancellationToken::new();
        let provider = provider(wire, &fake);
        let mut stream = provider.stream(request(), cancel.clone()).await.unwrap();
        for item in before(wire) {
            assert_eq!(stream.next().await, Some(item));
        }
        cancel.cancel();
        assert_eq!(stream.next().await, Some(Err(ProviderError::Cancelled)));
        assert_eq!(stream.next().await, None);
    }
}

#[tokio::test]
async fn a_stop_ends_a_request_that_waits() {
    let fake = Fake::start([Reply::frames(&[], Then::Hang)]).await;
    let provider = provider(WireFormat::Openai, &fake);
    let cancel = CancellationToken::new();
    let waiting = provider.stream(request(), cancel.clone());
    let stop = async {
        while fake.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (begun, ()) = tokio::join!(waiting, stop);
    assert_eq!(begun.err(), Some(ProviderError::Cancelled));
    let late = provider.stream(request(), cancel).await;
    assert_eq!(late.err(), Some(ProviderError::Cancelled));
    assert_eq!(fake.asked().len(), 1);
}

#[tokio::test]
async fn errors_inside_a_stream_are_the_providers_own_words() {
    for (wire, frame) in [
        (
            WireFormat::Anthropic,
            event(
                "error",
                &json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}),
            ),
        ),
        (
            WireFormat::Openai,
            data(&json!({"error":{"message":"Overloaded","code":502}})),
        ),
        (
            WireFormat::Gemini,
            data(&json!({"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}})),
        ),
        (WireFormat::Ollama, line(&json!({"error":"Overloaded"}))),
    ] {
        let mut frames = turn(wire)[..frames_to_text(wire)].to_vec();
        frames.push(frame);
        let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
        let mut expected = before(wire);
        expected.push(Err(fake_error(|provider| ProviderError::Failed {
            provider,
            message: "Overloaded".to_owned(),
        })));
        assert_eq!(played(&*provider(wire, &fake)).await, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Fake::start([]).await;
    let fake =
        Fake::start([Reply::status(307, "").with_header("location", &elsewhere.base_url)]).await;
    let error = begin(&*provider(WireFormat::Openai, &fake))
        .await
        .err()
        .unwrap();
    assert_eq!(
        error,
        ProviderError::Redirected {
            provider: "Fake".to_owned(),
            base_url: fake.base_url.clone(),
            to: elsewhere.base_url.clone(),
        }
    );
    assert_eq!(elsewhere.asked().len(), 0);
    assert!(fake.asked()[0].headers["authorization"] == format!("Bearer {KEY}"));
}

#[tokio::test]
async fn errors_have_a_sentence_and_a_next_step() {
    let body = r#"{"error":{"message":"max_tokens is too large","type":"invalid_request_error"}}"#;
    let fake = Fake::start([Reply::status(400, body)]).await;
    let error = begin(&*provider(WireFormat::Openai, &fake))
        .await
        .err()
        .unwrap();
    assert_eq!(
        UserError::from(error),
        UserError::new(
            "Fake did not accept the request (400): max_tokens is too large.",
            "Change what the provider names, or choose another model."
        )
    );

    let body = r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model."}}"#;
    let fake = Fake::start([Reply::status(400, body)]).await;
    let error = begin(&*provider(WireFormat::Openai, &fake))
        .await
        .err()
        .unwrap();
    assert_eq!(
        UserError::from(error),
        UserError::new(
            "Fake did not accept the request (400): Unsupported value: 'temperature' does not support 0.2 with this model.",
            "Begin the session without a temperature, or with one that the model takes."
        )
    );

    let body = r#"{"error":{"message":"invalid x-api-key"}}"#;
    let fake = Fake::start([Reply::status(401, body)]).await;
    let error = begin(&*provider(WireFormat::Anthropic, &fake))
        .await
        .err()
        .unwrap();
    assert_eq!(
        UserError::from(error),
        UserError::new(
            "Fake refused the key from FAKE_KEY (401): invalid x-api-key.",
            "Check the key from FAKE_KEY, or set another one."
        )
        .with_cause(FaultCause::KeyRefused)
    );
}

#[tokio::test]
async fn an_account_without_credit_is_told_as_such() {
    for (status, message) in [
        (400, "Your credit balance is too low."),
        (402, "Pay first."),
        (403, "Payment required."),
    ] {
        let body = json!({ "error": { "message": message } }).to_string();
        let fake = Fake::start([Reply::status(status, &body)]).await;
        let error = begin(&*provider(WireFormat::Anthropic, &fake))
            .await
            .err()
            .unwrap();
        let cause = match status {
            // The key was refused, whatever else is said.
            403 => FaultCause::KeyRefused,
            _ => FaultCause::PaymentRequired,
        };
        assert_eq!(UserError::from(error).cause, Some(cause), "{message}");
    }
}

#[tokio::test]
async fn an_unknown_model_is_answered_with_those_that_exist() {
    for (wire, list, list_path) in [
        (
            WireFormat::Anthropic,
            json!({"data":[{"id":"other"},{"id":"some-model-2"}]}),
            "/models?limit=1000",
        ),
        (
            WireFormat::Openai,
            json!({"data":[{"id":"other"},{"id":"some-model-2"}]}),
            "/models",
        ),
        (
            WireFormat::Gemini,
            json!({"models":[{"name":"models/other"},{"name":"models/some-model-2"}]}),
            "/models?pageSize=1000",
        ),
        (
            WireFormat::Ollama,
            json!({"models":[{"name":"other"},{"name":"some-model-2"}]}),
            "/api/tags",
        ),
    ] {
        let fake = Fake::start([
            Reply::status(404, r#"{"error":{"message":"no such model"}}"#),
            Reply::status(200, &list.to_string()),
        ])
        .await;
        let error = begin(&*provider(wire, &fake)).await.err().unwrap();
        assert_eq!(
            UserError::from(error),
            UserError::new(
                "Fake does not know the model \u{201c}some-model\u{201d}: no such model.",
                "Choose one of its models: some-model-2, other."
            )
            .with_cause(FaultCause::ModelUnknown)
        );
        assert_eq!(fake.asked()[1].path, list_path);
    }
}
