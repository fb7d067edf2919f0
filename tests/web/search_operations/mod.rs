//! Searches of the web by an operation of a service: its question, the place of its results, the rules that hold, and the error
//! where it cannot search.

mod fixture;

use crate::web::search_operations::fixture::{
    SAMPLE_RESPONSE, opened_document, play_search, search_desk, search_operation,
    settings_with_operation,
};
use protocol::settings::{SearchOperation, WebSearchSettings};
use protocol::{CallState, Op, Settings, ToolMode};
use serde_json::{Map, json};
use support::Fixture;
use support::test_site::{SiteResponse, TestSite, answer, page_response};

/// `S002-21`, `S002-42`: the query goes where it belongs, by name or as it was set up, and the results are found where they
/// stand; all of it is marked as written by others.
#[tokio::test]
async fn s002_21_s002_42_an_operation_searches() {
    let odd = SearchOperation {
        query: Some("for".to_owned()),
        arguments: Map::from_iter([("kind".to_owned(), "all".into())]),
        results: Some("/a/0/list".to_owned()),
        title: Some("/t/x".to_owned()),
        url: Some("at".to_owned()),
        snippet: Some("w".to_owned()),
        ..search_operation("odd")
    };
    let placed = r#"{"items":[{"title":"No","url":"https://no.test/"}],"a":[{"list":[{"t":{"x":"Rust"},"at":"https://rust-lang.org/","w":"A language for everyone"}]}]}"#;
    let asked = SearchOperation {
        arguments: Map::from_iter([("body".to_owned(), json!({ "lang": "en" }))]),
        ..search_operation("ask")
    };
    let named = SearchOperation {
        query: Some("/body/query".to_owned()),
        ..asked.clone()
    };
    let bare = r#"[{"title":"Rust","url":"https://rust-lang.org/","description":"A language for everyone"}]"#;
    let allow = "[[rule]]\npermission = \"web_search\"\naction = \"allow\"\n";
    let sent = r#"{"lang":"en","query":"rust & co"}"#;
    for (operation, path, body, sends, count) in [
        (
            search_operation("find"),
            "/find",
            SAMPLE_RESPONSE,
            "GET /find?q=rust%20%26%20co ",
            2,
        ),
        (
            odd,
            "/odd",
            placed,
            "GET /odd?for=rust%20%26%20co&kind=all ",
            1,
        ),
        (asked, "/ask", bare, sent, 1),
        (named, "/ask", bare, sent, 1),
    ] {
        let site = TestSite::start().await;
        site.add_response(path, page_response("application/json", body));
        let name = operation.operation.clone();
        let mut desk = search_desk(
            &site,
            settings_with_operation(operation),
            &opened_document(&site, allow),
            1,
        )
        .await;
        let (view, told) = play_search(&mut desk).await;
        assert_eq!(view.state, CallState::Done, "{name}: {told}");
        let data = view.outcome.as_ref().unwrap().data.clone().unwrap();
        let results = data["results"].as_array().unwrap();
        let first = json!({ "title": "Rust", "url": "https://rust-lang.org/", "snippet": "A language for everyone" });
        assert_eq!((&results[0], results.len()), (&first, count), "{name}");
        let host = site.host();
        assert!(
            told.starts_with(&format!("Untrusted content: what was found by {host}")),
            "{told}"
        );
        let end = told.lines().last().unwrap();
        assert!(
            end.starts_with("[end ") && end != "[end 0123456789abcdef]",
            "{told}"
        );
        let asked = site.request_log();
        assert!(
            asked.len() == 1 && asked[0].contains(sends),
            "{name}: {asked:?}"
        );
    }
}

