//! Programs of the person's as hooks: what they are told around a call, what they can keep from happening, and what becomes of
//! a call when they fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use protocol::event::{CallChange, SessionEvent};
use protocol::settings::{HookPoint, HookSettings};
use protocol::{CallState, Event, EventBody, Op, Settings, ToolOutput};
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, lifecycle_events, probe_turn};
use support::{Fixture, call_read, say_text};

const EVERYTHING: [HookPoint; 4] = [
    HookPoint::Before,
    HookPoint::BeforeUpdate,
    HookPoint::AfterUpdate,
    HookPoint::After,
];

/// A hook program of a test, and when it is started.
struct HookProgram<'a> {
    script: &'a str,
    on: &'a [HookPoint],
    timeout_ms: u32,
}

impl<'a> HookProgram<'a> {
    fn new(script: &'a str, on: &'a [HookPoint]) -> Self {
        Self {
            script,
            on,
            timeout_ms: 60_000,
        }
    }

    /// Sets it up, and gives the file that it may call `HEARD`.
    async fn set(&self, desk: &Fixture) -> PathBuf {
        let heard = desk.data_dir().canonicalize().unwrap().join("heard");
        let program = heard.with_file_name("hook");
        let script = self.script.replace("HEARD", heard.to_str().unwrap());
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.named(desk, program.to_str().unwrap()).await;
        heard
    }

    async fn named(&self, desk: &Fixture, program: &str) {
        let hook = HookSettings {
            name: "audit".to_owned(),
            program: program.to_owned(),
            on: self.on.to_vec(),
            timeout_ms: self.timeout_ms,
        };
        desk.set_settings(Settings {
            hooks: vec![hook],
            ..Settings::default()
        })
        .await;
    }
}

/// A desk whose agent reads a file, with one hook.
async fn reading(hook: HookProgram<'_>) -> (Fixture, PathBuf) {
    let mut desk = Fixture::new([call_read("a")]).await;
    desk.write_file("a", "text\n");
    let heard = hook.set(&desk).await;
    (desk, heard)
}

/// A desk whose agent calls a tool that says `half` while it runs, with one hook.
async fn saying(hook: HookProgram<'_>) -> (Fixture, PathBuf) {
    let probe = Probe::new(|_, cx| async move {
        cx.on_output.unwrap()("half");
        Ok(ToolOutput::new("the result", "ok"))
    });
    let agent = RecordingProvider::new([probe_turn(json!({})), say_text("On.")]);
    let desk = Fixture::with_tools(agent, probe.into_tools()).await;
    let heard = hook.set(&desk).await;
    (desk, heard)
}

/// The objects that were heard, in order.
fn objects(heard: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(heard).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn notices(events: &[Event]) -> Vec<String> {
    let notices = events.iter().filter_map(|event| match &event.body {
        EventBody::Session(SessionEvent::NoticeAdded { notice }) => {
            Some(format!("{} {}", notice.fault.message, notice.fault.hint))
        }
        _ => None,
    });
    notices.collect()
}

/// `S001-61`, `S001-62`: a deny keeps the call from running, and the model reads who said so and why.
#[tokio::test]
async fn a_program_keeps_a_call_from_running() {
    let script = "cat >> HEARD; echo '{\"verdict\":\"deny\",\"reason\":\"Not on a Sunday.\"}'";
    let (mut desk, heard) = reading(HookProgram::new(script, &EVERYTHING)).await;
    desk.play().await;
    let text = "Skipped by the hook `audit`: Not on a Sunday.".to_owned();
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Skipped, text.clone())]
    );
    let events = desk.events().await;
    assert_eq!(lifecycle_events(&events), ["end call_4"]);
    let said = events.iter().find_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::HookAnswered { hook, refused },
            ..
        } => Some((hook.clone(), refused.clone())),
        _ => None,
    });
    assert_eq!(said, Some(("the hook `audit`".to_owned(), Some(text))));
    assert_eq!(
        objects(&heard),
        [json!({
            "version": 1,
            "on": "before",
            "session": "ses_1",
            "workspace": desk.workspace_root(),
            "call": "call_4",
            "tool": "read",
            "arguments": { "path": "a" },
            "classifier_input": "read a",
        })]
    );
}

