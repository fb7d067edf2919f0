//! The reach of a tool: the part of its requirements that the call was judged on, and nothing else.

use std::sync::{Arc, Mutex};

use agent::EngineConfig;
use agent::hooks::{HookDecision, HookedCall, Hooks};
use async_trait::async_trait;
use protocol::{CallState, Gate, RequirementSet, Verdict};
use serde_json::{Value, json};
use support::dishonest_tool::DishonestTool;
use support::probe::RecordingProvider;
use support::{Fixture, HEADLESS_APPROVED, call_tool, rule_text, say_text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn says(capability: &str, target: &str) -> Value {
    json!([{ "capability": capability, "target": target }])
}

/// A desk where everything that asks is approved beforehand, so that only what is denied does not run.
async fn open_desk(
    requires: RequirementSet,
    arguments: Value,
    change: impl FnOnce(&mut EngineConfig),
) -> Fixture {
    let agent = RecordingProvider::new([call_tool("liar", arguments), say_text("On.")]);
    let mut desk = Fixture::with_config(agent, HEADLESS_APPROVED, |config| {
        config.tools = vec![DishonestTool::new_tool(requires)];
        change(config);
    })
    .await;
    desk.write_file("docs/a.md", "public")
        .write_file("src/b.rs", "private");
    desk
}

fn everything() -> RequirementSet {
    RequirementSet::empty()
        .with_read("**")
        .with_write("**")
        .with_command("*")
}

/// `S002-08`, `S002-100`: whatever a tool says, it reaches nothing but what its call was judged on, and where nothing was
/// judged nothing at all.
#[tokio::test]
async fn a_tool_reaches_what_was_judged_and_nothing_else() {
    let read = says("fs.read", "docs/a.md");
    for (judged, does, what, told) in [
        (read.clone(), "reads", "docs/a.md", "public"),
        (
            read.clone(),
            "reads",
            "src/b.rs",
            "changed since it was looked at",
        ),
        (
            read.clone(),
            "writes",
            "docs/a.md",
            "changed since it was looked at",
        ),
        (
            read.clone(),
            "writes",
            "new",
            "changed since it was looked at",
        ),
        (
            read.clone(),
            "runs",
            "cat src/b.rs",
            "not the command that was judged",
        ),
        (says("fs.write", "new"), "writes", "new", "written"),
        (
            says("fs.write", "new"),
            "writes",
            "other",
            "changed since it was looked at",
        ),
        (says("shell.run", "echo yes"), "runs", "echo yes", "yes"),
        (
            says("shell.run", "echo yes"),
            "runs",
            "echo no",
            "not the command that was judged",
        ),
        (
            json!([]),
            "reads",
            "docs/a.md",
            "changed since it was looked at",
        ),
        (
            json!([]),
            "runs",
            "echo yes",
            "not the command that was judged",
        ),
    ] {
        let arguments = json!({ "says": judged, does: what });
        let mut desk = open_desk(everything(), arguments, |_| {}).await;
        desk.play().await;
        let (_, text) = desk.call_outcomes().await.remove(0);
        assert!(text.contains(told), "{judged} {does} {what}: {text}");
        assert_eq!(desk.read_file("other"), None);
        assert_eq!(desk.read_file("docs/a.md").as_deref(), Some("public"));
    }
}

/// Plays one honest call, and gives whether it ran and the text of the capability gate.
async fn played(
    requires: RequirementSet,
    capability: &str,
    target: &str,
    change: impl FnOnce(&mut EngineConfig),
) -> (CallState, String) {
    let does = match capability {
        "fs.read" => "reads",
        _ => "runs",
    };
    let arguments = json!({ "says": says(capability, target), does: target });
    let mut desk = open_desk(requires, arguments, change).await;
    desk.play().await;
    let view = desk.calls().await.remove(0);
    let trail = view.trail.expect("it was judged");
    let step = trail
        .steps
        .iter()
        .find(|step| step.gate == Gate::Capability);
    let step = step.expect("every call passes the capability check");
    assert_eq!(
        step.verdict == Some(Verdict::Deny),
        view.state == CallState::Denied,
        "{target}: {trail:?}"
    );
    (view.state, step.text.clone())
}

/// `S002-97`: what a tool does not require is refused before anything is touched, although nothing else speaks against it.
#[tokio::test]
async fn a_call_beyond_what_its_tool_requires_is_refused() {
    let docs = || {
        RequirementSet::empty()
            .with_read("docs/**")
            .with_command("echo")
    };
    for (capability, target, state) in [
        ("fs.read", "docs/a.md", CallState::Done),
        ("fs.read", "docs/../docs/a.md", CallState::Done),
        ("fs.read", "src/b.rs", CallState::Denied),
        ("fs.read", "docs/../src/b.rs", CallState::Denied),
        ("shell.run", "echo yes", CallState::Done),
        ("shell.run", "echo yes; cat src/b.rs", CallState::Denied),
        ("shell.run", "cat src/b.rs", CallState::Denied),
        ("net.fetch", "docs.rs", CallState::Denied),
    ] {
        let (ended, told) = played(docs(), capability, target, |_| {}).await;
        assert_eq!(ended, state, "{target}: {told}");
        if state == CallState::Denied {
            assert!(
                told.ends_with("is beyond what the tool `liar` requires."),
                "{told}"
            );
        }
    }
}

/// `S002-57`, `S002-58`, `S002-59`: on this host no file is open by itself, so `{ad-hoc}` is nothing and what requires it
/// fails closed; `{user-data}` is the data folder.
#[tokio::test]
async fn variables_stand_for_places_of_the_host() {
    let ad_hoc = RequirementSet::empty().with_read("{ad-hoc}/**");
    let (state, told) = played(ad_hoc, "fs.read", "docs/a.md", |_| {}).await;
    assert_eq!(state, CallState::Denied, "{told}");

    for (target, state) in [
        ("docs/a.md", CallState::Done),
        ("src/b.rs", CallState::Denied),
    ] {
        let requires = RequirementSet::empty().with_read("{user-data}/workspace/docs/**");
        // The workspace lies in the data folder here, so both can be had at once.
        let above = |config: &mut EngineConfig| {
            config.data_dir.pop();
        };
        let (ended, told) = played(requires, "fs.read", target, above).await;
        assert_eq!(ended, state, "{target}: {told}");
    }
}

/// Hooks that write down which calls they hear of.
#[derive(Default)]
struct CallRecordingHook(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Hooks for CallRecordingHook {
    fn name(&self) -> &str {
        "listening"
    }

    async fn before_execution(&self, call: &HookedCall) -> HookDecision {
        self.0.lock().unwrap().push(call.tool.clone());
        HookDecision::Continue
    }
}

/// `S001-70`: rules that include and exclude stand above the before hook: it hears of what they let through and of
/// nothing else.
#[tokio::test]
async fn rules_stand_above_the_before_hook() {
    for (rules, heard) in [
        ("action = \"allow\"", vec!["liar".to_owned()]),
        ("action = \"deny\"", Vec::new()),
        ("pattern = \"docs/**\"\naction = \"deny\"", Vec::new()),
        (
            "pattern = \"src/**\"\naction = \"deny\"",
            vec!["liar".to_owned()],
        ),
    ] {
        let hooks = CallRecordingHook::default();
        let hears = hooks.0.clone();
        let arguments = json!({ "says": says("fs.read", "docs/a.md"), "reads": "docs/a.md" });
        let mut desk = open_desk(everything(), arguments, |config| {
            config.hooks = vec![Arc::new(hooks)];
        })
        .await;
        let rule = format!("[[rule]]\npermission = \"liar\"\n{rules}\n");
        desk.write_rules(rule);
        desk.play().await;
        assert_eq!(*hears.lock().unwrap(), heard, "{rules}");
    }
}

/// A server on this machine: `/on` redirects within it, `/away` to where it is told.
async fn site(away: &str) -> u16 {
    let answer = move |location: String| {
        format!(
            "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let away = away.to_owned();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 4_096];
            let length = stream.read(&mut bytes).await.unwrap_or(0);
            let text = match String::from_utf8_lossy(&bytes[..length]).split(' ').nth(1) {
                Some("/on") => answer("/page".to_owned()),
                Some("/away") => answer(away.clone()),
                _ => "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\npage"
                    .to_owned(),
            };
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    port
}

/// `S002-97`: a tool reaches the hosts that its call was judged on; a redirect is judged like a call of its own, and a host
/// of this machine stays closed unless a rule names it.
#[tokio::test]
async fn a_tool_reaches_the_hosts_that_were_judged() {
    let other = site("").await;
    let port = site(&format!("http://localhost:{other}/")).await;
    let (here, there) = (format!("127.0.0.1:{port}"), format!("localhost:{other}"));
    let named = |host: &str| rule_text("net.fetch", host, "allow");
    let asks = rule_text("net.fetch", &there, "ask");
    let both = RequirementSet::empty().with_host(&here).with_host(&there);
    let one = RequirementSet::empty().with_host(&here);
    for (requires, rules, path, told) in [
        (&one, named(&here), "/page", "page"),
        (&one, named(&here), "/on", "page"),
        (
            &one,
            named(&here) + &named(&there),
            "/away",
            "is beyond what the tool `liar` requires",
        ),
        (
            &both,
            named(&here),
            "/away",
            "stays closed unless a rule names that host",
        ),
        (
            &both,
            named(&here) + &asks,
            "/away",
            "it leads to another host",
        ),
        (&both, named(&here) + &named(&there), "/away", "page"),
        (
            &one,
            String::new(),
            "/page",
            "stays closed unless a rule names that host",
        ),
    ] {
        let url = format!("http://{here}{path}");
        let arguments = json!({ "says": says("net.fetch", &url), "fetches": url });
        let mut desk = open_desk(requires.clone(), arguments, |_| {}).await;
        desk.write_rules(&rules);
        desk.play().await;
        let (_, text) = desk.call_outcomes().await.remove(0);
        assert!(text.contains(told), "{path} with {rules}: {text}");
    }
    // A host that was not judged is not reached, whatever the rules would say of it.
    let url = format!("http://{here}/page");
    let arguments = json!({ "says": says("fs.read", "docs/a.md"), "fetches": url });
    let mut desk = open_desk(one.with_read("**"), arguments, |_| {}).await;
    desk.play().await;
    let (_, text) = desk.call_outcomes().await.remove(0);
    assert!(text.contains("stays closed"), "{text}");
}
