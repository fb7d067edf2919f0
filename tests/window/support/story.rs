//! The words of the stories: cards that wait, the answers to them, and the demo that brings them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use super::Rig;

/// How long an answer has to be taken before it is given again: it does not count while the card was not long in view.
const TAKEN_WITHIN: Duration = Duration::from_secs(1);

/// The card that waits and has some text on it.
const WAITING_CARD: &str = "const card = [...document.querySelectorAll('article[data-state=waiting]')] \
    .find((card) => card.innerText.includes(arguments[0])); return card?.dataset.testid ?? null";

/// Sends what the engine is asked, as the page itself does.
const SUBMIT: &str = "const [op, done] = arguments; window.__TAURI_INTERNALS__.invoke('submit', { op }) \
    .then(done, (refused) => done({ refused }))";

/// Content (none for a folder), mode and time of everything below a folder.
pub type Standing = BTreeMap<PathBuf, (Option<Vec<u8>>, u32, SystemTime)>;

/// The selector of something on a card.
fn inside(card: &str, testid: &str) -> String {
    format!("[data-testid=\"{card}\"] [data-testid=\"{testid}\"]")
}

/// How everything below a folder stands.
pub fn stood(root: &Path) -> Standing {
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

impl Rig {
    /// The folder that the demo works in.
    pub fn workspace(&self) -> PathBuf {
        self.data_dir().join("demo/tally")
    }

    /// The `data-testid` of the waiting card with that text on it, once it is there.
    pub async fn card(&self, text: &str) -> String {
        let found = async |rig: &Self| rig.ask(WAITING_CARD, vec![json!(text)]).await;
        self.until(&format!("a card that says {text}"), async |rig| {
            found(rig).await.is_string()
        })
        .await;
        found(self).await.as_str().unwrap().to_owned()
    }

    /// Asks the engine for something as the page itself does; answers its receipt.
    pub async fn submit(&self, op: Value) -> Value {
        let given = self.window().execute_async(SUBMIT, vec![op]).await;
        let receipt = given.unwrap().json().clone();
        assert!(receipt["refused"].is_null(), "{receipt:#}");
        receipt
    }

    /// The same for what the app asks about in its own dialog, with a yes to it.
    pub async fn submit_and_confirm(&self, op: Value) -> Value {
        tokio::join!(self.submit(op), self.confirm()).0
    }

    /// Opens a session in a folder with a model of [`super::site::Site`], and goes to it. Answers its id.
    pub async fn begin(&self, folder: &Path, model: &str, prompt: &str) -> String {
        let op = json!({
            "type": "open_session",
            "workspace": folder,
            "model": { "provider": "stories", "model": model },
            "prompt": prompt,
        });
        let receipt = self.submit(op).await;
        let session = receipt["session"].as_str().unwrap().to_owned();
        self.click(&format!("rail-session-{session}")).await;
        self.find("composer").await;
        session
    }

    /// Tries a command by the form of its tool; answers its card on the desk, once it says `text`.
    pub async fn try_command(&self, command: &str, text: &str) -> String {
        self.click("rail-tools").await;
        self.click("tool-bash").await;
        self.click("go-try").await;
        self.click("field-command").await;
        self.type_text(command).await;
        self.click("try-run").await;
        let card = self.card(text).await;
        self.click("rail-desk").await;
        self.find("desk-cards").await;
        card
    }

    /// Holds a button with the pointer until it took effect; again where it came too soon.
    pub async fn hold(&self, testid: &str, took: impl AsyncFn(&Self) -> bool) {
        self.until(&format!("{testid} to be held"), async |rig| {
            let selector = format!("[data-testid=\"{testid}\"]");
            if rig.press_down_at(&selector).await {
                rig.comes(Duration::from_millis(1_500), &took).await;
                rig.let_go();
            }
            took(rig).await
        })
        .await;
    }

    /// The state of a card, or nothing once it folded to a line.
    pub async fn state(&self, card: &str) -> Option<String> {
        let script = "const at = (id) => document.querySelector(`[data-testid=\"${id}\"]`); \
            return at(arguments[0])?.dataset.state ?? null";
        let state = self.ask(script, vec![json!(card)]).await;
        state.as_str().map(String::from)
    }

    /// Whether the call of a card still waits.
    pub async fn waits(&self, card: &str) -> bool {
        self.state(card).await.as_deref() == Some("waiting")
    }

    /// Goes to the card by keyboard: one that landed while the focus was in the message box takes no keys from it.
    pub async fn take_keys(&self, card: &str) {
        self.until("the card to have the keys", async |rig| {
            if rig.focused().await.as_deref() == Some(card) {
                return true;
            }
            rig.press(Key::Escape).await;
            false
        })
        .await;
    }

    /// Presses `y` on the card: once, and again only when it was too soon to count.
    pub async fn allow_by_key(&self, card: &str) {
        self.until("y to be taken", async |rig| {
            rig.take_keys(card).await;
            rig.press('y').await;
            rig.comes(TAKEN_WITHIN, async |rig| !rig.waits(card).await)
                .await
        })
        .await;
    }

    /// Clicks *Allow* on the card, after *Show the rest* where it is taller than the window.
    pub async fn allow_by_click(&self, card: &str) {
        self.until("Allow to be taken", async |rig| {
            if !rig.click_inside(card, "show-rest").await {
                rig.click_inside(card, "allow").await;
            }
            rig.comes(TAKEN_WITHIN, async |rig| !rig.waits(card).await)
                .await
        })
        .await;
    }

    /// Allows the card: held where it must be, else clicked.
    pub async fn hold_or_click(&self, card: &str) {
        let held = self
            .inside(card, "allow")
            .await
            .expect("the card can be allowed");
        match held.text().await.unwrap().contains("Hold") {
            false => self.allow_by_click(card).await,
            true => self.hold("allow", async |rig| !rig.waits(card).await).await,
        }
    }

    /// Clicks *Reject* on the card.
    pub async fn reject_by_click(&self, card: &str) {
        self.until("Reject to be taken", async |rig| {
            rig.click_inside(card, "reject").await;
            rig.comes(TAKEN_WITHIN, async |rig| !rig.waits(card).await)
                .await
        })
        .await;
    }

    /// Clicks something on the card, if it is there to be seen; answers whether it was.
    pub async fn click_inside(&self, card: &str, testid: &str) -> bool {
        let shown = match self.inside(card, testid).await {
            Some(element) => element.is_displayed().await.unwrap_or(false),
            None => false,
        };
        shown && self.click_at(&inside(card, testid)).await
    }

    /// The element with that `data-testid` on the card, if it is there.
    pub async fn inside(&self, card: &str, testid: &str) -> Option<WebElement> {
        self.window().find(By::Css(inside(card, testid))).await.ok()
    }

    /// Starts the demo with the mouse, and waits until its first card is there: the diff. Answers that card.
    pub async fn play(&self) -> String {
        self.click("play-demo").await;
        self.card("parser.rs").await
    }

    /// Plays the demo with the mouse to its end: everything allowed, the first options chosen.
    pub async fn play_to_the_end(&self) {
        let write = self.play().await;
        self.allow_by_click(&write).await;
        self.end_of_the_demo().await;
    }

    /// Plays on with the mouse once the diff was decided.
    pub async fn end_of_the_demo(&self) {
        self.allow_deletion().await;
        let run = self.card("wc -l").await;
        self.allow_by_click(&run).await;
        self.card("How should a chain").await;
        self.choose("option-0").await;
        self.click_away("next-question").await;
        self.shows("2 of 2").await;
        self.choose("option-0").await;
        self.click_away("submit-answers").await;
        self.shows("Everything above is on record").await;
    }

    /// Allows the deletion of the demo with the mouse, once it waits.
    pub async fn allow_deletion(&self) {
        let delete = self.card("drafts").await;
        self.allow_by_click(&delete).await;
    }

    /// The `data-testid` of the line that a settled call with that text left.
    pub async fn line(&self, text: &str) -> String {
        let script = "return [...document.querySelectorAll('[data-testid^=line-]')] \
            .find((line) => line.innerText.includes(arguments[0]))?.dataset.testid ?? null";
        let found = async |rig: &Self| rig.ask(script, vec![json!(text)]).await;
        self.until(&format!("a line that says {text}"), async |rig| {
            found(rig).await.is_string()
        })
        .await;
        found(self).await.as_str().unwrap().to_owned()
    }
}
