//! Actions of a person on the page: look, press, type, click. Each waits until it can be done.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use thirtyfour::prelude::*;

use super::{LOOK_EVERY, Rig, WAIT, processes};

/// Pictures of the tests lie here, under cargo's target folder.
const SHOTS: &str = "window-shots";

/// Whether the transcript that is looked at, if one is, shows what the engine has of its session.
const IS_FILLED: &str = "const [done] = arguments; \
    const transcript = document.querySelector('[data-testid=transcript]'); \
    const open = document.querySelector('[data-testid^=rail-session-][aria-current]'); \
    const session = open?.dataset.testid.replace('rail-session-', ''); \
    if (!transcript || transcript.querySelector('[data-row]')) done(true); \
    else if (!session) done(false); \
    else window.__TAURI_INTERNALS__.invoke('query', { query: { type: 'transcript', session, before: null, limit: 1 } }) \
        .then(({ entries }) => done(entries.length === 0), () => done(false))";

/// How often the screen is looked at, at most, until it stands still.
const LOOKS_MAX: usize = 12;

/// How often Tab is pressed, at most, to reach something.
const TABS_MAX: usize = 60;

impl Rig {
    /// The first element with that `data-testid`, once it can be seen.
    pub async fn find(&self, testid: &str) -> WebElement {
        let query = self
            .window()
            .query(by(testid))
            .and_displayed()
            .wait(WAIT, LOOK_EVERY);
        match query.first().await {
            Ok(element) => element,
            Err(error) => panic!(
                "no {testid} to be seen: {error}\n{}",
                self.page_text().await
            ),
        }
    }

    /// All elements with that `data-testid`, as they are now.
    pub async fn find_all(&self, testid: &str) -> Vec<WebElement> {
        self.window().find_all(by(testid)).await.unwrap()
    }

    /// Clicks the first element with that `data-testid`.
    pub async fn click(&self, testid: &str) {
        self.find(testid).await;
        self.tick(testid).await;
    }

    /// The same for a check box or a radio button: what is to be seen of it is drawn around it.
    pub async fn tick(&self, testid: &str) {
        let selector = format!("[data-testid=\"{testid}\"]");
        self.until(&format!("{testid} to be clicked"), async |rig| {
            rig.click_at(&selector).await
        })
        .await;
    }

    /// Clicks a radio button or a check box until it is chosen: the transcript may move below the pointer.
    pub async fn choose(&self, testid: &str) {
        let selector = format!("[data-testid=\"{testid}\"]");
        let is_chosen = async |rig: &Self| {
            let script = "return document.querySelector(arguments[0])?.checked === true";
            rig.ask(script, vec![selector.as_str().into()]).await == true
        };
        self.until(&format!("{testid} to be chosen"), async |rig| {
            is_chosen(rig).await || rig.click_at(&selector).await && is_chosen(rig).await
        })
        .await;
    }

    /// Clicks an element until it is gone, or cannot be used any more.
    pub async fn click_away(&self, testid: &str) {
        let selector = format!("[data-testid=\"{testid}\"]:enabled");
        let script = "return document.querySelector(arguments[0]) === null";
        self.find(testid).await;
        self.until(&format!("{testid} to be taken"), async |rig| {
            rig.click_at(&selector).await;
            rig.ask(script, vec![selector.as_str().into()]).await == true
        })
        .await;
    }

    /// The text that a person reads in the element.
    pub async fn text(&self, testid: &str) -> String {
        self.find(testid).await.text().await.unwrap()
    }

    /// Waits until the element's text contains `part`.
    pub async fn wait_for_text(&self, testid: &str, part: &str) {
        let waiting_for = format!("“{part}” in {testid}");
        self.until(&waiting_for, async |rig| {
            let Ok(element) = rig.window().find(by(testid)).await else {
                return false;
            };
            element.text().await.is_ok_and(|text| text.contains(part))
        })
        .await;
    }

    /// Waits until there is no element with that `data-testid` any more.
    pub async fn wait_until_gone(&self, testid: &str) {
        let waiting_for = format!("{testid} to go away");
        self.until(&waiting_for, async |rig| {
            rig.window()
                .find_all(by(testid))
                .await
                .is_ok_and(|found| found.is_empty())
        })
        .await;
    }

    /// Types a text, wherever the focus is.
    pub async fn type_text(&self, text: &str) {
        self.window()
            .action_chain()
            .send_keys(text)
            .perform()
            .await
            .unwrap();
    }

