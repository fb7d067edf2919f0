//! Rules: one is written by keyboard, saved and holds; *Always…* spares the same question until it is revoked; a denied
//! call leads to its rule; a project's file is looked at and trusted.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::Rig;

/// The person's own rules as they stand at the start.
const OWN: &str = r#"# What I let pass everywhere.
[[rule]]
permission = "bash"
pattern = "git status*"
action = "allow"
match = ["git status -s"]
not_match = ["git stash"]

[[rule]]
permission = "bash"
pattern = "git push*"
action = "deny"
reason = "I push by hand"
"#;

/// Rules file of a project once it was changed.
const WANTS: &str = r#"[[rule]]
permission = "bash"
pattern = "echo*"
action = "allow"
"#;

/// The one card of the call that was tried last: its `data-testid` and its state.
const TRIED: &str = "const card = document.querySelector('[data-testid=tried] article'); \
    return card ? [card.dataset.testid, card.dataset.state] : null";

/// Text of the rule that has the focus, or nothing.
const FOCUSED_RULE: &str = "const at = document.activeElement; \
    return at?.dataset.testid === 'rule' ? at.innerText : ''";

/// Whether a button can be pressed.
const ENABLED: &str = "const at = document.querySelector(`[data-testid=\"${arguments[0]}\"]`); \
    return at !== null && !at.disabled";

/// How long an answer has to be taken before it is given again.
const TAKEN_WITHIN: Duration = Duration::from_secs(1);

fn own_rules(data: &Path) {
    std::fs::write(data.join("rules.toml"), OWN).unwrap();
}

/// Waits until a button can be pressed.
async fn wait_until_enabled(rig: &Rig, testid: &str) {
    rig.until(&format!("{testid} to be enabled"), async |rig| {
        rig.ask(ENABLED, vec![json!(testid)]).await == true
    })
    .await;
}

/// Puts a text in the place of what stands in a field.
async fn write_into(rig: &Rig, testid: &str, text: &str) {
    rig.click(testid).await;
    rig.press_with(Key::Control, 'a').await;
    rig.type_text(text).await;
}

/// Tries a command on the Tools screen: the form is filled and sent.
async fn try_command(rig: &Rig, command: &str) {
    rig.click("rail-tools").await;
    rig.click("tool-bash").await;
    rig.click("tool-tab-try").await;
    write_into(rig, "field-command", command).await;
    rig.click("try-run").await;
}

