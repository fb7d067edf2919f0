//! Every screen in light and in dark: a picture of it, and no serious finding of axe-core on it.

use std::path::Path;

use serde_json::Value;
use thirtyfour::prelude::*;

use crate::support::Rig;

/// What axe-core finds on the page: the rule, how bad, where, and why.
const FIND: &str = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then( \
    (found) => done(found.passes.length === 0 ? ['nothing was looked at'] : found.violations \
        .filter((one) => one.impact === 'serious' || one.impact === 'critical') \
        .map((one) => ({ rule: one.id, impact: one.impact, at: one.nodes.map( \
            (node) => `${node.target.join(' ')}: ${node.failureSummary}`) }))), \
    (error) => done([`${error}`]))";

/// One theme, with what has to be looked at in it.
struct Tour<'a> {
    rig: &'a Rig,
    theme: &'a str,
    findings: Vec<String>,
}

impl Tour<'_> {
    /// Takes a picture of the screen as it is now and asks axe-core about it.
    async fn stop(&mut self, screen: &str) {
        self.rig
            .screenshot(&format!("{}-{screen}", self.theme))
            .await;
        let found = self.rig.window().execute_async(FIND, vec![]).await;
        let found: Vec<Value> = found.unwrap().json().as_array().cloned().unwrap();
        self.findings.extend(
            found
                .iter()
                .map(|one| format!("{} {screen}: {one:#}", self.theme)),
        );
    }
}

#[tokio::test]
async fn every_screen_is_fit_to_be_seen_in_light() {
    every_screen("light").await;
}

#[tokio::test]
async fn every_screen_is_fit_to_be_seen_in_dark() {
    every_screen("dark").await;
}

async fn every_screen(theme: &str) {
    let settings = format!("theme = \"{theme}\"\n");
    let rig =
        Rig::start_on(|data| std::fs::write(data.join("settings.toml"), settings).unwrap()).await;
    let axe = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(axe).expect("`npm ci` in ui/ brings axe-core");
    rig.ask(&axe, vec![]).await;
    let mut tour = Tour {
        rig: &rig,
        theme,
        findings: Vec::new(),
    };
    rig.find("play-demo").await;
    let shown = "return document.documentElement.dataset.theme";
    assert_eq!(rig.ask(shown, vec![]).await, theme);
    tour.stop("start").await;

    let write = rig.play().await;
    rig.take_keys(&write).await;
    tour.stop("session").await;
    rig.click("rail-desk").await;
    rig.find("desk-cards").await;
    tour.stop("desk").await;

    rig.allow_by_click(&write).await;
    let run = rig.card("wc -l").await;
    tour.stop("command").await;
    rig.allow_by_click(&run).await;
    rig.card("How should a chain").await;
    tour.stop("question").await;
    rig.click("skip").await;
    rig.find("desk-empty").await;

    rig.click("rail-search").await;
    rig.click("search-box").await;
    rig.type_text("parser").await;
    rig.find("hits").await;
    tour.stop("search").await;
    rig.click("rail-history").await;
    rig.find("undo-card").await;
    tour.stop("history").await;
    rig.click("rail-tools").await;
    rig.click("tool-read").await;
    rig.find("tool-detail").await;
    tour.stop("tools").await;
    for side in ["try", "interface", "schema", "raw"] {
        rig.click(&format!("tool-tab-{side}")).await;
        tour.stop(&format!("tools-{side}")).await;
    }
    rig.click("rail-settings").await;
    rig.find("close-settings").await;
    tour.stop("settings").await;
    rig.click("close-settings").await;
    rig.press_with(Key::Control, 'k').await;
    rig.find("palette").await;
    tour.stop("palette").await;
    rig.press(Key::Escape).await;
    rig.press_with(Key::Shift, '?').await;
    rig.find("keys").await;
    tour.stop("keys").await;

    assert!(
        tour.findings.is_empty(),
        "axe-core finds:\n{}",
        tour.findings.join("\n")
    );
    rig.end().await;
}
