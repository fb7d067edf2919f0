//! A page that was taken over: what its scripts can do by themselves, and where they can go.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::site::Site;

/// Script that knows everything the page knows: it allows the call that waits, with its digest.
const ALLOW: &str = "const { invoke } = window.__TAURI_INTERNALS__; window.result = null; \
    invoke('snapshot').then(({ desk: [entry] }) => invoke('submit', { op: { type: 'decide', session: entry.session, call: entry.id, \
        digest: entry.body.pending.digest, decision: { type: 'allow', hunks: null, note: '' } } })) \
    .then(() => (window.result = 'taken'), (refused) => (window.result = refused.message))";

/// The same for any request.
const SUBMIT: &str = "window.result = null; window.__TAURI_INTERNALS__.invoke('submit', { op: arguments[0] }) \
    .then(() => (window.result = 'taken'), (refused) => (window.result = refused.message))";

const REFUSED: &str = "You did not confirm this.";

/// Waits until the script that asked was answered.
async fn result(rig: &Rig) -> Value {
    rig.until("the script to be answered", async |rig| {
        !rig.ask("return window.result ?? null", vec![])
            .await
            .is_null()
    })
    .await;
    rig.ask("return window.result", vec![]).await
}

#[tokio::test]
async fn a_script_decides_nothing() {
    let rig = Rig::start().await;
    let write = rig.play().await;
    let parser = rig.workspace().join("src/parser.rs");
    let before = std::fs::read_to_string(&parser).unwrap();
    // The press that opened the demo was used for it, or is over by then.
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;

    rig.ask(ALLOW, vec![]).await;
    rig.until("the app to ask by itself", async |rig| rig.is_asked().await)
        .await;
    rig.screenshot("taken-over-decides").await;
    assert!(rig.waits(&write).await, "nothing is decided before");
    // Meanwhile nothing else can be asked for.
    rig.ask(
        "window.__TAURI_INTERNALS__.invoke('submit', { op: { type: 'collect_history' } }) \
            .catch((refused) => (window.second = refused.message))",
        vec![],
    )
    .await;
    rig.until("the second to be refused", async |rig| {
        rig.ask("return window.second ?? null", vec![]).await
            == "Another request waits for your confirmation."
    })
    .await;
    rig.refuse().await;
    assert_eq!(result(&rig).await, REFUSED);
    assert!(rig.waits(&write).await);

    // Events that no hand made, those of the driver among them, are no presses either.
    rig.ask(
        "const card = document.querySelector('article[data-state=waiting]'); card.focus(); \
            for (const type of ['keydown', 'keyup']) card.dispatchEvent(new KeyboardEvent(type, { key: 'y', code: 'KeyY', bubbles: true })); \
            document.querySelector('h1').dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))",
        vec![],
    )
    .await;
    let driven = rig
        .window()
        .action_chain()
        .key_down(Key::Control)
        .key_up(Key::Control);
    driven.perform().await.unwrap();
    if !rig.is_asked().await {
        rig.ask(ALLOW, vec![]).await;
    }
    rig.refuse().await;
    assert!(rig.waits(&write).await, "no script decided");
    assert_eq!(std::fs::read_to_string(&parser).unwrap(), before);

    // A person's own press is enough.
    rig.allow_by_key(&write).await;
    assert!(!rig.is_asked().await);
    rig.end().await;
}

