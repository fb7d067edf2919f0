//! The demo, whole, as a person plays it: by keyboard alone, with every rule of deciding in force.

use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::story::stood;

/// `S002-105`: in the window a question is a form, which its person fills in.
#[tokio::test]
async fn the_demo_is_played_by_keyboard_alone() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    rig.screenshot("1-start").await;
    rig.tab_to("play-demo").await;
    rig.press(Key::Enter).await;

    // A diff waits: Enter and Space decide nothing; the last hunk is left out; y writes the others.
    let write = rig.card("parser.rs").await;
    let drafts = rig.workspace().join("drafts");
    let before = stood(&drafts);
    rig.take_keys(&write).await;
    rig.press(Key::Enter).await;
    rig.press(' ').await;
    rig.screenshot("2-diff").await;
    assert!(rig.waits(&write).await, "Enter and Space never allow");
    rig.tab_to("hunk-2-check").await;
    rig.press(' ').await;
    rig.wait_for_text(&write, "2 of 3 hunks").await;
    rig.allow_by_key(&write).await;

    // A deletion waits as well, because a rule of the folder asks: its loss is shown, and it can be undone.
    let delete = rig.card("drafts").await;
    rig.take_keys(&delete).await;
    rig.screenshot("2-deletion").await;
    assert!(drafts.exists(), "nothing is deleted while it waits");
    rig.allow_by_key(&delete).await;

    // A command waits.
    let run = rig.card("wc -l").await;
    rig.take_keys(&run).await;
    rig.screenshot("3-command").await;
    assert!(!drafts.exists(), "the deletion was allowed");
    let parser = std::fs::read_to_string(rig.workspace().join("src/parser.rs")).unwrap();
    assert!(
        parser.contains("const NEGATE") && !parser.contains("the line ends"),
        "two of three hunks were written"
    );
    rig.allow_by_key(&run).await;

    // A question is answered as a form, step by step.
    let question = rig.card("How should a chain").await;
    rig.take_keys(&question).await;
    rig.screenshot("4-question").await;
    answer(&rig).await;
    rig.wait_until_gone("submit-answers").await;

    // The closed file, and the end, which leads on.
    rig.shows("Everything above is on record").await;
    rig.find("demo-end").await;
    rig.screenshot("5-end").await;

    // The deletion is undone from its line, to the byte.
    undo(&rig).await;
    rig.until("the drafts to be back", async |_| drafts.exists())
        .await;
    rig.shows("as they were before").await;
    assert_eq!(stood(&drafts), before);
    rig.screenshot("6-undone").await;
    rig.end().await;
}

async fn answer(rig: &Rig) {
    rig.tab_to("option-0").await;
    rig.press(' ').await;
    rig.tab_to("next-question").await;
    rig.press(Key::Enter).await;
    rig.shows("2 of 2").await;
    rig.tab_to("option-0").await;
    rig.press(' ').await;
    rig.tab_to("submit-answers").await;
    rig.press(Key::Enter).await;
}

async fn undo(rig: &Rig) {
    let line = rig.line("Delete").await;
    rig.tab_to(&line).await;
    rig.press(Key::Enter).await;
    rig.find("undo").await;
    rig.tab_to("undo").await;
    rig.press(Key::Enter).await;
}