    /// Presses Tab until the element with that `data-testid` has the focus.
    pub async fn tab_to(&self, testid: &str) {
        for _ in 0..TABS_MAX {
            if self.focused().await.as_deref() == Some(testid) {
                return;
            }
            self.press(Key::Tab).await;
        }
        panic!(
            "Tab never reached {testid}; the focus is on {:?}",
            self.focused().await
        );
    }

    /// The `data-testid` of the element that has the focus, or that of the closest one around it.
    pub async fn focused(&self) -> Option<String> {
        let script =
            "return document.activeElement?.closest('[data-testid]')?.dataset.testid ?? null";
        self.ask(script, vec![]).await.as_str().map(String::from)
    }

    /// Runs a script in the page and returns its answer, for checks without a method of their own.
    pub async fn ask(&self, script: &str, given: Vec<Value>) -> Value {
        let answer = self.window().execute(script, given).await;
        answer
            .unwrap_or_else(|error| panic!("`{script}` failed: {error}"))
            .json()
            .clone()
    }

    /// Whether the page is shown and has the keyboard, and where its transcript is scrolled to: what explains a wait.
    async fn standing(&self) -> Value {
        let script = "const at = document.querySelector('[data-testid=\"transcript\"]'); \
            return { shown: document.visibilityState, active: document.hasFocus(), window: [innerWidth, innerHeight], \
            scrolled: at && [at.scrollTop, at.clientHeight, at.scrollHeight] }";
        self.ask(script, vec![]).await
    }

    /// Everything that can be read on the page.
    pub async fn page_text(&self) -> String {
        let text = self
            .window()
            .execute("return document.body.innerText", vec![]);
        match text.await {
            Ok(text) => text.json().as_str().unwrap_or_default().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Waits until the page shows some text anywhere.
    pub async fn shows(&self, text: &str) {
        self.until(text, async |rig| rig.page_text().await.contains(text))
            .await;
    }

    /// Waits until `holds` answers yes; fails with what the page showed instead.
    pub async fn until(&self, waiting_for: &str, holds: impl AsyncFn(&Self) -> bool) {
        let deadline = Instant::now() + WAIT;
        while !holds(self).await {
            if Instant::now() > deadline {
                panic!(
                    "waited for {waiting_for} in vain; {}; the focus is on {:?}; the page:\n{}",
                    self.standing().await,
                    self.focused().await,
                    self.page_text().await
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The same for at most that long; answers whether it came to be.
    pub async fn comes(&self, within: Duration, holds: impl AsyncFn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + within;
        loop {
            if holds(self).await {
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Fails if a transcript is looked at that shows nothing although its session has entries.
    pub async fn check_transcript(&self) {
        self.until("the transcript to show its entries", async |rig| {
            rig.is_filled().await
        })
        .await;
    }

    /// Whether no transcript is looked at, or one that shows entries, or one whose session the engine says has none.
    pub async fn is_filled(&self) -> bool {
        let filled = self.window().execute_async(IS_FILLED, vec![]).await;
        filled.is_ok_and(|filled| filled.json() == true)
    }

    /// Saves what the screen shows, once it stands still, as `target/window-shots/NAME.png` and answers where.
    ///
    /// The screen and not the page, as WebDriver would: it is what a person sees, and many times faster.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        self.check_transcript().await;
        let drawn = "const done = arguments[0]; \
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.window().execute_async(drawn, vec![]).await.unwrap();
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(SHOTS);
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join(name).with_extension("png");
        let deadline = Instant::now() + WAIT;
        let mut seen = self.still();
        // All else on a page goes well, too, when nobody sees anything of it.
        while processes::is_blank(&seen) {
            assert!(Instant::now() < deadline, "{name}: nothing is painted");
            tokio::time::sleep(LOOK_EVERY).await;
            seen = self.still();
        }
        std::fs::write(&file, seen).unwrap();
        file
    }

    /// The screen as a PNG, once two looks at it are the same, or after some that were not.
    fn still(&self) -> Vec<u8> {
        let mut seen = processes::photograph(self.display());
        for _ in 1..LOOKS_MAX {
            let again = processes::photograph(self.display());
            if std::mem::replace(&mut seen, again) == seen {
                break;
            }
        }
        seen
    }
}

fn by(testid: &str) -> By {
    By::Testid(testid.to_owned())
}
