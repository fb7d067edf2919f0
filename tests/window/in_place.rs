//! A command is run in place: it is said what that means before, and what it did to the folder is taken back.

use thirtyfour::prelude::*;

use crate::support::tour::Tour;

/// Adds and deletes, for real.
const COMMAND: &str = "printf 'one\\n' > made.txt; rm src/parser.rs; echo all-done";

#[tokio::test]
async fn a_command_runs_in_place_and_is_undone_in_light() {
    in_place("light").await;
}

#[tokio::test]
async fn a_command_runs_in_place_and_is_undone_in_dark() {
    in_place("dark").await;
}

async fn in_place(theme: &str) {
    let (rig, mut tour) = Tour::start(theme).await;
    rig.play_to_the_end().await;
    let has = |path: &str| rig.workspace().join(path).exists();
    let parser = || std::fs::read(rig.workspace().join("src/parser.rs")).unwrap();
    let before = parser();

    let card = rig.try_command(COMMAND, "all-done").await;

    // Nothing happens before it was read what this way means.
    rig.until("r to be taken", async |rig| {
        if rig.inside(&card, "in-place").await.is_some() {
            return true;
        }
        rig.take_keys(&card).await;
        rig.press('r').await;
        false
    })
    .await;
    tour.stop(&rig, "in-place-offered").await;
    // No tap runs it, by pointer or by key: it is held.
    rig.click("in-place-run").await;
    rig.press(Key::Enter).await;
    tour.stop(&rig, "in-place-tapped").await;
    assert!(!has("made.txt") && rig.waits(&card).await);
    rig.hold("in-place-run", async |_| has("made.txt")).await;
    rig.until("the deletion", async |_| !has("src/parser.rs"))
        .await;

    rig.click("rail-history").await;
    rig.wait_for_text("undo-card", "Ran printf").await;
    tour.stop(&rig, "in-place-history").await;
    rig.click("undo").await;
    rig.find("redo").await;
    assert!(!has("made.txt"));
    assert_eq!(parser(), before);
    tour.end();
    rig.end().await;
}
