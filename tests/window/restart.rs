//! The app dies with a call waiting, or its engine alone does: nothing is lost, nothing was decided, and the run goes on
//! from there.

use serde_json::json;

use crate::support::Rig;

/// Text of a card, without how long it has waited, and without the buttons, which know what of it was seen.
async fn content(rig: &Rig, card: &str) -> String {
    let script = "const card = document.querySelector(`[data-testid=\"${arguments[0]}\"]`).cloneNode(true); \
        card.querySelectorAll('[data-testid=state], [data-testid=acts]').forEach((part) => part.remove()); \
        return card.textContent";
    let text = rig.ask(script, vec![json!(card)]).await;
    text.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_call_still_waits_after_a_kill_and_the_run_goes_on() {
    let mut rig = Rig::start().await;
    let write = rig.play().await;
    rig.find("acts").await;
    let parser = rig.workspace().join("src/parser.rs");
    let (said, before) = (content(&rig, &write).await, std::fs::read(&parser).unwrap());

    rig.restart().await;

    // On the Desk.
    rig.wait_for_text("rail-count", "1").await;
    rig.click("rail-desk").await;
    assert_eq!(rig.card("parser.rs").await, write);
    assert!(rig.waits(&write).await);
    assert_eq!(content(&rig, &write).await, said);
    // And in its session.
    rig.click(&session(&rig).await).await;
    rig.find("transcript").await;
    assert_eq!(rig.card("parser.rs").await, write);
    assert_eq!(content(&rig, &write).await, said);
    assert_eq!(
        std::fs::read(&parser).unwrap(),
        before,
        "nothing was written"
    );

    // Decided now, the run goes on to its end.
    rig.allow_by_click(&write).await;
    rig.end_of_the_demo().await;
    assert_ne!(std::fs::read(&parser).unwrap(), before);
    rig.wait_for_text("session-state", "Done").await;
    rig.end().await;
}

#[tokio::test]
async fn an_engine_that_dies_is_started_again_and_its_call_still_waits() {
    let rig = Rig::start().await;
    let write = rig.play().await;
    rig.find("acts").await;
    let said = content(&rig, &write).await;

    rig.kill_engine().await;

    rig.wait_for_text("rail-count", "1").await;
    rig.click("rail-desk").await;
    assert_eq!(rig.card("parser.rs").await, write);
    assert_eq!(content(&rig, &write).await, said);
    rig.allow_by_click(&write).await;
    rig.click(&session(&rig).await).await;
    rig.end_of_the_demo().await;
    rig.wait_for_text("session-state", "Done").await;
    rig.end().await;
}

/// The `data-testid` of the only session on the rail.
async fn session(rig: &Rig) -> String {
    let script = "return document.querySelector('[data-testid^=rail-session-]').dataset.testid";
    rig.ask(script, vec![]).await.as_str().unwrap().to_owned()
}
