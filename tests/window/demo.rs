//! The demo, whole, as a person plays it: by keyboard alone, with every rule of deciding in force.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thirtyfour::prelude::*;

use crate::support::Rig;

/// Tabs on until the element with that `data-testid` has the focus.
async fn tab_to(rig: &Rig, testid: &str) {
    for _ in 0..60 {
        if rig.focused().await.as_deref() == Some(testid) {
            return;
        }
        rig.press(Key::Tab).await;
    }
    panic!(
        "Tab never reached {testid}; the focus is on {:?}",
        rig.focused().await
    );
}

/// Waits until the page shows some text anywhere.
async fn shows(rig: &Rig, text: &str) {
    rig.until(text, async |rig| {
        let body = rig
            .window()
            .execute("return document.body.innerText", vec![])
            .await;
        body.is_ok_and(|body| body.json().as_str().is_some_and(|body| body.contains(text)))
    })
    .await;
}

/// The testid of the card that owns the keys, once it is one with that title.
async fn card(rig: &Rig, title: &str) -> String {
    let find = "const card = document.querySelector('article.here, .card.here'); \
        return card && card.innerText.includes(arguments[0]) ? card.dataset.testid : null";
    rig.until(&format!("a card that says {title}"), async |rig| {
        // A card that lands while the focus is in the message box takes no keys from it: Escape goes to the card.
        if rig.focused().await.as_deref() == Some("composer") {
            rig.press(Key::Escape).await;
        }
        let id = rig.window().execute(find, vec![title.into()]).await;
        id.is_ok_and(|id| id.json().is_string())
    })
    .await;
    let id = rig
        .window()
        .execute(find, vec![title.into()])
        .await
        .unwrap();
    id.json().as_str().unwrap().to_owned()
}

/// Presses `y` until the card has settled: it counts only once the card was in full view for a moment.
async fn allow(rig: &Rig, card: &str) {
    rig.until("y to be taken", async |rig| {
        rig.press('y').await;
        let waits = format!(
            "document.querySelector('[data-testid=\"{card}\"]')?.classList.contains('waits')"
        );
        let waits = rig
            .window()
            .execute(format!("return {waits} ?? false"), vec![])
            .await
            .unwrap();
        waits.json() == false
    })
    .await;
}

/// The folder that the demo works in.
fn workspace(rig: &Rig) -> PathBuf {
    rig.data_dir().join("demo/tally")
}

/// Content, mode and time of everything below a folder.
fn stood(root: &Path) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32, SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::metadata(&path).unwrap();
            let content = meta.is_file().then(|| std::fs::read(&path).unwrap());
            found.insert(
                path.clone(),
                (content, meta.mode(), meta.modified().unwrap()),
            );
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

async fn play(rig: &Rig) {
    rig.find("play-demo").await;
    tab_to(rig, "play-demo").await;
    rig.press(Key::Enter).await;
}

#[tokio::test]
async fn the_demo_is_played_by_keyboard_alone() {
    let rig = Rig::start().await;
    rig.screenshot("1-start");
    play(&rig).await;

    // A diff waits: Enter and Space decide nothing; the last hunk is left out; y writes the others.
    let write = card(&rig, "parser.rs").await;
    let drafts = workspace(&rig).join("drafts");
    let before = stood(&drafts);
    rig.press(Key::Enter).await;
    rig.press(' ').await;
    rig.screenshot("2-diff");
    assert!(
        rig.text(&write).await.contains("Waits"),
        "Enter and Space never allow"
    );
    tab_to(&rig, "hunk-2-check").await;
    rig.press(' ').await;
    rig.wait_for_text(&write, "2 of 3 hunks").await;
    rig.press(Key::Escape).await;
    allow(&rig, &write).await;

    // A command waits; the deletion before it ran by itself, for it can be undone.
    let run = card(&rig, "wc -l").await;
    rig.screenshot("3-command");
    assert!(!drafts.exists(), "the deletion ran by itself");
    let parser = std::fs::read_to_string(workspace(&rig).join("src/parser.rs")).unwrap();
    assert!(
        parser.contains("const NEGATE") && !parser.contains("the line ends"),
        "two of three hunks were written"
    );
    allow(&rig, &run).await;

    // A question is answered as a form, step by step.
    card(&rig, "How should a chain").await;
    rig.screenshot("4-question");
    answer_by_keyboard(&rig).await;
    rig.wait_until_gone("submit-answers").await;

    // The closed file, and the end.
    shows(&rig, "Everything above is on record").await;
    rig.screenshot("5-end");

    // The deletion is undone from its line, to the byte.
    undo_by_keyboard(&rig).await;
    rig.until("the drafts to be back", async |_| drafts.exists())
        .await;
    assert_eq!(stood(&drafts), before);
    rig.screenshot("6-undone");
    rig.end().await;
}

async fn answer_by_keyboard(rig: &Rig) {
    tab_to(rig, "option-0").await;
    rig.press(' ').await;
    tab_to(rig, "next-question").await;
    rig.press(Key::Enter).await;
    shows(rig, "2 of 2").await;
    tab_to(rig, "option-0").await;
    rig.press(' ').await;
    tab_to(rig, "submit-answers").await;
    rig.press(Key::Enter).await;
}

async fn undo_by_keyboard(rig: &Rig) {
    let find = "return [...document.querySelectorAll('[data-testid^=line-]')]\
        .find((line) => line.innerText.includes('Delete'))?.dataset.testid ?? null";
    let line = rig.window().execute(find, vec![]).await.unwrap();
    tab_to(rig, line.json().as_str().expect("the deletion left a line")).await;
    rig.press(Key::Enter).await;
    rig.find("undo").await;
    tab_to(rig, "undo").await;
    rig.press(Key::Enter).await;
}
