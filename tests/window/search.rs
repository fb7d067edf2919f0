//! A word that one call brought is found, shown in its line, and leads back to that call.

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::support::Rig;

/// The hits on the page: title, state, and the words that are marked.
const HITS: &str = "return [...document.querySelectorAll('[data-hit]')].map((hit) => ({ \
    testid: hit.dataset.testid, title: hit.querySelector('b').innerText, \
    state: hit.querySelector('.state')?.innerText.trim() ?? null, \
    marked: [...hit.querySelectorAll('mark')].map((mark) => mark.innerText), \
    line: hit.querySelector('mark')?.parentElement.innerText ?? '' }))";

/// Remembers every entry that is marked for a moment, however short the moment is.
const WATCH_FLASHES: &str = "window.flashes = []; new MutationObserver(() => \
    document.querySelectorAll('.flash[data-row]').forEach((row) => window.flashes.push(row.dataset.row)) \
    ).observe(document.body, { subtree: true, childList: true, attributeFilter: ['class'] })";

/// Whether the row of an entry lies whole within the transcript and has the focus in it.
const LANDED: &str = "const row = document.querySelector(`[data-row=\"${arguments[0]}\"]`); \
    if (!row?.contains(document.activeElement)) return false; \
    const [at, view] = [row, document.querySelector('[data-testid=transcript]')].map((e) => e.getBoundingClientRect()); \
    return at.height > 0 && at.top >= view.top && at.bottom <= view.bottom";

/// Types a search and answers the hits once they are those that `right` wants.
async fn search(rig: &Rig, text: &str, right: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    rig.click("search-box").await;
    rig.press_with(Key::Control, 'a').await;
    rig.press(Key::Delete).await;
    rig.type_text(text).await;
    let hits = async |rig: &Rig| rig.ask(HITS, vec![]).await.as_array().cloned().unwrap();
    rig.until(&format!("the right hits for {text}"), async |rig| {
        right(&hits(rig).await)
    })
    .await;
    hits(rig).await
}

/// Whether there are hits and all of them have that value.
fn all(hits: &[Value], key: &str, value: &str) -> bool {
    !hits.is_empty() && hits.iter().all(|hit| hit[key] == value)
}

#[tokio::test]
async fn a_word_is_found_and_leads_to_the_call_that_brought_it() {
    let rig = Rig::start().await;
    rig.play_to_the_end().await;

    // `/` where the focus is in no text field; the box is ready to type in.
    rig.click("transcript").await;
    rig.press('/').await;
    rig.find("search-box").await;
    assert_eq!(rig.focused().await.as_deref(), Some("search-box"));

    // Only the output of the command has the word: `wc` counts a total.
    let hits = search(&rig, "total", |hits| hits.len() == 1).await;
    assert_eq!(hits[0]["title"], "Run");
    assert_eq!(hits[0]["marked"], json!(["total"]));
    assert!(
        hits[0]["line"].as_str().unwrap().ends_with("total"),
        "the line around the match is shown: {}",
        hits[0]["line"]
    );
    rig.screenshot("search-hit").await;

    // Filters narrow: by tool, by state. What was typed becomes a chip.
    search(&rig, "tool:bash ", |hits| all(hits, "title", "Run")).await;
    rig.wait_for_text("chip", "tool:bash").await;
    rig.click("chip").await;
    let denied = search(&rig, "state:denied ", |hits| all(hits, "state", "Denied")).await;
    assert_eq!(denied.len(), 1, "the closed file is all that was denied");
    rig.click("chip").await;

    // The jump: to the call, in view, with the focus, marked for a moment.
    search(&rig, "total", |hits| hits.len() == 1).await;
    rig.ask(WATCH_FLASHES, vec![]).await;
    let hit = hits[0]["testid"].as_str().unwrap();
    rig.click(hit).await;
    let id = hit.trim_start_matches("hit-");
    rig.until("the call to be landed on", async |rig| {
        rig.ask(LANDED, vec![json!(id)]).await == true
    })
    .await;
    let flashed = rig.ask("return window.flashes", vec![]).await;
    assert!(
        flashed.as_array().unwrap().contains(&json!(id)),
        "the call is marked: {flashed}"
    );
    rig.end().await;
}
