//! The window opens, shows the app's page, and opens again after a kill.

use crate::support::Rig;

#[tokio::test]
async fn the_window_opens_and_survives_a_kill() {
    let mut rig = Rig::start().await;
    assert_eq!(rig.window().title().await.unwrap(), "Countersign");
    rig.restart().await;
    assert_eq!(rig.window().title().await.unwrap(), "Countersign");
    let picture = rig.screenshot("smoke").await;
    assert!(picture.is_file());
    rig.end().await;
}
