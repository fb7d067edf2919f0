//! Keys and clicks that the X server makes, as for a person's hand. WebDriver's own never pass the window system: to the app
//! they are events that a script made up.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::prelude::*;

use super::processes::{self, Group, OTHER_TITLE};
use super::{APP, Rig};

/// Scrolls until the middle of an element that can be used is what a pointer there would hit, and answers where that is on
/// the page. Drawn once more first, so that what moves is not aimed at.
const FREE_PLACE: &str = "const [selector, done] = arguments; \
    const element = document.querySelector(selector); \
    const place = () => { const at = element.getBoundingClientRect(); \
        const [x, y] = [at.x + at.width / 2, at.y + at.height / 2]; const hit = document.elementFromPoint(x, y); \
        return hit !== null && (element.contains(hit) || hit.contains(element)) ? [Math.round(x), Math.round(y)] : null; }; \
    if (!element || element.matches(':disabled')) { done(null); return; } \
    if (place() === null) element.scrollIntoView({ block: 'center' }); \
    requestAnimationFrame(() => requestAnimationFrame(() => done(place())))";

/// How many events of a kind the page has heard since it was first asked.
const HEARD: &str = "const [kind] = arguments; const heard = (window.heard ??= {}); \
    if (!(kind in heard)) { heard[kind] = 0; window.addEventListener(kind, () => (heard[kind] += 1), true); } return heard[kind]";
/// Notes from now on whether the pointer is pressed or released elsewhere than on what a selector finds, as happens when
/// the page moves below it.
const AIM: &str = "const [selector] = arguments; const begun = window.aim !== undefined; \
    window.aim = { selector, missed: false }; if (begun) return; \
    const check = ({ target }) => { const aim = document.querySelector(window.aim.selector); \
        if (aim && !aim.contains(target) && !target.closest('label')?.contains(aim)) window.aim.missed = true; }; \
    for (const kind of ['mousedown', 'mouseup']) window.addEventListener(kind, check, true)";
/// How long the page may take to hear of a press. One that it never hears of went elsewhere, or ended it.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// The title that every window of the app ends with, and that of its dialogs.
const MAIN: &str = "Countersign$";
/// How long it takes until that dialog takes a yes, on a busy machine.
const ARMED_AFTER: Duration = Duration::from_millis(1_500);
/// The title of the dialog that asks for what the page may not do by itself.
const DIALOG: &str = "^Confirm .*Countersign$";

impl Rig {
    /// Presses and releases one key, wherever the focus is: `press(Key::Enter)`, `press('a')`.
    pub async fn press(&self, key: impl Into<char>) {
        self.keys(&key_name(key.into())).await;
    }

    /// Presses a key while another is held: `press_with(Key::Control, 'k')`.
    pub async fn press_with(&self, held: impl Into<char>, key: impl Into<char>) {
        let (held, key) = (key_name(held.into()), key_name(key.into()));
        self.keys(&format!("{held}+{key}")).await;
    }

    /// Opens a window of another program and gives it the focus. Nobody looks at the app until the program is dropped.
    pub async fn look_elsewhere(&self) -> Group {
        let other = processes::other_program(Path::new(APP), &self.env);
        self.until("the window of the other program", async |rig| {
            !rig.windows(OTHER_TITLE).is_empty()
        })
        .await;
        let window = self.windows(OTHER_TITLE).pop().unwrap_or_default();
        self.xdotool(&["windowfocus", "--sync", &window]);
        self.until("the app to have lost the focus", async |rig| {
            rig.ask("return document.hasFocus()", vec![]).await == false
        })
        .await;
        other
    }

    /// Presses keys while no window of the app has the focus: `press_elsewhere("ctrl+alt+o")`.
    pub fn press_elsewhere(&self, keys: &str) {
        self.xdotool(&["key", "--clearmodifiers", keys]);
    }

    /// Gives the window the focus once it is there, as a window manager does. The first press would do it otherwise, and a
    /// press that merely activates a window decides nothing.
    pub async fn focus_window(&self) {
        self.until("the window to be there", async |rig| {
            !rig.windows(MAIN).is_empty()
        })
        .await;
        self.xdotool(&["windowfocus", "--sync", &self.main_window()]);
    }

    async fn keys(&self, keys: &str) {
        let window = self.main_window();
        let words = [
            "windowfocus",
            "--sync",
            &window,
            "key",
            "--delay",
            "5",
            keys,
        ];
        self.until_heard("keyup", || self.xdotool(&words)).await;
    }

    /// Does something at the window system, and waits until the page has heard of it: what is asked next comes after it.
    async fn until_heard(&self, kind: &str, act: impl FnOnce()) {
        let heard = async |rig: &Self| {
            let heard = rig.window().execute(HEARD, vec![json!(kind)]).await;
            heard.ok().and_then(|heard| heard.json().as_u64())
        };
        let before = heard(self).await;
        act();
        self.comes(HEARD_WITHIN, async |rig| heard(rig).await > before)
            .await;
    }