/// `S001-60`, `S001-67`: one that allows changes nothing of the call.
#[tokio::test]
async fn a_program_that_allows_changes_nothing() {
    let mut told = Vec::new();
    for script in [
        None,
        Some("cat > /dev/null; echo '{\"verdict\":\"allow\"}'"),
    ] {
        let mut desk = Fixture::new([call_read("a")]).await;
        desk.write_file("a", "text\n");
        if let Some(script) = script {
            HookProgram::new(script, &[HookPoint::Before])
                .set(&desk)
                .await;
        }
        desk.play().await;
        told.push((
            lifecycle_events(&desk.events().await),
            desk.call_outcomes().await,
        ));
    }
    assert_eq!(told[0].1[0].0, CallState::Done);
    assert_eq!(told[0], told[1]);
}

/// `S001-61`: whatever goes wrong with it before a call keeps the call from running, and is told with its name.
#[tokio::test]
async fn a_program_that_fails_before_a_call_refuses_it() {
    for (script, what) in [
        ("exit 3", "ended with exit code 3."),
        ("kill -9 $$", "was ended by signal 9."),
        ("", "did not answer with"),
        ("echo allow", "did not answer with"),
        ("echo '{\"verdict\":\"ask\"}'", "did not answer with"),
        (
            "echo '{\"verdict\":\"allow\",\"because\":\"\"}'",
            "did not answer with",
        ),
        ("yes", "answered more than it may."),
    ] {
        let (mut desk, _) = reading(HookProgram::new(script, &[HookPoint::Before])).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Failed, "{script}");
        let begins = format!("Not run, because the hook `audit` {what}");
        assert!(text.starts_with(&begins), "{script}: {text}");
        assert_eq!(
            lifecycle_events(&desk.events().await),
            ["end call_4"],
            "{script}"
        );
    }
}

/// The same of one that hangs, and of one that cannot be started.
#[tokio::test]
async fn a_program_that_hangs_or_is_not_there_refuses_the_call() {
    for (program, timeout_ms, what) in [
        ("relative", 1_000, "names no absolute file"),
        ("/nowhere/at/all", 1_000, "could not be started"),
        ("", 100, "did not answer within 100 ms."),
    ] {
        let mut desk = Fixture::new([call_read("a")]).await;
        desk.write_file("a", "text\n");
        let hook = HookProgram {
            timeout_ms,
            ..HookProgram::new("sleep 600", &[HookPoint::Before])
        };
        match program {
            "" => drop(hook.set(&desk).await),
            program => hook.named(&desk, program).await,
        }
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Failed, "{what}");
        let begins = format!("Not run, because the hook `audit` {what}");
        assert!(text.starts_with(&begins), "{text}");
    }
}

/// `S001-63`, `S001-68`: after a call it is told how the call ended, and what the agent reads of it.
#[tokio::test]
async fn a_program_sees_the_result_after_a_call() {
    let (mut desk, heard) = saying(HookProgram::new("cat >> HEARD", &[HookPoint::After])).await;
    desk.play().await;
    let heard = objects(&heard).remove(0);
    let seen =
        ["on", "tool", "call", "state", "is_error", "result"].map(|name| heard[name].clone());
    assert_eq!(
        json!(seen),
        json!(["after", "probe", "call_4", "done", false, "the result"])
    );
    assert_eq!(notices(&desk.events().await), [""; 0]);
}

/// One that fails after a call is told, and the result stands.
#[tokio::test]
async fn a_program_that_fails_after_a_call_is_told() {
    let (mut desk, _) = saying(HookProgram::new("exit 3", &[HookPoint::After])).await;
    desk.play().await;
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Done, "the result".to_owned())]
    );
    let told = "The hook `audit` ended with exit code 3. The call's result stands.";
    assert_eq!(notices(&desk.events().await), [told]);
}

