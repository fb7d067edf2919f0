//! A session from its beginning with an agent of the folder to its end, when it is closed.

use serde_json::json;

use crate::support::site::Site;
use crate::support::tour::Tour;

#[tokio::test]
async fn an_agent_is_chosen_and_its_session_closed_in_light() {
    begins_and_closes("light").await;
}

#[tokio::test]
async fn an_agent_is_chosen_and_its_session_closed_in_dark() {
    begins_and_closes("dark").await;
}

async fn begins_and_closes(theme: &str) {
    let site = Site::open(vec![], vec![("teller", json!([{ "text": "I read it." }]))]).await;
    let (rig, mut tour) = Tour::start_on(theme, &site.settings(), |_| ()).await;
    let place = rig.data_dir().parent().unwrap().canonicalize().unwrap();
    let folder = place.join("library");
    std::fs::create_dir_all(folder.join(".countersign/agents")).unwrap();
    let manifest = "name = \"reader\"\ndescription = \"Reads and reports, and changes nothing.\"\nprompt = \"You read.\"\ntools = [\"read\"]\n";
    let file = folder.join(".countersign/agents/reader.toml");
    std::fs::write(&file, manifest).unwrap();
    // The folder is known from a session before.
    rig.begin(&folder, "teller", "Look around.").await;
    rig.shows("I read it.").await;

    rig.click("rail-new").await;
    rig.click("manifest-menu").await;
    rig.click(&format!("manifest-menu-{}", file.display()))
        .await;
    rig.wait_for_text("manifests", "tools: read").await;
    tour.stop(&rig, "start-with-an-agent").await;
    rig.click("first-message").await;
    rig.type_text("Read the library.").await;
    rig.click("start-session").await;
    rig.shows("Read the library.").await;
    rig.shows("I read it.").await;

    rig.click("session-more").await;
    rig.click("session-more-close").await;
    rig.find("close-session").await;
    tour.stop(&rig, "close-session").await;
    rig.click("close-now").await;
    rig.wait_until_gone("close-session").await;
    rig.shows("The session was closed, and its long outputs were removed.")
        .await;
    tour.end();
    rig.end().await;
}