    /// Clicks what a selector of CSS finds first; false while it is not there or under something else, or if it moved away
    /// and something else was clicked.
    pub async fn click_at(&self, selector: &str) -> bool {
        let aimed = self.window().execute(AIM, vec![json!(selector)]).await;
        aimed.is_ok() && self.point_at(selector).await && {
            self.until_heard("mouseup", || {
                self.xdotool(&["mousedown", "1", "mouseup", "1"])
            })
            .await;
            let missed = self
                .window()
                .execute("return window.aim?.missed === true", vec![])
                .await;
            !missed.is_ok_and(|missed| missed.json() == true)
        }
    }

    /// Puts the pointer on what a selector finds first, and presses; [`Rig::let_go`] releases it.
    pub async fn press_down_at(&self, selector: &str) -> bool {
        self.point_at(selector).await && {
            self.until_heard("mousedown", || self.xdotool(&["mousedown", "1"]))
                .await;
            true
        }
    }

    /// Releases the pointer.
    pub fn let_go(&self) {
        self.xdotool(&["mouseup", "1"]);
    }

    async fn point_at(&self, selector: &str) -> bool {
        let place = self.free_place(selector).await;
        // Not while it is on its way to its place.
        if place.is_null() || self.free_place(selector).await != place {
            return false;
        }
        let (x, y) = (place[0].to_string(), place[1].to_string());
        let window = self.main_window();
        // Without `--sync`: a pointer that is there already makes it wait for 15 seconds, and the X server keeps the order.
        self.xdotool(&["mousemove", "--window", &window, &x, &y]);
        true
    }

    /// Where a pointer would hit the element, scrolled to as a person would; or nothing.
    async fn free_place(&self, selector: &str) -> Value {
        let place = self
            .window()
            .execute_async(FREE_PLACE, vec![json!(selector)]);
        place
            .await
            .map_or(Value::Null, |place| place.json().clone())
    }

    /// Whether the dialog is open in which the app asks without the page.
    pub async fn is_asked(&self) -> bool {
        !self.windows(DIALOG).is_empty()
    }

    /// Waits for that dialog and says yes to it.
    pub async fn confirm(&self) {
        // No has the focus, and yes can be said only after a moment.
        self.answer_dialog(&["Tab", "Return"]).await;
    }

    /// Waits for that dialog and leaves it without a yes.
    pub async fn refuse(&self) {
        self.answer_dialog(&["Escape"]).await;
    }

    async fn answer_dialog(&self, keys: &[&str]) {
        self.until("the dialog to ask", async |rig| rig.is_asked().await)
            .await;
        tokio::time::sleep(ARMED_AFTER).await;
        self.until("the dialog to be answered", async |rig| {
            if let Some(dialog) = rig.windows(DIALOG).first() {
                // It may go while it is being answered.
                let words = [&["windowfocus", dialog, "key", "--delay", "20"], keys].concat();
                let _ = rig.command(&words).status();
                tokio::time::sleep(ARMED_AFTER).await;
            }
            !rig.is_asked().await
        })
        .await;
    }

    fn main_window(&self) -> String {
        let dialogs = self.windows(DIALOG);
        let mut windows = self.windows(MAIN);
        windows.retain(|window| !dialogs.contains(window));
        windows.pop().expect("the app has a window to be seen")
    }

    /// The visible windows of the screen with such a title.
    fn windows(&self, title: &str) -> Vec<String> {
        let mut found = self.command(&["search", "--onlyvisible", "--name", title]);
        let found = found.output().expect("`xdotool` is there");
        String::from_utf8_lossy(&found.stdout)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn xdotool(&self, words: &[&str]) {
        let done = self.command(words).status().expect("`xdotool` is there");
        assert!(done.success(), "xdotool {words:?} failed");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("xdotool");
        command.args(words).env("DISPLAY", self.display());
        command
    }
}

/// Name of a key in the X server.
fn key_name(key: char) -> String {
    let named = [
        (Key::Enter, "Return"),
        (Key::Escape, "Escape"),
        (Key::Tab, "Tab"),
        (Key::Delete, "Delete"),
        (Key::Backspace, "BackSpace"),
        (Key::Up, "Up"),
        (Key::Down, "Down"),
        (Key::Left, "Left"),
        (Key::Right, "Right"),
        (Key::Control, "ctrl"),
        (Key::Shift, "shift"),
        (Key::Alt, "alt"),
    ];
    let named = named
        .into_iter()
        .find(|(one, _)| char::from(one.clone()) == key);
    match (named, key) {
        (Some((_, name)), _) => name.to_owned(),
        (None, ' ') => "space".to_owned(),
        (None, '?') => "question".to_owned(),
        (None, '/') => "slash".to_owned(),
        (None, ',') => "comma".to_owned(),
        (None, '=') => "equal".to_owned(),
        (None, letter) if letter.is_ascii_alphanumeric() => letter.to_string(),
        (None, other) => panic!("no name is known for the key {other:?}"),
    }
}
