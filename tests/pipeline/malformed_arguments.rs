//! Malformed arguments and names of a model: each call is a result that it can act on, and the record stays whole.

use std::sync::Arc;

use agent::Host;
use protocol::{CallState, Decision, SessionState};
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Stop};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS_APPROVED, call_bash, call_tool};
use tokio_util::sync::CancellationToken;

/// A model that writes its one call exactly like this, and then is done.
struct RawArgumentProvider {
    name: String,
    arguments: String,
}

#[async_trait::async_trait]
impl Provider for RawArgumentProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let call = Chunk::Call {
            id: None,
            name: self.name.clone(),
            arguments: self.arguments.clone(),
        };
        let end = Chunk::End {
            usage: Default::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        };
        let chunks = match request.messages.len() {
            1 => vec![call, end],
            _ => vec![end],
        };
        Ok(Box::pin(futures::stream::iter(chunks.into_iter().map(Ok))))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// Plays one call, and returns how it ended, after another start read the whole record anew.
async fn play_call(name: &str, arguments: String) -> (CallState, String) {
    let agent = RawArgumentProvider {
        name: name.to_owned(),
        arguments,
    };
    let mut desk = Fixture::with_provider(Arc::new(agent), Host::Person).await;
    desk.write_file("a.txt", "alpha\n").start("Go.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done, "{name}");
    let desk = desk.restart().await;
    assert!(desk.snapshot().await.faults.is_empty());
    let (events, mut outcomes) = (desk.events().await, desk.call_outcomes().await);
    assert!(events.len() > 8 && outcomes.len() == 1, "{name}");
    outcomes.remove(0)
}

/// Arguments nested so deep: `{"path": [[[…]]]}`, `levels` brackets.
fn nested(levels: usize) -> String {
    format!(r#"{{"path":{}{}}}"#, "[".repeat(levels), "]".repeat(levels))
}

/// Extra, wrong, missing, and no arguments at all; unknown names with what is close (`S000-03`, `S000-04`, `S000-09`).
#[tokio::test]
async fn what_does_not_fit_is_said() {
    for (name, arguments, told) in [
        (
            "read",
            r#"{"path":"a.txt","extra":1}"#,
            "`extra` is not a member",
        ),
        ("read", r#"{"path":3}"#, "`path` must be a string"),
        ("read", r#"{"path":null}"#, "`path` must be a string"),
        ("read", "{}", "`path` is missing"),
        ("read", "", "`path` is missing"),
        ("read", "[1]", "Invalid arguments"),
        ("read", "null", "Invalid arguments"),
        ("read", "\"a.txt\"", "Invalid arguments"),
        ("read", r#"{"path":"a.txt""#, "Invalid arguments"),
        ("read", r#"{"path":"a.txt"} and more"#, "Invalid arguments"),
        ("read", "{\"path\":\"a\u{0}b\"}", "Invalid arguments"),
        ("reed", "{}", "Did you mean `read`?"),
        ("grepp", "{}", "Did you mean `grep`?"),
        ("read ", "{}", "Did you mean `read`?"),
        ("", "{}", "The tools are"),
        ("\u{202e}daer\u{0}", "{}", "Tool not found"),
    ] {
        let (state, text) = play_call(name, arguments.to_owned()).await;
        assert_eq!(state, CallState::Failed, "{name:?} {arguments:?}: {text}");
        assert!(text.contains(told), "{name:?} {arguments:?}: {text}");
    }
}

/// Nesting of any depth is an error, not the end of the program, and a depth that can be read once can be read again.
#[tokio::test]
async fn nesting_of_any_depth_is_an_error() {
    for levels in [
        10, 100, 110, 115, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 10_000,
    ] {
        let (state, text) = play_call("read", nested(levels)).await;
        assert_eq!(state, CallState::Failed, "{levels}: {text}");
        assert!(text.starts_with("Invalid arguments: "), "{levels}: {text}");
        assert!(text.len() < 8_000, "{levels}: {} bytes", text.len());
    }
}

/// Arguments and names without end are refused in few words.
#[tokio::test]
async fn size_is_bounded() {
    let long = "x".repeat(11 * 1024 * 1024);
    let arguments = json!({ "path": "new.txt", "content": long }).to_string();
    let (state, text) = play_call("write", arguments).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.contains("at most 10485760"), "{text}");
    let (state, text) = play_call("write", format!("{{\"path\":\"{long}")).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.len() < 8_000, "{} bytes", text.len());
    let (state, text) = play_call(&"n".repeat(1024 * 1024), "{}".into()).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.len() < 8_000, "{} bytes", text.len());
    // As much as is taken is taken.
    let long = "x".repeat(10 * 1024 * 1024 - 100);
    let arguments = json!({ "path": "a.txt", "extra": long }).to_string();
    let (state, text) = play_call("read", arguments).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.contains("`extra` is not a member"), "{text}");
    let many: Vec<usize> = (0..20_000).collect();
    let (state, text) = play_call("read", json!({ "path": many }).to_string()).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.len() < 8_000, "{} bytes", text.len());
    let members: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("m{n}"), json!(n))).collect();
    let (state, text) = play_call("read", Value::Object(members).to_string()).await;
    assert_eq!(state, CallState::Failed);
    assert!(text.len() < 8_000, "{} bytes", text.len());
}

/// A person's own arguments are held to the same depth, and what is refused leaves the call as it waits.
#[tokio::test]
async fn a_persons_arguments_are_bounded_too() {
    let mut desk = Fixture::new([call_bash("true")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let arguments = serde_json::from_str(&nested(100)).unwrap();
    let fault = desk
        .decide_call(&view, Decision::Edit { arguments })
        .await
        .unwrap_err();
    assert!(fault.message.contains("64 levels"), "{fault}");
    desk.allow_call(&view).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
}

/// A program that hangs is ended with the call, and nothing of it goes on.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_hangs_is_ended_with_its_call() {
    use std::os::unix::fs::PermissionsExt;
    const TOOL: &str = r#"{"hang":{"type":"object","properties":{"x":{"type":"string"},
        "_activity":{"const":"hang"},"_output":{"type":"object"}}}}"#;
    let turns = [call_tool("hang", json!({ "x": "y" }))];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    let pid = desk.data_dir().with_file_name("pid");
    let script = format!("#!/bin/sh\necho $$ > {}\nsleep 1000\n", pid.display());
    desk.write_file(".countersign/tools/hang.json", TOOL)
        .write_file(".countersign/activities/hang", script);
    let program = desk.workspace_root().join(".countersign/activities/hang");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    desk.start("Go.").await;
    desk.wait_until_running().await;
    let told = async {
        loop {
            match std::fs::read_to_string(&pid)
                .unwrap_or_default()
                .trim()
                .parse::<u32>()
            {
                Ok(number) => break number,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let patience = std::time::Duration::from_secs(30);
    let number = tokio::time::timeout(patience, told).await.unwrap();
    desk.interrupt_run().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
    let proc = std::path::PathBuf::from(format!("/proc/{number}"));
    assert!(!proc.exists(), "it still runs");
}
