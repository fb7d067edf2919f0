//! The language of the window: chosen in the settings, shown at once, and kept.

use crate::support::Rig;

/// The language and the direction of the page.
async fn language(rig: &Rig) -> (String, String) {
    let root = rig
        .ask(
            "return [document.documentElement.lang, document.documentElement.dir]",
            vec![],
        )
        .await;
    let text = |at: usize| root[at].as_str().unwrap_or_default().to_owned();
    (text(0), text(1))
}

async fn wait_for_language(rig: &Rig, tag: &str, direction: &str) {
    rig.until(&format!("the window to speak {tag}"), async |rig| {
        language(rig).await == (tag.to_owned(), direction.to_owned())
    })
    .await;
}

/// Looks at a few screens, on which nothing may be wider than the window.
async fn look_at_screens(rig: &Rig, tag: &str) {
    for screen in ["desk", "history", "rules", "settings"] {
        rig.click(&format!("rail-{screen}")).await;
        rig.screenshot(&format!("{tag}-{screen}")).await;
        let script =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        let wider = rig.ask(script, vec![]).await;
        assert_eq!(wider, 0, "{tag}: {screen} is wider than the window");
    }
}

#[tokio::test]
async fn the_window_speaks_the_chosen_language_at_once_and_after_a_restart() {
    let mut rig = Rig::start().await;
    rig.play_to_the_end().await;
    rig.screenshot("en-session").await;
    rig.click("rail-settings").await;
    rig.click("section-appearance").await;
    rig.click("set-language-de").await;
    wait_for_language(&rig, "de", "ltr").await;
    rig.shows("Einstellungen").await;
    look_at_screens(&rig, "de").await;

    rig.click("section-appearance").await;
    rig.click("set-language-ar").await;
    wait_for_language(&rig, "ar", "rtl").await;
    rig.shows("الإعدادات").await;
    look_at_screens(&rig, "ar").await;

    rig.reopen(|_| {}).await;
    wait_for_language(&rig, "ar", "rtl").await;
    rig.screenshot("ar-start").await;
    rig.click("rail-settings").await;
    rig.click("section-appearance").await;
    rig.click("set-language-en").await;
    wait_for_language(&rig, "en", "ltr").await;
    rig.shows("Settings").await;
    rig.end().await;
}
