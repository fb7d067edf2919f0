//! Servers' features beside tools: prompts for the message box, a title by a model, a sign-in.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::reach::{say_yes, until_asked};
use crate::support::Rig;
use crate::support::site::{Site, call};
use crate::support::tour::Tour;

/// The server of the stories: a program of Node.js.
const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/window/notes.mjs");

/// Script that returns the text of the message box.
const BOX: &str = "return document.querySelector('[data-testid=composer]').value";

/// Search providers and language servers: one of each that is found and one that is not.
const SETTINGS: &str = r#"
[[language_servers]]
id = "notes"
command = "node"
args = ["notes.mjs"]
files = { note = "notes", txt = "plaintext" }

[[language_servers]]
id = "lost"
enabled = true
command = "countersign-not-there"
files = { lost = "lost" }

[web_search]
[[web_search.providers]]
id = "searxng"
wire = "searxng"
base_url = "https://searx.example.org/"

[[web_search.providers]]
id = "brave"
wire = "brave"
"#;

#[tokio::test]
async fn what_servers_and_settings_have_beside_tools() {
    let turns = json!([call("notes__entitle", json!({})), { "text": "It has a title." }]);
    let answer = json!([{ "text": "Ferns" }]);
    let models = vec![("namer", turns), ("Answer in one word", answer)];
    let site = Site::open(vec![], models).await;
    let servers = format!(
        "[servers.notes]\ncommand = \"node\"\nargs = ['{NOTES}', '/nowhere', 'writes']\n\
         [servers.locked]\nurl = \"{}\"\n",
        site.url("/locked")
    );
    let more = format!("{}{SETTINGS}", site.settings());
    let (rig, mut tour) = Tour::start_on("light", &more, |data| {
        std::fs::write(data.join("servers.toml"), servers).unwrap();
    })
    .await;
    let place = rig.data_dir().parent().unwrap().canonicalize().unwrap();
    let folder = place.join("desk");
    std::fs::create_dir(&folder).unwrap();
    let on = json!({ "type": "change_server", "server": "notes", "change": { "type": "switch", "enabled": true } });
    rig.submit_and_confirm(on).await;

    rig.begin(&folder, "namer", "Find a title for my notes.")
        .await;
    asks_a_model(&rig, &mut tour).await;
    takes_prompts(&rig, &mut tour).await;
    wants_a_sign_in(&rig, &mut tour).await;
    settings(&rig, &mut tour).await;
    tour.end();
    rig.end().await;
}

/// A sampling request of a server is shown in full, and is sent nowhere before a yes.
async fn asks_a_model(rig: &Rig, tour: &mut Tour) {
    let card = until_asked(rig, "Entitle", "A title for: water the fern").await;
    rig.wait_for_text("ask-model", "Answer in one word.").await;
    rig.take_keys(&card).await;
    tour.look(rig, "sampling-asked").await;
    say_yes(rig, &card, async |rig| {
        rig.inside(&card, "ask").await.is_none()
    })
    .await;
    rig.shows("It has a title.").await;
}

async fn until_box(rig: &Rig, what: &str) {
    rig.until(&format!("{what} in the box"), async |rig| {
        let text = rig.ask(BOX, vec![]).await;
        text.as_str().is_some_and(|text| text.contains(what))
    })
    .await;
}

/// By the keyboard alone: a slash offers, words narrow, Enter takes; a form asks for what is missing. Nothing is sent.
async fn takes_prompts(rig: &Rig, tour: &mut Tour) {
    rig.click("composer").await;
    rig.type_text("/").await;
    rig.find("offer-notes/weekly").await;
    rig.wait_until_gone("offers-asked").await;
    tour.look(rig, "prompts-offered").await;
    rig.click("composer").await;
    rig.press(Key::Down).await;
    rig.press(Key::Enter).await;
    until_box(rig, "Find notes that say the same, and name them.").await;
    until_box(rig, "[An image (image/png, 3 bytes) was left out").await;
    rig.wait_for_text("prompt-taken", "U+200B").await;
    tour.look(rig, "prompts-taken").await;

    rig.click("composer").await;
    rig.press_with(Key::Control, 'a').await;
    rig.type_text("/week").await;
    rig.find("offer-notes/weekly").await;
    rig.press(Key::Enter).await;
    rig.find("prompt-form").await;
    rig.until("the first field to have the focus", async |rig| {
        rig.focused().await.as_deref() == Some("prompt-week")
    })
    .await;
    tour.look(rig, "prompts-form").await;
    rig.click("prompt-week").await;
    rig.type_text("47").await;
    rig.press(Key::Enter).await;
    until_box(rig, "Tell the notes of week 47 in order").await;
    let page = rig.page_text().await;
    assert_eq!(
        page.matches("Tell the notes of week 47").count(),
        0,
        "nothing was sent"
    );
    rig.click("composer").await;
    rig.press_with(Key::Control, 'a').await;
    rig.press(Key::Delete).await;
}

/// A server that wants to know who asks says so, and nothing opens by itself.
async fn wants_a_sign_in(rig: &Rig, tour: &mut Tour) {
    rig.click("rail-servers").await;
    rig.click("server-locked").await;
    rig.click("server-enabled").await;
    rig.confirm().await;
    rig.wait_for_text("server-sign-in", "It wants to know who asks.")
        .await;
    tour.look(rig, "sign-in").await;
    rig.click("server-tab-setup").await;
    rig.click("setup-edit").await;
    rig.click("server-client").await;
    rig.type_text("countersign-1").await;
    rig.find("server-client-secret").await;
    tour.look(rig, "server-client").await;
    rig.click("server-cancel").await;
}

/// Language servers and search providers in the settings, with those that are found and those that are missing.
async fn settings(rig: &Rig, tour: &mut Tour) {
    rig.press_with(Key::Control, 'k').await;
    rig.find("palette-input").await;
    rig.type_text("settings").await;
    rig.press(Key::Enter).await;
    for (section, part, screen) in [
        ("languages", "language-notes", "settings-languages"),
        ("web_search", "search-brave", "settings-search"),
    ] {
        rig.click(&format!("section-{section}")).await;
        rig.find(part).await;
        let into = "document.querySelector(`[data-testid=${arguments[0]}]`).scrollIntoView({ block: 'center' })";
        rig.ask(into, vec![part.into()]).await;
        tour.look(rig, screen).await;
    }
}
