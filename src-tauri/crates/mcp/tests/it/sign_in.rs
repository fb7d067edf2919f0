//! Signing in to servers, with a real authority on this machine: as a person does it, and as it goes wrong.

use std::sync::Arc;

use mcp::{McpServer, ServerDependencies, ToolPins};
use protocol::server::mcp_servers::{ServerSettings, ServerState, ServerTransport, SignInState};
use protocol::text::display_text::join_spans;
use serde_json::json;

use crate::authorization_server::Authority;
use crate::support::*;

pub fn far(url: &str) -> ServerSettings {
    ServerSettings {
        transport: ServerTransport::Http {
            url: url.to_owned(),
            headers: Default::default(),
            client: None,
        },
        ..settings(&[])
    }
}

pub fn server(url: &str, chain: &Arc<Chain>) -> Arc<McpServer> {
    let ground = ServerDependencies {
        vault: chain.clone(),
        ..ground()
    };
    Arc::new(McpServer::new(far(url), ToolPins::default(), ground))
}

/// One that somebody is signed in to.
async fn signed_in(authority: &Authority, chain: &Arc<Chain>) -> Arc<McpServer> {
    let server = server(&authority.server(), chain);
    server.ensure_connected().await.unwrap_err();
    server.sign_in().await.unwrap();
    let page = opened(&led_on(&waits_at(&server)).await).await;
    assert_eq!(page.0, 200, "{page:?}");
    assert_eq!(settled(&server).await, Some(SignInState::Done));
    server.ensure_connected().await.unwrap();
    server.set_pins(ToolPins::approve_initial(&server.catalogue().unwrap()));
    server
}

fn record(chain: &Chain) -> String {
    chain.kept.lock().unwrap().clone().unwrap_or_default()
}

/// The whole way: it says that it wants to know who asks, the person opens an address and says yes, and it is connected. What
/// they signed in with stands in the keychain and nowhere else.
#[tokio::test]
async fn a_person_signs_in_and_out() {
    let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
    let server = server(&authority.server(), &chain);
    let fault = server.ensure_connected().await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "mcp server one is unavailable: authentication failed. Sign in to it, then try it again."
    );
    assert_eq!(server.view().state, ServerState::NeedsSignIn);
    assert_eq!(
        server.view().sign_in,
        Some(SignInState::Needed { why: None })
    );
    server.sign_in().await.unwrap();
    let paths = authority.paths();
    assert!(
        !paths.contains(&"GET /authorize".to_owned()),
        "nobody opened it but the person: {paths:?}"
    );
    let back = led_on(&waits_at(&server)).await;
    let (status, page) = opened(&back).await;
    assert!(
        status == 200 && page.contains("You are signed in."),
        "{page}"
    );
    assert_eq!(settled(&server).await, Some(SignInState::Done));
    until(|| server.view().state == ServerState::Ready).await;
    server.set_pins(ToolPins::approve_initial(&server.catalogue().unwrap()));
    assert_eq!(said(&server, "hello", json!({})).await, "hello");
    assert!(record(&chain).contains("token-1") && record(&chain).contains("renew-1"));
    let told = format!("{:?} {:?}", server.view(), server.log_lines());
    assert!(
        !told.contains("token-1") && !told.contains("code-1"),
        "{told}"
    );

    server.sign_out().await.unwrap();
    assert_eq!(record(&chain), "");
    until(|| server.view().state == ServerState::NeedsSignIn).await;
    let shown = authority.heard.lock().unwrap().shown.clone();
    assert_eq!(shown.last(), Some(&None), "nothing is shown any more");
    let refused = call(&server, "hello", json!({})).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "mcp server one is unavailable: authentication failed. Do without it: the person has to sign in to it first."
    );
}

