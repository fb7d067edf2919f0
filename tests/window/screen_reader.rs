//! A screen reader is told what waits, what it would do, and what came of the answer.

use crate::support::Rig;
use crate::support::screen_reader::{ScreenReader, Spoken};

#[tokio::test]
async fn a_screen_reader_is_told_of_a_card_from_its_coming_to_its_end() {
    let rig = Rig::start_for_screen_reader().await;
    let reader = ScreenReader::join(&rig).await;
    let demo = reader.find("button", "demo").await;
    reader.press(&demo).await;
    let card = rig.card("parser.rs").await;

    // The card by its name, with the answers to it. It is taller than the window, so it is not allowed before all of it was seen.
    let told = reader.find("article", "parser.rs").await;
    let all = reader.read().await;
    let is_card = |one: &Spoken| one.role == told.role && one.name == told.name;
    let at = all.iter().position(is_card).unwrap();
    let on_card: Vec<_> = all[at + 1..]
        .iter()
        .take_while(|one| one.depth > told.depth)
        .collect();
    for answer in ["Show the rest", "Reject"] {
        assert!(
            on_card
                .iter()
                .any(|one| one.role == "button" && one.name.contains(answer)),
            "{answer} is not told of: {on_card:#?}"
        );
    }
    let lines: Vec<_> = on_card.iter().map(|one| one.name.as_str()).collect();
    assert!(
        lines.iter().any(|line| line.contains("Hunk 1")),
        "{lines:#?}"
    );

    // The keys find it, and it says so.
    rig.take_keys(&card).await;
    let focused = reader.focused().await.expect("something has the focus");
    assert!(focused.name.contains("parser.rs"), "{focused:?}");

    // The next card comes by itself, and what became of this one is said.
    rig.allow_by_key(&card).await;
    reader.find("article", "drafts").await;
    rig.end().await;
}
