//! Ten approvals in a row by key: each is one press, and none of them becomes a message to the agent.

use serde_json::{Value, json};

use crate::support::Rig;
use crate::support::site::{Site, call};

/// How many calls are approved.
const CALLS: usize = 10;
/// Models that each ask for one call.
const ASKERS: [&str; CALLS] = [
    "ada", "bea", "cleo", "dora", "edda", "fay", "gina", "hana", "ida", "juno",
];
/// Answers once a card has been in view whole for longer than it must be before an answer counts, by the clock of the page: a
/// page that is busy is late both to draw a card and to count the time that it is looked at.
const LOOK_AT_CARD: &str = "const [testid, done] = arguments; \
    const card = document.querySelector(`[data-testid=\"${testid}\"]`); let timer; \
    const observer = new IntersectionObserver(changes => { \
        clearTimeout(timer); \
        if (changes.at(-1).intersectionRatio > 0.99) \
            timer = setTimeout(() => { observer.disconnect(); done(true); }, 1000); \
    }, { threshold: [0, 0.99] }); \
    observer.observe(card)";

fn asks(what: &str) -> Value {
    call("bash", json!({ "command": format!("touch {what}") }))
}

/// Waits until a card that waits has the focus, looks at it, presses `y` once, and waits until that was taken.
async fn approve_next(rig: &Rig, number: usize) {
    let focused = "const card = document.activeElement?.closest('article[data-state=waiting]'); \
        return card && card === document.activeElement ? card.dataset.testid : null";
    rig.until(&format!("card {number} to have the focus"), async |rig| {
        rig.ask(focused, vec![]).await.is_string()
    })
    .await;
    let card = rig.ask(focused, vec![]).await;
    let looked_at = rig.window().execute_async(LOOK_AT_CARD, vec![card.clone()]);
    looked_at.await.expect("the card is in view");
    assert_eq!(
        rig.ask(focused, vec![]).await,
        card,
        "the card keeps the focus"
    );
    let card = card.as_str().expect("a card has the focus").to_owned();
    rig.press('y').await;
    rig.until(&format!("press {number} to count"), async |rig| {
        !rig.waits(&card).await
    })
    .await;
    assert!(!rig.is_asked().await, "a press on the card is enough");
}

async fn start(site: &Site) -> Rig {
    let settings = site.settings();
    Rig::start_on(|data| std::fs::write(data.join("settings.toml"), settings).unwrap()).await
}

async fn folder(rig: &Rig) -> std::path::PathBuf {
    let place = rig.data_dir().parent().unwrap().canonicalize().unwrap();
    let folder = place.join("row");
    std::fs::create_dir(&folder).unwrap();
    folder
}

#[tokio::test]
async fn ten_calls_of_one_session_are_ten_presses() {
    let mut turns: Vec<Value> = (0..CALLS).map(|at| asks(&format!("made-{at}"))).collect();
    turns.push(json!({ "text": "All ten are made." }));
    let site = Site::open(vec![], vec![("asker", turns.into())]).await;
    let rig = start(&site).await;
    let folder = folder(&rig).await;
    rig.begin(&folder, "asker", "Make ten files.").await;
    for number in 1..=CALLS {
        approve_next(&rig, number).await;
    }
    rig.shows("All ten are made.").await;
    let typed = rig.find("composer").await.prop("value").await.unwrap();
    assert_eq!(typed.as_deref(), Some(""));
    let said = "return document.querySelector('[data-testid=transcript]').innerText";
    let said = rig.ask(said, vec![]).await;
    assert!(
        !said.as_str().unwrap().contains("while it worked"),
        "{said}"
    );
    rig.screenshot("ten-in-a-row").await;
    rig.end().await;
}

#[tokio::test]
async fn ten_sessions_on_the_desk_are_ten_presses() {
    let turns = || json!([asks("made"), { "text": "It is made." }]);
    let parts = ASKERS.iter().map(|name| (*name, turns())).collect();
    let site = Site::open(vec![], parts).await;
    let rig = start(&site).await;
    let folder = folder(&rig).await;
    for (number, model) in ASKERS.iter().enumerate() {
        // Calls of one kind in one folder would stand on one card.
        let folder = folder.join(model);
        std::fs::create_dir(&folder).unwrap();
        rig.submit(json!({
            "type": "open_session",
            "workspace": folder,
            "model": { "provider": "stories", "model": model },
            "prompt": format!("Make file {number}."),
        }))
        .await;
    }
    rig.click("rail-desk").await;
    let waiting = "return document.querySelectorAll('article[data-state=waiting]').length";
    rig.until("ten cards to wait", async |rig| {
        rig.ask(waiting, vec![]).await == CALLS
    })
    .await;
    for number in 1..=CALLS {
        approve_next(&rig, number).await;
        if number == 1 {
            rig.screenshot("ten-on-the-desk").await;
        }
    }
    rig.find("desk-empty").await;
    rig.end().await;
}

/// Pads a card to the height of its window and answers whether that worked: what stands between its head and its answers is
/// hidden, so that it can be that low.
const FILL_WINDOW: &str = "const card = document.querySelector(`[data-testid=\"${arguments[0]}\"]`); \
    let scroller = card.parentElement; \
    while (!/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement; \
    for (const part of [...card.children]) \
        if (!part.matches('.mark, .head, .acts')) part.style.display = 'none'; \
    card.style.minHeight = `${scroller.clientHeight}px`; \
    return card.offsetHeight === scroller.clientHeight";

/// A card that leaves no room for the margins that scrolling keeps is not taken for one that can be in view whole.
#[tokio::test]
async fn a_card_as_tall_as_its_window_can_be_allowed() {
    let rig = Rig::start().await;
    let card = rig.play().await;
    let filled = rig.ask(FILL_WINDOW, vec![json!(card)]).await;
    assert_eq!(filled, true);
    rig.allow_by_click(&card).await;
    rig.end().await;
}

#[tokio::test]
async fn a_press_that_comes_too_soon_says_so() {
    let turns = json!([asks("made"), { "text": "It is made." }]);
    let site = Site::open(vec![], vec![("asker", turns)]).await;
    let rig = start(&site).await;
    let folder = folder(&rig).await;
    // The page's clock stands still: whatever is pressed comes too soon.
    rig.ask(
        "const now = performance.now(); performance.now = () => now",
        vec![],
    )
    .await;
    rig.begin(&folder, "asker", "Make a file.").await;
    let card = rig.card("touch made").await;
    rig.take_keys(&card).await;
    rig.until("a press to be told", async |rig| {
        rig.press('y').await;
        !rig.find_all("early").await.is_empty()
    })
    .await;
    assert!(rig.waits(&card).await, "it does not count");
    rig.press('y').await;
    rig.screenshot("too-soon").await;
    assert!(rig.waits(&card).await, "nor does the next");
    rig.end().await;
}
