//! The window opens, shows the app's page, and opens again after a kill.

use crate::support::Rig;

#[tokio::test]
async fn the_window_opens_and_opens_again_after_a_kill() {
    let mut rig = Rig::start().await;
    rig.shows("Countersign").await;
    rig.restart().await;
    rig.shows("Countersign").await;
    rig.screenshot("smoke").await;
    rig.end().await;
}
