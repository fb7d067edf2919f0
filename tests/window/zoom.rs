//! The size of everything in the window, by keys.

use thirtyfour::prelude::*;

use crate::support::Rig;

/// Width of the page in its own pixels: the larger everything is drawn, the fewer there are.
async fn page_width(rig: &Rig) -> f64 {
    let width = rig.ask("return window.innerWidth", vec![]).await;
    width.as_f64().unwrap()
}

#[tokio::test]
async fn the_window_is_zoomed_by_keys_and_stays_so_until_it_is_set_back() {
    let mut rig = Rig::start().await;
    rig.find("rail-settings").await;
    let plain = page_width(&rig).await;
    rig.press_with(Key::Control, '=').await;
    rig.press_with(Key::Control, '=').await;
    rig.until("everything to be larger", async |rig| {
        page_width(rig).await < plain / 1.15
    })
    .await;
    let zoomed = page_width(&rig).await;
    rig.screenshot("zoomed").await;

    rig.reopen(|_| {}).await;
    rig.find("rail-settings").await;
    rig.until("the same zoom in a new window", async |rig| {
        (page_width(rig).await - zoomed).abs() < 2.0
    })
    .await;
    rig.press_with(Key::Control, '0').await;
    rig.until("the size of before", async |rig| {
        (page_width(rig).await - plain).abs() < 2.0
    })
    .await;
    rig.end().await;
}
