//! A deletion is taken back to the byte and done again, and never over what a person changed meanwhile.

use serde_json::json;

use crate::support::Rig;
use crate::support::story::{Standing, stood};

#[tokio::test]
async fn a_deletion_is_undone_and_redone_but_never_over_a_change() {
    let rig = Rig::start().await;
    let write = rig.play().await;
    let drafts = rig.workspace().join("drafts");
    // A mode and a time that nobody would guess.
    let odd = drafts.join("grammar.txt");
    set_mode(&odd, 0o640);
    set_mode(&drafts, 0o750);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_789);
    let file = std::fs::File::options().write(true).open(&odd).unwrap();
    file.set_modified(long_ago).unwrap();
    let before = stood(&rig.workspace());
    rig.allow_by_click(&write).await;
    rig.allow_deletion().await;
    let _ = rig.card("wc -l").await;
    assert!(!drafts.exists(), "the deletion was allowed");
    let after = stood(&rig.workspace());

    // Undo from the History: everything below the folder is as it was; the rest stays.
    rig.click("rail-history").await;
    rig.click(&entry(&rig, "drafts").await).await;
    rig.wait_for_text("undo-card", "Nothing changed since")
        .await;
    rig.screenshot("undo-before").await;
    rig.click("undo").await;
    rig.find("redo").await;
    assert_eq!(below(&rig, &before), below(&rig, &stood(&rig.workspace())));
    assert_eq!(
        rest(&rig, &after),
        rest(&rig, &stood(&rig.workspace())),
        "nothing else was touched"
    );

    // Redo: gone again. Undo once more.
    rig.click("redo").await;
    rig.find("undo").await;
    assert!(!drafts.exists(), "deleted again");
    rig.click("undo").await;
    rig.find("redo").await;
    assert_eq!(below(&rig, &before), below(&rig, &stood(&rig.workspace())));

    // A person changes one of the files: Redo would lose that, so it does nothing and says why.
    std::fs::write(&odd, "mine\n").unwrap();
    let mine = stood(&drafts);
    rig.click("redo").await;
    rig.wait_for_text("conflicts", "drafts/grammar.txt").await;
    rig.screenshot("undo-conflict").await;
    assert_eq!(stood(&drafts), mine, "nothing was touched");
    let disabled = rig.find("redo").await.prop("disabled").await.unwrap();
    assert_eq!(disabled.as_deref(), Some("true"));

    // With the change out of the way there is nothing to lose, and it is done again.
    std::fs::remove_file(&odd).unwrap();
    rig.click("look-again").await;
    rig.wait_until_gone("conflicts").await;
    rig.click("redo").await;
    rig.find("undo").await;
    assert!(!drafts.exists());
    rig.end().await;
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Entries at and below the drafts.
fn below(rig: &Rig, standing: &Standing) -> Standing {
    let drafts = rig.workspace().join("drafts");
    let mut found = standing.clone();
    found.retain(|path, _| path.starts_with(&drafts));
    found
}

/// Entries elsewhere.
fn rest(rig: &Rig, standing: &Standing) -> Standing {
    let drafts = rig.workspace().join("drafts");
    let mut found = standing.clone();
    found.retain(|path, _| !path.starts_with(&drafts));
    found
}

/// The `data-testid` of the entry in the History with that text.
async fn entry(rig: &Rig, text: &str) -> String {
    let script = "return [...document.querySelectorAll('button[data-testid^=history-]')] \
        .find((entry) => entry.innerText.includes(arguments[0]))?.dataset.testid ?? null";
    let found = async |rig: &Rig| rig.ask(script, vec![json!(text)]).await;
    rig.until(&format!("an entry that says {text}"), async |rig| {
        found(rig).await.is_string()
    })
    .await;
    found(rig).await.as_str().unwrap().to_owned()
}
