//! Sessions that are exported into a file.

use agent::engine::session_export::ExportKind;
use protocol::SessionId;
use protocol::query::{Answer, Query};
use support::{Fixture, call_write, expect_variant, rule_text, say_text};

/// A password in a form that is masked wherever it is exported.
const SECRET: &str = "ghp_q7Rk2vXw9LmZ4tBc8NyHq7Rk2vXw9LmZ4tBc";

async fn open_session() -> Fixture {
    let turns = [
        call_write("a.txt", format!("token = {SECRET}\n")),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_rules(rule_text("write", "**", "allow"));
    desk.start("Fix: the/title?").await;
    desk.wait_until_ended().await;
    desk
}

#[tokio::test]
async fn a_file_has_what_the_command_line_writes_without_secrets() {
    let desk = open_session().await;
    let folder = tempfile::tempdir().unwrap();
    for name in ["md", "jsonl", "html"] {
        let kind = ExportKind::parse(name).unwrap();
        let proposed = desk.engine.export_file_name(&desk.session, kind).unwrap();
        assert_eq!(proposed, format!("Fix the title.{name}"));
        let file = folder.path().join(&proposed);
        std::fs::write(&file, "what was there before").unwrap();
        let session = desk.session.clone();
        desk.engine
            .export_session(session.clone(), kind, &file)
            .await
            .unwrap();
        let query = Query::Export {
            session,
            format: name.to_owned(),
        };
        let text = expect_variant!(desk.query(query).await, Answer::Export { text } => text);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert!(text.contains("a.txt") && !text.contains(SECRET), "{name}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "nothing else is left in the folder");
}

#[tokio::test]
async fn a_file_stays_as_it_was_where_an_export_fails() {
    let desk = open_session().await;
    let folder = tempfile::tempdir().unwrap();
    let kind = ExportKind::parse("md").unwrap();
    let file = folder.path().join("kept.md");
    std::fs::write(&file, "before").unwrap();
    let nobody = SessionId::from("ses_nobody");
    let fault = desk
        .engine
        .export_session(nobody.clone(), kind, &file)
        .await
        .unwrap_err();
    assert_eq!(fault.message, "There is no session ses_nobody.");
    assert!(desk.engine.export_file_name(&nobody, kind).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
    // A folder stands where the file would.
    let taken = folder.path().join("taken.md");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "kept").unwrap();
    let fault = desk
        .engine
        .export_session(desk.session.clone(), kind, &taken)
        .await
        .unwrap_err();
    assert!(
        fault
            .message
            .starts_with("The session could not be written to "),
        "{fault}"
    );
    assert_eq!(
        std::fs::read_to_string(taken.join("inside")).unwrap(),
        "kept"
    );
}
