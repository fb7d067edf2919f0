//! An agent whose manifest requires a place beyond the folder: the card says what it would open, and one yes is enough.

use serde_json::json;

use crate::support::tour::Tour;

#[tokio::test]
async fn a_place_beyond_the_folder_is_asked_for_in_light() {
    asks("light").await;
}

#[tokio::test]
async fn a_place_beyond_the_folder_is_asked_for_in_dark() {
    asks("dark").await;
}

/// The demo's agent searches `src` and then reads in it; here that folder lies elsewhere, behind a link.
async fn asks(theme: &str) {
    let (rig, mut tour) = Tour::start(theme).await;
    let place = rig.data_dir().parent().unwrap().canonicalize().unwrap();
    let at = |name: &str| place.join(name).display().to_string();
    for folder in ["project", "shared"] {
        std::fs::create_dir(place.join(folder)).unwrap();
    }
    std::fs::write(at("shared/parser.rs"), "enum Token { Minus }\n").unwrap();
    std::os::unix::fs::symlink(at("shared"), at("project/src")).unwrap();
    let manifest = format!(
        "name = \"writer\"\n[requires]\nfs = {{ read = [\"{{workspace}}/**\", \"{}/**\"] }}\n",
        at("shared")
    );
    std::fs::write(at("agent.toml"), manifest).unwrap();

    let open = json!({
        "type": "open_session",
        "workspace": at("project"),
        "model": { "provider": "demo", "model": "" },
        "prompt": "Why does -2^2 come to 4?",
        "agent": at("agent.toml"),
    });
    // A manifest opens more than a session does, so the app asks for itself.
    rig.submit_and_confirm(open).await;
    let card = rig.card("shared").await;
    assert!(rig.waits(&card).await);
    rig.wait_for_text("grants", "for reading in this session")
        .await;
    tour.stop(&rig, "opens-a-place").await;

    // Reads in the opened folder do not ask any more.
    rig.allow_by_click(&card).await;
    rig.line("parser.rs").await;
    rig.card("wc -l").await;
    tour.stop(&rig, "opened-a-place").await;
    let read = std::fs::read_to_string(at("shared/parser.rs")).unwrap();
    assert_eq!(read, "enum Token { Minus }\n");
    tour.end();
    rig.end().await;
}