/// `S001-64` to `S001-66`: it hears each update before and after it is told, and keeps one back; the result is the same.
#[tokio::test]
async fn a_program_keeps_updates_back() {
    let updates = [HookPoint::BeforeUpdate, HookPoint::AfterUpdate];
    let (mut desk, heard) = saying(HookProgram::new(
        "cat >> HEARD; echo '{\"verdict\":\"allow\"}'",
        &updates,
    ))
    .await;
    desk.play().await;
    let told: Vec<Value> = objects(&heard)
        .iter()
        .map(|heard| json!([heard["on"], heard["update"]]))
        .collect();
    let update = json!({ "kind": "output", "text": "half" });
    assert_eq!(
        told,
        [
            json!(["before_update", update]),
            json!(["after_update", update])
        ]
    );
    assert_eq!(
        lifecycle_events(&desk.events().await),
        ["start call_4", "output call_4 half", "end call_4"]
    );

    let denies = "cat >> HEARD; echo '{\"verdict\":\"deny\"}'";
    let (mut desk, heard) = saying(HookProgram::new(denies, &updates)).await;
    desk.play().await;
    assert_eq!(objects(&heard).len(), 1, "what is kept back has no after");
    assert_eq!(
        lifecycle_events(&desk.events().await),
        ["start call_4", "end call_4"]
    );
    assert_eq!(desk.call_outcomes().await[0].0, CallState::Done);
}

/// One that fails at an update keeps back all that follow, and is told; after one the call goes on as it is.
#[tokio::test]
async fn a_program_that_fails_at_an_update_is_told() {
    for (point, life_of, told) in [
        (
            HookPoint::BeforeUpdate,
            &["start call_4", "end call_4"][..],
            "The hook `audit` ended with exit code 3. The call shows no more updates.",
        ),
        (
            HookPoint::AfterUpdate,
            &["start call_4", "output call_4 half", "end call_4"],
            "The hook `audit` ended with exit code 3. The call goes on.",
        ),
    ] {
        let (mut desk, _) = saying(HookProgram::new("exit 3", &[point])).await;
        desk.play().await;
        let events = desk.events().await;
        assert_eq!(lifecycle_events(&events), life_of);
        assert_eq!(notices(&events), [told]);
        assert_eq!(desk.call_outcomes().await[0].0, CallState::Done);
    }
}

/// M12: what the rules deny no hook hears of, so that its allow lifts nothing.
#[tokio::test]
async fn a_program_comes_after_the_rules() {
    let mut desk = Fixture::new([call_read("/etc/hostname")]).await;
    let allows = "cat >> HEARD; echo '{\"verdict\":\"allow\"}'";
    let heard = HookProgram::new(allows, &EVERYTHING).set(&desk).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Denied]);
    assert!(!heard.exists());
}

/// A hook that is never started, and more of them than are started, are refused with what to write: from the window, in a
/// file that is checked, and in one that was written by hand. Under such a file every call asks, and its hooks are asked too.
#[tokio::test]
async fn hooks_that_mean_nothing_are_refused() {
    let hook = |name: &str, on: &[HookPoint]| HookSettings {
        name: name.to_owned(),
        program: "/bin/true".to_owned(),
        on: on.to_vec(),
        timeout_ms: 1_000,
    };
    let never = vec![hook("first", &EVERYTHING), hook("audit", &[])];
    let many = vec![hook("audit", &[HookPoint::After]); 17];
    let cases = [
        (
            never,
            "The hook `audit` is never started, because its `on` is empty.",
        ),
        (many, "There are 17 hooks, and at most 16 are started."),
    ];
    for (hooks, told) in cases {
        let settings = Settings {
            hooks,
            ..Settings::default()
        };
        let mut desk = Fixture::new([call_read("a")]).await;
        desk.write_file("a", "text\n");
        let op = Op::SetSettings {
            settings: Box::new(settings.clone()),
        };
        let fault = desk.engine.submit(op).await.unwrap_err();
        assert_eq!(fault.message, told);
        let kept = agent::engine::settings::file::read_text(desk.data_dir()).unwrap();
        assert_eq!(kept, "", "nothing was written");

        let text = toml::to_string(&settings).unwrap();
        let fault = agent::engine::settings::file::check_text(desk.data_dir(), &text).unwrap_err();
        assert_eq!(fault.message, told);

        std::fs::write(
            agent::engine::settings::file::settings_path(desk.data_dir()),
            text,
        )
        .unwrap();
        let mut desk = desk.restart().await;
        let snapshot = desk.snapshot().await;
        let faults: Vec<&str> = snapshot
            .faults
            .iter()
            .map(|fault| fault.message.as_str())
            .collect();
        assert!(
            faults.iter().any(|fault| fault.ends_with(told)),
            "{faults:?}"
        );
        assert_eq!(snapshot.settings.hooks, settings.hooks);
        desk.start("Go.").await;
        desk.wait_for_call().await;
        assert_eq!(desk.call_states().await, [CallState::Waiting]);
    }
}
