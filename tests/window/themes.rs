//! Every screen in light and in dark: a picture of it, and no serious finding of axe-core on it.

use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::tour::Tour;

/// Changes a file, makes one, and takes one away.
const PATCH: &str = "*** Begin Patch\n*** Update File: README.md\n@@\n-# Tally\n+# Tally, a calculator\n\
    *** Add File: notes/words.md\n+one\n*** Delete File: src/lib.rs\n*** End Patch";

/// The sections of the settings.
const SECTIONS: [&str; 10] = [
    "providers",
    "appearance",
    "asking",
    "commands",
    "limits",
    "undo",
    "web_search",
    "languages",
    "programs",
    "about",
];

#[tokio::test]
async fn every_screen_is_fit_to_be_seen_in_light() {
    every_screen("light").await;
}

#[tokio::test]
async fn every_screen_is_fit_to_be_seen_in_dark() {
    every_screen("dark").await;
}

async fn every_screen(theme: &str) {
    let (rig, mut tour) = Tour::start(theme).await;
    tour.measure_contrast();
    rig.find("play-demo").await;
    tour.stop(&rig, "start").await;

    let write = rig.play().await;
    rig.take_keys(&write).await;
    tour.stop(&rig, "session").await;
    rig.click("rail-desk").await;
    rig.find("desk-cards").await;
    tour.stop(&rig, "desk").await;

    rig.allow_by_click(&write).await;
    rig.card("drafts").await;
    tour.stop(&rig, "deletion").await;
    rig.allow_deletion().await;
    let run = rig.card("wc -l").await;
    tour.stop(&rig, "command").await;
    rig.allow_by_click(&run).await;
    rig.card("How should a chain").await;
    tour.stop(&rig, "question").await;
    rig.click("skip").await;
    rig.find("desk-empty").await;

    rig.click("rail-search").await;
    rig.click("search-box").await;
    rig.type_text("parser").await;
    rig.find("hits").await;
    tour.stop(&rig, "search").await;
    rig.click("rail-history").await;
    rig.find("undo-card").await;
    tour.stop(&rig, "history").await;
    rig.click("rail-rules").await;
    rig.find("rules-table").await;
    tour.stop(&rig, "rules").await;
    rig.click("rules-try").await;
    rig.find("call-field-command").await;
    tour.stop(&rig, "rules-try").await;
    rig.click("rail-tools").await;
    rig.click("tool-read").await;
    rig.find("tool-detail").await;
    tour.stop(&rig, "tools").await;
    for side in ["tab-try", "tab-developers", "form-schema", "form-raw"] {
        rig.click(&format!("tool-{side}")).await;
        tour.stop(&rig, &format!("tools-{side}")).await;
    }
    rig.click("tool-apply_patch").await;
    rig.click("go-try").await;
    rig.click("field-patch").await;
    let enter = char::from(Key::Enter).to_string();
    rig.type_text(&PATCH.replace('\n', &enter)).await;
    rig.click("try-run").await;
    rig.wait_for_text("tried", "notes/words.md").await;
    tour.stop(&rig, "tools-patch").await;
    settings(&rig, &mut tour).await;
    rig.press_with(Key::Control, 'k').await;
    rig.find("palette").await;
    tour.stop(&rig, "palette").await;
    rig.press(Key::Escape).await;
    rig.press_with(Key::Shift, '?').await;
    rig.find("keys").await;
    tour.stop(&rig, "keys").await;
    rig.press(Key::Escape).await;
    rig.click("rail-new").await;
    rig.click("start-advanced").await;
    rig.click("temperature").await;
    tour.stop(&rig, "start-advanced").await;
    rig.click("more-answerers").await;
    rig.tick("answerer-command").await;
    rig.click("start-enclosed").await;
    rig.find("enclosed-hosts").await;
    tour.stop(&rig, "start-enclosed").await;
    session(&rig, &mut tour).await;

    tour.end();
    rig.end().await;
}

/// A session that is over: how it is read, a word that is found in it, and its place among the others.
async fn session(rig: &Rig, tour: &mut Tour) {
    // The first demo's session is the oldest.
    let row = "[data-testid=rail-sessions] li:last-child [data-row]";
    rig.until("a session in the list", async |rig| rig.click_at(row).await)
        .await;
    rig.click("session-view").await;
    rig.find("session-view-folded").await;
    tour.stop(rig, "session-view").await;
    rig.click("session-view-find").await;
    rig.find("find-box").await;
    rig.type_text("parser").await;
    rig.wait_for_text("find-count", "1 of").await;
    tour.stop(rig, "session-find").await;
    rig.click("find-close").await;
    rig.click("session-view").await;
    rig.click("session-view-folded").await;
    tour.stop(rig, "session-folded").await;
    rig.click("session-skip").await;
    rig.find("session-skip-skip-15").await;
    tour.stop(rig, "session-skip").await;
    rig.click("session-skip-skip-15").await;
    rig.find("skip-list").await;
    tour.stop(rig, "session-skips").await;
    rig.click("ask-again").await;
    rig.wait_until_gone("skip-list").await;

    let menu = "[data-testid^=rail-menu-]";
    rig.until("the menu of a session", async |rig| {
        rig.click_at(menu).await
    })
    .await;
    tour.stop(rig, "session-place").await;
    let pin = "[data-testid^=rail-menu-][data-testid$=-pinned]";
    rig.until("a way to pin it", async |rig| rig.click_at(pin).await)
        .await;
    rig.wait_for_text("rail-sessions", "Pinned").await;
    rig.click("rail-list").await;
    rig.find("rail-list-byFolder").await;
    tour.stop(rig, "session-list").await;
    rig.press(Key::Escape).await;
    rig.click("rail-filter-toggle").await;
    rig.find("rail-filter").await;
    rig.type_text("nothing like it").await;
    rig.wait_for_text("rail-sessions", "No session fits").await;
    tour.stop(rig, "session-filter").await;
    rig.press(Key::Escape).await;
    rig.click("session-more").await;
    rig.click("session-more-fork").await;
    rig.shows("Forked here from").await;
    tour.stop(rig, "session-fork").await;
    rig.click("session-more").await;
    rig.find("session-more-delete").await;
    tour.stop(rig, "session-menu").await;
    rig.click("session-more-delete").await;
    rig.find("delete-session").await;
    tour.stop(rig, "session-delete").await;
    rig.press(Key::Escape).await;
    rig.wait_until_gone("delete-session").await;
}

/// The settings: every section, what was found by a word, and the forms that open in place.
async fn settings(rig: &Rig, tour: &mut Tour) {
    rig.press_with(Key::Control, ',').await;
    rig.find("settings").await;
    for section in SECTIONS {
        rig.click(&format!("section-{section}")).await;
        rig.find(&format!("settings-{section}")).await;
        tour.stop(rig, &format!("settings-{section}")).await;
    }
    rig.click("settings-search").await;
    rig.type_text("copies").await;
    rig.find("set-keep").await;
    tour.stop(rig, "settings-found").await;
    rig.press(Key::Escape).await;
    rig.click("section-programs").await;
    for (button, form) in [("watchdog-add", "watchdog-form"), ("hook-add", "hook-form")] {
        rig.click(button).await;
        rig.find(form).await;
        tour.stop(rig, &format!("settings-{form}")).await;
        rig.press(Key::Escape).await;
    }
    rig.click("section-undo").await;
    rig.click("read-only-add").await;
    tour.stop(rig, "settings-server-tools").await;
    // The field would take what is typed next.
    rig.click("settings-back").await;
    rig.find("tool-detail").await;
    rig.click("rail-history").await;
    rig.find("undo-card").await;
}
