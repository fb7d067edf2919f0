//! Servers as they should not be: each is one sentence, nothing hangs, and the next question is asked of a new one.

use std::time::Duration;

use tools::language_service::{LanguageQuery, LanguageResult};

use crate::support::{Desk, patient};

fn desk(how: &str) -> Desk {
    with(Desk::new(how))
}

fn with(desk: Desk) -> Desk {
    desk.put("a.toy", "def foo\nfoo\n");
    desk
}

/// A table of servers that break the protocol or die: what is said of each.
#[tokio::test]
async fn a_server_that_breaks_off_is_one_sentence() {
    for (how, told) in [
        ("dead", "it ended with code 4 and said: no license"),
        (
            "crash",
            "it ended with code 3 and said: thread 'main' panicked: boom",
        ),
        ("flood", "without being asked anything new"),
        ("junk", "it wrote something that is not a message"),
        ("no_json", "it wrote a message that is not JSON"),
        ("huge", "it wrote a message of 99999999999 bytes"),
        ("list", "it wrote a message that is none of the protocol"),
        ("odd", "it counts columns in a way that nobody asked for"),
    ] {
        let desk = desk(how);
        let error = desk.error().await;
        assert!(
            error.starts_with("The language server toy is not available: "),
            "{how}: {error}"
        );
        assert!(error.contains(told), "{how}: {error}");
        assert!(!error.contains('\n'), "{how}: {error}");
        // It is started again for whoever asks next.
        assert!(desk.error().await.contains(told), "{how}");
        assert_eq!(
            desk.log().iter().filter(|line| *line == "started").count(),
            2,
            "{how}"
        );
    }
}

/// Answers that are none.
#[tokio::test]
async fn an_answer_that_is_none_is_one_sentence() {
    for (how, told) in [
        (
            "nonsense",
            "could not help: it answered with something that is not a list of places",
        ),
        ("refuses", "says: no such"),
        ("unable", "could not help: it cannot find definitions"),
    ] {
        let error = desk(how).error().await;
        assert!(error.contains(told), "{how}: {error}");
        assert!(!error.contains('\u{1b}'), "{how}: {error}");
    }
}

/// Requests of a server are refused, and nothing is done.
#[tokio::test]
async fn nothing_is_done_at_a_servers_word() {
    let desk = desk("asks");
    let said = desk.error().await;
    for told in ["\"applied\":false", "\"success\":false", "-32601"] {
        assert!(said.contains(told), "{said}");
    }
    assert_eq!(&*desk.document("a.toy").text, "def foo\nfoo\n");
}

/// The first answer counts; whoever gives a second one is not asked any more.
#[tokio::test]
async fn a_second_answer_ends_the_server() {
    let desk = desk("twice");
    let first = desk.definition("a.toy").await.unwrap();
    assert_eq!(desk.told(&first), ["a.toy:1:4"]);
    // Where the second answer was not read yet the next question still meets it.
    while desk.log().iter().filter(|line| *line == "started").count() < 2 {
        if let Err(error) = desk.definition("a.toy").await {
            assert!(
                error.to_string().contains("it answered something twice"),
                "{error}"
            );
        }
    }
}

/// Places that no file has are given on as they are: whoever looks there sees it.
#[tokio::test]
async fn wrong_places_are_no_panic() {
    for (how, count) in [("nowhere", 3), ("outside", 2)] {
        let answered = desk(how).definition("a.toy").await.unwrap();
        let LanguageResult::Locations(spots) = answered.result else {
            panic!("no places");
        };
        assert_eq!(spots.len(), count);
    }
}

/// A request that hangs is cancelled after its time, or when the call ends; the server is told and goes on.
#[tokio::test]
async fn a_question_is_taken_back() {
    let mut patience = patient();
    patience.answer = Duration::from_millis(50);
    let desk = with(Desk::with("hang", patience));
    let error = desk.error().await;
    assert!(error.contains("gave no answer within 0.05 s"), "{error}");
    desk.sent("$/cancelRequest", 1).await;
    desk.ask("a.toy", LanguageQuery::Symbols).await.unwrap();

    let desk = self::desk("hang");
    let stop = async {
        desk.sent("textDocument/definition", 1).await;
        desk.cancel.cancel();
    };
    let (asked, ()) = tokio::join!(desk.definition("a.toy"), stop);
    assert_eq!(asked.unwrap_err(), protocol::ToolError::Cancelled);
    desk.sent("$/cancelRequest", 1).await;
    assert_eq!(
        desk.log().iter().filter(|line| *line == "started").count(),
        1
    );

    // Dropped, it is taken back too.
    let desk = self::desk("hang");
    tokio::select! {
        _ = desk.definition("a.toy") => panic!("it hangs"),
        () = desk.sent("textDocument/definition", 1) => {}
    }
    desk.sent("$/cancelRequest", 1).await;
}

#[tokio::test]
async fn a_server_that_does_not_begin_is_given_up() {
    let mut patience = patient();
    patience.start = Duration::from_millis(50);
    let desk = with(Desk::with("slow", patience));
    let error = desk.error().await;
    assert!(error.contains("it did not begin within 0.05 s"), "{error}");
}

#[tokio::test]
async fn problems_that_never_come_are_an_error() {
    let mut patience = patient();
    patience.problems = Duration::from_millis(50);
    let desk = with(Desk::with("silent", patience));
    let error = desk
        .ask("a.toy", LanguageQuery::Diagnostics)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("gave no answer within"),
        "{error}"
    );
}

/// One that dies is not started again at once: the pauses grow, and what is said names the rest.
#[tokio::test]
async fn a_server_that_dies_is_left_alone_for_a_while() {
    let mut patience = patient();
    patience.retry_after = vec![Duration::ZERO, Duration::from_secs(3_600)];
    let desk = with(Desk::with("dead", patience));
    for (started, waits) in [(1, false), (2, false), (2, true), (2, true)] {
        let error = desk.error().await;
        let told = "It may be started again in 3600 s";
        assert_eq!(error.contains(told), waits, "{error}");
        assert_eq!(
            desk.log().iter().filter(|line| *line == "started").count(),
            started
        );
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said() {
    let desk = desk("good");
    let mut settings = desk.settings("good");
    settings.command = "countersign-no-such-server".to_owned();
    desk.servers.apply_settings(&[settings]);
    let error = desk.error().await;
    assert!(
        error.contains("`countersign-no-such-server` is not installed"),
        "{error}"
    );
}
