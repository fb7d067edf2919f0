//! The card of a change that is longer than any window: it is drawn as one comes to it, and allowed once all of it was shown.

use serde_json::json;

use crate::support::site::{Site, call};
use crate::support::tour::Tour;

/// Lines that the call adds.
const LINES: usize = 900;
/// Rows of the diff on the page, and whether any row is still without its line.
const ROWS: &str = "const rows = [...document.querySelectorAll('article table.diff td.cd')]; \
    return { drawn: rows.length, last: rows.at(-1)?.textContent, \
        more: document.querySelector('article table.diff .undrawn') !== null }";
/// Scrolls to the end of the diff.
const TO_END: &str =
    "document.querySelector('article table.diff').scrollIntoView({ block: 'end' })";

#[tokio::test]
async fn a_long_diff_is_drawn_as_one_comes_to_it_in_light() {
    look_at_long_diff("light").await;
}

#[tokio::test]
async fn a_long_diff_is_drawn_as_one_comes_to_it_in_dark() {
    look_at_long_diff("dark").await;
}

async fn look_at_long_diff(theme: &str) {
    let text: String = (1..=LINES)
        .map(|line| format!("let value_{line} = {line};\n"))
        .collect();
    let write = call("write", json!({ "path": "long.rs", "content": text }));
    let turns = json!([write, { "text": "It is written." }]);
    let site = Site::open(vec![], vec![("writer", turns)]).await;
    let rule = "[[rule]]\npermission = \"fs.write\"\npattern = \"**\"\naction = \"ask\"\n";
    let (rig, mut tour) = Tour::start_on(theme, &site.settings(), |data| {
        std::fs::write(data.join("rules.toml"), rule).unwrap();
    })
    .await;
    let folder = rig.data_dir().parent().unwrap().join("long");
    std::fs::create_dir(&folder).unwrap();
    rig.begin(&folder, "writer", "Write it.").await;
    let card = rig.card("long.rs").await;

    // What cannot be seen yet has no rows.
    let rows = async || rig.ask(ROWS, vec![]).await;
    assert_eq!(rows().await["more"], true);
    assert!(rows().await["drawn"].as_u64() < Some(LINES as u64));
    tour.stop(&rig, "long-diff").await;

    // Its end has them as soon as one is there.
    rig.click_inside(&card, "show-all").await;
    rig.ask(TO_END, vec![]).await;
    let last = format!("let value_{LINES} = {LINES};");
    rig.until("the end to be drawn", async |_| {
        rows().await["last"] == last.as_str()
    })
    .await;
    tour.stop(&rig, "long-diff-end").await;
    assert!(rig.waits(&card).await, "nothing was decided by looking");

    rig.allow_by_click(&card).await;
    rig.shows("It is written.").await;
    let written = std::fs::read_to_string(folder.join("long.rs")).unwrap();
    assert_eq!(written, text);
    rig.end().await;
    tour.end();
}
