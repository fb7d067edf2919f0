//! Agents at work: one plans before it changes anything, one has its work done by another, and what they are told first.

use std::path::{Path, PathBuf};

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::site::{Site, call};
use crate::support::tour::Tour;

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reads a change and says what is wrong with it.\n\
    tools: [read, bash]\n---\nYou are the reviewer of this project.\n";

const LIBRARIAN: &str = "---\nname: librarian\ndescription: Finds where something is explained.\ntools: [read, grep]\n\
    requires:\n  fs:\n    read: [\"docs/**\"]\n---\nYou find things.\n";

const SKILL: &str = "---\nname: release-notes\ndescription: Writes release notes from the changes since the last tag.\n\
    allowed-tools: bash\n---\nRead the log, then write one line for each change.\n";

const FIRST: &str = "# Greet by name\n\nThe greeting is the same for everybody today.\n\n\
    1. Write `greeting.txt` with a place for the name.\n2. Say in `README.md` how it is filled in.\n\n\
    I check it by reading both files again.";

const SECOND: &str = "# Greet by name\n\n1. Write `greeting.txt` with a place for the name.\n\nThe README stays as it is.";

fn site() -> Vec<(&'static str, serde_json::Value)> {
    let write = || {
        call(
            "write",
            json!({ "path": "greeting.txt", "content": "Hello, {name}.\n" }),
        )
    };
    let plan = |text: &str| call("plan_exit", json!({ "plan": text }));
    let review = json!({ "subagent_type": "reviewer", "description": "Review the greeting", "prompt": "Read greeting.txt." });
    vec![
        (
            "planner",
            json!([write(), plan(FIRST), plan(SECOND), write(), { "text": "The greeting has a place for the name now." }]),
        ),
        (
            "chief",
            json!([call("task", review), { "text": "The reviewer found nothing wrong." }]),
        ),
        (
            "You are the reviewer of this project.",
            json!([
                { "text": "I read it first.", "calls": [{ "name": "read", "arguments": { "path": "README.md" } }] },
                call("bash", json!({ "command": "wc -l README.md" })),
                { "text": "Nothing is wrong with it." },
            ]),
        ),
    ]
}

/// A project with instructions, a skill and an agent of its own.
fn project(rig: &Rig) -> PathBuf {
    let folder = rig
        .data_dir()
        .parent()
        .unwrap()
        .canonicalize()
        .unwrap()
        .join("greeter");
    for (path, text) in [
        ("README.md", "# Greeter\n\nIt greets.\n"),
        (
            "AGENTS.md",
            "# For agents\n\n- Write plain English.\n- Run nothing that takes longer than a minute.\n",
        ),
        (".agents/skills/release-notes/SKILL.md", SKILL),
        (".countersign/agents/reviewer.md", REVIEWER),
        (".countersign/agents/librarian.md", LIBRARIAN),
    ] {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

#[tokio::test]
async fn agents_plan_and_give_work_to_each_other() {
    let site = Site::open(vec![], site()).await;
    let more = format!(
        "model = {{ provider = \"stories\", model = \"planner\" }}\n{}",
        site.settings()
    );
    let (rig, mut tour) = Tour::start_on("light", &more, |_| ()).await;
    let folder = project(&rig);
    gives_work(&rig, &mut tour, &folder).await;
    plans_first(&rig, &mut tour, &folder).await;
    tour.end();
    rig.end().await;
}

/// A task: what the other agent does stands below the call, its waiting card with it, and on the desk with its path.
async fn gives_work(rig: &Rig, tour: &mut Tour, folder: &Path) {
    let session = rig
        .begin(folder, "chief", "Have the greeting reviewed.")
        .await;
    let card = rig.card("wc -l README.md").await;
    rig.take_keys(&card).await;
    rig.shows("reviewer").await;
    tour.look(rig, "agents-task").await;
    rig.click("rail-desk").await;
    rig.find("desk-cards").await;
    tour.look(rig, "agents-desk").await;
    rig.click(&format!("rail-session-{session}")).await;
    rig.allow_by_key(&card).await;
    rig.shows("The reviewer found nothing wrong.").await;
    tour.stop(rig, "agents-task-done").await;

    rig.click("toggle-briefing").await;
    rig.find("skill").await;
    rig.shows("librarian").await;
    tour.look(rig, "agents-briefing").await;
    rig.click("close-briefing").await;
}

/// Planning from the start, asked for by keyboard: what changes is denied, the plan comes back with a note, then holds.
async fn plans_first(rig: &Rig, tour: &mut Tour, folder: &Path) {
    rig.click("rail-new").await;
    rig.find("folder-greeter").await;
    rig.click("first-message").await;
    rig.type_text("Greet people by their names.").await;
    rig.press_with(Key::Alt, 'p').await;
    rig.until("planning to be wanted", async |rig| {
        rig.find("start-plan")
            .await
            .attr("aria-checked")
            .await
            .unwrap()
            .as_deref()
            == Some("true")
    })
    .await;
    tour.look(rig, "plan-start").await;
    rig.click("start-session").await;

    let card = rig.card("Say in").await;
    assert!(
        !folder.join("greeting.txt").exists(),
        "nothing is changed before"
    );
    rig.wait_for_text("planning", "Planning").await;
    rig.take_keys(&card).await;
    tour.look(rig, "plan-card").await;
    rig.press(Key::Tab).await;
    rig.click("reject-menu").await;
    rig.click("reject-menu-note").await;
    rig.until("the note to have the focus", async |rig| {
        rig.focused().await.as_deref() == Some("note")
    })
    .await;
    rig.type_text("Leave the README alone.").await;
    tour.stop(rig, "plan-note").await;
    rig.reject_by_click(&card).await;

    let card = rig.card("The README stays as it is.").await;
    rig.allow_by_key(&card).await;
    rig.shows("The greeting has a place for the name now.")
        .await;
    assert_eq!(
        std::fs::read_to_string(folder.join("greeting.txt")).unwrap(),
        "Hello, {name}.\n"
    );
    rig.wait_until_gone("planning").await;
    tour.stop(rig, "plan-done").await;
    rig.click("plan-first").await;
    rig.wait_for_text("planning", "Planning").await;
    tour.stop(rig, "plan-on").await;
    rig.click("plan-first").await;
    rig.wait_until_gone("planning").await;
}