#[tokio::test]
async fn a_script_starts_no_program_and_loosens_nothing() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    let made = rig.data_dir().join("made");
    let program =
        json!({ "type": "stdio", "command": "touch", "args": [made], "env": {}, "folder": null });
    let server =
        |change: Value| json!({ "type": "change_server", "server": "evil", "change": change });
    rig.ask("window.__TAURI_INTERNALS__.invoke('snapshot').then(({ settings }) => (window.settings = settings))", vec![])
        .await;
    let known = "return window.settings ?? null";
    rig.until("the settings to be told", async |rig| {
        rig.ask(known, vec![]).await.is_object()
    })
    .await;
    let mut settings = rig.ask(known, vec![]).await;
    settings["watchdogs"] = json!([{ "name": "evil", "program": "/bin/sh", "timeout_ms": 1000 }]);
    for op in [
        server(json!({ "type": "set", "transport": program, "timeout_ms": 1000 })),
        json!({ "type": "set_settings", "settings": settings }),
        json!({ "type": "add_rules", "scope": "user", "workspace": null, "rules": [] }),
        json!({ "type": "set_tool", "tool": "bash", "enabled": true, "mode": null }),
    ] {
        rig.ask(SUBMIT, vec![op.clone()]).await;
        rig.refuse().await;
        assert_eq!(result(&rig).await, REFUSED, "{op}");
    }
    // The content of an address would leave the machine.
    rig.ask(
        "window.result = null; window.__TAURI_INTERNALS__.invoke('open_address', { address: 'https://example.org/?secret' }) \
            .then(() => (window.result = 'taken'), (refused) => (window.result = refused.message))",
        vec![],
    )
    .await;
    rig.refuse().await;
    assert_eq!(result(&rig).await, REFUSED);
    // Even a press of the person starts no program: the app asks in its own words.
    rig.press('x').await;
    rig.ask(
        SUBMIT,
        vec![server(
            json!({ "type": "set", "transport": program, "timeout_ms": 1000 }),
        )],
    )
    .await;
    assert_eq!(result(&rig).await, "taken");
    rig.press('x').await;
    rig.ask(
        SUBMIT,
        vec![server(json!({ "type": "switch", "enabled": true }))],
    )
    .await;
    rig.until("the app to ask by itself", async |rig| rig.is_asked().await)
        .await;
    rig.screenshot("taken-over-starts").await;
    rig.refuse().await;
    assert_eq!(result(&rig).await, REFUSED);
    assert!(!made.exists(), "a program was started");
    rig.end().await;
}

/// A script reaches the updater by our commands alone, and takes no step there by itself.
#[tokio::test]
async fn a_script_replaces_nothing() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    let invoke = "window.result = null; window.__TAURI_INTERNALS__.invoke(...arguments) \
        .then(() => (window.result = 'taken'), (refused) => (window.result = refused.message ?? String(refused)))";
    for step in ["check", "download", "install"] {
        rig.ask(invoke, vec![json!("update_app"), json!({ "step": step })])
            .await;
        rig.refuse().await;
        assert_eq!(result(&rig).await, REFUSED, "{step}");
    }
    rig.ask(invoke, vec![json!("plugin:updater|check"), json!({})])
        .await;
    let refused = result(&rig).await;
    assert!(
        refused.as_str().unwrap().contains("not allowed"),
        "{refused}"
    );
    // A press of the person is heard, and this copy of the app has nothing that it could ask for.
    rig.press('x').await;
    rig.ask(
        invoke,
        vec![json!("update_app"), json!({ "step": "check" })],
    )
    .await;
    assert_eq!(
        result(&rig).await,
        "This copy of the app was built from its sources."
    );
    rig.end().await;
}

#[tokio::test]
async fn the_page_goes_nowhere_else() {
    let site = Site::open(
        vec![("/page", "text/html", "<h1>Elsewhere</h1>".to_owned())],
        vec![],
    )
    .await;
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    let address = site.url("/page");
    for script in [
        "location.href = arguments[0]",
        "location.replace(arguments[0])",
        "window.opened = window.open(arguments[0])",
        "window.open(arguments[0], 'other', 'width=200,height=200')",
        "const link = document.createElement('a'); link.href = arguments[0]; document.body.append(link); link.click(); link.remove()",
        "const link = document.createElement('a'); link.href = arguments[0]; link.target = '_blank'; document.body.append(link); link.click(); link.remove()",
        "const form = document.createElement('form'); form.action = arguments[0]; document.body.append(form); form.submit(); form.remove()",
        "location.href = 'about:blank'",
        "location.href = 'data:text/html,<h1>Elsewhere</h1>'",
    ] {
        rig.ask(script, vec![json!(address)]).await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        rig.find("play-demo").await;
    }
    assert_eq!(
        rig.ask("return location.origin", vec![]).await,
        "tauri://localhost"
    );
    assert_eq!(
        site.asked(),
        Vec::<String>::new(),
        "nobody was asked for a page"
    );
    assert_eq!(
        rig.window().windows().await.unwrap().len(),
        1,
        "no window was opened"
    );
    // The page is still the app.
    rig.play().await;
    rig.end().await;
}
