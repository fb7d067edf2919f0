//! What a person does with the page: look, press, type, click. Everything waits until it can be done.

use std::path::{Path, PathBuf};
use std::time::Instant;

use thirtyfour::prelude::*;

use super::{LOOK_EVERY, Rig, WAIT, processes};

/// Pictures of the tests lie here, under cargo's target folder.
const SHOTS: &str = "window-shots";

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
        self.find(testid).await.click().await.unwrap();
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

    /// Presses and releases one key, wherever the focus is: `press(Key::Enter)`, `press('a')`.
    pub async fn press(&self, key: impl Into<char>) {
        let key = key.into();
        self.window()
            .action_chain()
            .key_down(key)
            .key_up(key)
            .perform()
            .await
            .unwrap();
    }

    /// Presses a key while another is held: `press_with(Key::Control, 'k')`.
    pub async fn press_with(&self, held: impl Into<char>, key: impl Into<char>) {
        let (held, key) = (held.into(), key.into());
        let keys = self
            .window()
            .action_chain()
            .key_down(held)
            .key_down(key)
            .key_up(key);
        keys.key_up(held).perform().await.unwrap();
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

    /// The `data-testid` of the element that has the focus, or that of the closest one around it.
    pub async fn focused(&self) -> Option<String> {
        let script =
            "return document.activeElement?.closest('[data-testid]')?.dataset.testid ?? null";
        let answer = self.window().execute(script, vec![]).await.unwrap();
        answer.json().as_str().map(String::from)
    }

    /// Waits until `holds` answers yes; fails with what the page showed instead.
    pub async fn until(&self, waiting_for: &str, holds: impl AsyncFn(&Self) -> bool) {
        let deadline = Instant::now() + WAIT;
        while !holds(self).await {
            if Instant::now() > deadline {
                panic!(
                    "waited for {waiting_for} in vain; the page:\n{}",
                    self.page_text().await
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Saves what the screen shows as `target/window-shots/NAME.png` and answers where.
    ///
    /// The screen and not the page, as WebDriver would: it is what a person sees, and many times faster.
    pub fn screenshot(&self, name: &str) -> PathBuf {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(SHOTS);
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join(name).with_extension("png");
        processes::photograph(self.display(), &file);
        file
    }

    async fn page_text(&self) -> String {
        let text = self
            .window()
            .execute("return document.body.innerText", vec![])
            .await;
        text.map_or_else(|error| error.to_string(), |text| text.json().to_string())
    }
}

fn by(testid: &str) -> By {
    By::Testid(testid.to_owned())
}