/// The card of the call that was tried, once it is another one than `before` and in that state.
async fn tried(rig: &Rig, before: &str, state: &str) -> String {
    let found = async |rig: &Rig| rig.ask(TRIED, vec![]).await;
    rig.until(&format!("another call that is {state}"), async |rig| {
        let card = found(rig).await;
        card[0].as_str().is_some_and(|testid| testid != before) && card[1] == state
    })
    .await;
    found(rig).await[0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_rule_is_written_by_keyboard_and_holds_once_its_examples_do() {
    let rig = Rig::start_on(own_rules).await;
    rig.play_to_the_end().await;

    // By the palette to the rules, by Tab and the arrow keys to the rule, by Enter into it.
    rig.press_with(Key::Control, 'k').await;
    rig.find("palette-input").await;
    rig.type_text("go to rules").await;
    rig.press(Key::Enter).await;
    rig.find("rules-table").await;
    rig.find("source-user").await;
    rig.tab_to("rule").await;
    rig.until("the focus on the rule", async |rig| {
        let at = rig.ask(FOCUSED_RULE, vec![]).await;
        if at.as_str().is_some_and(|text| text.contains("git status")) {
            return true;
        }
        rig.press(Key::Down).await;
        false
    })
    .await;
    rig.press(Key::Enter).await;
    rig.until("the pattern to have the focus", async |rig| {
        rig.focused().await.as_deref() == Some("rule-pattern")
    })
    .await;
    rig.screenshot("rules-editor").await;

    // An example that fails keeps the rule from being saved, and says so.
    rig.tab_to("must-not-1").await;
    rig.type_text("git status --porcelain").await;
    rig.wait_for_text("rule-blocked", "1 of 3 examples fails")
        .await;
    assert_eq!(rig.ask(ENABLED, vec![json!("rule-save")]).await, false);
    rig.screenshot("rules-example-fails").await;

    // Corrected it is saved, where it stood, and the rest of the file stays as it was.
    rig.press_with(Key::Control, 'a').await;
    rig.type_text("git stash list").await;
    rig.wait_until_gone("rule-blocked").await;
    wait_until_enabled(&rig, "rule-save").await;
    rig.tab_to("rule-save").await;
    rig.press(Key::Enter).await;
    rig.wait_until_gone("rule-save").await;
    let saved = std::fs::read_to_string(rig.data_dir().join("rules.toml")).unwrap();
    assert!(
        saved.contains("git stash list") && saved.starts_with("# What I let pass everywhere.\n"),
        "{saved}"
    );
    assert!(
        saved.ends_with("reason = \"I push by hand\"\n"),
        "the other rule is as it was: {saved}"
    );

    // Its verdict on a call is shown without running anything.
    rig.click("rules-try").await;
    write_into(&rig, "call-field-command", "git status -s").await;
    rig.wait_for_text("try-trail", "It would run by itself.")
        .await;
    write_into(&rig, "call-field-command", "git push origin main").await;
    rig.wait_for_text("try-trail", "It would not run.").await;
    rig.screenshot("rules-try").await;
    rig.end().await;
}

#[tokio::test]
async fn always_spares_the_same_question_until_it_is_revoked() {
    let rig = Rig::start().await;
    rig.play_to_the_end().await;

    try_command(&rig, "echo spared-by-a-rule").await;
    let card = tried(&rig, "", "waiting").await;
    rig.take_keys(&card).await;
    rig.until("a to be taken", async |rig| {
        rig.press('a').await;
        rig.comes(TAKEN_WITHIN, async |rig| {
            rig.inside(&card, "always-picker").await.is_some()
        })
        .await
    })
    .await;
    rig.until("the focus on the shortest scope", async |rig| {
        rig.focused().await.as_deref() == Some("always-in-session")
    })
    .await;
    // Enter and Space grant nothing where the focus is.
    rig.press(Key::Enter).await;
    rig.press(' ').await;
    assert!(rig.waits(&card).await, "Enter or Space granted");
    rig.click("always-in-project").await;
    rig.wait_for_text("always-rule", "Project").await;
    rig.wait_for_text("always-rule", "echo").await;
    rig.screenshot("always").await;
    rig.until("y to be taken", async |rig| {
        rig.press('y').await;
        rig.comes(TAKEN_WITHIN, async |rig| !rig.waits(&card).await)
            .await
    })
    .await;
    let first = tried(&rig, "", "done").await;

    // The same again runs by itself.
    rig.click("try-run").await;
    let second = tried(&rig, &first, "done").await;

    // The grant stands in the ledger, and is taken back with one press.
    rig.click("rail-rules").await;
    rig.find("revoke").await;
    rig.wait_for_text("ledger", "Project").await;
    rig.screenshot("rules-ledger").await;
    rig.click("revoke").await;
    rig.wait_until_gone("revoke").await;

    // And the same again asks.
    try_command(&rig, "echo spared-by-a-rule").await;
    tried(&rig, &second, "waiting").await;
    rig.end().await;
}

#[tokio::test]
async fn a_denied_call_leads_to_the_rule_that_denied_it() {
    let rig = Rig::start_on(own_rules).await;
    rig.play_to_the_end().await;
    try_command(&rig, "git push origin main").await;
    let card = tried(&rig, "", "denied").await;
    rig.wait_for_text(&card, "I push by hand").await;
    rig.click("denied-rule").await;
    rig.wait_for_text("rule-text", "git push*").await;
    let pattern = rig.find("rule-pattern").await.prop("value").await.unwrap();
    assert_eq!(pattern.as_deref(), Some("git push*"));
    rig.screenshot("rules-denied").await;
    rig.end().await;
}

#[tokio::test]
async fn a_projects_file_is_looked_at_whole_before_it_may_loosen() {
    let rig = Rig::start().await;
    rig.play_to_the_end().await;
    let file = rig.workspace().join(".countersign/rules.toml");
    std::fs::write(&file, WANTS).unwrap();

    rig.click("rail-rules").await;
    rig.wait_for_text("source-untrusted", "Its only rule would allow")
        .await;
    rig.wait_for_text("source-project", "not in force until trusted")
        .await;
    rig.click("look-and-trust").await;
    rig.wait_for_text("trust-text", "pattern = \"echo*\"").await;
    rig.screenshot("rules-trust").await;
    rig.click("trust").await;
    rig.confirm().await;
    rig.find("rules-table").await;
    rig.wait_until_gone("source-untrusted").await;

    rig.click("rules-try").await;
    write_into(&rig, "call-field-command", "echo trusted").await;
    rig.wait_for_text("try-trail", "It would run by itself.")
        .await;

    // Another text is another question.
    std::fs::write(&file, WANTS.replace("echo*", "printf*")).unwrap();
    rig.click("rail-desk").await;
    rig.click("rail-rules").await;
    rig.wait_for_text("source-untrusted", "changed since you trusted it")
        .await;
    rig.end().await;
}
