//! A walk through screens in one theme: a picture of each, nothing serious that axe-core finds on it, and no text that is painted
//! too faint.

use std::path::Path;

use serde_json::Value;

use super::Rig;

/// Script that returns the findings of axe-core: the rule, how bad, where, and why. A row of a tree is named by its whole path, which
/// holds what is drawn as its label; the signs and figures beside it are no part of a label, as the one rule would have it. The size of
/// targets is a rule that axe-core applies only where it is asked to.
const FIND: &str = "const done = arguments[0]; \
    const counts = (rule, node) => rule !== 'label-content-name-mismatch' \
        || document.querySelector(node.target.at(-1))?.role !== 'treeitem'; \
    axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then( \
    (found) => done(found.passes.length === 0 ? ['nothing was looked at'] : found.violations \
        .filter((one) => one.impact === 'serious' || one.impact === 'critical') \
        .map((one) => ({ rule: one.id, impact: one.impact, at: one.nodes.filter((node) => counts(one.id, node)).map( \
            (node) => `${node.target.join(' ')}: ${node.failureSummary}`) })) \
        .filter((one) => one.at.length > 0)), \
    (error) => done([`${error}`]))";

/// Script that sets `renderedContrast`, which measures contrast on a picture of the page. axe-core leaves open what overlaps or is
/// drawn by a style sheet alone.
const MEASURE: &str = include_str!("../../../ui/src/testing/rendered_contrast.js");

/// Script that returns the texts that are too faint on a picture of the page.
const FIND_FAINT: &str = "const [picture, done] = arguments; renderedContrast.readPicture(picture).then( \
    (pixels) => done(renderedContrast.findFaintTexts(pixels)), (error) => done([`${error}`]))";

/// Width and height of the window as it first opens.
const FULL: [u32; 2] = [1440, 900];

/// One theme, with what was found in it.
pub struct Tour {
    theme: String,
    findings: Vec<String>,
    /// Whether the contrast of texts is measured as well.
    measures_contrast: bool,
}

impl Tour {
    /// Starts the app in a theme.
    pub async fn start(theme: &str) -> (Rig, Self) {
        Self::start_on(theme, "", |_| ()).await
    }

    /// The same with more settings, on a data folder that `prepare` put something into.
    pub async fn start_on(theme: &str, more: &str, prepare: impl FnOnce(&Path)) -> (Rig, Self) {
        let settings = format!("theme = \"{theme}\"\n{more}");
        let set = |data: &Path| {
            std::fs::write(data.join("settings.toml"), settings).unwrap();
            prepare(data);
        };
        let rig = Rig::start_on(set).await;
        let axe = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(axe).expect("`npm ci` in ui/ brings axe-core");
        rig.ask(&axe, vec![]).await;
        rig.ask(MEASURE, vec![]).await;
        rig.find("play-demo").await;
        let shown = "return document.documentElement.dataset.theme";
        assert_eq!(rig.ask(shown, vec![]).await, theme);
        let theme = theme.to_owned();
        let findings = Vec::new();
        (
            rig,
            Self {
                theme,
                findings,
                measures_contrast: false,
            },
        )
    }

    /// Measures the contrast of texts from now on, which takes a picture by the driver at each stop. The driver of some windows
    /// breaks off over that, so it is asked for by the tours of all screens alone.
    pub fn measure_contrast(&mut self) {
        self.measures_contrast = true;
    }

    /// Takes a picture of the screen as it is now, asks axe-core about it, and measures its contrast if that is wanted.
    pub async fn stop(&mut self, rig: &Rig, screen: &str) {
        rig.screenshot(&format!("{}-{screen}", self.theme)).await;
        let mut questions = vec![(FIND, Vec::new())];
        if self.measures_contrast {
            // The page alone: over the screen may lie a tooltip of the window system, of which the page knows nothing.
            let page = rig.window().screenshot_as_png_base64().await.unwrap();
            questions.push((FIND_FAINT, vec![Value::from(page)]));
        }
        for (script, given) in questions {
            let found = rig.window().execute_async(script, given).await;
            let found: Vec<Value> = found.unwrap().json().as_array().cloned().unwrap();
            let told = |one| format!("{} {screen}: {one:#}", self.theme);
            self.findings.extend(found.iter().map(told));
        }
    }

    /// Looks at the screen as it is now in both themes, as [`Tour::stop`] does, and at it in the smallest window.
    pub async fn look(&mut self, rig: &Rig, screen: &str) {
        let began = self.theme.clone();
        let other = if began == "light" { "dark" } else { "light" };
        self.stop(rig, screen).await;
        rig.window().set_window_rect(0, 0, 760, 520).await.unwrap();
        rig.screenshot(&format!("{began}-{screen}-narrow")).await;
        self.wear(rig, other).await;
        rig.screenshot(&format!("{other}-{screen}-narrow")).await;
        let [width, height] = FULL;
        rig.window()
            .set_window_rect(0, 0, width, height)
            .await
            .unwrap();
        self.stop(rig, screen).await;
        self.wear(rig, &began).await;
    }

    /// Puts the page into a theme without a word to the app: neither focus nor cards move.
    async fn wear(&mut self, rig: &Rig, theme: &str) {
        rig.ask(
            "document.documentElement.dataset.theme = arguments[0]",
            vec![theme.into()],
        )
        .await;
        theme.clone_into(&mut self.theme);
    }

    /// Fails if anything serious was found.
    pub fn end(self) {
        let findings = self.findings;
        assert!(
            findings.is_empty(),
            "found in the pages:\n{}",
            findings.join("\n")
        );
    }
}
