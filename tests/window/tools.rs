//! The Tools screen: a tool is switched off and on, another is tried by its form, and its card stands right there.

use crate::support::Rig;

/// Text of the one card that a try brought.
const CARD: &str = "return document.querySelector('[data-testid=tried] article')?.innerText ?? ''";

#[tokio::test]
async fn a_tool_is_switched_off_and_another_is_tried_by_its_form() {
    let rig = Rig::start().await;
    rig.play_to_the_end().await;
    rig.click("rail-tools").await;

    rig.click("tool-glob").await;
    rig.click("tool-enabled").await;
    rig.find("tool-off").await;
    rig.find("mark-off").await;
    let settings = std::fs::read_to_string(rig.data_dir().join("settings.toml")).unwrap();
    assert!(settings.contains("[tools.glob]"), "{settings}");
    rig.click("tool-enabled").await;
    rig.wait_until_gone("tool-off").await;

    // A tool that only reads runs at once; the engine itself checks what is typed.
    rig.click("tool-read").await;
    rig.click("go-try").await;
    rig.click("field-path").await;
    rig.type_text("README.md").await;
    rig.click("try-run").await;
    rig.until("the file on the card", async |rig| {
        let card = rig.ask(CARD, vec![]).await;
        card.as_str()
            .is_some_and(|text| text.contains("tiny calculator"))
    })
    .await;
    rig.screenshot("tools-tried").await;

    // A tool that could do anything asks, with the same card as a call of an agent.
    rig.click("tool-bash").await;
    rig.click("go-try").await;
    rig.click("field-command").await;
    rig.type_text("echo tried-by-hand").await;
    rig.click("try-run").await;
    let card = rig.card("tried-by-hand").await;
    rig.screenshot("tools-asks").await;
    rig.allow_by_click(&card).await;
    rig.until("what the command wrote", async |rig| {
        let card = rig.ask(CARD, vec![]).await;
        card.as_str()
            .is_some_and(|text| text.matches("tried-by-hand").count() > 1)
    })
    .await;
    rig.end().await;
}