/// The rules of the operation hold: those for its host, those that name it, and its mode; what may change something asks.
#[tokio::test]
async fn a_search_is_held_to_the_rules_of_its_operation() {
    let rule = |name: &str, action: &str| {
        format!("[[rule]]\npermission = \"{name}\"\naction = \"{action}\"\n")
    };
    let loose = rule("web_search", "allow");
    for (name, is_open, rules, state, says) in [
        ("find", true, String::new(), CallState::Done, "Rust"),
        (
            "find",
            false,
            String::new(),
            CallState::Denied,
            "unless a rule names that host",
        ),
        (
            "find",
            true,
            rule("library__find", "deny"),
            CallState::Denied,
            "it calls `library__find`, which a rule denies",
        ),
        (
            "find",
            true,
            loose.clone() + &rule("library__*", "deny"),
            CallState::Denied,
            "which a rule denies",
        ),
        (
            "find",
            true,
            loose.clone() + &rule("library__find", "ask"),
            CallState::Denied,
            "a rule wants that asked",
        ),
        (
            "find",
            true,
            rule("library__ask", "deny"),
            CallState::Done,
            "Rust",
        ),
        (
            "find",
            true,
            rule("library__find", "allow"),
            CallState::Done,
            "Rust",
        ),
        (
            "ask",
            true,
            String::new(),
            CallState::Denied,
            "nobody is there to ask",
        ),
        ("ask", true, loose, CallState::Done, "Rust"),
    ] {
        let site = TestSite::start().await;
        site.add_response("/find", page_response("application/json", SAMPLE_RESPONSE))
            .add_response("/ask", page_response("application/json", SAMPLE_RESPONSE));
        let rules = match is_open {
            true => opened_document(&site, &rules),
            false => rules,
        };
        let mut desk = search_desk(
            &site,
            settings_with_operation(search_operation(name)),
            &rules,
            1,
        )
        .await;
        let (view, told) = play_search(&mut desk).await;
        assert_eq!(view.state, state, "{name} {rules}: {told}");
        assert!(told.contains(says), "{name} {rules}: {told}");
        assert_eq!(
            site.request_log().len(),
            usize::from(state == CallState::Done)
        );
    }
    // A mode that the person set for it is that of the search.
    let site = TestSite::start().await;
    site.add_response("/find", page_response("application/json", SAMPLE_RESPONSE));
    let mut desk = search_desk(
        &site,
        settings_with_operation(search_operation("find")),
        &opened_document(&site, ""),
        1,
    )
    .await;
    let stricter = Op::SetTool {
        tool: "library__find".to_owned(),
        enabled: true,
        mode: Some(ToolMode::Local),
    };
    desk.submit(stricter).await;
    let (view, told) = play_search(&mut desk).await;
    assert_eq!(view.mode, Some(ToolMode::Local), "{told}");
}

/// `S002-44`, `S002-45`, `S002-46`: an operation is asked as often, and may take as long, as a provider.
#[tokio::test]
async fn s002_44_s002_45_s002_46_the_limits_of_a_session_hold() {
    let site = TestSite::start().await;
    site.add_response("/find", page_response("application/json", SAMPLE_RESPONSE));
    let twice = WebSearchSettings {
        calls_max: 2,
        ..settings_with_operation(search_operation("find"))
    };
    let mut first = search_desk(&site, twice, &opened_document(&site, ""), 3).await;
    play_search(&mut first).await;
    let calls = first.calls().await;
    let states: Vec<CallState> = calls.iter().map(|view| view.state).collect();
    assert_eq!(
        states,
        [CallState::Done, CallState::Done, CallState::Failed]
    );
    let told = calls[2].outcome.as_ref().unwrap().model_text();
    assert!(
        told.contains("searched 2 times, which is as often as it may"),
        "{told}"
    );
    assert_eq!(site.request_log().len(), 2);

    site.add_response("/find", SiteResponse::Silence);
    let short = WebSearchSettings {
        timeout_ms: 300,
        ..settings_with_operation(search_operation("find"))
    };
    let mut second = search_desk(&site, short, &opened_document(&site, ""), 1).await;
    let (view, told) = play_search(&mut second).await;
    assert_eq!(view.state, CallState::Failed);
    assert!(
        told.contains("`library__find` did not answer within 300 ms"),
        "{told}"
    );
}

