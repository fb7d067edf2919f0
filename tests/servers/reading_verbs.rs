//! Reading verbs (M26): after a person's first yes the same verb of the same server passes in the session, where no rule
//! speaks and the posture judges effects.

use protocol::query::{Answer, Query};
use protocol::rule::grants::{GrantRequest, GrantScope, GrantView};
use protocol::settings::Posture;
use protocol::{CallState, CallView, Decision, Op, Settings};
use serde_json::{Value, json};
use support::servers::stdio_server;
use support::{Fixture, call_tool, expect_variant, rule_text, say_text};

/// A desk in a posture, with the server of issues, whose agent calls these tools of it one after the other; an empty name
/// ends a run.
async fn open_desk(posture: Posture, tools: &[&str]) -> Fixture {
    let calls = tools.iter().enumerate();
    let calls = calls.map(|(at, tool)| match *tool {
        "" => say_text("Done."),
        tool => call_tool(&format!("one__{tool}"), json!({ "about": format!("{at}") })),
    });
    let turns: Vec<Value> = calls.chain([say_text("Done.")]).collect();
    let desk = Fixture::new(turns).await;
    let settings = Settings {
        posture: Some(posture),
        ..Settings::default()
    };
    desk.set_settings(settings).await;
    let server = stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &["few", "issues"], &[]);
    desk.add_server(server).await;
    desk
}

/// The grants that are in force.
async fn list_grants(desk: &Fixture) -> Vec<GrantView> {
    let query = Query::Rules {
        workspace: Some(desk.workspace_root().display().to_string()),
        session: None,
    };
    let view = expect_variant!(desk.query(query).await, Answer::Rules(view) => view);
    let grants = view.grants.into_iter();
    grants.filter(|grant| grant.in_force).collect()
}

/// The sentence that tells why a call passed or asked.
fn lead(call: &CallView) -> &str {
    &call.trail.as_ref().unwrap().lead
}

/// The line of a card that tells what *Allow* grants.
fn allow_text(card: &CallView) -> &str {
    let pending = card.pending.as_ref().unwrap();
    &pending.grants[0].text
}

#[tokio::test]
async fn the_first_yes_lets_the_verb_pass_and_nothing_that_says_otherwise() {
    let tools = [
        "get_issue",
        "get_issue",
        "getPull",
        "get_rid_of",
        "get_token",
        "list_issues",
        "query",
        "create_issue",
    ];
    let mut desk = open_desk(Posture::AskAboutEffects, &tools).await;
    desk.start("Go.").await;
    let card = desk.allow_next().await;
    let told = "Further calls of `one__get_*` pass in this session where no rule speaks.";
    assert!(allow_text(&card).ends_with(told), "{}", allow_text(&card));
    let mut asked = vec![card.tool];
    for _ in 0..5 {
        let card = desk.reject_next("No.").await;
        asked.push(card.tool);
    }
    desk.wait_until_ended().await;
    assert_eq!(
        asked,
        [
            "one__get_issue",
            "one__get_rid_of",
            "one__get_token",
            "one__list_issues",
            "one__query",
            "one__create_issue"
        ]
    );
    let calls = desk.calls().await;
    for call in &calls[1..3] {
        assert_eq!(
            lead(call),
            "Allowed: you allowed a call of `one__get_*` before in this session."
        );
    }
    // It is a grant like any other.
    let grants = list_grants(&desk).await;
    let [grant] = &grants[..] else {
        panic!("{grants:?}");
    };
    assert_eq!(
        grant.words,
        "one__get_* (what reads by its name, where no rule speaks)"
    );
    assert_eq!((grant.lasts, grant.hits), (GrantScope::Session, 2));
}

#[tokio::test]
async fn a_grant_that_is_taken_back_asks_again() {
    let tools = ["get_issue", "list_issues", "get_issue"];
    let mut desk = open_desk(Posture::AskAboutEffects, &tools).await;
    desk.start("Go.").await;
    desk.allow_next().await;
    let second = desk.wait_for_call().await;
    let grant = list_grants(&desk).await[0].id.clone();
    desk.submit(Op::RevokeGrant { grant }).await;
    desk.allow_call(&second).await;
    let third = desk.reject_next("No.").await;
    assert_eq!(third.tool, "one__get_issue");
    desk.wait_until_ended().await;
}

/// Asking first asks each time, and so does a rule that asks; neither makes a grant.
#[tokio::test]
async fn nothing_passes_where_the_person_wants_to_be_asked() {
    for (posture, rules) in [
        (Posture::AskFirst, String::new()),
        (Posture::AskAboutEffects, rule_text("one__*", "*", "ask")),
        (Posture::AskAboutEffects, rule_text("*", "*", "ask")),
    ] {
        let mut desk = open_desk(posture, &["get_issue", "get_issue"]).await;
        desk.write_rules(&rules);
        desk.start("Go.").await;
        for _ in 0..2 {
            let card = desk.allow_next().await;
            assert!(!allow_text(&card).contains("Further calls"), "{rules}");
        }
        desk.wait_until_ended().await;
        assert_eq!(list_grants(&desk).await, []);
    }
}

/// A rule wins over the yes, however little it names.
#[tokio::test]
async fn a_rule_that_came_later_wins() {
    for (action, state) in [("ask", CallState::Rejected), ("deny", CallState::Denied)] {
        let tools = ["get_issue", "", "get_issue"];
        let mut desk = open_desk(Posture::AskAboutEffects, &tools).await;
        desk.start("Go.").await;
        desk.allow_next().await;
        desk.wait_until_ended().await;
        desk.write_rules(rule_text("*", "*", action));
        desk.send_message("Go on.").await;
        if state == CallState::Rejected {
            desk.reject_next("No.").await;
        }
        desk.wait_until_ended().await;
        assert_eq!(desk.call_states().await, [CallState::Done, state]);
        assert_eq!(list_grants(&desk).await[0].hits, 0, "the rule decided");
    }
}

/// The lasting rule is the person's own choice, offered on the card.
#[tokio::test]
async fn the_verb_can_be_allowed_for_good() {
    let mut desk = open_desk(
        Posture::AskFirst,
        &["get_issue", "get_issue", "list_issues"],
    )
    .await;
    desk.start("Go.").await;
    let always = GrantRequest {
        lasts: GrantScope::Everywhere,
        permission: "one__get_*".to_owned(),
        pattern: None,
        exactly: false,
        until_ms: None,
        max_uses: None,
    };
    let card = desk.wait_for_call().await;
    let other = GrantRequest {
        permission: "one__list_*".to_owned(),
        ..always.clone()
    };
    for (always, is_taken) in [(other, false), (always, true)] {
        let decision = Decision::allow_always(always);
        assert_eq!(desk.decide_call(&card, decision).await.is_ok(), is_taken);
    }
    let next = desk.reject_next("No.").await;
    assert_eq!(next.tool, "one__list_issues");
    desk.wait_until_ended().await;
}