/// A sign-out revokes the token where the server offers it; a failure is reported, and the token is forgotten here all the
/// same.
#[tokio::test]
async fn what_is_signed_out_of_is_taken_back() {
    let table = [
        (Some("200 OK"), 1, None),
        (None, 0, None),
        (
            Some("503 Service Unavailable"),
            1,
            Some(
                "You are signed out of `one` here, but who signed you in could not be told: the answer was 503. End it in your \
                account there too.",
            ),
        ),
    ];
    for (status, asked, told) in table {
        let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
        authority.is(|mood| mood.takes_back = status);
        let server = signed_in(&authority, &chain).await;
        let ended = server.sign_out().await;
        assert_eq!(record(&chain), "", "{status:?}");
        let taken_back = authority.heard.lock().unwrap().taken_back.clone();
        assert_eq!(taken_back.len(), asked, "{status:?}");
        for (form, shown) in taken_back {
            assert_eq!(form["token"], "renew-1");
            assert_eq!(form["token_type_hint"], "refresh_token");
            assert_eq!((form["client_id"].as_str(), shown), ("known-1", None));
        }
        match (ended, told) {
            (Ok(()), None) => {}
            (Err(fault), Some(told)) => assert_eq!(fault.to_string(), told),
            (other, _) => panic!("{status:?}: {other:?}"),
        }
        let lines = format!("{:?}", server.log_lines());
        assert!(
            lines.contains("Signed out.") && !lines.contains("renew-1"),
            "{lines}"
        );
        let is_told = lines.contains("takes nothing back");
        assert_eq!(is_told, status.is_none(), "{lines}");
    }
}

/// Another word than the one that was sent is nobody's answer: the right one is still waited for.
#[tokio::test]
async fn who_comes_with_another_word_is_sent_away() {
    let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
    let server = server(&authority.server(), &chain);
    server.sign_in().await.unwrap();
    authority.is(|mood| mood.state = Some("forged"));
    let address = waits_at(&server);
    let (status, page) = opened(&led_on(&address).await).await;
    assert!(status == 400 && page.contains("not the answer"), "{page}");
    assert_eq!(waits_at(&server), address);
    assert!(authority.heard.lock().unwrap().tokens.is_empty());
    authority.is(|mood| mood.state = None);
    opened(&led_on(&address).await).await;
    assert_eq!(settled(&server).await, Some(SignInState::Done));
}

/// A table of what ends a sign-in, and what the person is told. Nothing is kept, and it can be begun again.
#[tokio::test]
async fn what_goes_wrong_is_told() {
    type Change = fn(&mut crate::authorization_server::Mood);
    let table: [(Change, &str); 2] = [
        (|mood| mood.refuses = true, "it was refused there"),
        (
            |mood| mood.issuer = Some("https://evil.example"),
            "`https://evil.example` answered, and `http://127.0.0.1:",
        ),
    ];
    for (change, told) in table {
        let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
        let server = server(&authority.server(), &chain);
        authority.is(change);
        server.sign_in().await.unwrap();
        let (status, _) = opened(&led_on(&waits_at(&server)).await).await;
        assert_eq!(status, 403);
        match settled(&server).await {
            Some(SignInState::Needed { why: Some(why) }) => assert!(why.starts_with(told), "{why}"),
            other => panic!("{told}: {other:?}"),
        }
        assert_eq!(record(&chain), "");
        assert!(authority.heard.lock().unwrap().tokens.is_empty(), "{told}");
        authority.is(|mood| *mood = Default::default());
        server.sign_in().await.unwrap();
        opened(&led_on(&waits_at(&server)).await).await;
        assert_eq!(settled(&server).await, Some(SignInState::Done));
    }
}

/// Faults that keep a sign-in from beginning: nobody is sent anywhere.
#[tokio::test]
async fn what_cannot_begin_says_why() {
    let authority = Authority::open().await;
    let chain = Arc::new(Chain::default());
    let locked = Arc::new(Chain {
        is_locked: true,
        ..Chain::default()
    });
    let mut named = far(&authority.server());
    if let ServerTransport::Http { headers, .. } = &mut named.transport {
        headers.insert("authorization".to_owned(), "Bearer mine".to_owned());
    }
    let named = Arc::new(McpServer::new(named, ToolPins::default(), ground()));
    let program = Arc::new(McpServer::new(settings(&[]), ToolPins::default(), ground()));
    for (server, told) in [
        (
            server(&authority.server(), &locked),
            "The keychain is locked",
        ),
        (named, "a header of its own says who asks"),
        (program, "it is a program of this machine"),
        (
            server("http://127.0.0.1:1/mcp", &chain),
            "it could not be connected",
        ),
    ] {
        let fault = server.sign_in().await.unwrap_err();
        assert!(fault.message.contains(told), "{fault}");
    }
    assert!(!authority.paths().contains(&"POST /register".to_owned()));
    let at = server(&authority.server(), &chain);
    authority.is(|mood| mood.knows_nobody = true);
    let fault = at.sign_in().await.unwrap_err();
    assert!(
        fault.message.contains("no `client` is set up for it"),
        "{fault}"
    );
    authority.is(|mood| (mood.knows_nobody, mood.is_plain) = (false, true));
    let fault = at.sign_in().await.unwrap_err();
    assert!(fault.message.contains("PKCE"), "{fault}");
    assert_eq!(record(&chain), "");
}

