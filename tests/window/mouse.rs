//! Deciding with the mouse: a part of a diff, a no with its reason, a form in one's own words.

use crate::support::Rig;

#[tokio::test]
async fn a_part_is_allowed_a_command_refused_and_a_question_answered_in_own_words() {
    let rig = Rig::start().await;
    let parser = rig.workspace().join("src/parser.rs");

    // Two of three hunks.
    let write = rig.play().await;
    rig.click_inside(&write, "show-all").await;
    rig.tick("hunk-1-check").await;
    rig.wait_for_text("hunk-1", "left out").await;
    rig.wait_for_text(&write, "hunk 2 was left out").await;
    rig.allow_by_click(&write).await;
    rig.allow_deletion().await;
    let run = rig.card("wc -l").await;
    let text = std::fs::read_to_string(&parser).unwrap();
    assert!(
        text.contains("const NEGATE") && text.contains("the line ends before"),
        "the checked hunks were written"
    );
    assert!(
        !text.contains("expression(NEGATE)"),
        "the unchecked hunk was not"
    );

    // No, with a reason.
    rig.click("reject-menu").await;
    rig.click("reject-menu-note").await;
    rig.until("the reason to be asked for", async |rig| {
        rig.focused().await.as_deref() == Some("note")
    })
    .await;
    rig.type_text("Count them yourself.").await;
    assert!(rig.waits(&run).await, "typing decides nothing");
    rig.reject_by_click(&run).await;
    let line = rig.line("wc -l").await;
    rig.wait_for_text(&line, "Rejected by you").await;

    // The agent was told, and asks on: an answer in one's own words, then several at once.
    rig.card("How should a chain").await;
    say_in_own_words(&rig, "Not at all; refuse it").await;
    rig.click_away("next-question").await;
    rig.shows("2 of 2").await;
    rig.choose("option-0").await;
    rig.choose("option-2").await;
    say_in_own_words(&rig, "--1").await;
    rig.click_away("submit-answers").await;
    rig.shows("Everything above is on record").await;

    // The notes are on the settled calls.
    let asked = rig.line("How should a chain").await;
    rig.click(&asked).await;
    let card = asked.replace("line-", "card-");
    rig.wait_for_text(&card, "Not at all; refuse it").await;
    rig.wait_for_text(&card, "-2^2, (1+2)*3, --1").await;
    rig.click(&line).await;
    rig.wait_for_text(&run, "“Count them yourself.” The agent was told.")
        .await;
    rig.screenshot("mouse-end").await;
    rig.end().await;
}

/// Chooses *Other* and types; the field has the focus by itself.
async fn say_in_own_words(rig: &Rig, text: &str) {
    rig.tick("option-other").await;
    rig.until("the own words to be asked for", async |rig| {
        rig.focused().await.as_deref() == Some("other")
    })
    .await;
    rig.type_text(text).await;
}
