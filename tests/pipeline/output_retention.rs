//! Long outputs: packed once they are old, removed by age and size, and read again or said to be gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use protocol::Usage;
use protocol::query::{Answer, Query};
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Stop};
use runtime::fs::output_retention::{OutputSweep, sweep_outputs};
use runtime::{Clock, RetentionLimits, SessionFolder, SystemClock};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS_APPROVED, expect_variant};
use tokio_util::sync::CancellationToken;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An agent that makes a long output, and reads it whenever it is spoken to again.
#[derive(Default)]
struct ReadAgainProvider {
    turn: AtomicUsize,
    path: Mutex<String>,
}

#[async_trait]
impl Provider for ReadAgainProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        _: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let call = |name: &str, arguments: Value| Chunk::Call {
            id: None,
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let turn = self.turn.fetch_add(1, Ordering::SeqCst);
        let path = self.path.lock().unwrap().clone();
        let said = match turn {
            0 => call("bash", json!({ "command": "seq 1 100000" })),
            turn if turn % 2 == 0 => call("read", json!({ "path": path })),
            _ => Chunk::Text("Done.".to_owned()),
        };
        let end = Chunk::End {
            usage: Usage::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        };
        Ok(Box::pin(futures::stream::iter([Ok(said), Ok(end)])))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// Lets the agent read its output, and gives what it was told.
async fn read_again(desk: &mut Fixture) -> String {
    desk.send_message("Read it.").await;
    desk.wait_until_ended().await;
    desk.call_texts().await.pop().unwrap()
}

/// Waits until nobody works in the session any more: its run ends a moment after that was told.
fn until_at_rest(desk: &Fixture) {
    let folder = SessionFolder::open(desk.data_dir(), &desk.session).unwrap();
    let began = std::time::Instant::now();
    while folder.try_lock().unwrap().is_none() {
        assert!(
            began.elapsed() < support::WAIT_TIMEOUT,
            "the run does not end"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// An output that was packed is read as ever, by the agent and by the person; one that was removed is said to be, with the day.
#[tokio::test(flavor = "multi_thread")]
async fn a_packed_output_is_read_and_a_removed_one_is_told() {
    let agent = Arc::new(ReadAgainProvider::default());
    let mut desk = Fixture::with_provider(agent.clone(), HEADLESS_APPROVED).await;
    desk.play().await;
    let view = desk.calls().await.remove(0);
    let path = view
        .outcome
        .unwrap()
        .truncated
        .unwrap()
        .output_path
        .unwrap();
    agent.path.lock().unwrap().clone_from(&path);
    let output = || Query::Output {
        session: desk.session.clone(),
        call: view.call.id.clone(),
        offset: 0,
    };
    let (first, removed) = (output(), output());
    let now = SystemClock.now();
    let swept = |now: i64, since: i64| {
        until_at_rest(&desk);
        let keep = RetentionLimits {
            since,
            bytes_max: u64::MAX,
        };
        sweep_outputs(desk.data_dir(), &keep, now).unwrap()
    };

    let packed = swept(now + 2 * DAY_MS, 0);
    assert_eq!((packed.packed, packed.removed), (1, 0));
    assert!(!std::path::Path::new(&path).exists());
    let text = expect_variant!(desk.query(first).await, Answer::Output { text, .. } => text);
    assert!(text.starts_with("1\n2\n3\n"), "{text:.20}");
    assert_eq!(swept(now + 2 * DAY_MS, 0).packed, 1, "packed once more");

    let gone = OutputSweep {
        removed: 1,
        ..OutputSweep::default()
    };
    let told = read_again(&mut desk).await;
    assert!(
        told.contains("1\n") && !told.contains("removed"),
        "{told:.80}"
    );
    let keep = RetentionLimits {
        since: now + DAY_MS,
        bytes_max: u64::MAX,
    };
    until_at_rest(&desk);
    assert_eq!(sweep_outputs(desk.data_dir(), &keep, now).unwrap(), gone);
    let told = read_again(&mut desk).await;
    assert!(told.contains("was removed on 20"), "{told}");
    let fault = desk.engine.query(removed).await.unwrap_err();
    assert!(fault.message.contains("was removed on 20"), "{fault}");
}
