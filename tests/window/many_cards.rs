//! The Desk with more cards than a window shows: they are drawn as one comes to them.

use serde_json::{Value, json};

use crate::support::site::{Site, call};
use crate::support::tour::Tour;

/// How many calls wait.
const CALLS: usize = 26;
/// How many cards are drawn at first.
const DRAWN_FIRST: usize = 20;
/// The cards on the page.
const DRAWN: &str =
    "return document.querySelectorAll('[data-testid=desk-cards] [data-card]').length";
/// Scrolls to the end of the cards.
const TO_END: &str =
    "document.querySelector('[data-testid=more-cards]').scrollIntoView({ block: 'end' })";

#[tokio::test]
async fn many_cards_are_drawn_as_one_comes_to_them_in_light() {
    look_at_many_cards("light").await;
}

#[tokio::test]
async fn many_cards_are_drawn_as_one_comes_to_them_in_dark() {
    look_at_many_cards("dark").await;
}

async fn look_at_many_cards(theme: &str) {
    let asks = call("bash", json!({ "command": "touch made" }));
    let turns = json!([asks, { "text": "It is made." }]);
    let site = Site::open(vec![], vec![("asker", turns)]).await;
    let (rig, mut tour) = Tour::start_on(theme, &site.settings(), |_| {}).await;
    let place = rig.data_dir().parent().unwrap().to_owned();
    for number in 1..=CALLS {
        // Calls of one kind in one folder would stand on one card.
        let folder = place.join(format!("part-{number}"));
        std::fs::create_dir(&folder).unwrap();
        rig.submit(json!({
            "type": "open_session",
            "workspace": folder,
            "model": { "provider": "stories", "model": "asker" },
            "prompt": format!("Make file {number}."),
        }))
        .await;
    }
    rig.shows(&format!("{CALLS} calls wait")).await;
    rig.click("rail-desk").await;
    let drawn = async || rig.ask(DRAWN, vec![]).await;
    rig.until("the first cards", async |_| drawn().await == DRAWN_FIRST)
        .await;
    tour.stop(&rig, "many-cards").await;

    assert_eq!(rig.ask(TO_END, vec![]).await, Value::Null);
    rig.until("all cards", async |_| drawn().await == CALLS)
        .await;
    tour.stop(&rig, "many-cards-end").await;
    rig.end().await;
    tour.end();
}
