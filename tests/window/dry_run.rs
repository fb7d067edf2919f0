//! A command is run for show: its effects are looked at and one is left out, what is committed is what was shown, and all
//! of it is taken back.

use crate::support::Rig;
use crate::support::tour::Tour;

/// Adds, changes, renames and deletes, and tries to get out.
const COMMAND: &str = "printf 'one\\n' > made.txt; sed -i s/tiny/small/ README.md; mv src/lib.rs src/tally.rs; \
    rm src/parser.rs; getent hosts example.com; echo all-done";

#[tokio::test]
async fn effects_are_chosen_committed_and_undone_in_light() {
    effects("light").await;
}

#[tokio::test]
async fn effects_are_chosen_committed_and_undone_in_dark() {
    effects("dark").await;
}

async fn effects(theme: &str) {
    let (rig, mut tour) = Tour::start(theme).await;
    rig.play_to_the_end().await;
    let has = |path: &str| rig.workspace().join(path).exists();
    let readme = || std::fs::read_to_string(rig.workspace().join("README.md")).unwrap();

    let card = rig.try_command(COMMAND, "all-done").await;
    tour.stop(&rig, "dry-run-offered").await;

    rig.take_keys(&card).await;
    dry_run_by_key(&rig, &card).await;
    rig.wait_for_text("refused", "example.com").await;
    tour.stop(&rig, "dry-run-effects").await;
    assert!(!has("made.txt") && has("src/parser.rs") && readme().contains("tiny"));

    // It could run again with a way to what it was refused.
    rig.click_inside(&card, "show-all").await;
    rig.click("with-network").await;
    rig.wait_for_text("way-out", "example.com").await;
    tour.stop(&rig, "dry-run-network").await;
    rig.click("way-out-close").await;
    rig.wait_until_gone("way-out").await;

    // The deletion is left out; the rest is done as it was shown.
    rig.wait_for_text("changes", "made.txt").await;
    leave_out(&rig, "src/parser.rs").await;
    rig.wait_for_text("changes-chosen", "chosen").await;
    tour.stop(&rig, "dry-run-chosen").await;
    rig.allow_by_click(&card).await;
    rig.until("the rest to be done", async |_| has("made.txt"))
        .await;
    assert!(has("src/parser.rs") && has("src/tally.rs") && !has("src/lib.rs"));
    assert!(readme().contains("small"));

    rig.click("rail-history").await;
    rig.wait_for_text("undo-card", "Ran printf").await;
    tour.stop(&rig, "dry-run-history").await;
    rig.click("undo").await;
    rig.find("redo").await;
    assert!(!has("made.txt") && has("src/lib.rs") && !has("src/tally.rs"));
    assert!(readme().contains("tiny"));
    tour.stop(&rig, "dry-run-undone").await;
    tour.end();
    rig.end().await;
}

/// Presses `p` on the card until it is taken.
async fn dry_run_by_key(rig: &Rig, card: &str) {
    rig.until("p to be taken", async |rig| {
        if rig.inside(card, "effects-end").await.is_some() {
            return true;
        }
        rig.take_keys(card).await;
        rig.press('p').await;
        false
    })
    .await;
}

/// Unticks the change of a path.
async fn leave_out(rig: &Rig, path: &str) {
    let script = "return [...document.querySelectorAll('[data-testid^=change-][data-testid$=-check]')] \
        .find((box) => box.ariaLabel === arguments[0])?.dataset.testid ?? null";
    let found = rig.ask(script, vec![path.into()]).await;
    rig.tick(found.as_str().expect("a change of that path"))
        .await;
}