/// `S002-102`: what cannot search says so, with what to set up; nothing is asked then.
#[tokio::test]
async fn s002_102_what_cannot_search_says_what_to_set_up() {
    let elsewhere = SearchOperation {
        operation: "nowhere__find".to_owned(),
        ..SearchOperation::default()
    };
    for (operation, says) in [
        (
            elsewhere,
            "`nowhere__find` is set up to search the web, and there is no such operation",
        ),
        (search_operation("none"), "countersign apis enable library"),
        (
            search_operation("page"),
            "no argument by whose name a query is known",
        ),
        (
            SearchOperation {
                query: Some("for".to_owned()),
                ..search_operation("odd")
            },
            "cannot be asked so, and nothing was searched",
        ),
    ] {
        let site = TestSite::start().await;
        let name = operation.operation.clone();
        let mut desk = search_desk(
            &site,
            settings_with_operation(operation),
            &opened_document(&site, ""),
            1,
        )
        .await;
        let (view, told) = play_search(&mut desk).await;
        assert_eq!(view.state, CallState::Failed, "{name}: {told}");
        assert!(told.contains(says), "{name}: {told}");
        assert_eq!(site.request_log(), [""; 0], "{name}");
    }
    // One that the person switched off is not there.
    let site = TestSite::start().await;
    let mut desk = search_desk(
        &site,
        settings_with_operation(search_operation("find")),
        &opened_document(&site, ""),
        1,
    )
    .await;
    let off = Op::SetTool {
        tool: "library__find".to_owned(),
        enabled: false,
        mode: None,
    };
    desk.submit(off).await;
    let (_, told) = play_search(&mut desk).await;
    assert!(
        told.contains("there is no such operation among the tools"),
        "{told}"
    );
}

/// An answer of it without results is told; an empty list is no error.
#[tokio::test]
async fn what_is_no_list_of_results_is_said() {
    let json = "content-type: application/json\r\n";
    let deep = (0..9).fold(SAMPLE_RESPONSE.to_owned(), |below, _| {
        format!("{{\"a\":{below}}}")
    });
    for (given, state, says) in [
        (
            page_response("application/json", "{\"hits\":[]}"),
            CallState::Done,
            "Nothing was found",
        ),
        (
            page_response("application/json", "{\"hits\":7}"),
            CallState::Failed,
            "not a list of results",
        ),
        (
            page_response("application/json", deep),
            CallState::Failed,
            "not a list of results",
        ),
        (
            page_response("text/html", "<p>Log in"),
            CallState::Failed,
            "not a list of results",
        ),
        (
            answer("500 Internal Server Error", json, "{}"),
            CallState::Failed,
            "answered 500",
        ),
    ] {
        let site = TestSite::start().await;
        site.add_response("/find", given);
        let mut desk = search_desk(
            &site,
            settings_with_operation(search_operation("find")),
            &opened_document(&site, ""),
            1,
        )
        .await;
        let (view, told) = play_search(&mut desk).await;
        assert_eq!(view.state, state, "{told}");
        assert!(told.contains(says), "{says}: {told}");
    }
}

/// As a person writes it, and what cannot be is refused.
#[tokio::test]
async fn it_stands_in_the_settings() {
    let text = "[[web_search.operations]]\noperation = \"library__find\"\nresults = \"/hits\"\narguments = { lang = \"en\" }\n";
    let settings: Settings = toml::from_str(text).unwrap();
    let wanted = SearchOperation {
        results: Some("/hits".to_owned()),
        arguments: Map::from_iter([("lang".to_owned(), "en".into())]),
        ..search_operation("find")
    };
    assert_eq!(settings.web_search, settings_with_operation(wanted.clone()));
    let kept = toml::to_string_pretty(&settings).unwrap();
    assert_eq!(toml::from_str::<Settings>(&kept).unwrap(), settings);

    let desk = Fixture::new(json!([])).await;
    for (operations, says) in [
        (
            vec![wanted.clone(), wanted.clone()],
            "`library__find` is set up twice",
        ),
        (
            vec![SearchOperation {
                operation: "find".to_owned(),
                ..wanted
            }],
            "`find` is not an operation",
        ),
    ] {
        let mut settings = Settings::default();
        settings.web_search.operations = operations;
        let settings = Box::new(settings);
        let set = desk.engine.submit(Op::SetSettings { settings }).await;
        let fault = set.unwrap_err();
        assert!(fault.message.contains(says), "{fault}");
    }
}
