//! Input that decides nothing: a press too soon, Enter, Space, a letter in the message box, a click of a script, the click that
//! activates the window. The page's clock is held still, so that "too soon" is exact.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::Rig;

/// From now on the page's clock stands, and goes on only as [`pass`] says.
const HOLD_CLOCK: &str = "window.held = performance.now(); performance.now = () => window.held";

/// Lets time pass on the page's clock.
async fn pass(rig: &Rig, ms: u32) {
    rig.ask("window.held += arguments[0]", vec![json!(ms)])
        .await;
}

/// Fails unless the call waits and nothing was written, after everything that was pressed had its effect.
async fn still_waits(rig: &Rig, card: &str, after: &str) {
    let parser = std::fs::read_to_string(rig.workspace().join("src/parser.rs")).unwrap();
    assert!(!parser.contains("NEGATE"), "{after} wrote the file");
    assert!(rig.waits(card).await, "{after} decided");
    let sent = "return document.querySelector(`[data-testid=\"${arguments[0]}\"] [data-testid=allow]`).disabled";
    assert_eq!(
        rig.ask(sent, vec![json!(card)]).await,
        false,
        "{after} sent an answer"
    );
}

/// Brings the card's end into view: by its own button, as often as it asks for it.
async fn see_all(rig: &Rig, card: &str) {
    rig.until("all of the card to be seen", async |rig| {
        pass(rig, 1_000).await;
        if rig.click_inside(card, "show-rest").await {
            return false;
        }
        // The card may just be drawn anew.
        match rig.inside(card, "allow").await {
            Some(allow) => allow.is_displayed().await.unwrap_or(false),
            None => false,
        }
    })
    .await;
}

#[tokio::test]
async fn a_press_counts_only_400_ms_after_the_card_landed() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    rig.ask(HOLD_CLOCK, vec![]).await;
    let write = rig.play().await;
    rig.take_keys(&write).await;

    rig.press('y').await;
    rig.press('n').await;
    still_waits(&rig, &write, "a letter at the moment of landing").await;
    pass(&rig, 399).await;
    rig.press('y').await;
    rig.press('n').await;
    still_waits(&rig, &write, "a letter after 399 ms").await;
    rig.click_inside(&write, "allow").await;
    rig.click_inside(&write, "reject").await;
    still_waits(&rig, &write, "a click after 399 ms").await;

    // The same letter counts once the card was looked at long enough.
    rig.take_keys(&write).await;
    pass(&rig, 400).await;
    rig.press('n').await;
    rig.until("n to be taken", async |rig| !rig.waits(&write).await)
        .await;
    rig.end().await;
}

#[tokio::test]
async fn nothing_but_a_meant_answer_decides() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    rig.ask(HOLD_CLOCK, vec![]).await;
    let write = rig.play().await;
    see_all(&rig, &write).await;
    rig.take_keys(&write).await;
    pass(&rig, 1_000).await;

    // Everything is seen, long enough; the next y would count. Enter and Space on the card do not.
    rig.press(Key::Enter).await;
    rig.press(' ').await;
    still_waits(&rig, &write, "Enter or Space on the card").await;
    // Nor on the button itself: they open the note.
    for key in [Key::Enter.into(), ' '] {
        rig.tab_to("allow").await;
        rig.press(key).await;
        rig.until("the note to be open", async |rig| {
            rig.focused().await.as_deref() == Some("note")
        })
        .await;
        still_waits(&rig, &write, "Enter or Space on Allow").await;
        rig.press('y').await;
        still_waits(&rig, &write, "a letter in the note").await;
        rig.press(Key::Escape).await;
    }

    // A letter in the message box is text.
    rig.click("composer").await;
    rig.type_text("yes, why not").await;
    let typed = rig.find("composer").await.prop("value").await.unwrap();
    assert_eq!(typed.as_deref(), Some("yes, why not"));
    still_waits(&rig, &write, "typing to the agent").await;

    // A script's click comes from no pointer.
    rig.ask(
        "document.querySelector('[data-testid=allow]').click()",
        vec![],
    )
    .await;
    still_waits(&rig, &write, "a script's click").await;

    // The click that activates the window does only that. (No window manager tells this screen who is active.)
    see_all(&rig, &write).await;
    pass(&rig, 1_000).await;
    rig.ask("window.dispatchEvent(new Event('blur'))", vec![])
        .await;
    rig.click_inside(&write, "allow").await;
    still_waits(&rig, &write, "the click that activates the window").await;
    pass(&rig, 299).await;
    rig.click_inside(&write, "allow").await;
    still_waits(&rig, &write, "its second half").await;

    // The next one is meant.
    pass(&rig, 400).await;
    assert!(rig.click_inside(&write, "allow").await);
    rig.until("Allow to be taken", async |rig| !rig.waits(&write).await)
        .await;
    rig.end().await;
}
