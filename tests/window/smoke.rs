//! The window opens, shows the app's page, and opens again after a kill.

use crate::support::Rig;

#[tokio::test]
async fn the_window_opens_and_opens_again_after_a_kill() {
    let mut rig = Rig::start().await;
    shows_the_page(&rig).await;
    rig.restart().await;
    shows_the_page(&rig).await;
    rig.screenshot("smoke");
    rig.end().await;
}

async fn shows_the_page(rig: &Rig) {
    rig.until("the page to be drawn", async |rig| {
        let text = rig
            .window()
            .execute("return document.body.innerText", vec![])
            .await;
        text.is_ok_and(|text| {
            text.json()
                .as_str()
                .is_some_and(|text| text.contains("Countersign"))
        })
    })
    .await;
}
