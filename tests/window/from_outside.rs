//! Ways to the window from the rest of the desktop: a link, the global shortcut, a notification, and the start at login. None
//! of them decides anything.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::support::Rig;
use crate::support::notifications::{Notification, NotificationServer, Request};
use crate::support::site::{Site, call};

/// How long nothing is notified of in order to count as nothing.
const QUIET: Duration = Duration::from_secs(2);

/// The screen that is open.
async fn screen(rig: &Rig) -> String {
    let script =
        "return document.querySelector('[data-testid^=rail-][aria-current]')?.dataset.testid ?? ''";
    let current = rig.ask(script, vec![]).await;
    current.as_str().unwrap_or_default().to_owned()
}

/// The session that is listed first.
async fn first_session(rig: &Rig) -> String {
    let script = "return document.querySelector('[data-testid^=rail-session-]').dataset.testid.slice('rail-session-'.length)";
    let session = rig.ask(script, vec![]).await;
    session.as_str().unwrap().to_owned()
}

/// What the app listens to while another program has the focus.
fn shortcut(data: &std::path::Path) {
    let text = "posture = \"ask_first\"\n[desktop]\nshortcut = \"Ctrl+Alt+O\"\n";
    std::fs::write(data.join("settings.toml"), text).unwrap();
}

#[tokio::test]
async fn a_link_and_the_shortcut_show_what_waits_and_decide_nothing() {
    let rig = Rig::start_on(shortcut).await;
    let write = rig.play().await;
    let session = first_session(&rig).await;
    let call = write.strip_prefix("card-").unwrap();

    // Each way leads back from another screen to the card, which waits as before.
    let ways: [(&str, &str); 4] = [
        (
            "a link to the session",
            &format!("countersign://session/{session}"),
        ),
        (
            "a link to the call",
            &format!("countersign://session/{session}/call/{call}"),
        ),
        ("a link to what waits", "countersign://waiting"),
        ("the shortcut", ""),
    ];
    for (way, link) in ways {
        rig.click("rail-rules").await;
        rig.until("the rules to be open", async |rig| {
            screen(rig).await == "rail-rules"
        })
        .await;
        match link {
            "" => rig.press_elsewhere("ctrl+alt+o"),
            link => assert!(rig.open_link(link).await.success(), "{way}"),
        }
        rig.until(&format!("the card by {way}"), async |rig| {
            rig.waits(&write).await
        })
        .await;
    }

    // A link that leads nowhere changes nothing, and says nothing of what it asks for.
    for link in [
        "countersign://session/ses_gone",
        "countersign://allow/1",
        "countersign://waiting?decision=allow",
    ] {
        assert!(rig.open_link(link).await.success(), "{link}");
    }
    rig.shows("This session is not on record.").await;
    assert!(rig.waits(&write).await);
    rig.end().await;
}

/// Begins a session with a model that asks at once, as the page does it.
async fn begin(rig: &Rig, folder: &Path, model: &str) -> String {
    let opened = rig.submit(json!({
        "type": "open_session", "workspace": folder, "prompt": "Make it.",
        "model": { "provider": "stories", "model": model },
    }));
    let receipt = opened.await;
    receipt["session"].as_str().unwrap().to_owned()
}

/// The request to show a notification with that text, which leads to the card.
fn request_to_show(id: u32, text: &str) -> Request {
    let action = |id: &str, label: &str| (id.to_owned(), label.to_owned());
    Request::Show(Notification {
        id,
        title: "Countersign".to_owned(),
        text: text.to_owned(),
        actions: vec![action("show", "Show"), action("default", "")],
    })
}

#[tokio::test]
async fn one_notification_leads_to_what_waits_and_decides_nothing() {
    let asks = |what: &str| {
        let command = format!("touch {what}");
        json!([call("bash", json!({ "command": command })), { "text": "Done." }])
    };
    let site = Site::open(vec![], vec![("ada", asks("one")), ("bea", asks("two"))]).await;
    let settings = site.settings();
    let settings = format!("posture = \"ask_first\"\n{settings}");
    let rig =
        Rig::start_on(|data| std::fs::write(data.join("settings.toml"), settings).unwrap()).await;
    let mut server = NotificationServer::start(&rig);
    let folder = rig.home_dir().join("row");
    std::fs::create_dir_all(&folder).unwrap();
    let elsewhere = rig.look_elsewhere().await;
    let first = begin(&rig, &folder, "ada").await;
    assert_eq!(server.next().await, request_to_show(1, "Run waits for you"));
    let second = begin(&rig, &folder, "bea").await;
    assert_eq!(server.next().await, Request::Close(1));
    assert_eq!(
        server.next().await,
        request_to_show(2, "2 calls wait for you")
    );
    drop(elsewhere);

    // It leads to the call that waits longest, from wherever the window is.
    for action in ["show", "default"] {
        rig.click("rail-rules").await;
        rig.until("the rules to be open", async |rig| {
            screen(rig).await == "rail-rules"
        })
        .await;
        server.choose(2, action);
        let card = rig.card("touch one").await;
        let current = format!("rail-session-{first}");
        rig.until("the session of the oldest call", async |rig| {
            screen(rig).await == current
        })
        .await;
        assert!(rig.waits(&card).await, "{action} decides nothing");
    }
    assert!(server.is_quiet(QUIET).await, "nothing began to wait");

    // Once nothing waits, nothing says so any more.
    for session in [first, second] {
        rig.submit(json!({ "type": "interrupt", "session": session }))
            .await;
    }
    assert_eq!(server.next().await, Request::Close(2));
    rig.end().await;
}

#[tokio::test]
async fn the_start_at_login_is_a_choice_that_can_be_taken_back() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    let entry = rig.home_dir().join(".config/autostart/Countersign.desktop");
    assert!(
        !entry.exists(),
        "nothing starts by itself before it is chosen"
    );
    rig.click("rail-settings").await;
    rig.click("section-keys").await;
    rig.click("set-start-at-login").await;
    rig.until("the entry", async |_| entry.exists()).await;
    let text = std::fs::read_to_string(&entry).unwrap();
    assert!(text.contains("--minimized"), "{text}");
    rig.screenshot("settings-keys").await;
    // Only the list of keys scrolls, however long it is, and never the window as a whole.
    let script = "return document.scrollingElement.scrollHeight <= window.innerHeight";
    assert_eq!(rig.ask(script, vec![]).await, true);
    rig.click("set-start-at-login").await;
    rig.until("the entry to be gone", async |_| !entry.exists())
        .await;
    rig.until("the settings to say so", async |rig| {
        let settings = std::fs::read_to_string(rig.data_dir().join("settings.toml"));
        !settings.unwrap().contains("start_at_login = true")
    })
    .await;
    rig.end().await;
}