/// A token that ran out is renewed without the person, also by another process later; a renewal that is refused is forgotten.
#[tokio::test]
async fn what_ran_out_is_renewed_or_asked_for_anew() {
    let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
    authority.is(|mood| mood.expires_in_s = Some(1));
    drop(signed_in(&authority, &chain).await);
    let first = authority.heard.lock().unwrap().tokens.len();
    assert!(
        first >= 2,
        "it was good for one second, so it was renewed before it was shown"
    );
    authority.is(|mood| mood.expires_in_s = None);
    let later = server(&authority.server(), &chain);
    later.ensure_connected().await.unwrap();
    let tokens = authority.heard.lock().unwrap().tokens.clone();
    let last = tokens.last().unwrap();
    assert_eq!(last["grant_type"], "refresh_token");
    assert_eq!(last["refresh_token"], format!("renew-{}", tokens.len() - 1));
    assert_eq!(later.view().sign_in, Some(SignInState::Done));
    drop(later);

    authority.is(|mood| (mood.expires_in_s, mood.renews_not) = (Some(1), true));
    let now: serde_json::Value = serde_json::from_str(&record(&chain)).unwrap();
    let mut old = now.clone();
    old["credentials"]["token_received_at"] = json!(1);
    *chain.kept.lock().unwrap() = Some(old.to_string());
    let last = server(&authority.server(), &chain);
    last.ensure_connected().await.unwrap_err();
    assert_eq!(last.view().state, ServerState::NeedsSignIn);
    assert_eq!(record(&chain), "", "it is good for nothing any more");
}

/// A token is for the address of its sign-in alone, whatever is set up under the name later.
#[tokio::test]
async fn another_address_is_shown_nothing() {
    let (first, second) = (Authority::open().await, Authority::open().await);
    let chain = Arc::new(Chain::default());
    signed_in(&first, &chain).await;
    server(&second.server(), &chain)
        .ensure_connected()
        .await
        .unwrap_err();
    let shown = second.heard.lock().unwrap().shown.clone();
    assert!(
        !shown.is_empty() && shown.iter().all(Option::is_none),
        "{shown:?}"
    );
}

/// A server that wants more to be allowed for one call: the call fails, others go on, and signing in asks for both.
#[tokio::test]
async fn more_is_asked_for_by_signing_in_again() {
    let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
    let server = signed_in(&authority, &chain).await;
    authority.is(|mood| mood.wants_more = true);
    let refused = call(&server, "hello", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("the person who signed in is not allowed that there"),
        "{refused}"
    );
    assert_eq!(server.view().state, ServerState::Ready);
    assert_eq!(
        server.view().sign_in,
        Some(SignInState::Needed { why: None })
    );
    authority.is(|mood| mood.wants_more = false);
    server.sign_in().await.unwrap();
    let address = url::Url::parse(&waits_at(&server)).unwrap();
    let scope = address.query_pairs().find(|(name, _)| name == "scope");
    assert_eq!(scope.unwrap().1, "read write");
    opened(&led_on(address.as_str()).await).await;
    assert_eq!(settled(&server).await, Some(SignInState::Done));
    logged(&server, "it is connected anew").await;
    until(|| server.view().state == ServerState::Ready).await;
    assert_eq!(said(&server, "hello", json!({})).await, "hello");
    let lines: Vec<String> = server
        .log_lines()
        .iter()
        .map(|line| join_spans(&line.text))
        .collect();
    assert!(lines.contains(&"Signed in.".to_owned()), "{lines:?}");
}
