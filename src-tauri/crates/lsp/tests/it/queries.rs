//! A server as it should be: what is asked becomes the protocol's own words, and its answer what is known.

use std::time::Duration;

use protocol::server::language_servers::LanguageServer;
use tools::language_service::{
    LanguageQuery, LanguageResult, LanguageService, PositionEncoding, Severity,
};

use crate::support::{Desk, patient};

/// Before the words stands something that the three ways of counting count differently.
const A: &str = "def bar\n\u{1f600} bar foo foo\n";
const B: &str = "def foo\n";

fn desk(how: &str) -> Desk {
    let desk = Desk::new(how);
    desk.put("a.toy", A);
    desk.put("deep/b c.toy", B);
    desk
}

/// `S002-32`: definitions and references, across files with names that are none in an address, in both ways of counting.
#[tokio::test]
async fn s002_32_places_are_found_as_the_server_counts() {
    for (how, encoding, first, second) in [
        ("good", PositionEncoding::Utf16, 7, 11),
        ("utf8", PositionEncoding::Utf8, 9, 13),
    ] {
        let desk = desk(how);
        let answered = desk.definition("a.toy").await.unwrap();
        assert_eq!(answered.encoding, encoding);
        assert_eq!(desk.told(&answered), ["deep/b c.toy:1:4"], "{how}");
        let place = desk.place("a.toy", "foo");
        let found = desk
            .ask("a.toy", LanguageQuery::References(place))
            .await
            .unwrap();
        assert_eq!(
            desk.told(&found),
            [
                format!("a.toy:2:{first}"),
                format!("a.toy:2:{second}"),
                "deep/b c.toy:1:4".to_owned()
            ]
        );
    }
}

#[tokio::test]
async fn problems_are_waited_for_or_asked_for() {
    for how in ["good", "pull"] {
        let desk = desk(how);
        desk.put("a.toy", "def a\nBAD a BAD\n");
        for problems in [2, 1, 0, 0] {
            let answered = desk.ask("a.toy", LanguageQuery::Diagnostics).await.unwrap();
            let LanguageResult::Diagnostics(found) = answered.result else {
                panic!("no problems");
            };
            assert_eq!(found.len(), problems, "{how}");
            for problem in &found {
                assert_eq!(problem.severity, Severity::Error);
                assert_eq!(problem.code.as_deref(), Some("E1"));
            }
            let text = std::fs::read_to_string(desk.workspace.root().join("a.toy")).unwrap();
            desk.put("a.toy", &text.replacen("BAD", "good", 1));
        }
    }
}

#[tokio::test]
async fn symbols_are_listed_and_looked_for() {
    let desk = desk("good");
    for (question, names) in [
        (LanguageQuery::Symbols, vec!["bar"]),
        (LanguageQuery::Find("o".to_owned()), vec!["foo"]),
        (LanguageQuery::Find(String::new()), vec!["bar", "foo"]),
    ] {
        let answered = desk.ask("a.toy", question).await.unwrap();
        let LanguageResult::Symbols(found) = answered.result else {
            panic!("no symbols");
        };
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.kind.as_str()))
            .collect();
        let names: Vec<_> = names.into_iter().map(|name| (name, "function")).collect();
        assert_eq!(found, names);
    }
}

#[tokio::test]
async fn a_renaming_is_an_answer_and_changes_nothing() {
    let desk = desk("good");
    let place = desk.place("a.toy", "foo");
    let rename = LanguageQuery::Rename(place, "qux".to_owned());
    let answered = desk.ask("a.toy", rename).await.unwrap();
    let LanguageResult::Edits(files) = answered.result else {
        panic!("no edits");
    };
    let counts: Vec<usize> = files.iter().map(|file| file.edits.len()).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(&*desk.document("a.toy").text, A);
    // Where there is no name, it says so before anything else.
    let nothing = tools::language_service::TextPosition { line: 2, byte: 0 };
    let rename = LanguageQuery::Rename(nothing, "qux".to_owned());
    let error = desk.ask("a.toy", rename).await.unwrap_err().to_string();
    assert!(error.contains("nothing can be renamed there"), "{error}");
}

/// The server sees every open file as it stands when something is asked, and one that is gone no more.
#[tokio::test]
async fn documents_are_as_they_stand() {
    let desk = desk("good");
    desk.definition("a.toy").await.unwrap();
    desk.definition("deep/b c.toy").await.unwrap();
    desk.put("a.toy", "def other foo\n");
    desk.definition("deep/b c.toy").await.unwrap();
    std::fs::remove_file(desk.workspace.root().join("a.toy")).unwrap();
    desk.definition("deep/b c.toy").await.unwrap();
    let documents: Vec<String> = desk
        .log()
        .into_iter()
        .filter(|line| line.starts_with("textDocument/did"))
        .collect();
    assert_eq!(
        documents,
        [
            "textDocument/didOpen 1",
            "textDocument/didOpen 1",
            "textDocument/didChange 2",
            "textDocument/didClose",
        ]
    );
}

/// One server for one folder, however many ask at once; it ends when it is switched off or set up otherwise.
#[tokio::test]
async fn a_server_is_started_once_and_ends_when_it_is_off() {
    let desk = desk("good");
    let (one, two, three) = tokio::join!(
        desk.definition("a.toy"),
        desk.definition("a.toy"),
        desk.definition("deep/b c.toy")
    );
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(
        desk.log().iter().filter(|line| *line == "started").count(),
        1
    );

    assert_eq!(desk.servers.missing_setup(), None);
    let off = LanguageServer {
        enabled: false,
        ..desk.settings("good")
    };
    desk.servers.apply_settings(&[off]);
    let missing = desk.servers.missing_setup().unwrap();
    assert!(missing.contains("Language servers"), "{missing}");
    assert_eq!(desk.error().await, missing);
    desk.servers.apply_settings(&[desk.settings("utf8")]);
    let answered = desk.definition("a.toy").await.unwrap();
    assert_eq!(answered.encoding, PositionEncoding::Utf8);
    desk.put("x.other", "foo\n");
    let error = desk.definition("x.other").await.unwrap_err().to_string();
    assert!(
        error.contains("knows `x.other`; on are toy (toy)"),
        "{error}"
    );
}

/// A server that nobody asks is ended, and started again when somebody does, at once.
#[tokio::test]
async fn a_server_that_is_not_used_ends() {
    let mut patience = patient();
    patience.idle = Duration::from_millis(1);
    patience.retry_after = vec![Duration::from_secs(3_600)];
    let desk = Desk::with("good", patience);
    desk.put("a.toy", A);
    // It may end between two questions, or while one waits to be sent; never for good.
    while desk.log().iter().filter(|line| *line == "started").count() < 2 {
        if let Err(error) = desk.definition("a.toy").await {
            let error = error.to_string();
            assert!(error.contains("nobody asked it anything"), "{error}");
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_is_still_loading_says_so() {
    let mut patience = patient();
    patience.loading = Duration::from_millis(1);
    let desk = Desk::with("loading", patience);
    desk.put("a.toy", A);
    assert!(desk.definition("a.toy").await.unwrap().loading);
    let ready = self::desk("good");
    assert!(!ready.definition("a.toy").await.unwrap().loading);
}
