//! Keys go into one header and nowhere else.

use std::io::Write;
use std::sync::{Arc, Mutex};

use protocol::settings::WireFormat;
use protocol::{FaultCause, UserError};
use provider::{MemoryKeyStore, ProviderEnv, ProviderError, Providers, SystemKeyStore};

use crate::fake_endpoint::{
    Fake, KEY, Reply, Then, WIRES, begin, played, provider, settings, timing,
};
use crate::stream_formats::turn;

#[tokio::test]
async fn each_wire_has_its_header() {
    for (wire, header, value) in [
        (WireFormat::Anthropic, "x-api-key", KEY.to_owned()),
        (WireFormat::Openai, "authorization", format!("Bearer {KEY}")),
        (WireFormat::Gemini, "x-goog-api-key", KEY.to_owned()),
        (WireFormat::Ollama, "authorization", format!("Bearer {KEY}")),
    ] {
        let fake = Fake::start([Reply::frames(&turn(wire), Then::Close)]).await;
        played(&*provider(wire, &fake)).await;
        let asked = &fake.asked()[0];
        let carrying: Vec<_> = asked
            .headers
            .iter()
            .filter(|(_, value)| value.to_str().unwrap().contains(KEY))
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap().to_owned()))
            .collect();
        assert_eq!(carrying, [(header, value)], "{wire:?}");
        assert!(!asked.path.contains(KEY) && !asked.body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_asked() {
    let fake = Fake::start([]).await;
    let own = [settings(WireFormat::Openai, &fake.base_url)];
    let absent = Arc::new(MemoryKeyStore::new().without_keychain());
    for (keys, hint) in [
        (
            Arc::new(MemoryKeyStore::new()),
            "Set the environment variable FAKE_KEY, or store a key in the system keychain.",
        ),
        (
            absent,
            "Set the environment variable FAKE_KEY (The system keychain cannot be used here.).",
        ),
    ] {
        let list = Providers::with_env(&own, keys, &ProviderEnv::default(), timing());
        let error = begin(&*list.get("fake").unwrap()).await.err().unwrap();
        assert!(matches!(error, ProviderError::NoKey { .. }));
        assert_eq!(
            UserError::from(error),
            UserError::new("Fake needs a key, and none was found.", hint)
                .with_cause(FaultCause::KeyMissing)
        );
    }
    assert_eq!(fake.asked().len(), 0);
}

#[tokio::test]
async fn the_systems_keychain_is_asked_and_may_be_missing() {
    let fake = Fake::start([]).await;
    let mut own = settings(WireFormat::Openai, &fake.base_url);
    own.id = "countersign-test-of-a-key-that-is-not-there".to_owned();
    own.key_env = Some("COUNTERSIGN_TEST_NO_SUCH_KEY".to_owned());
    let id = own.id.clone();
    let keys = Arc::new(SystemKeyStore::default());
    let list = Providers::with_env(&[own], keys, &ProviderEnv::default(), timing());
    let error = begin(&*list.get(&id).unwrap()).await.err().unwrap();
    let ProviderError::NoKey { keychain, .. } = &error else {
        panic!("{error:?}")
    };
    // A desktop has a keychain, a server has none; both are fine, and nothing is asked without a key.
    let missing = "The system keychain cannot be used here.";
    assert!(
        keychain.as_deref().is_none_or(|why| why == missing),
        "{error:?}"
    );
    assert!(
        error
            .hint()
            .starts_with("Set the environment variable COUNTERSIGN_TEST_NO_SUCH_KEY")
    );
    assert_eq!(fake.asked().len(), 0);
}

#[tokio::test]
async fn a_server_that_needs_no_key_gets_none() {
    let fake = Fake::start([Reply::frames(&turn(WireFormat::Openai), Then::Close)]).await;
    let mut own = settings(WireFormat::Openai, &fake.base_url);
    own.key_env = None;
    let keys = Arc::new(MemoryKeyStore::new().without_keychain());
    let list = Providers::with_env(&[own], keys, &ProviderEnv::default(), timing());
    let items = played(&*list.get("fake").unwrap()).await;
    assert!(items.iter().all(Result::is_ok), "{items:?}");
    assert!(!fake.asked()[0].headers.contains_key("authorization"));
}

/// Keeps everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_key_is_in_no_error_and_in_no_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // For this whole process, so that the tasks which carry the connections are heard, too.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let quoting = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let mut texts = Vec::new();
    for wire in WIRES {
        let broken = vec![format!("data: {{\"key\": {KEY}}}\n\n")];
        for reply in [
            Reply::status(400, &quoting),
            Reply::status(401, &quoting),
            Reply::status(404, &quoting),
            Reply::status(500, &quoting),
            Reply::status(302, "").with_header("location", &format!("http://x/?key={KEY}")),
            Reply::frames(&broken, Then::Close),
        ] {
            let fake = Fake::start(vec![reply; 3]).await;
            let error = begin(&*provider(wire, &fake)).await.err().unwrap();
            assert!(!fake.asked().is_empty());
            texts.push(format!("{error:?}"));
            texts.push(format!("{:?}", UserError::from(error)));
        }
    }
    let struck = texts.iter().filter(|text| text.contains("[hidden]"));
    assert!(struck.count() >= 8, "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains(KEY)), "{texts:?}");

    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(log.contains("trying again"), "the log was heard");
    assert!(log.contains("hyper"), "so was the HTTP client");
    assert!(!log.contains(KEY), "the key was logged");
}
