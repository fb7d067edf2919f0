//! Calls that cannot be, paths that lead out, ids that repeat, output that is too long.

use std::sync::Arc;

use agent::Host;
use protocol::CallState;
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Stop};
use serde_json::json;
use support::{Fixture, HEADLESS_APPROVED, call_bash, call_read, call_tool, call_write, say_text};
use tokio_util::sync::CancellationToken;

/// Calls that cannot be: each is a result that the model can act on, and the run goes on (`S000-41`, `S001-25`, `S001-26`,
/// `S002-06`).
#[tokio::test]
async fn bad_calls_are_results() {
    for (name, arguments, told) in [
        ("reed", json!({}), "Tool not found: reed"),
        ("read", json!({}), "`path` is missing"),
        ("read", json!({ "path": 3 }), "`path` must be a string"),
        (
            "read",
            json!({ "path": "a", "extra": 1 }),
            "`extra` is not a member",
        ),
        (
            "read",
            json!({ "path": "missing.txt" }),
            "There is no file or folder at `missing.txt`.",
        ),
        (
            "edit",
            json!({ "path": "a", "old_string": "nowhere", "new_string": "x" }),
            "`old_string` was not found",
        ),
        (
            "edit",
            json!({ "path": "a", "old_string": "same", "new_string": "same" }),
            "`old_string` and `new_string` are equal",
        ),
        (
            "edit",
            json!({ "path": "a", "old_string": "twice", "new_string": "x" }),
            "`old_string` stands at 2 places in `a`, at lines 1, 2",
        ),
        (
            "read",
            json!({ "path": "folder" }),
            "`folder` is a folder, not a file.",
        ),
        (
            "grep",
            json!({ "pattern": "(" }),
            "The pattern `(` cannot be used: ",
        ),
    ] {
        let mut desk = Fixture::new([call_tool(name, arguments.clone()), say_text("I see.")]).await;
        desk.write_file("a", "twice\ntwice\nsame\n")
            .write_file("folder/x", "")
            .play()
            .await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Failed, "{name} {arguments}: {text}");
        assert!(text.contains(told), "{name} {arguments}: {text}");
        assert_eq!(
            desk.transcript().await.len(),
            4,
            "{name} {arguments}: the agent went on"
        );
    }
}

/// A link that leads out of the workspace is judged by where it leads (`S002-97`).
#[cfg(unix)]
#[tokio::test]
async fn a_link_out_of_the_workspace_is_denied() {
    let mut desk = Fixture::new([call_read("link"), call_write("link", "x")]).await;
    let outside = desk.data_dir().join("outside.txt");
    std::fs::write(&outside, "mine").unwrap();
    std::os::unix::fs::symlink(&outside, desk.workspace_root().join("link")).unwrap();
    desk.play().await;
    for (state, text) in desk.call_outcomes().await {
        assert_eq!(state, CallState::Denied, "{text}");
        assert!(text.contains("outside"), "{text}");
    }
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine");
}

/// A model that names its calls alike, as some do.
struct RepeatedIdProvider;

#[async_trait::async_trait]
impl Provider for RepeatedIdProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let todo = || Chunk::Call {
            id: Some("c_1".into()),
            name: "todo".into(),
            arguments: r#"{"items":[]}"#.into(),
        };
        let end = Chunk::End {
            usage: Default::default(),
            opaque: serde_json::Value::Null,
            stop: Stop::Finished,
        };
        let chunks = if request.messages.len() == 1 {
            vec![todo(), todo(), end]
        } else {
            vec![end]
        };
        Ok(Box::pin(futures::stream::iter(chunks.into_iter().map(Ok))))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// Two calls with one id are told apart (`S000-02`), and each has its result.
#[tokio::test]
async fn a_repeated_id_is_renamed() {
    let mut desk = Fixture::with_provider(Arc::new(RepeatedIdProvider), Host::Person).await;
    desk.play().await;
    let ids: Vec<_> = desk
        .calls()
        .await
        .into_iter()
        .map(|view| view.call.id.0)
        .collect();
    assert_eq!(
        (ids.len(), ids[0].as_str(), ids[0] == ids[1]),
        (2, "c_1", false)
    );
}

/// An output that is too long: the head, and the rest in a file that the agent can read (`S002-65`, `S002-69`,
/// `S002-75`).
#[tokio::test]
async fn a_long_output_goes_to_a_sidecar() {
    let mut desk = Fixture::with_host([call_bash("seq 1 100000")], HEADLESS_APPROVED).await;
    desk.play().await;
    let outcome = desk.only_call().await.outcome.unwrap();
    let truncated = outcome.truncated.clone().expect("it was cut");
    assert!(
        outcome.text.len() < 210 * 1024 && truncated.bytes > 500_000,
        "{truncated:?}"
    );
    let whole = std::fs::read_to_string(truncated.output_path.as_ref().unwrap()).unwrap();
    assert!(whole.trim_end().ends_with("100000"));
    assert!(
        truncated.output_path.unwrap().starts_with(
            &desk
                .data_dir()
                .canonicalize()
                .unwrap()
                .display()
                .to_string()
        ),
        "S002-70"
    );
    let envelope = serde_json::to_value(outcome.to_envelope()).unwrap();
    assert_eq!(envelope["metadata"]["truncated"], true);
}
