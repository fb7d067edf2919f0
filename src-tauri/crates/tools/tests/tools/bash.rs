//! `bash`: one command, its exit code, its output, its end.
#![cfg(unix)]

use std::time::Duration;

use protocol::view::preview::CommandPreview;
use protocol::{Preview, ToolError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, told};

#[tokio::test]
async fn exit_code_and_output_reach_the_model_s002_17_s001_47() {
    let bench = Bench::with(&[("a.txt", b"here\n")]);
    for (command, text, message) in [
        ("cat a.txt", "Exit code 0.\nhere\n", "exit 0"),
        (
            "true",
            "Exit code 0. The command printed nothing.",
            "exit 0",
        ),
        (
            "echo no >&2; exit 3",
            "Exit code 3: the command reported a failure.\nno\n",
            "exit 3",
        ),
        (
            "kill -TERM $$",
            "The command was ended by signal 15. The command printed nothing.",
            "signal 15",
        ),
        ("cat", "Exit code 0. The command printed nothing.", "exit 0"),
        (
            "printf 'a\\377b'",
            "Exit code 0.\na\u{fffd}b\n[Bytes that are not UTF-8 are shown as \u{fffd}.]",
            "exit 0",
        ),
    ] {
        let output = bench
            .call("bash", &json!({"command": command}))
            .await
            .unwrap();
        assert_eq!(
            (told(&output), output.message.as_str()),
            (text, message),
            "{command}"
        );
    }
    let missing = bench
        .call("bash", &json!({"command": "no-such-program-here"}))
        .await
        .unwrap();
    assert!(
        missing
            .text
            .starts_with("Exit code 127: the shell found no such program. Check its name"),
        "{}",
        missing.text
    );
    assert_eq!(missing.data.unwrap()["exit_code"], 127);
}

#[tokio::test]
async fn no_shell_is_kept_between_calls_s002_28() {
    let bench = Bench::with(&[("sub/a.txt", b"")]);
    bench
        .said("bash", &json!({"command": "cd sub && export KEPT=1"}))
        .await;
    let after = bench
        .said("bash", &json!({"command": "echo \"${KEPT:-gone}\"; ls"}))
        .await;
    assert_eq!(after, "Exit code 0.\ngone\nsub\n");
}

#[tokio::test]
async fn live_output_is_heard_while_it_runs_s001_12() {
    let bench = Bench::new();
    bench
        .said("bash", &json!({"command": "echo one; echo two"}))
        .await;
    assert_eq!(*bench.heard.lock().unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn output_past_the_limit_goes_to_the_sidecar_s002_75() {
    let bench = Bench::new();
    // A character stands across the limit and is not cut in two.
    let command = "head -c 204799 /dev/zero | tr '\\0' a; printf 'é%s' end; head -c 5000 /dev/zero | tr '\\0' b";
    let output = bench
        .call("bash", &json!({"command": command}))
        .await
        .unwrap();
    let truncated = output.truncated.unwrap();
    assert_eq!(truncated.bytes, 204_799 + 2 + 3 + 5_000);
    let note = output.text.lines().last().unwrap();
    assert_eq!(
        note,
        format!(
            "[The first 204.7 kB of 209.8 kB; read the rest at {}.]",
            truncated.output_path.as_ref().unwrap()
        )
    );
    assert!(output.text.starts_with("Exit code 0.\naaa") && !output.text.contains('\u{fffd}'));
    let rest = json!({"path": truncated.output_path, "byte_offset": 204_799, "byte_limit": 5});
    assert!(
        bench.said("read", &rest).await.starts_with("éend\n"),
        "S002-69"
    );
}

#[tokio::test]
async fn a_time_out_ends_the_whole_group_and_gives_what_came() {
    let bench = Bench::new();
    let command = "sleep 30 & echo $! > child.pid; echo started; sleep 30";
    let error = bench
        .call("bash", &json!({"command": command, "timeout_ms": 300}))
        .await
        .unwrap_err();
    let ToolError::TimedOut(text) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(
        text,
        "The command ran longer than 300 ms and was ended, with everything it had started. Give a longer timeout_ms (at \
         most 600,000), or run less at once. Its output until then:\nstarted\n"
    );
    assert_child_gone(&bench).await;
}

/// Asserts that the process in `child.pid`, which a command started, is gone or a zombie.
async fn assert_child_gone(bench: &Bench) {
    let gone =
        "pid=$(cat child.pid); ! kill -0 $pid 2>/dev/null || grep -q '^State:.Z' /proc/$pid/status";
    let output = bench
        .call("bash", &json!({ "command": gone }))
        .await
        .unwrap();
    assert_eq!(output.message, "exit 0", "{}", output.text);
}

#[tokio::test]
async fn cancelling_ends_it_s002_101_s003_39() {
    let mut bench = Bench::new();
    let command = json!({"command": "sleep 30 & echo $! > child.pid; echo started; sleep 30"});
    let stops = async {
        while !bench.heard.lock().unwrap().contains("started") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bench.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(bench.call("bash", &command), stops);
    assert_eq!(ended, Err(ToolError::Cancelled));
    bench.cancel = CancellationToken::new();
    assert_child_gone(&bench).await;
}

#[tokio::test]
async fn a_person_sees_what_would_run() {
    let bench = Bench::new();
    let call = json!({"command": "echo \u{202e}x | sh", "timeout_ms": 5_000});
    let prepared = bench.prepare("bash", &call).await.unwrap();
    let Preview::Command(CommandPreview {
        folder,
        command,
        facts,
        timeout_ms,
        ..
    }) = prepared.preview
    else {
        panic!("no command");
    };
    let shown: Vec<(&str, bool)> = command
        .iter()
        .map(|span| (span.text.as_str(), span.control))
        .collect();
    assert_eq!(
        shown,
        [("echo ", false), ("U+202E", true), ("x | sh", false)]
    );
    let seen: Vec<(&str, &str)> = facts
        .iter()
        .map(|f| (f.what.as_str(), f.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            // The command without the character counts as well.
            ("script", "x"),
            ("program", "echo 'U+202Ex'"),
            ("script", "'U+202Ex'"),
            ("program", "sh"),
            ("no rule allows", "It holds U+202E, which cannot be seen."),
            ("no rule allows", "A word holds what cannot be seen."),
            ("no rule allows", "`sh` runs what its arguments say.")
        ]
    );
    assert_eq!(
        (folder, timeout_ms),
        (bench.hands.workspace.root().display().to_string(), 5_000)
    );
}
