//! Authentication: every kind of it on the wire, never in previews and results.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use protocol::ToolError;
use protocol::server::apis::{ApiAuth, ApiSetup};
use serde_json::{Value, json};

use crate::test_service::{Desk, Heard, Site, answer, document, json_answer, token};

fn with(site: &Site, schemes: Value, security: Value) -> Value {
    let mut document = document(site, json!({ "/do": { "get": { "operationId": "do" } } }));
    document["components"] = json!({ "securitySchemes": schemes });
    document["security"] = security;
    document
}

fn setup(auth: impl IntoIterator<Item = (&'static str, ApiAuth)>) -> ApiSetup {
    let auth = auth.into_iter().map(|(name, auth)| (name.to_owned(), auth));
    ApiSetup {
        auth: auth.collect(),
        ..ApiSetup::default()
    }
}

fn basic() -> ApiAuth {
    ApiAuth::Basic {
        username: "keychain:user".to_owned(),
        password: "keychain:password".to_owned(),
    }
}

fn client() -> ApiAuth {
    ApiAuth::Client {
        client_id: "keychain:id".to_owned(),
        client_secret: "keychain:secret".to_owned(),
    }
}

#[tokio::test]
async fn every_kind_arrives_and_is_shown_by_its_name_alone() {
    let key = |place: &str| json!({ "s": { "type": "apiKey", "in": place, "name": "k" } });
    let http = |scheme: &str| json!({ "s": { "type": "http", "scheme": scheme } });
    let oauth = json!({ "s": { "type": "oauth2", "flows": {} } });
    type Look = fn(&Heard) -> Option<String>;
    let authorization: Look = |heard| heard.header("authorization").map(str::to_owned);
    let header: Look = |heard| heard.header("k").map(str::to_owned);
    let cookie: Look = |heard| heard.header("cookie").map(str::to_owned);
    let target: Look = |heard| Some(heard.target.clone());
    for (scheme, auth, look, arrives, told) in [
        (
            key("header"),
            token("key"),
            header,
            "hush4hush4",
            "k: keychain:key",
        ),
        (
            key("query"),
            token("key"),
            target,
            "/v1/do?k=hush4hush4",
            "/v1/do?k=[keychain:key]",
        ),
        (
            key("cookie"),
            token("key"),
            cookie,
            "k=hush4hush4",
            "Cookie: k=[keychain:key]",
        ),
        (
            http("Bearer"),
            token("key"),
            authorization,
            "Bearer hush4hush4",
            "Authorization: Bearer keychain:key",
        ),
        (
            http("basic"),
            basic(),
            authorization,
            "Basic bWU6cGFzcyB3b3Jk",
            "Basic keychain:user:keychain:password",
        ),
        (
            oauth,
            token("key"),
            authorization,
            "Bearer hush4hush4",
            "Bearer keychain:key",
        ),
    ] {
        let site = Site::open().await;
        let desk = Desk::new(
            with(&site, scheme.clone(), json!([{ "s": [] }])),
            setup([("s", auth)]),
        );
        let shown = desk.shown("do", json!({})).summary();
        assert!(shown.contains(told), "{scheme}: {shown}");
        for secret in ["hush4", "pass word", "bWU6"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        desk.call("do", json!({})).await.unwrap();
        assert_eq!(look(&site.last()).as_deref(), Some(arrives), "{scheme}");
    }
}

/// Of several ways the first that is set up whole is taken; one that is nobody needs nothing.
#[tokio::test]
async fn one_of_several_ways_is_taken() {
    let schemes = json!({
        "a": { "type": "apiKey", "in": "header", "name": "a" },
        "b": { "type": "apiKey", "in": "header", "name": "b" },
        "c": { "type": "http", "scheme": "digest" },
    });
    let both = json!([{ "a": [], "b": [] }, { "b": [] }]);
    for (security, auth, expected) in [
        (&both, vec!["a", "b"], Ok((true, true))),
        (&both, vec!["b"], Ok((false, true))),
        (
            &both,
            vec!["a"],
            Err("`a` (a key) and `b` (a key), or by `b` (a key)"),
        ),
        (
            &json!([{ "c": [] }]),
            vec!["c"],
            Err("digest, which is not known here"),
        ),
        (&json!([{ "a": [] }, {}]), vec![], Ok((false, false))),
        (&json!([{ "none": [] }]), vec!["none"], Err("`none`")),
        (&json!([]), vec!["a"], Ok((false, false))),
    ] {
        let site = Site::open().await;
        let auth = setup(auth.into_iter().map(|name| (name, token("key"))));
        let desk = Desk::new(with(&site, schemes.clone(), security.clone()), auth);
        use tools::Tool;
        let missing = desk.tool("do").missing_setup();
        match (desk.call("do", json!({})).await, expected) {
            (Ok(_), Ok((a, b))) => {
                let heard = site.last();
                assert_eq!(
                    (heard.header("a").is_some(), heard.header("b").is_some()),
                    (a, b),
                    "{security}"
                );
                assert_eq!(missing, None);
            }
            (Err(error), Err(why)) => {
                assert!(error.to_string().contains(why), "{security}: {error}");
                assert!(missing.unwrap().contains(why));
                assert_eq!(site.heard(), [], "nothing is sent");
            }
            (other, expected) => panic!("{security}: {other:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn headers_of_the_settings_go_with_every_request() {
    let site = Site::open().await;
    let setup = ApiSetup {
        headers: BTreeMap::from([
            ("X-Key".to_owned(), "keychain:key".to_owned()),
            ("X-Team".to_owned(), "literal".to_owned()),
        ]),
        ..ApiSetup::default()
    };
    let desk = Desk::new(with(&site, json!({}), json!([{ "unknown": [] }])), setup);
    let shown = desk.shown("do", json!({})).summary();
    assert!(
        shown.contains("X-Key: keychain:key\nX-Team: (as you set it up)"),
        "{shown}"
    );
    desk.call("do", json!({})).await.unwrap();
    let heard = site.last();
    assert_eq!(
        (heard.header("x-key"), heard.header("x-team")),
        (Some("hush4hush4"), Some("literal"))
    );
}

/// A token is asked for once, kept while it holds, and asked for anew before it ends or when it is not taken any more.
#[tokio::test]
async fn tokens_are_asked_for_kept_and_renewed() {
    let given = Arc::new(AtomicU32::new(0));
    let count = given.clone();
    let site = Site::answering(move |heard, _| match heard.target.as_str() {
        "/token" => {
            let number = count.fetch_add(1, Ordering::SeqCst);
            json_answer(&json!({ "access_token": format!("token-{number}"), "expires_in": 3600 }))
        }
        _ if heard.header("authorization") == Some("Bearer token-1") => {
            answer("401 Unauthorized", "", "")
        }
        _ => json_answer(&json!({ "you": heard.header("authorization") })),
    })
    .await;
    let scheme = json!({ "s": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": format!("{}/token", site.base()), "scopes": {} } } } });
    let desk = Desk::new(
        with(&site, scheme, json!([{ "s": ["read", "write"] }])),
        setup([("s", client())]),
    );
    use tools::Tool;
    let accesses = desk.tool("do").accesses(&serde_json::Map::new());
    assert_eq!(accesses.len(), 1, "the same host: {accesses:?}");
    let shown = desk.shown("do", json!({})).summary();
    assert!(shown.contains("(a token from 127.0.0.1:"), "{shown}");
    assert!(
        !shown.contains("s&cret") && !shown.contains("id:1"),
        "{shown}"
    );

    let output = desk.call("do", json!({})).await.unwrap();
    assert!(
        output.text.contains("Bearer [a token]"),
        "what is repeated is not told: {}",
        output.text
    );
    let asked = &site.heard()[0];
    assert_eq!(
        (asked.method.as_str(), asked.text().as_str()),
        ("POST", "grant_type=client_credentials&scope=read%20write")
    );
    assert_eq!(
        asked.header("authorization"),
        Some("Basic aWQlM0ExOnMlMjZjcmV0")
    );
    desk.call("do", json!({})).await.unwrap();
    assert_eq!(given.load(Ordering::SeqCst), 1, "it is kept");

    desk.clock.advance(3_600_000);
    let refused = desk.call("do", json!({})).await;
    assert!(
        matches!(refused, Err(ToolError::Failed(_))),
        "a new one that is not taken is not asked for again"
    );
    assert_eq!(given.load(Ordering::SeqCst), 2);
    desk.call("do", json!({})).await.unwrap();
    assert_eq!(
        given.load(Ordering::SeqCst),
        3,
        "one that was kept and is not taken is renewed"
    );
    assert_eq!(site.last().header("authorization"), Some("Bearer token-2"));
}

#[tokio::test]
async fn a_token_that_is_not_given_is_told_without_secrets() {
    let site = Site::answering(|heard, _| match heard.target.as_str() {
        "/token" => answer(
            "401 Unauthorized",
            "",
            format!("no: {}", heard.header("authorization").unwrap()),
        ),
        _ => json_answer(&json!({})),
    })
    .await;
    let scheme = json!({ "s": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "../token" } } } });
    let desk = Desk::new(
        with(&site, scheme, json!([{ "s": [] }])),
        setup([("s", client())]),
    );
    let error = desk.call("do", json!({})).await.unwrap_err().to_string();
    assert!(
        error.contains("answered 401") && error.contains("[who asks]"),
        "{error}"
    );
    assert!(!error.contains("aWQl"), "{error}");
    assert_eq!(site.heard().len(), 1, "the service itself is not asked");
}

#[tokio::test]
async fn a_secret_that_is_not_there_is_named() {
    let site = Site::open().await;
    let scheme = json!({ "s": { "type": "http", "scheme": "bearer" } });
    let desk = Desk::new(
        with(&site, scheme, json!([{ "s": [] }])),
        setup([("s", token("nowhere"))]),
    );
    let error = desk.call("do", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("the keychain holds no `nowhere`"), "{error}");
    assert_eq!(site.heard(), []);
}
